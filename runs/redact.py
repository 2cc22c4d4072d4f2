"""Redaction: what is replaced before anything leaves this machine, and how it is said.

    full       nothing is replaced; for oneself
    structure  the default of what is shared: texts become length and hash, secrets go
    custom     what the person chose of both

A value that a detector finds once is replaced wherever it stands, by the same sign
(``⟨email-1⟩``): so ids stay consistent. A detector that crashes ends the whole export.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from runs import finding
from runs.cuts import CUT, LIMITS, telling
from runs.errors import HarnessError
from runs.finding import RedactionFailed, Secret, detectors
from runs.known import Known, alone, begun

__all__ = ["LEVELS", "MOST_KNOWN", "Choice", "RedactionFailed", "Redactor", "detectors"]
Level = Literal["full", "structure", "custom"]
LEVELS: Mapping[str, str] = {
    "structure": "Structure only: texts become length and hash, secrets are replaced.",
    "custom": "What you choose below.",
    "full": "Everything as it is, raw files included. Private.",
}
MOST_KNOWN = 40_000
"""Different secrets that one export may hold; beyond it nothing is exported."""
SHORTEST_KNOWN = 3
"""Letters of what is replaced wherever it stands: two name a heading, too."""
LONGEST_KNOWN = 4000
LONGEST_QUOTED = 400
"""Letters of a text that is looked for where others quote it or cut it off."""
_WORD = re.compile(r"[\w.:/@+#~=,%()\[\]⟨⟩-]{1,200}")
_SIGN = re.compile(r"⟨[^⟩]{0,40}⟩")
_WHOLE = ("user", "host", "email")
"""Sorts whose values are replaced as whole words only."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What is replaced. `texts`: also what models and people said; `names`: the detectors."""

    level: str = "structure"
    texts: bool = True
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, level: str, texts: bool = True, names: Iterable[str] | None = None) -> Choice:
        """The choice of a level; UnknownName-like HarnessError for one that does not exist."""
        if level not in LEVELS:
            raise HarnessError(f"{level!r} is no level.", f"It is one of: {', '.join(LEVELS)}.")
        if level == "full":
            return cls(level, False, ())
        if level == "structure" or names is None:
            return cls(level, texts or level == "structure", tuple(detectors()))
        chosen = list(names)
        for name in chosen:
            if name not in detectors():
                known = ", ".join(detectors())
                raise HarnessError(f"There is no detector {name!r}.", f"There are: {known}.")
        return cls(level, texts, tuple(chosen))

    @property
    def whole(self) -> bool:
        """Whether nothing at all is replaced."""
        return not self.texts and not self.names


@dataclass(slots=True)
class Redactor:
    """Replaces, with one memory for one export. First :meth:`learn` all of it, then ask.

    `salt` makes the hashes of texts: without it a short text could be guessed.
    `keep` are words of ours that are never taken for a secret; one of `ours` may be one where
    it was found, and stays everywhere else.
    """

    choice: Choice
    salt: bytes
    keep: frozenset[str] = frozenset()
    ours: frozenset[str] = frozenset()
    signs: dict[tuple[str, str], str] = field(default_factory=dict)
    times: Counter[tuple[str, str]] = field(default_factory=Counter)
    texts: int = 0
    """How many texts became length and hash."""
    _numbers: Counter[str] = field(default_factory=Counter)
    _known: Known | None = None
    _begun: dict[bool, list[str]] = field(default_factory=dict)
    """The known values in order: texts, and secrets."""
    _heads: frozenset[str] = frozenset()
    _by_value: dict[str, tuple[str, str]] = field(default_factory=dict)
    _memory: dict[str, str] = field(default_factory=dict)
    _ours: set[str] = field(default_factory=set)
    _hidden: set[str] = field(default_factory=set)
    _learned: set[str] = field(default_factory=set)

    # First all of it is read

    def learn(self, text: str) -> None:
        """Remember every secret of this text."""
        if len(text) > 3 and text not in self._learned:
            if len(text) < 500 and len(self._learned) < 100_000:
                self._learned.add(text)
            for name, value in self._found(text):
                self._remember(name, value)

    def learn_text(self, text: str) -> None:
        """A title or sentence that becomes a hash: so it does where others quote it."""
        self.learn(text)
        if self.choice.texts and " " in text.strip() and 5 <= len(text) <= LONGEST_QUOTED:
            self.learn_quoted(text)

    def learn_quoted(self, text: str) -> None:
        """What becomes a hash where a sentence of ours quotes it."""
        self._by_value.setdefault(text, ("text", text))

    def learn_ours(self, text: str) -> None:
        """A sentence of ours, which stays and may quote a text."""
        self.learn(text)
        self._ours.add(text)

    def hide(self, text: str) -> None:
        """Replace this wherever it stands, whether it looks like a secret or not."""
        self._by_value[text] = ("text", text)
        self._hidden.add(text)

    def learned(self) -> None:
        """All was read: from now on it is replaced. Of texts, what a sentence of ours quotes."""
        said = "\n".join(self._ours)
        for value, (name, _) in list(self._by_value.items()):
            if name == "text" and value not in self._hidden and value[: 2 * CUT] not in said:
                del self._by_value[value]
        if len(self._by_value) > MOST_KNOWN:
            raise RedactionFailed(
                f"There are more than {MOST_KNOWN} different secrets in it.",
                "Nothing was exported. Choose fewer detectors, or export less.",
            )
        self._known = Known(self._by_value, lambda value: self._by_value[value][0] in _WHOLE)
        for value in sorted(self._by_value):
            self._begun.setdefault(self._by_value[value][0] == "text", []).append(value)
        self._heads = frozenset(value[:CUT] for value in self._by_value)
        self._memory.clear()

    # Then it is replaced

    def text(self, text: str) -> str:
        """The text with its secrets replaced."""
        if self.choice.whole or len(text) < 4:
            return text
        done = self._memory.get(text)
        if done is None:
            done = self._replaced(text)
            if len(text) < 500 and len(self._memory) < 100_000:
                self._memory[text] = done
        return done

    def said(self, text: str) -> str:
        """What somebody said: its length and hash, or the text without its secrets."""
        if not self.choice.texts or not text:
            return self.text(text)
        self.texts += 1
        return self.hashed(text)

    def word(self, text: str) -> str:
        """An id, a name or a word stays (without secrets); a sentence becomes a hash."""
        return self.text(text) if _WORD.fullmatch(text) else self.said(text)

    def forced(self, name: str, text: str) -> str:
        """A value that is of this sort by its place, whatever it looks like."""
        if name not in self.choice.names or not text:
            return self.text(text)
        self.times[name, text] += 1
        return self._sign(name, text)

    def mark(self, digest: str) -> str:
        """The digest of a text, keyed: a short text could be found by trying what has it."""
        if self.choice.whole or not digest:
            return digest
        return hmac.new(self.salt, digest.encode("utf-8", "replace"), "sha256").hexdigest()[:12]

    def leak(self, text: str, printed: frozenset[str] = frozenset()) -> str:
        """A secret that still stands in finished output, ""; the last look before it leaves.

        `printed` are words that the output has of itself.
        """
        if self._known is None:
            return ""
        for place in self._known.find(text):
            if self._by_value[place.value][0] != "text" and place.value not in printed:
                return place.value
        return ""

    # How

    def _found(self, text: str) -> list[tuple[str, str]]:
        found = finding.found(text, self.choice.names, self._secrets)
        return [(name, value) for name, value in found if value.strip() and value not in self.keep]

    def _secrets(self, text: str) -> Iterator[Secret]:
        """The known ones that stand in it, beside the texts."""
        for start, end, value in self._known.find(text) if self._known else ():
            if self._by_value[value][0] != "text":
                yield Secret(self._by_value[value][0], start, end)

    def _remember(self, name: str, value: str) -> None:
        if value not in self.ours and SHORTEST_KNOWN <= len(value) <= LONGEST_KNOWN:
            self._by_value.setdefault(value, (name, value))

    def _replaced(self, text: str) -> str:
        if self._known is not None:
            text = self._cut_off(self._known.replaced(text, self._sign_of))
        for name, value in sorted(self._found(text), key=lambda pair: -len(pair[1])):
            if value in text and ("⟨" not in value or len(_SIGN.sub("", value)) > 40):
                sign = self._sign(name, value)
                text, times = alone(value, name in _WHOLE).subn(sign, text)
                self.times[name, value] += times
        return text

    def _cut_off(self, text: str) -> str:
        """What a limit left of a known value at the end of a text goes with the whole one."""
        bare = text.rstrip(".… ")
        whole = bare == text and len(text) not in LIMITS  # an id may begin as another one does
        for start in range(max(0, len(bare) - LONGEST_QUOTED), len(bare) - CUT + 1):
            if bare[start : start + CUT] not in self._heads or (whole and not start):
                continue
            for ordered in self._begun.values():
                rest = bare[start:]
                value = begun(ordered, rest)
                name = self._by_value[value][0] if value else ""
                if value and telling(rest, name):
                    sign = self.hashed(value) if name == "text" else self._sign(name, value)
                    self.times[name, value] += name != "text"
                    return bare[:start] + sign + text[len(bare) :]
        return text

    def _sign_of(self, value: str) -> str:
        name, value = self._by_value[value]
        if name == "text":
            self.texts += 1
            return self.hashed(value)
        self.times[name, value] += 1
        return self._sign(name, value)

    def _sign(self, name: str, value: str) -> str:
        sign = self.signs.get((name, value))
        if sign is None:
            self._numbers[name] += 1
            sign = self.signs[name, value] = f"⟨{name}-{self._numbers[name]}⟩"
        return sign

    def hashed(self, text: str) -> str:
        digest = hmac.new(self.salt, text.encode("utf-8", "replace"), hashlib.sha256)
        return f"⟨text {len(text)} {digest.hexdigest()[:10]}⟩"

    def report(self) -> list[dict[str, Any]]:
        """What was replaced, for the preview: sort, value, sign and how often."""
        titles = {name: each.title for name, each in detectors().items()}
        return [
            {"name": name, "title": titles[name], "value": value, "sign": sign,
             "times": self.times[name, value]}
            for (name, value), sign in self.signs.items()
        ]  # fmt: skip
