"""Compare, agents and watches: what their pages say, and what they refuse."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client

from dashboard.tests import factory
from dashboard.tests.factory import HOSTILE
from dashboard.tests.test_matrix import text_of
from dashboard.views import agents
from runs import binaries, catalogue, grid, shelf
from runs.models import Event, Installation, News, Run, Watch

pytestmark = pytest.mark.django_db


def test_compare_lists_differences_and_draws_one_clock(client: Client, cut: Run) -> None:
    other = factory.cut_run(version="1.0.85", exit_code=0, diagnosis="notice_lost")
    Event.objects.filter(run=other, kind="notice.delivered").delete()
    address = f"/compare/?runs={cut.permalink},{other.permalink}"
    answer = client.get(address)
    text = text_of(answer)
    assert "Exit code: 1 in A, 0 in B." in text and "Events notice.delivered" in text
    assert "/drift/?agent=copilot&amp;before=1.0.81&amp;after=1.0.85" in answer.content.decode()
    drawn = client.get(f"/compare/timeline/?runs={cut.permalink},{other.permalink}").json()
    starts = [lane["bars"][0]["start"] for lane in drawn["lanes"] if lane["label"][2:] == "child"]
    assert len(set(starts)) <= 1 and {lane["label"][0] for lane in drawn["lanes"]} == {"A", "B"}


def test_compare_takes_cells_and_says_what_changed(client: Client) -> None:
    for version, name in (("1.0.81", "notice_lost"), ("1.0.85", "healthy")):
        run = factory.cut_run(version=version, diagnosis=name)
        grid.refresh(run.agent, run.version, run.scenario)
    cells = ["copilot|1.0.81|sse-cut", "copilot|1.0.85|sse-cut"]
    text = text_of(client.get("/compare/", {"cells": cells}))
    assert "diagnosis never told → healthy" in text


def test_compare_without_two_runs_lets_choose_them(client: Client, cut: Run) -> None:
    for query in ("", f"runs={cut.permalink}", "runs=no,such,%3Cb%3E", "cells=a|b"):
        answer = client.get(f"/compare/?{query}")
        assert answer.status_code == 200 and "Newest runs" in text_of(answer)
    assert client.get(f"/compare/timeline/?runs={cut.permalink}").status_code == 404
    assert (
        f'href="/compare/?runs={cut.permalink}"'
        in client.get(f"/runs/{cut.permalink}/").content.decode()
    )


def test_compare_says_what_of_its_address_it_leaves_out(client: Client, cut: Run) -> None:
    others = [factory.cut_run(version=f"1.0.{number}") for number in range(82, 93)]
    names = [run.permalink for run in (cut, *others)]
    page = text_of(client.get("/compare/?runs=" + ",".join(names)))
    assert "12 are named in the address; the first 4 are compared" in page
    assert "1.0.84" in page and "1.0.85" not in page
    page = text_of(client.get(f"/compare/?runs={names[0]},{names[1]},gone1234"))
    assert "1 of those that the address names cannot be compared" in page
    assert "named in the address" not in page
    grid.refresh("copilot", "1.0.82", "sse-cut")
    cells = "copilot|1.0.82|sse-cut,copilot|1.0.99|sse-cut"
    page = text_of(client.get("/compare/", {"runs": ",".join(names[:4]), "cells": cells}))
    assert "6 are named in the address; the first 4 are compared" in page


def test_compare_offers_the_run_that_is_named_however_old_it_is(client: Client, cut: Run) -> None:
    for _ in range(31):
        factory.cut_run(version="1.0.85")
    page = client.get(f"/compare/?runs={cut.permalink}").content.decode()
    assert f'value="{cut.permalink}" checked' in page


def test_compare_escapes_what_agents_said(client: Client, cut: Run) -> None:
    other = factory.hostile_run()
    text = client.get(f"/compare/?runs={cut.permalink},{other.permalink}").content.decode()
    assert "<script>alert" not in text and "\u202e" not in text and "\x1b" not in text


def test_every_agent_has_a_page_with_what_can_be_seen_of_it(client: Client) -> None:
    overview = client.get("/agents/").content.decode()
    for name, driver in catalogue.drivers().items():
        assert f'href="/agents/{name}/"' in overview
        text = text_of(client.get(f"/agents/{name}/"))
        assert all(law in text for law in catalogue.laws())
        assert all(option.key in text for option in driver.options)
    assert client.get("/agents/nope/").status_code == 404


def install(agent: str, version: str, **marks: Any) -> shelf.Slot:
    slot = shelf.Slot(agent, version)
    slot.note(executable="x", size=5 << 20, sha256="", at=1.0, **marks)
    return slot


def test_an_old_version_that_is_installed_is_not_folded_away(
    client: Client, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIFELINE_BINARIES", str(tmp_path))
    install("copilot", "1.0.81")
    known = [SimpleNamespace(version=f"1.0.{n}", date="", here=True) for n in range(80, 84)]
    monkeypatch.setattr(binaries, "versions", lambda *_, **__: known)
    monkeypatch.setattr(agents, "NEWEST", 2)
    context = client.get("/agents/copilot/").context
    assert [row["version"] for row in context["rows"]] == ["1.0.83", "1.0.82", "1.0.81"]
    assert [row["version"] for row in context["older"]] == ["1.0.80"]


def test_versions_are_installed_removed_and_pinned_by_press(
    client: Client, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIFELINE_BINARIES", str(tmp_path))
    slot = install("copilot", "1.0.81")

    def press(**fields: str) -> Any:
        return client.post("/agents/copilot/change/", fields)

    assert "5.0 MiB in 1 installed version" in text_of(client.get("/agents/copilot/"))
    press(do="pin", version="1.0.81")
    assert slot.pinned and "pinned" in text_of(client.get("/agents/copilot/"))
    press(do="unpin", version="1.0.81")
    with slot.hold():
        assert press(do="remove", version="1.0.81").status_code == 409
        assert "in use" in text_of(client.get("/agents/copilot/parts/"))
    assert press(do="remove", version="1.0.81").status_code == 302 and not slot.manifest()
    assert press(do="install", version="1.0.85").status_code == 302
    job = Installation.objects.get(version="1.0.85")
    Installation.objects.update(log=HOSTILE, error={"what": HOSTILE, "do": ""}, state="failed")
    text = client.get("/agents/copilot/").content.decode()
    assert job.state == "queued" and "<script>alert" not in text and "\u202e" not in text
    assert press(do="install", version="../x").status_code == 409
    assert press(do="explode", version="1").status_code == 409


def test_a_watch_is_made_off_turned_on_and_removed(client: Client) -> None:
    fields = {"agent": "reference", "scenario": "sse-cut", "repeat": "2", "webhook": ""}
    client.post("/watch/", fields)
    watch = Watch.objects.get()
    assert not watch.on
    client.post(f"/watch/{watch.pk}/", {"do": "on"})
    watch.refresh_from_db()
    assert watch.on and watch.version == "1.1.0"
    answer = client.post("/watch/", {**fields, "webhook": "ftp://x"})
    assert answer.status_code == 400 and "http://" in text_of(answer)
    client.post(f"/watch/{watch.pk}/", {"do": "remove"})
    assert not Watch.objects.exists()


def test_news_stand_on_the_first_page_until_they_are_put_away(client: Client) -> None:
    watch = Watch.objects.create(agent="copilot", scenario="sse-cut")
    words = f"exit 1 → 0 {HOSTILE}"
    news = News.objects.create(watch=watch, before="1.0.81", after="1.0.85", words=words)
    for address in ("/", "/watch/"):
        text = client.get(address).content.decode()
        assert "exit 1 → 0" in text and "<script>alert" not in text and "\u202e" not in text
    client.post(f"/watch/news/{news.pk}/", {"from": "runs"})
    assert "exit 1 → 0" not in client.get("/").content.decode()
    assert "exit 1 → 0" in client.get("/watch/").content.decode()


@pytest.mark.django_db
def test_only_an_agent_of_several_versions_pretends_to_come_in_them(client: Client) -> None:
    pages = {
        name: client.get(f"/agents/{name}/").content.decode() for name in ("reference", "client")
    }
    assert "pretends to come in them" in pages["reference"]
    assert "pretends to come in them" not in pages["client"]
