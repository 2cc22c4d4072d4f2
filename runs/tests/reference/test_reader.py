"""The reader of the reference agent's log takes anything and drops nothing silently."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some

from runs.core.events import KINDS, Kind
from runs.transcripts.reference import READER, STATUS

LINES = some.one_of(
    some.binary(max_size=200),
    some.builds(
        lambda kind, more: json.dumps({"type": kind, **more}).encode(),
        some.one_of(some.sampled_from([str(kind) for kind in Kind]), some.text(max_size=9)),
        some.dictionaries(
            some.sampled_from(["at", "agent", "id", "word", "parent", "status", "end", "agent_id"]),
            some.one_of(some.none(), some.integers(), some.floats(), some.text(), some.booleans()),
        ),
    ),
)


@given(LINES)
def test_it_gives_a_draft_for_every_line_that_is_not_blank(line: bytes) -> None:
    drafts = list(READER.reader("session.jsonl").feed(line, 3, 40))
    assert bool(drafts) == bool(line.strip())
    for draft in drafts:
        assert (draft.line, draft.offset, draft.length) == (3, 40, len(line))
        assert set(draft.data) <= KINDS[draft.kind].keys


@pytest.mark.parametrize("kind", [Kind.PROCESS_EXITED, Kind.GUARD, Kind.REQUEST_ENDED])
def test_it_does_not_let_a_log_say_what_only_we_can_see(kind: Kind) -> None:
    line = json.dumps({"type": kind, "at": 1e9, "code": 0}).encode()
    (draft,) = READER.reader("session.jsonl").feed(line, 1, 0)
    assert draft.kind is Kind.OTHER


@pytest.mark.parametrize(("word", "ours"), STATUS.items())
def test_it_says_a_status_in_our_word_and_keeps_the_agents(word: str, ours: str) -> None:
    line = json.dumps({"type": "session.status", "at": 1.0e9, "word": word}).encode()
    (draft,) = READER.reader("stdout.jsonl").feed(line, 1, 0)
    assert (draft.source, draft.data["status"], draft.data["raw"]) == ("stdout", ours, word)


def test_it_knows_its_own_files_by_their_first_record() -> None:
    first = b'{"id":"0-1","at":1,"type":"session.started","format":"lifeline-reference/1"}\n'
    assert READER.sniff(first, "x.jsonl") == 1.0
    assert READER.sniff(b'{"type":"trace.span","span":"1"}', "trace.jsonl") > 0.5
    assert READER.sniff(b'{"type":"session.start","data":{}}\n', "events.jsonl") == 0.0
