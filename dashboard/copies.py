"""What is copied out of a run: the issue in Markdown and the command that repeats it.

Both are what the exports say; the issue is redacted, because it is made to be pasted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runs import material, repeat
from runs.exports.markdown import issue as issue_of
from runs.models import Run
from runs.redact import Choice

if TYPE_CHECKING:
    from runs.facts import Facts


def command(run: Run) -> str:
    """The command line that repeats the run."""
    return repeat.command(run)


def issue(run: Run, facts: Facts, address: str) -> str:
    """The run as an issue's text in GitHub Markdown, without what must not leave."""
    choice = Choice.of("structure")
    made = material.of(run, choice, address=address, command=command(run), light=True)
    return issue_of(made)
