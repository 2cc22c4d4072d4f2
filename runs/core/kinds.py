"""The closed table of event kinds: each kind, what it says, and the keys of its data.

Readers keep what they do not understand as ``other``. A key that is not in the table
does not exist: a conformance test holds readers and drivers to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What an event says. The value is what is stored, searched and shown."""

    # The session and its capture
    SESSION_STARTED = "session.started"
    SESSION_RESUMED = "session.resumed"
    SESSION_ENDED = "session.ended"
    CAPTURE_ENDED = "capture.ended"
    STATUS = "session.status"
    REGISTRY = "registry"
    RESULT = "result"
    LIMIT = "limit"
    # Agents
    SPAWN_REQUESTED = "spawn.requested"
    SPAWN_ANSWERED = "spawn.answered"
    AGENT_STARTED = "agent.started"
    AGENT_RESUMED = "agent.resumed"
    AGENT_ENDED = "agent.ended"
    NOTICE_QUEUED = "notice.queued"
    NOTICE_DELIVERED = "notice.delivered"
    # Turns, messages, tools
    TURN_STARTED = "turn.started"
    TURN_ENDED = "turn.ended"
    USER_MESSAGE = "message.user"
    AGENT_MESSAGE = "message.agent"
    DELTA = "message.delta"
    TOOL_STARTED = "tool.started"
    TOOL_ENDED = "tool.ended"
    ITEM_LEFT = "item.left-open"
    # Model calls as the agent reports them
    MODEL_STARTED = "model.started"
    MODEL_ENDED = "model.ended"
    MODEL_RETRY = "model.retry"
    RETRY_CLAIM = "retry.claim"
    ERROR = "error"
    # Model calls as the provider saw them
    REQUEST_RECEIVED = "request.received"
    RESPONSE_STARTED = "response.started"
    FAULT_FIRED = "fault.fired"
    REQUEST_ENDED = "request.ended"
    # Control
    CANCEL_REQUESTED = "cancel.requested"
    ABORTED = "aborted"
    QUESTION_ASKED = "question.asked"
    QUESTION_SHOWN = "question.shown"
    QUESTION_ANSWERED = "question.answered"
    WATCHDOG = "watchdog.fired"
    MODEL_CHANGED = "model.changed"
    # Traces
    SPAN = "trace.span"
    # The process, as we see it from outside
    PROCESS_STARTED = "process.started"
    PROCESS_SAMPLE = "process.sample"
    PROCESS_EXITED = "process.exited"
    PART = "process.part"
    RUNTIME = "process.runtime"
    NETWORK_ATTEMPT = "network.attempt"
    # Ours
    PHASE = "run.phase"
    GUARD = "guard.fired"
    SEEN_AGAIN = "seen.again"
    DAMAGE = "damage"
    OTHER = "other"


class Told(NamedTuple):
    """One row of the table: what the kind says and the keys of its data."""

    sentence: str
    keys: frozenset[str]


def _told(sentence: str, keys: str = "") -> Told:
    return Told(sentence, frozenset(keys.split()))


KINDS: Mapping[Kind, Told] = {
    Kind.SESSION_STARTED: _told(
        "A session begins.", "version model cwd session platform node payload"
    ),
    Kind.SESSION_RESUMED: _told("An earlier session is loaded again.", "session version"),
    Kind.SESSION_ENDED: _told("The session says that it ends.", "how"),
    Kind.CAPTURE_ENDED: _told("The observer stopped here; nothing later is known.", "requests"),
    Kind.STATUS: _told(
        "session.status of an agent in our words. `status` is ours; `raw` the agent's own word; "
        "`open` the child ids that the event itself lists as open (null: it lists none); "
        "`of`/`next_at` attempt limits and epoch seconds of the next try for `retrying`; `model` "
        "that the turn is set to ask.",
        "status raw inferred open attempt of next_at reason model",
    ),
    Kind.REGISTRY: _told(
        "The runtime's own list of what runs in the background.", "open shells what"
    ),
    Kind.RESULT: _told(
        "The program's last word about the whole run.",
        "status is_error exit_code text_length killed failed completed children",
    ),
    Kind.LIMIT: _told("A limit that is in force.", "name value"),
    Kind.SPAWN_REQUESTED: _told(
        "The agent asks for a child (`call` is the tool call's id; `task`: the number in the "
        "task's marker, as in `request.received`).",
        "call name role background model depth prompt_length child task",
    ),
    Kind.SPAWN_ANSWERED: _told(
        "The spawn call is answered. `ok` true: accepted; false: refused or failed "
        "(`refusal`: limit, depth, other, or error without a reason). `child` is the id if the "
        "answer names it, `model` the one that it says the child is given.",
        "call ok child refusal background has_result status model",
    ),
    Kind.AGENT_STARTED: _told(
        "An agent's run begins. `parent` is its spawner's id. `ends_elsewhere`: this source "
        "shows no end of it by itself (only a wait or the child's own log would).",
        "parent name role background model call path depth run ends_elsewhere",
    ),
    Kind.AGENT_RESUMED: _told(
        "An agent that ended gets work again (follow-up, resume): a new run.", "by call run reason"
    ),
    Kind.AGENT_ENDED: _told(
        "An agent's run ends. `status`: completed, failed, cancelled, interrupted, stopped. "
        "`raw` is the agent's word; `text_length` of its final answer where known; `inferred`: no "
        "record says so, its log closes with an answer or an error.",
        "status raw call error_class http_status has_result text_length duration run detail "
        "inferred",
    ),
    Kind.NOTICE_QUEUED: _told(
        "Word of a child's end is put in a queue for `agent`.", "child status raw call run"
    ),
    Kind.NOTICE_DELIVERED: _told(
        "`agent` is told about `child`. `status`: completed, failed, cancelled, interrupted, "
        "stopped, idle, running, unknown (the word it was told, ours); `raw` the agent's word; "
        "`form`: notification, tool_result, poll, wait, wake, activity; "
        "`has_result`/`text_length`: a result or error text came along (null: not observable); "
        "`finish`: why it stopped, where that is said beside its status; `batch`: those whose "
        "results come together, when the last of them has ended; `worded`: its status stands "
        "in the message's own words alone.",
        "child status raw call form has_result text_length error_passed run digest finish batch "
        "worded",
    ),
    Kind.TURN_STARTED: _told("A turn of the agent begins.", "turn call"),
    Kind.TURN_ENDED: _told("A turn ends.", "turn status raw error_class"),
    Kind.USER_MESSAGE: _told(
        "A message reaches the agent from outside. `digest` of a text, here and elsewhere: see "
        "`fakes.spoken`.",
        "text_length from queued digest",
    ),
    Kind.AGENT_MESSAGE: _told(
        "The agent says something. `final`: its turn ends with it; `finish`: stop reason word; "
        "`preview`: the text shown is cut by the log, not by the model.",
        "text_length final finish tool_calls model preview error empty digest",
    ),
    Kind.DELTA: _told("Content arrives in pieces.", "text_length what"),
    Kind.TOOL_STARTED: _told("A tool call begins.", "call tool background"),
    Kind.TOOL_ENDED: _told(
        "A tool call ends.", "call tool ok text_length background denied interrupted"
    ),
    Kind.ITEM_LEFT: _told(
        "A view shows where this item begins, and no end of it. `what`: message, or the tool's "
        "name; `item` is its id.",
        "what item",
    ),
    Kind.MODEL_STARTED: _told("The agent says that it calls its model.", "call model attempt"),
    Kind.MODEL_ENDED: _told(
        "The agent says how its model call ended.",
        "call ok http_status error_class finish duration model attempt usage",
    ),
    Kind.MODEL_RETRY: _told(
        "The agent says that it tries again. `delay` seconds as announced.",
        "attempt of delay reason http_status next_at",
    ),
    Kind.RETRY_CLAIM: _told(
        "The agent claims, afterwards, how often and how long it retried.", "retries sleep"
    ),
    Kind.ERROR: _told(
        "An error record that belongs to the agent. `error_class`: rate_limit, auth, "
        "bad_request, overloaded, server, stream, timeout, aborted, refused, limit, other.",
        "error_class http_status code retryable will_retry raw detail",
    ),
    Kind.REQUEST_RECEIVED: _told(
        "The provider has a whole request. `conversation`: what it tells of it, in the words of "
        "`fakes.spoken`.",
        "call attempt caller turn request model stream dialect bytes tools path headers "
        "connection body fault_aimed task conversation",
    ),
    Kind.RESPONSE_STARTED: _told("First byte of an answer.", "call attempt request status"),
    Kind.FAULT_FIRED: _told(
        "A fault acted on this answer.",
        "call attempt request fault mark bytes events settings",
    ),
    Kind.REQUEST_ENDED: _told(
        "The exchange is over. `complete`: a whole, unbroken answer was sent; "
        "`closed`: ended, cut, reset, refused, client-gone, open (still open when the run ended).",
        "call attempt caller turn request status complete closed bytes events fault retry_after "
        "model start duration first_byte error_class response",
    ),
    Kind.CANCEL_REQUESTED: _told(
        "Somebody asks to cancel `target` (an agent id; root means all). `by`: user, parent, "
        "harness.",
        "target by raw",
    ),
    Kind.ABORTED: _told("The agent records an abort.", "reason by target"),
    Kind.QUESTION_ASKED: _told("A permission or question is raised.", "id what tool call"),
    Kind.QUESTION_SHOWN: _told("A question reaches somebody who can answer.", "id to call"),
    Kind.QUESTION_ANSWERED: _told("A question is answered or refused.", "id answer by"),
    Kind.WATCHDOG: _told("A watchdog flags or ends an agent.", "target action after reason"),
    Kind.MODEL_CHANGED: _told(
        "The model of an agent changes by an explicit record.", "from to by reason"
    ),
    Kind.SPAN: _told(
        "A finished trace span.",
        "span parent trace op name conversation agent_id start end ok tool model error_class "
        "http_status finish",
    ),
    Kind.PROCESS_STARTED: _told("The binary runs.", "pid argv sealed"),
    Kind.PROCESS_SAMPLE: _told("The process tree, measured.", "rss cpu processes"),
    Kind.PROCESS_EXITED: _told("The binary is gone.", "code signal"),
    Kind.PART: _told(
        "A part of the agent's product (server, runner) as a process of its own. `status`: "
        "started, online (it serves), killed (by us, as a crash), stopped (by us, at the end), "
        "ended (by itself).",
        "part status pid signal code version",
    ),
    Kind.RUNTIME: _told(
        "What a preload of ours sees inside the process.", "node payload platform version"
    ),
    Kind.NETWORK_ATTEMPT: _told("The agent tried to leave the seal.", "host address port what"),
    Kind.PHASE: _told("A decision or step of ours.", "phase detail"),
    Kind.GUARD: _told("A guard stopped the run.", "guard limit value what"),
    Kind.SEEN_AGAIN: _told("The fact with number `of` was seen in another source as well.", "of"),
    Kind.DAMAGE: _told(
        "A physical line is damaged. `what`: half-line, glued, bom, crlf, invalid-utf8, nul, "
        "duplicate, reordered, time-backwards, broken-parent, missing-start, truncated, "
        "not-json, too-long, too-deep. `repaired`: the fact was recovered with certainty.",
        "what repaired detail lost",
    ),
    Kind.OTHER: _told("Known to exist, not understood; kept and counted.", "type summary"),
}
