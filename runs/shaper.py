"""Which string of a run's data is a word, a sentence of ours, or what somebody said.

It alone decides what becomes of a string; how it is replaced is `runs/redact.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from runs import vocabulary
from runs.cuts import CUT, is_cut, last_run, telling
from runs.redact import Redactor

SAID = frozenset({"detail", "summary", "text", "prompt", "notes", "cwd", "body", "errors"})
"""Keys of what models, people and files said: texts, whatever they look like."""
OURS = frozenset(
    {
        *("reason", "sentence", "question", "missing", "why", "do", "what", "mark"),
        *("title", "label", "ref"),
    }
)
"""Keys of our own sentences, which may name an agent or a file: only secrets go."""
PLAIN_HEADERS = frozenset({"content-type", "content-length", "accept", "retry-after", "connection"})
FORCED = {"host": "host", "address": "host"}
"""Keys whose value is of that sort by its place."""
_SPOKEN, _DONE = ("user", "assistant"), ("call", "output")
"""How the words of a `conversation` begin: before the mark of a text, before an id."""
_WHOLE = OURS - {"reason"} | {"digest", "conversation", "file", "pointer"}
"""Keys whose values no reader cuts."""
_COUNT = re.compile(r"\d{1,4}")
_FLAG = re.compile(r"--?[a-z][a-z-]{0,30}")


def strings(value: Any) -> Iterator[str]:
    """Every string inside lists and dictionaries."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)


class Shaper:
    """Says which string of a run's data is a word, a sentence of ours, or a text."""

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor

    def learn(self, value: Any, key: str = "") -> None:
        """Show the redactor every string, before any is replaced."""
        if isinstance(value, str):
            if key not in _WHOLE and is_cut(key, value):
                run = self._last_run(value)
                if len(run) >= CUT and telling(run, ""):
                    self.redactor.learn_quoted(run)
            if key in OURS:
                self.redactor.learn_ours(value)
            elif key in ("digest", "conversation") or _is_ours(key, value):
                self.redactor.learn(value)
            else:
                self.redactor.learn_text(value)
        elif isinstance(value, Mapping):
            for name, item in value.items():
                self.redactor.learn(f"{name}: {item}" if isinstance(item, str) else str(name))
                self.learn(item, str(name))
            if isinstance(value.get("value"), str):  # a header or attribute as a pair
                self.redactor.learn(f"{value.get('name') or value.get('key')}: {value['value']}")
        elif isinstance(value, list | tuple):
            for item in value:
                self.learn(item, key)
            if len(value) < 200 and all(isinstance(item, str) for item in value):
                self.redactor.learn(" ".join(value))  # a command line: ``--password``, then it

    def shape(self, key: str, value: Any) -> Any:
        """The value as it may leave."""
        if isinstance(value, str):
            return self._string(key, value)
        if isinstance(value, Mapping):
            if key == "headers":
                return {self._key(k): self._header(k, v) for k, v in value.items()}
            return {self._key(k): self.shape(str(k), v) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self.shape(key, item) for item in value]
        return value

    def clean(self, value: Any) -> Any:
        """Data that Lifeline or its operator wrote: only secrets go."""
        if isinstance(value, str):
            return self.redactor.text(value)
        if isinstance(value, Mapping):
            return {key: self.clean(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.clean(item) for item in value]
        return value

    def _string(self, key: str, value: str) -> str:
        if value in self.redactor.keep:
            return value
        left = self._shaped(key, value)
        run = self._last_run(left) if key not in _WHOLE and is_cut(key, value) else ""
        if not run:
            return left
        self.redactor.texts += 1
        return left[: -len(run)] + self.redactor.hashed(run)

    def _last_run(self, text: str) -> str:
        """What a cut left at the end and may not leave: no word of ours."""
        redactor = self.redactor
        run = last_run(text) if redactor.choice.names else ""
        return "" if run in redactor.keep or run in redactor.ours else run

    def _shaped(self, key: str, value: str) -> str:
        redactor = self.redactor
        if key in FORCED:
            return redactor.forced(FORCED[key], value)
        if key == "argv":
            return value if _FLAG.fullmatch(value) else redactor.said(value)
        if key == "digest":
            return redactor.mark(value)
        if key == "conversation":
            role, _, what = value.partition(" ")
            if role in _SPOKEN:
                return f"{role} {redactor.mark(what)}"
            return f"{role} {redactor.word(what)}" if role in _DONE else redactor.said(value)
        if key in SAID:
            return redactor.said(value)
        if key == "path" and "?" in value:
            path, _, query = value.partition("?")
            return f"{redactor.word(path)}?{redactor.said(query)}"
        if key in OURS or _is_ours(key, value):
            return redactor.text(value)
        return redactor.word(value)

    def _key(self, key: Any) -> str:
        name = str(key)
        if name in self.redactor.ours:
            return name
        cut = "native" if is_cut("native", name) else ""  # counts are by kinds of records
        return self._string(cut, name)

    def _header(self, name: str, value: Any) -> Any:
        plain = str(name).lower() in PLAIN_HEADERS or _COUNT.fullmatch(str(value))
        return self.redactor.word(str(value)) if plain else self.redactor.said(str(value))


def _is_ours(key: str, value: str) -> bool:
    """Whether readers of ours named what happened so: a name of two words is no sentence."""
    return key in ("native", "type", "raw") and " " in value and vocabulary.is_readers(value)
