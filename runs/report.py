"""What a run says, as plain data: the JSON of ``reproduce`` and the API, and the public table."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from runs import models, store
from runs.clients import plays
from runs.core.events import Kind
from runs.core.history import History
from runs.core.owned import rows_of, story_of
from runs.core.owner_facts import differences
from runs.core.rows import agent_rows, attempt_rows, retry_row

ATTEMPTS_KEPT = 2000
"""Attempts in the summary of a run; the events hold all."""
PROTOCOL = "protocol/"
"""What begins the type of an event about a message that its protocol's schema does not know."""
PROTOCOL_ROWS = 200


def summary(run: models.Run, history: History) -> dict[str, Any]:
    """What lists and pages need of a history without reading it again."""
    attempts = attempt_rows(history)
    return {
        **{key: run.summary[key] for key in ("epoch", "complete", "intake") if key in run.summary},
        "agents": agent_rows(history, store.thresholds(run)),
        "attempts": attempts[:ATTEMPTS_KEPT],
        "attempt_count": len(attempts),
        "retry": retry_row(history),
        "duration": round(history.end, 3),
        "sources": sources(history),
        "damage": len(history.damage),
        "errors": errors(history),
        "tools": tools(history),
        "guard": guard(history),
        "network": network(history),
        "protocol": protocol(history),
        "owner": owner(run, history),
        "text_length": sum(1 for _ in history.of(Kind.AGENT_MESSAGE)),
    }


def sources(history: History) -> dict[str, int]:
    """Events by view."""
    counts = Counter(place.source for event in history.events for place in event.sightings)
    return dict(sorted(counts.items()))


def errors(history: History) -> list[str]:
    """Up to three error texts, as the agent wrote them (shown, never judged)."""
    found = dict.fromkeys(
        str(event.get("detail")) for event in history.of(Kind.ERROR) if event.get("detail")
    )
    return [text[:500] for text in list(found)[:3]]


def tools(history: History) -> dict[str, Any]:
    """Tools as advertised to the model and as executed."""
    advertised: dict[str, None] = {}
    for event in history.of(Kind.REQUEST_RECEIVED):
        advertised.update(dict.fromkeys(map(str, event.get("tools") or [])))
    executed = Counter(
        name
        for (_, name) in {
            (event.get("call") or event.seq, str(event.get("tool", "")))
            for event in history.of(Kind.TOOL_STARTED)
        }
    )
    return {"advertised": list(advertised), "executed": dict(executed)}


def guard(history: History) -> dict[str, Any] | None:
    """The guard that stopped the run: {guard, limit, value, what, seq}; None where none did."""
    fired = history.of(Kind.GUARD)
    return {**fired[0].data, "seq": fired[0].seq} if fired else None


def network(history: History) -> list[dict[str, Any]]:
    """What the agent tried to reach outside of the seal, each once, in order."""
    seen: dict[tuple[Any, ...], dict[str, Any]] = {}
    for event in history.of(Kind.NETWORK_ATTEMPT):
        key = (event.get("host"), event.get("address"), event.get("port"))
        row = seen.setdefault(key, {**event.data, "t": event.t, "seq": event.seq, "times": 0})
        row["times"] += 1
    return list(seen.values())


def protocol(history: History) -> list[dict[str, Any]]:
    """What messages had that the version's own schema does not know or forbids, counted."""
    seen: dict[tuple[str, str, str], dict[str, Any]] = {}
    for event in history.of(Kind.OTHER):
        kind = str(event.get("type", ""))
        if not kind.startswith(PROTOCOL):
            continue
        what, detail = kind.removeprefix(PROTOCOL), str(event.get("summary", ""))
        row = seen.setdefault(
            (what, event.native, detail),
            {"what": what, "method": event.native, "detail": detail, "seq": event.seq, "times": 0},
        )
        row["times"] += 1
    return sorted(seen.values(), key=lambda row: -int(row["times"]))[:PROTOCOL_ROWS]


def owner(run: models.Run, history: History) -> dict[str, Any] | None:
    """How the owner of a client run came out, and whether it kept the rule of its play."""
    rows = rows_of(history)
    story = story_of(rows) if rows else None
    if story is None:
        return None
    play = plays().get(str(run.options.get("play")))
    wrong = differences(rows, play.expect) if play is not None else []
    return {
        "outcome": story.outcome if story.results else None,
        "rule": play.rule if play is not None else "",
        "kept": not wrong,
        "differences": [asdict(one) for one in wrong],
    }


def runtime(history: History) -> dict[str, Any]:
    """What the run itself said about its runtime (node, payload, platform …)."""
    found: dict[str, Any] = {}
    for event in history.of(Kind.SESSION_STARTED, Kind.RUNTIME):
        for key in ("node", "payload", "platform", "model"):
            if event.get(key) and key not in found:
                found[key] = event.get(key)
    return found


def document(run: models.Run) -> dict[str, Any]:
    """The run as JSON; the keys of design.md and some more."""
    about = run.summary
    return {
        "agent": run.agent,
        "version": run.reported_version or run.version,
        "requested_version": run.version,
        "scenario": run.scenario,
        "kind": run.kind,
        "status": run.status,
        "phase": run.phase,
        "outcome": run.outcome or None,
        "public_outcome": run.public_outcome or None,
        "diagnosis": run.diagnosis or None,
        "exit_code": run.exit_code,
        "permalink": run.permalink,
        "path": f"/runs/{run.permalink}/",
        "agents": about.get("agents", []),
        "attempts": about.get("attempts", []),
        "retry": about.get("retry", {"reported": {}, "measured": {}}),
        "findings": findings(run),
        "sha256": run.sha256,
        "sealed": run.sealed,
        "runtime": run.runtime,
        "guard": about.get("guard"),
        "network": about.get("network", []),
        "protocol": about.get("protocol", []),
        "owner": about.get("owner"),
        "tools": about.get("tools", {}),
        "errors": about.get("errors", []),
        "duration": about.get("duration"),
        "event_count": run.event_count,
        "damage": about.get("damage", 0),
        "error": run.error or None,
        "options": run.options,
        "created_at": run.created_at.isoformat(),
        "started_at": run.started_at.isoformat() if run.started_at else None,
        "ended_at": run.ended_at.isoformat() if run.ended_at else None,
        "expect": run.expect or None,
        "met": run.expect in (run.outcome, run.diagnosis) if run.expect else None,
    }


def findings(run: models.Run) -> list[dict[str, Any]]:
    """The stored findings as JSON, in their order."""
    keys = ("law", "verdict", "agent", "evidence", "reason", "because", "label", "figures")
    rows = models.Finding.objects.filter(run=run).order_by("position").values(*keys)
    return [dict(row) for row in rows]


def table(run: models.Run) -> str:
    """The rows of the public repro, for a terminal; then findings and the permalink."""
    about, rows = run.summary, []
    child = _first_child(about.get("agents", []))
    attempts = [row for row in about.get("attempts", []) if row["caller"].startswith("child")]
    retry = about.get("retry", {})
    reported, tools_ = retry.get("reported", {}), about.get("tools", {})
    gaps = [f"{gap:.3f}" for row in attempts if (gap := row["gap_before"]) is not None]
    rows += [
        ("mode", f"{run.agent}@{run.version} {run.scenario}"),
        ("loaded payload", run.reported_version or "not reported"),
        ("node", run.runtime.get("node") or "–"),
        ("status", run.status),
        ("outcome", run.outcome or "–"),
        ("diagnosis", run.diagnosis or "–"),
        ("process exit code", "–" if run.exit_code is None else run.exit_code),
        ("child outbound attempts", len(attempts)),
        ("child inter-request gaps", ", ".join(gaps) or "–"),
        ("reported retries", _or_dash(reported.get("retries"))),
        ("reported retry sleep", _or_dash(reported.get("sleep"))),
        ("advertised tools", ", ".join(tools_.get("advertised", [])) or "–"),
        (
            "executed tools",
            ", ".join(f"{k} {v}×" for k, v in tools_.get("executed", {}).items()) or "–",
        ),
        ("subagent.started", "yes" if child else "no"),
        ("terminal event on stdout", child["terminal"].get("stdout", "none") if child else "–"),
        ("terminal event in session", child["terminal"].get("session", "none") if child else "–"),
        ("parent told", _told(child)),
    ]
    rows += _owner_rows(about.get("owner"))
    rows += [("error", plain(text)) for text in about.get("errors", [])]
    if run.error:
        rows.append(("trouble", f"{run.error.get('what')} {run.error.get('do')}"))
    broken = [row for row in findings(run) if row["verdict"] == "broken"]
    rows += [(f"{row['law']} broken", f"{row['agent']}: {plain(row['reason'])}") for row in broken]
    rows.append(("permalink", f"/runs/{run.permalink}/"))
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


def _owner_rows(found: dict[str, Any] | None) -> list[tuple[str, str]]:
    """How a client's owner came out, and what became of its rule."""
    if not found:
        return []
    rows = [("owner", (found["outcome"] or "no result").replace("_", " "))]
    if found["rule"]:
        rows.append((f"rule {found['rule']}", "kept" if found["kept"] else "broken"))
    rows += [
        (f"  {one['fact']}", plain(f"{one['found']!r}, expected {one['expected']!r}"))
        for one in found["differences"]
    ]
    return rows


def _first_child(agents: list[dict[str, Any]]) -> dict[str, Any] | None:
    return next((row for row in agents if row["parent"]), None)


def _told(child: dict[str, Any] | None) -> str:
    if child is None:
        return "–"
    told = child.get("told")
    return plain(f"{told['status']} ({told['raw']})") if told else "never"


def _or_dash(value: Any) -> Any:
    return "–" if value is None else value


def plain(text: str) -> str:
    """The text for a terminal: one line, control characters made visible."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text.replace("\n", " "))
