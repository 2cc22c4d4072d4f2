"""`/runs/<permalink>/` and what belongs to it, without JavaScript."""

from __future__ import annotations

import io
import json
import re
import shutil
import zipfile
from typing import Any

import pytest
from django.test import Client

from dashboard.tests import factory
from dashboard.tests.factory import CHILD, HOSTILE
from runs import facts, store
from runs.models import Event, Run


def _text(answer: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode()))


def _address(run: Run, rest: str = "") -> str:
    return f"/runs/{run.permalink}/{rest}"


@pytest.mark.django_db
def test_it_shows_the_truth_against_the_report(client: Client, cut: Run) -> None:
    answer = client.get(_address(cut))
    root, child = answer.context["facts"].truth
    assert (root.wire, root.stdout.word) == ("1 call, complete", "exit 1")
    assert (child.depth, child.wire) == (1, "6 attempts, 6 failed")
    assert (child.session.word, child.session.lie) == ("completed", True)
    assert child.told.lie and "finished processing and is now idle" in child.told.word
    assert [one["law"] for one in child.findings] == ["L2", "L3", "L6"]
    assert "completed ✗ (not true)" in _text(answer)


def test_it_calls_the_one_at_the_top_root_where_it_has_an_id_and_no_name() -> None:
    agents = [{"id": "4bd9c2", "parent": None}, {"id": "81f0aa", "parent": "4bd9c2"}]
    findings = [{"law": "L8", "verdict": "broken", "agent": one["id"]} for one in agents]
    found = facts.of_document({"agents": agents, "findings": findings})
    assert [row.name for row in found.truth] == ["root", "81f0aa"]
    assert [row["who"] for row in found.broken] == ["root", "81f0aa"]


def test_it_does_not_say_of_files_without_a_request_log_that_nobody_called() -> None:
    def wire(kind: str, attempts: list[dict[str, Any]]) -> str:
        given = {"kind": kind, "agents": [{"id": "root"}], "attempts": attempts}
        return facts.of_document(given).truth[0].wire

    assert wire("import", []) == "not seen"
    assert wire("import", [{"caller": "child:1", "start": 0.0}]) == "no call"
    assert wire("run", []) == "no call"


def test_it_calls_agents_by_their_names_as_far_as_they_tell_them_apart() -> None:
    named = {"1a": "Kuhn", "2b": "Kuhn", "3c": "Hopper"}
    agents = [{"id": key, "parent": "0", "name": name} for key, name in named.items()]
    attempts = [{"caller": "child:1", "agent": one["id"], "start": 0.0} for one in agents]
    found = facts.of_document({"agents": [{"id": "0"}, *agents], "attempts": attempts})
    assert [row["who"] for row in found.attempts] == ["1a", "2b", "Hopper"]


def test_it_measures_nothing_where_no_call_was_seen() -> None:
    retry = {"reported": {"retries": 5, "sleep": 5.0}, "measured": {"caller": None, "gaps": []}}
    unseen = "claimed 5 waits, 5.00 s · no model call was seen, so nothing is measured"
    assert facts.retry_words(retry) == unseen
    retry["measured"] = {"caller": "child:1", "gaps": []}
    assert facts.retry_words(retry) == "claimed 5 waits, 5.00 s · measured 0 gaps, 0.00 s"


def test_a_finding_names_an_agent_and_not_its_id() -> None:
    agents = [{"id": "0"}, {"id": "0e71b490-cfe3", "parent": "0", "name": "Hopper"}]
    broken = {"law": "L16", "verdict": "broken", "agent": "0", "reason": "Not told: 0e71b490-cfe3."}
    found = facts.of_document({"agents": agents, "findings": [broken]})
    assert found.broken[0]["reason"] == "Not told: Hopper."


def test_an_attempt_without_an_end_is_open_only_while_the_run_is() -> None:
    def ended(status: str) -> tuple[str, str]:
        attempts = [{"caller": "child:1", "start": 0.0, "end": None}]
        row = facts.of_document({"status": status, "attempts": attempts}).attempts[0]
        return row["ended"], row["tone"]

    assert ended("running") == ("still open", "run")
    assert ended("lost") == ended("ended") == ("no end seen", "unknown")


def test_that_nobody_was_told_is_no_lie_but_wrong() -> None:
    assert facts.Said("completed", lie=True).against == "not true"
    assert facts.Said(facts.NEVER, lie=True).against == "must be told"
    assert facts.Said("failed").against == ""


@pytest.mark.django_db
def test_it_shows_header_retries_and_findings_with_their_evidence(client: Client, cut: Run) -> None:
    answer = client.get(_address(cut))
    text, page = _text(answer), answer.content.decode()
    assert (
        "false completion model-request-failed sealed: network, files, processes by bwrap" in text
    )
    assert "claimed 5 waits, 5.00 s · measured 5 gaps, 5.0" in text
    assert " s more than claimed" in text and " announced " not in text
    assert "3 broken · 1 holds · 1 unknown" in text
    assert "1 network attempt" in text and "example.com:443" in text
    finding = next(row for row in answer.context["facts"].broken if row["law"] == "L2")
    for seq in finding["seqs"].split():
        assert f'href="#e{seq}"' in page and f'id="e{seq}"' in page
    assert page.count("✂ sse-cut") >= 6


@pytest.mark.django_db
def test_it_shows_each_announced_wait_beside_its_gap(client: Client, cut: Run) -> None:
    for row in cut.summary["attempts"]:
        row["claimed"] = None if row["gap_before"] is None else 0.9
    cut.save()
    text = _text(client.get(_address(cut)))
    assert "attempt announced gap before" in text and "2 of 6 900 ms 1.0" in text


@pytest.mark.django_db
def test_it_says_which_guard_stopped_the_run(client: Client, cut: Run) -> None:
    fired = {"guard": "guard-request-cap", "limit": 4, "value": 5, "seq": 7}
    cut.summary["guard"] = fired
    cut.save()
    answer = client.get(_address(cut))
    assert "Stopped at request 5 to the provider; 4 are allowed." in _text(answer)
    assert 'href="#e7"' in answer.content.decode()


@pytest.mark.django_db
def test_its_title_says_scenario_version_and_verdict(client: Client, cut: Run) -> None:
    page = client.get(_address(cut)).content.decode()
    assert "<title>sse-cut · copilot 1.0.81 · false completion — Lifeline</title>" in page


@pytest.mark.django_db
def test_an_unsealed_run_says_why(client: Client, cut: Run) -> None:
    Run.objects.filter(pk=cut.pk).update(sealed={"network": False, "why": "no user namespaces"})
    text = _text(client.get(_address(cut)))
    assert "not sealed" in text and "no user namespaces" in text
    assert "sealed: network" not in text
    sealed = {"network": True, "files": False, "processes": True, "by": "minder", "why": "no bwrap"}
    Run.objects.filter(pk=cut.pk).update(sealed=sealed)
    assert "partly sealed: network, processes by minder" in _text(client.get(_address(cut)))


@pytest.mark.django_db
def test_an_open_run_shows_what_has_happened_so_far(client: Client, going: Run) -> None:
    answer = client.get(_address(going))
    text = _text(answer)
    assert "running" in text and "Cancel" in text and "Delete" not in text
    assert len(answer.context["facts"].attempts) == 3
    assert "2 attempts, 2 failed" in text
    assert "The verdict comes when the run has ended." in text


@pytest.mark.django_db
@pytest.mark.parametrize("status", ["queued", "errored", "cancelled", "lost"])
def test_a_run_without_events_is_a_whole_page(client: Client, status: str) -> None:
    error = {"what": "No bubblewrap here.", "do": "Install it."} if status == "errored" else {}
    run = Run.objects.create(agent="codex", version="1", status=status, error=error)
    text = _text(client.get(_address(run)))
    assert status in text
    if status == "errored":
        assert "No bubblewrap here. Install it." in text
    if status == "lost":
        assert "Its worker vanished" in text


@pytest.mark.django_db
def test_a_run_whose_raw_files_are_gone_still_shows(client: Client, cut: Run) -> None:
    shutil.rmtree(store.folder(cut))
    text = _text(client.get(_address(cut)))
    assert "The raw files of this run are gone." in text and "6 attempts, 6 failed" in text
    event = client.get(_address(cut, "events/20/"))
    assert event.status_code == 200 and "The raw file is gone." in _text(event)
    assert client.get(_address(cut, "events/20/raw")).status_code == 404
    archive = client.get(_address(cut, "archive"))
    manifest = _manifest(archive)
    assert manifest["missing"] == ["sources"] and manifest["document"]["attempts"]


def _manifest(archive: Any) -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(archive.getvalue())) as packed:
        return json.loads(packed.read("manifest.json"))


@pytest.mark.django_db
def test_everything_an_agent_said_is_escaped_and_visible(client: Client) -> None:
    run = factory.hostile_run()
    seq = Event.objects.filter(run=run, kind="error").get().seq
    rests = ("", "parts/", f"events/{seq}/", f"events/{seq}/part/")
    for rest in rests:
        text = client.get(_address(run, rest)).content.decode()
        assert "<script>alert" not in text, rest
        assert "\u202e" not in text and "\x1b" not in text and "\u200b" not in text, rest
        assert "&lt;script&gt;alert(1)" in text or "\\u003Cscript" in text, rest


@pytest.mark.django_db
def test_the_issue_text_neutralises_what_an_agent_said(client: Client) -> None:
    run = factory.hostile_run()
    issue = client.get(_address(run)).context["issue"]
    # Its three backticks are inside code only where four fence them.
    outside_code = re.sub(r"````.*?````", "", issue, flags=re.S)
    assert "@everyone" not in outside_code and "<script" not in outside_code.replace("\\<", "")
    assert "\x1b" not in issue and "\u202e" not in issue
    assert re.sub(r"<details>.*</details>", "", issue, flags=re.S).count("\n") < 60


@pytest.mark.django_db
def test_the_issue_text_is_the_table_with_its_evidence_and_command(
    client: Client, cut: Run
) -> None:
    context = client.get(_address(cut)).context
    issue = context["issue"]
    assert issue.startswith("### copilot 1.0.81 · sse-cut: false completion")
    assert f"| `{CHILD}` | 6 attempts, 6 failed | completed ✗ | completed ✗ |" in issue
    assert "python3 manage.py reproduce copilot@1.0.81 sse-cut" in issue
    assert f"/runs/{cut.permalink}/" in issue and "testserver" not in issue
    assert context["command"] == "python3 manage.py reproduce copilot@1.0.81 sse-cut"


@pytest.mark.django_db
def test_the_command_quotes_what_a_shell_would_read(client: Client) -> None:
    run = Run.objects.create(
        agent="reference",
        version="1.0.0",
        scenario="sse-cut",
        status="ended",
        options={"break": "$(rm -rf /)"},
        expect="completed",
    )
    command = client.get(_address(run)).context["command"]
    assert "'agents.reference.break=$(rm -rf /)'" in command
    assert command.endswith("--expect completed")


@pytest.mark.django_db
def test_actions_do_what_they_say(client: Client, cut: Run, going: Run) -> None:
    again = client.post(_address(cut, "again/"), {"version": "1.0.102"})
    fresh = Run.objects.latest("pk")
    assert again["Location"] == _address(fresh) and fresh.version == "1.0.102"
    client.post(_address(going, "cancel/"))
    going.refresh_from_db()
    assert going.cancel_at is not None
    assert client.post(_address(going, "delete/")).status_code == 409
    assert client.post(_address(cut, "delete/"))["Location"] == "/"
    assert client.get(_address(cut)).status_code == 404
    assert not store.folder(cut).exists()


@pytest.mark.django_db
@pytest.mark.parametrize("what", ["again", "cancel", "delete", "keep", "notes"])
def test_no_action_follows_a_link(client: Client, cut: Run, what: str) -> None:
    assert client.get(_address(cut, f"{what}/")).status_code == 405


@pytest.mark.django_db
def test_notes_and_tags_are_kept_and_shown_escaped(client: Client, cut: Run) -> None:
    client.post(_address(cut, "notes/"), {"notes": HOSTILE, "tags": "flaky, ci/nightly flaky"})
    cut.refresh_from_db()
    assert cut.notes == HOSTILE.strip() and cut.tags == ["flaky", "ci/nightly"]
    assert "<script>alert" not in client.get(_address(cut)).content.decode()
    wrong = client.post(_address(cut, "notes/"), {"notes": "", "tags": "<b>"})
    assert wrong.status_code == 400 and "&#x27;&lt;b&gt;&#x27; is no tag" in wrong.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("permalink", ["nothing-here", "AAAAAAAAAAAAAAAA", "../etc"])
def test_an_unknown_permalink_is_a_plain_404(client: Client, permalink: str) -> None:
    assert client.get(f"/runs/{permalink}/").status_code == 404
