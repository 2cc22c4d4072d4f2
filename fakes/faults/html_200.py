"""Status 200 and a page of HTML, as a captive portal or a proxy sends it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakes.fault import Fault

if TYPE_CHECKING:
    from fakes.answer import Answer

PAGE = b"<!doctype html><title>Sign in</title><h1>Please sign in to this network</h1>\n"


@dataclass(frozen=True)
class Html200(Fault):
    """A page instead of an answer."""

    name = "html-200"
    title = "HTML with 200"
    sentence = "Status 200 with a page of HTML, as a captive portal sends it."
    seen = "A successful answer of type text/html."
    picture = "head 200 text/html │ <html> │ end"

    async def play(self, answer: Answer) -> None:
        await answer.document(200, "text/html; charset=utf-8", PAGE)
        answer.mark("a page of HTML")


FAULT = Html200
