"""The schema-drift page: by protocol where an agent has one, else by recorded runs."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

from dashboard.tests import factory
from runs import report, store
from runs.models import Event

pytestmark = pytest.mark.django_db
CODEX = "/drift/?agent=codex&before=0.147.0&after=0.171.0"


def _changes(client: Client, address: str) -> dict[tuple[str, str], dict[str, Any]]:
    answer = client.get(f"{address}&format=json")
    assert answer.status_code == 200
    return {(row["section"], row["name"]): row for row in json.loads(answer.content)["changes"]}


def test_it_names_the_methods_that_codex_added_from_147_to_171(client: Client) -> None:
    changes = _changes(client, CODEX)
    added = {name for (section, name), row in changes.items() if row["what"] == "added"
             and section == "server-notification"}  # fmt: skip
    assert len(added) == 17
    page = client.get(CODEX).content.decode()
    assert all(f"<code>{name}</code>" in page for name in added)


def test_it_names_the_kinds_and_tools_that_codex_added(client: Client) -> None:
    changes = _changes(client, CODEX)
    kinds = changes["words", "SubAgentActivityKind"]
    assert [(key["key"], key["before"]) for key in kinds["keys"]] == [("completed", "")]
    tools = {key["key"] for key in changes["words", "CollabAgentTool"]["keys"]}
    assert tools == {"sendMessage", "followupTask", "interruptAgent", "listAgents"}
    assert [key["key"] for key in changes["words", "CollabAgentToolCallStatus"]["keys"]] == [
        "interrupted"
    ]


def test_it_turns_around(client: Client) -> None:
    there = _changes(client, CODEX)
    back = _changes(client, "/drift/?agent=codex&before=0.171.0&after=0.147.0")
    opposite = {"added": "removed", "removed": "added", "changed": "changed"}
    assert {key: opposite[row["what"]] for key, row in there.items()} == {
        key: row["what"] for key, row in back.items()
    }


def test_it_keeps_only_what_holds_a_word(client: Client) -> None:
    every, some = _changes(client, CODEX), _changes(client, f"{CODEX}&q=subagent")
    assert 0 < len(some) < len(every)
    assert ("words", "SubAgentActivityKind") in some


def test_one_version_with_itself_differs_in_nothing(client: Client) -> None:
    page = client.get("/drift/?agent=codex&before=0.171.0&after=0.171.0").content.decode()
    assert "Nothing differs" in page


def test_it_compares_recorded_runs_where_there_is_no_protocol(client: Client) -> None:
    factory.cut_run(version="1.0.81")
    newer = factory.cut_run(version="1.0.82")
    row = Event.objects.filter(run=newer, source="stdout").exclude(native="").first()
    assert row is not None
    Event.objects.filter(pk=row.pk).update(native="subagent.renamed")
    changes = _changes(client, "/drift/?agent=copilot&before=1.0.81&after=1.0.82")
    assert changes["stdout", "subagent.renamed"]["what"] == "added"
    page = client.get("/drift/?agent=copilot&before=1.0.81&after=1.0.82").content.decode()
    assert "subagent.renamed" in page and "1.0.81 by its runs" in page


def test_a_version_that_nothing_is_known_of_is_said_with_what_to_do(client: Client) -> None:
    page = client.get("/drift/?agent=codex&before=0.133.0&after=0.171.0").content.decode()
    assert "Nothing is known of 0.133.0." in page and "reproduce codex@0.133.0 success" in page


def test_names_that_are_none_are_refused(client: Client) -> None:
    assert client.get("/drift/?agent=nobody").status_code == 404
    answer = client.get("/drift/?agent=codex&before=../../etc&after=0.171.0")
    assert answer.status_code == 404
    hostile = client.get("/drift/?agent=codex&before=0.147.0&after=0.171.0&q=<script>")
    assert "<script>" not in hostile.content.decode().partition("<main")[2]


def test_a_runs_page_leads_to_it(client: Client) -> None:
    run = factory.cut_run(agent="codex", version="0.171.0")
    page = client.get(f"/runs/{run.permalink}/").content.decode()
    assert re.search(r"/drift/\?agent=codex&amp;before=0\.1[0-9.]+&amp;after=0\.171\.0", page)


def test_an_agents_page_leads_to_it_where_two_versions_are_known(client: Client) -> None:
    assert '"/drift/?agent=codex"' in client.get("/agents/codex/").content.decode()
    assert "/drift/?agent" not in client.get("/agents/reference/").content.decode()


def test_a_runs_page_counts_what_its_own_protocol_does_not_know(client: Client) -> None:
    run = factory.cut_run(agent="codex", version="0.171.0")
    last = Event.objects.filter(run=run).order_by("-seq").first()
    assert last is not None
    for number in (1, 2):
        Event.objects.create(
            run=run,
            seq=last.seq + number,
            t=last.t,
            kind="other",
            source="stdout",
            file="rpc.jsonl",
            native="thread/<b>new</b>",
            data={"type": "protocol/unknown-method", "summary": ""},
        )
    run.summary = report.summary(run, store.history(run))
    run.save()
    (row,) = run.summary["protocol"]
    assert (row["what"], row["times"]) == ("unknown-method", 2)
    page = client.get(f"/runs/{run.permalink}/").content.decode()
    assert "thread/&lt;b&gt;new&lt;/b&gt;" in page and "1 thing that its own schema" in page
