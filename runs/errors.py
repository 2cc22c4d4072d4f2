"""Trouble of ours. A form error is the user's, a finding is the agent's; these are neither."""

from __future__ import annotations


class HarnessError(Exception):
    """We could not do our part. `what` names the thing, `do` says what to do about it."""

    def __init__(self, what: str, do: str = "") -> None:
        super().__init__(f"{what} {do}".strip())
        self.what = what
        self.do = do


class UnknownName(HarnessError):
    """A name (agent, version, scenario, option) that does not exist."""


class UnknownVersion(UnknownName):
    """The agent has no such version; asking again gives the same answer."""


class CannotRunHere(HarnessError):
    """This host cannot run it: no memory, no binary, no package manager, no seal (exit 3)."""


class NotApplicable(HarnessError):
    """A scenario that has no meaning for this agent, in the form that was chosen."""


class VersionCannotRun(CannotRunHere):
    """This version cannot run on this host, whoever tries and however often.

    It has no package for this platform, needs a newer Node, or does not start. A registry
    that does not answer, a full disk or a missing seal say nothing about the version.
    """
