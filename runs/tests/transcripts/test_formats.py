"""What every format must keep to; a new one inherits these tests."""

from __future__ import annotations

import json
import pickle
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from runs.core.events import KINDS, Draft, Kind
from runs.tests.transcripts.helpers import DATA, drafts_of, physical
from runs.transcript import Format, Reader, formats
from runs.transcripts._reading import HEAD, decoded, recognise

FILES = sorted(path for path in DATA.rglob("*") if path.is_file())
PHASES = (Phase.generate,)
"""No shrinking: a failure prints its bytes, and a run stays short."""
FOREIGN = frozenset({"reference-jsonl"})


def _samples() -> dict[str, list[bytes]]:
    """Some lines of real files of each format, by the format that recognises them."""
    found: dict[str, list[bytes]] = {name: [] for name in formats()}
    for path in FILES:
        data = path.read_bytes()
        format = recognise(formats(), decoded(data[:HEAD]), str(path.relative_to(DATA)))
        if format is not None and len(found[format.name]) < 120:
            whole = [data] if format.whole else data.splitlines(keepends=True)[:60]
            found[format.name].extend(whole)
    return found


SAMPLES = _samples()
NAMES = sorted(set(formats()) - FOREIGN)


@pytest.mark.parametrize("format", formats().values(), ids=lambda one: one.name)
def test_it_says_what_it_is(format: Format) -> None:
    assert format.name == format.name.lower()
    assert format.title
    assert format.source
    assert format.clock in ("epoch", "relative", "none")
    assert isinstance(format.reader("x"), Reader)


@pytest.mark.parametrize("format", formats().values(), ids=lambda one: one.name)
def test_it_is_unsure_about_what_is_nothing(format: Format) -> None:
    for head in (b"", b"\0\0", b"hello\n", b"{}\n", b"[]", b'{"type": 3}\n', b"\xff\xfe\xfd",
                 b'{"a": ' * 50, b"[" * 5000, bytes(range(256))):  # fmt: skip
        assert 0.0 <= format.sniff(head, "x") < 0.4


@pytest.mark.parametrize("odd", ["{}", "[]", "[1]", "null", "1e999"])
def test_no_type_of_a_value_ends_the_look_at_a_file(odd: str) -> None:
    """Every format looks at every file: where one fails, nothing at all can be read."""
    for lines in SAMPLES.values():
        for line in lines[:1]:
            keys = sorted(set(re.findall(rb'"(\w+)": ?(?=["{\[])', line)))[:40]
            for key in (b"type", b"what", *keys):
                spoiled = re.sub(rb'("%b": ?)"[^"]*"' % key, rb"\g<1>" + odd.encode(), line)
                head = b'{"type":%b,"what":%b}\n' % (odd.encode(), odd.encode()) + spoiled
                for format in formats().values():
                    assert 0.0 <= format.sniff(head, "x") <= 1.0
                    assert 0.0 <= format.sniff(spoiled, "x") <= 1.0


def test_it_recognises_each_file_of_the_data_as_one_format() -> None:
    known = {"claude-session-jsonl", "codex-rollout-jsonl", "omnigent-stream", "otlp-json"}
    assert known <= {name for name, lines in SAMPLES.items() if lines}
    for path in FILES:
        name = str(path.relative_to(DATA))
        head = decoded(path.read_bytes()[:HEAD])
        sure = [one.name for one in formats().values() if one.sniff(head, name) >= 0.85]
        assert len(sure) <= 1, (name, sure)


def _accounted(drafts: list[Draft], data: bytes, whole: bool) -> None:
    """Every line that holds anything is an event, damage or unknown; all in the vocabulary."""
    for draft in drafts:
        assert set(draft.data) <= KINDS[draft.kind].keys, (draft.kind, set(draft.data))
        json.dumps(dict(draft.data), allow_nan=False).encode()
        draft.agent.encode()
        draft.native.encode()
    assert pickle.loads(pickle.dumps(drafts)) == drafts
    if whole:
        assert drafts or not data.strip()
        return
    seen = {draft.line for draft in drafts}
    for number, line in enumerate(physical(data), 1):
        assert number in seen or not line.strip(), (number, line[:200])


VALUES = [b"null", b"true", b"-1", b"1e999", b"[]", b"{}", b'""', b'"\\ud800"', b"9" * 400,
          b'[{"a":[1]}]', b'{"type":{}}', b'"2026-99-99T00:00:00Z"', b'"\\u0000"']  # fmt: skip


def _torn(lines: list[bytearray], place: int, chance: random.Random) -> None:
    line = lines[place]
    del line[chance.randrange(len(line) + 1) :]
    line += b"\n"


def _glued(lines: list[bytearray], place: int, chance: random.Random) -> None:
    lines[place][-1:] = b""


def _doubled(lines: list[bytearray], place: int, chance: random.Random) -> None:
    lines.insert(chance.randrange(len(lines)), bytearray(lines[place]))


def _shuffled(lines: list[bytearray], place: int, chance: random.Random) -> None:
    chance.shuffle(lines)


def _spoiled(lines: list[bytearray], place: int, chance: random.Random) -> None:
    at = chance.randrange(len(lines[place]) + 1)
    pieces = [b"\0", b"\xff", b"\xed\xa0\x80", b"\n", b"\r", b'"', chance.randbytes(3)]
    lines[place][at:at] = chance.choice(pieces)


def _windows(lines: list[bytearray], place: int, chance: random.Random) -> None:
    lines[place][:0] = b"\xef\xbb\xbf"
    lines[place][-1:] = b"\r\n"


def _replaced(lines: list[bytearray], place: int, chance: random.Random) -> None:
    lines[place][:] = chance.choice(
        [b"\n", b"null\n", b"17\n", b'"x"\n', b"{}\n", b"{\n", b"[" * 3000 + b"\n"]
    )


def _swapped(lines: list[bytearray], place: int, chance: random.Random) -> None:
    """Put a value of another type behind one of the keys."""
    line = lines[place]
    places = [at for at in range(len(line) - 1) if line[at : at + 2] == b'":']
    if not places:
        return
    start = chance.choice(places) + 2
    stop = min(
        (found for mark in (b",", b"}") if (found := line.find(mark, start)) >= 0),
        default=len(line),
    )
    line[start:stop] = chance.choice(VALUES)


MUTATIONS = (_torn, _glued, _doubled, _shuffled, _spoiled, _windows, _replaced, _swapped, _swapped)


@st.composite
def mutated(draw: st.DrawFn, lines: list[bytes]) -> bytes:
    """Real lines, then torn, glued, doubled, moved, spoiled, or with values of other types."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    chosen = [bytearray(line) for line in chance.sample(lines, min(len(lines), 10))]
    for _ in range(draw(st.integers(1, 8))):
        chance.choice(MUTATIONS)(chosen, chance.randrange(len(chosen)), chance)
    return b"".join(chosen)


@pytest.mark.parametrize("name", NAMES)
@settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=PHASES,
)
@given(data=st.data())
def test_it_survives_any_mutation_and_accounts_for_every_line(
    name: str, data: st.DataObject
) -> None:
    lines = SAMPLES[name] or SAMPLES["copilot-events-jsonl"]
    content = data.draw(mutated(lines))
    _accounted(drafts_of(name, content), content, formats()[name].whole)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=12, deadline=None, derandomize=True, phases=PHASES)
@given(content=st.binary(max_size=300))
def test_it_survives_any_bytes(name: str, content: bytes) -> None:
    _accounted(drafts_of(name, content), content, formats()[name].whole)


@pytest.mark.parametrize("name", NAMES)
def test_it_survives_the_lines_of_every_other_format(name: str) -> None:
    for lines in SAMPLES.values():
        content = b"".join(lines[:12])
        _accounted(drafts_of(name, content), content, formats()[name].whole)


def test_a_reader_that_is_fed_live_says_the_same_as_one_that_reads_a_file() -> None:
    """A driver feeds lines as they come; nothing may depend on seeing the whole file."""

    def live(path: Path) -> Iterator[Draft]:
        format = recognise(formats(), path.read_bytes()[:HEAD], path.name)
        assert format is not None
        reader = format.reader(path.name)
        offset = 0
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                yield from reader.feed(line, number, offset)
                offset += len(line)
        yield from reader.end()

    path = DATA / "recorded/copilot/1.0.102/success/stdout.jsonl"
    drafts = list(live(path))
    assert drafts == drafts_of("copilot-stdout-jsonl", path.read_bytes(), path.name)
    assert all(
        path.read_bytes()[one.offset : one.offset + (one.length or 0)].endswith(b"}\n")
        for one in drafts[:-1]
        if one.offset is not None
    )
    assert Kind.AGENT_ENDED in {one.kind for one in drafts}
