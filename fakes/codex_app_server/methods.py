"""What the server does when a client asks: one function a method."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from fakes.codex_app_server import agents, payloads
from fakes.codex_app_server.ids import fresh, malformed
from fakes.codex_app_server.scenario import Plan
from fakes.codex_app_server.step import ScenarioError
from fakes.codex_app_server.turn import Interrupted, Turn
from fakes.codex_app_server.wire import INTERNAL, INVALID_REQUEST
from fakes.codex_app_server.world import World

Params = dict[str, Any]


class Refused(Exception):
    """The request is well formed and still refused; text and code are the server's."""

    def __init__(self, text: str, code: int = INVALID_REQUEST) -> None:
        super().__init__(text)
        self.code = code


class Request:
    """One request of the client, to be answered once, or never."""

    def __init__(self, world: World, identifier: Any, method: str, params: Params) -> None:
        self.world, self.id, self.method, self.params = world, identifier, method, params

    def answer(self, result: Any) -> None:
        """Send the result."""
        self.world.wire.result(self.id, self.method, result)

    def thread(self) -> tuple[str, dict[str, Any]]:
        """The thread that it names, if this process has it loaded; Refused."""
        identifier = self._identifier("thread")
        stored = self.world.store.thread(identifier)
        if stored is None or identifier not in self.world.loaded:
            raise Refused(f"thread not found: {identifier}")
        return identifier, stored

    def resumable(self) -> tuple[str, dict[str, Any]]:
        """The thread that it names, if the store has it; Refused."""
        identifier = self._identifier("session")
        stored = self.world.store.thread(identifier)
        if stored is None or self.world.scenario().forget_threads:
            raise Refused(f"no rollout found for thread id {identifier}")
        return identifier, stored

    def _identifier(self, kind: str) -> str:
        identifier = str(self.params["threadId"])
        wrong = malformed(identifier)
        if wrong and self.world.scenario().strict:
            raise Refused(f"invalid {kind} id: {wrong}")
        return identifier


def thread_start(request: Request) -> None:
    """A new thread, then ``thread/started``."""
    world, identifier = request.world, fresh()
    kept = ("cwd", "model", "developerInstructions", "approvalPolicy", "approvalsReviewer")
    stored = {key: request.params.get(key) for key in kept} | {"createdAt": payloads.seconds()}
    world.store.begin(identifier, stored)
    world.loaded[identifier] = "idle"
    thread = _thread(world, identifier, stored)
    request.answer(payloads.thread_answer(thread, stored))
    world.wire.notify("thread/started", {"thread": thread})


def thread_resume(request: Request) -> None:
    """A thread of the store with its turns; no ``thread/started``."""
    world = request.world
    if request.params.get("history") == []:
        raise Refused("history must not be empty")
    identifier, stored = request.resumable()
    world.loaded.setdefault(identifier, "idle")
    thread = {**_thread(world, identifier, stored), "turns": _turns(stored)}
    request.answer(payloads.thread_answer(thread, stored))


def thread_read(request: Request) -> None:
    """A thread of the store, with its turns if they are wanted."""
    identifier = str(request.params["threadId"])
    stored = request.world.store.thread(identifier)
    if stored is None:
        raise Refused(f"thread not loaded: {identifier}")
    turns = _turns(stored) if request.params.get("includeTurns") else []
    request.answer({"thread": {**_thread(request.world, identifier, stored), "turns": turns}})


def thread_list(request: Request) -> None:
    """All threads of the store, the newest first."""
    world = request.world
    found = [_thread(world, name, one) for name, one in world.store.read()["threads"].items()]
    request.answer({"data": found[::-1], "readStates": {}, "nextCursor": None})


def thread_loaded_list(request: Request) -> None:
    """The threads of this process."""
    request.answer({"data": list(request.world.loaded), "nextCursor": None})


def thread_unsubscribe(request: Request) -> None:
    """Nothing changes but the answer: a stand-in has one client."""
    known = request.params["threadId"] in request.world.loaded
    request.answer({"status": "unsubscribed" if known else "notLoaded"})


def thread_compact_start(request: Request) -> None:
    """A turn with nothing but a compaction."""
    identifier, _ = request.thread()
    turn = Turn(request.world, identifier)
    request.answer({})
    _begin(turn, Plan(steps=[{"kind": "compaction"}]), [], None)


def turn_start(request: Request) -> None:
    """The next scripted turn; with a turn open, its input joins that one instead."""
    world = request.world
    identifier, _ = request.thread()
    given, client_id = request.params["input"], request.params.get("clientUserMessageId")
    with world.lock:
        open_turn = world.running.get(identifier)
    if open_turn is not None:
        _join(request, open_turn)
        return
    plan = world.scenario().plan(world.store.next_turn())
    if plan.start_error:
        raise Refused(plan.start_error)
    turn = Turn(world, identifier)
    if plan.ack == "lost":
        world.transcript.event("ack_lost", id=request.id, turn=turn.id)
    elif plan.ack == "sent":
        request.answer({"turn": turn.told()})
    late = request if plan.ack == "late" else None
    _begin(turn, plan, given, client_id, late)


def _join(request: Request, turn: Turn) -> None:
    """As measured: from 0.160 the open turn takes the input, and refuses an empty one; older
    ones answer with a turn that never begins."""
    older = request.world.protocol.older_than("0.160.0")
    if not older and not request.params["input"]:
        raise Refused("failed to submit turn input: EmptyInput", INTERNAL)
    request.world.transcript.event("joined", turn=turn.id)
    _take(request, {"turn": payloads.turn(fresh()) if older else turn.told()}, turn)


def _take(request: Request, result: Any, turn: Turn | None) -> None:
    """Answers, then repeats the input as an item of the open turn, which has it before the
    client hears of it: nothing that the client does next can come between."""
    wire = request.world.wire
    with wire.quiet():
        with wire.keeping() as kept:
            if turn is not None:
                turn.echo(request.params["input"], request.params.get("clientUserMessageId"))
        request.answer(result)
        for message in kept:
            wire.say(message)


def turn_steer(request: Request) -> None:
    """Input to an open turn: always taken, unless the scenario is strict."""
    expected = request.params["expectedTurnId"]
    turn = _open_turn(request, "no active turn to steer")
    if request.world.scenario().strict:
        if turn is not None and turn.id != expected:
            raise Refused(f"expected active turn id `{expected}` but found `{turn.id}`")
        if not request.params["input"]:
            raise Refused("input must not be empty")
    _take(request, {"turnId": expected}, turn)


def turn_interrupt(request: Request) -> None:
    """Answered at once: the turn ends at the next boundary of its steps."""
    turn = _open_turn(request, "no active turn to interrupt")
    named = request.params["turnId"]
    if request.world.scenario().strict and turn is not None and turn.id != named:
        raise Refused(f"expected active turn id {named} but found {turn.id}")
    with request.world.wire.quiet():  # marked before the client hears of it, ended after
        if turn is not None and named in (turn.id, ""):
            turn.interrupted.set()
        request.answer({})
        if turn is not None and turn.interrupted.is_set():
            agents.interrupted(request.world, turn)


def _open_turn(request: Request, nothing: str) -> Turn | None:
    identifier = str(request.params["threadId"])
    with request.world.lock:
        turn = request.world.running.get(identifier)
    if request.world.scenario().strict:
        request.thread()
        if turn is None:
            raise Refused(nothing)
    return turn


def _begin(
    turn: Turn, plan: Plan, given: list[Any], client_id: str | None, late: Request | None = None
) -> None:
    with turn.world.lock:
        turn.world.running[turn.thread] = turn
    work = threading.Thread(target=_perform, args=(turn, plan, given, client_id, late), daemon=True)
    work.start()


def _perform(
    turn: Turn, plan: Plan, given: list[Any], client_id: str | None, late: Request | None
) -> None:
    try:
        try:
            turn.play(plan.before)
        except Interrupted:
            pass  # it ends as interrupted at its first step
        turn.run(plan, given, client_id)
        if late is not None:
            late.answer({"turn": turn.told()})
        turn.interrupted.clear()
        turn.play(plan.after)
    except Interrupted:
        pass
    except ScenarioError as wrong:
        turn.world.transcript.event("scenario_error", text=str(wrong))
        turn.end("failed", f"scenario: {wrong}")
    finally:
        turn.world.wire.release()


def _thread(world: World, identifier: str, stored: dict[str, Any]) -> dict[str, Any]:
    status = world.loaded.get(identifier, "notLoaded")
    return payloads.thread(identifier, stored, world.protocol.version, world.folder, status)


def _turns(stored: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        payloads.turn(
            turn["id"],
            turn["status"],
            items=turn["items"],
            itemsView="full",
            error=payloads.failure(turn["error"]) if turn.get("error") else None,
        )
        for turn in stored["turns"]
    ]


METHODS: dict[str, Callable[[Request], None]] = {
    "thread/start": thread_start,
    "thread/resume": thread_resume,
    "thread/read": thread_read,
    "thread/list": thread_list,
    "thread/loaded/list": thread_loaded_list,
    "thread/unsubscribe": thread_unsubscribe,
    "thread/compact/start": thread_compact_start,
    "turn/start": turn_start,
    "turn/steer": turn_steer,
    "turn/interrupt": turn_interrupt,
}
"""What the fake plays. Other methods of the protocol are answered by the scenario, or not at
all (``unsupported``)."""
