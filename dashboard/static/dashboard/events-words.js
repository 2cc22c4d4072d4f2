// Events in words, and filters over them. Pure; tested with node alone.
// Nothing an agent wrote is trusted: texts are cleaned here and only ever set as text.

/**
 * @typedef {{seq: number, t: number|null, kind: string, agent: string, source: string, file: string,
 *   line: number|null, pointer: string, native: string, data: Record<string, any>, also?: object[]}} Event
 * @typedef {{field: string, value: string, not: boolean}} Term
 */

// Control and invisible characters, and those that reorder what stands next to them.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb]/g;

/** The text with what hides or reorders made visible, at most `limit` characters. */
export function clean(value, limit = 300) {
  const text = String(value ?? "");
  const cut = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return cut.replace(HIDDEN, (found) => (found === "\n" || found === "\t" ? " " : "␣"));
}

/** A number of bytes as people read it. */
export function bytes(count) {
  if (count < 1024) return `${count} B`;
  if (count < 1048576) return `${(count / 1024).toFixed(1)} KiB`;
  return `${(count / 1048576).toFixed(1)} MiB`;
}

/** A duration in seconds as people read it: `4 ms`, `1.01 s`, `3 min 20 s`. */
export function seconds(value) {
  if (value < 0.9995) return `${Math.round(value * 1000)} ms`;
  if (value < 60) return `${value.toFixed(value < 9.995 ? 2 : 1)} s`;
  if (value < 3600) return `${Math.floor(value / 60)} min ${Math.floor(value % 60)} s`;
  return `${Math.floor(value / 3600)} h ${Math.floor((value % 3600) / 60)} min`;
}

const one = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const list = (...parts) => parts.filter((part) => part !== "" && part !== null && part !== undefined && part !== false).join(", ");
const attempt = (d) => d.attempt && `attempt ${d.attempt}${d.of ? ` of ${d.of}` : ""}`;

/** By kind: what an event says in a few words. @type {Record<string, (d: any, e: Event) => string>} */
const SAYS = {
  "session.started": (d) => list(d.version, d.model, d.platform),
  "session.status": (d) => list(d.status, d.raw && d.raw !== d.status && `“${d.raw}”`, attempt(d), d.inferred && "inferred", d.reason),
  "spawn.requested": (d) => list(d.name, d.role, d.background && "background", d.model),
  "spawn.answered": (d) => list(d.ok === false ? `refused (${d.refusal ?? "error"})` : "accepted", d.child),
  "agent.started": (d) => list(d.name, d.background && "background", d.role, d.model, d.parent && `under ${d.parent}`),
  "agent.ended": (d) => list(d.status, d.raw && d.raw !== d.status && `“${d.raw}”`, d.error_class, d.detail),
  "notice.queued": (d) => list(`${d.status ?? "word"} of ${d.child}`, d.raw && `“${d.raw}”`),
  "notice.delivered": (d) => list(`told “${d.raw ?? d.status}” of ${d.child}`, d.form, d.has_result === false && "no result"),
  "message.user": (d) => list(d.from && `from ${d.from}`, d.text_length && one(d.text_length, "character")),
  "message.agent": (d) => list(d.text_length !== undefined && one(d.text_length, "character"), d.final && "final", d.finish, d.error),
  "message.delta": (d) => list(d.what, d.text_length && one(d.text_length, "character")),
  "tool.started": (d) => list(d.tool, d.background && "background"),
  "tool.ended": (d) => list(d.tool, d.ok === false ? "failed" : d.ok && "ok", d.denied && "denied"),
  "item.left-open": (d) => list(d.what, "never ended"),
  "model.ended": (d) => list(d.ok === false ? "failed" : d.ok && "ok", d.http_status, d.error_class, d.finish),
  "model.retry": (d) => list(attempt(d), d.delay !== undefined && d.delay !== null && `next in ${seconds(Number(d.delay))}`, d.reason),
  "retry.claim": (d) => list(`retried ${one(d.retries, "time")}`, d.sleep !== undefined && `${Number(d.sleep).toFixed(2)} s in all`),
  error: (d) => list(d.error_class, d.http_status, d.code, d.raw ?? d.detail),
  "request.received": (d) => list(d.caller, d.call && `call ${d.call}`, attempt(d), d.bytes && bytes(d.bytes), d.model),
  "response.started": (d) => list(d.status, attempt(d)),
  "fault.fired": (d) => list(d.fault, d.events !== undefined && `after ${one(d.events, "event")}`, d.bytes !== undefined && bytes(d.bytes)),
  "request.ended": (d) => list(attempt(d), d.complete ? "complete" : d.closed, d.status, d.duration !== undefined && d.duration !== null && seconds(Number(d.duration)), d.fault),
  "process.sample": (d) => list(d.rss && bytes(d.rss), d.cpu !== undefined && `${Math.round(d.cpu)} % processor`, d.processes && one(d.processes, "process").replace("processs", "processes")),
  "process.exited": (d) => list(d.signal ? `signal ${d.signal}` : `exit code ${d.code}`),
  "process.part": (d) => list(d.part, d.status, d.version, d.signal && `signal ${d.signal}`, d.code !== undefined && d.code !== null && `code ${d.code}`),
  "run.phase": (d) => list(d.phase),
  "guard.fired": (d) => list(d.guard, d.limit !== undefined && `limit ${d.limit}`),
  "network.attempt": (d) => list(d.host ?? d.address, d.port, d.what),
  damage: (d) => list(d.what, d.repaired && "repaired", d.detail),
  other: (d) => list(d.type, d.summary),
};

/** What the event says, beside its kind. @param {Event} event @returns {string} */
export function says(event) {
  const data = event.data ?? {};
  let text = "";
  try {
    text = SAYS[event.kind]?.(data, event) ?? "";
  } catch {
    text = ""; // data of an unforeseen shape: the plain listing below
  }
  if (!text && !SAYS[event.kind]) {
    text = Object.entries(data)
      .filter(([, value]) => value !== null && typeof value !== "object")
      .map(([key, value]) => `${key} ${value}`)
      .join(", ");
  }
  return clean(text);
}

const BAD = new Set(["fault.fired", "error", "guard.fired", "watchdog.fired", "network.attempt"]);
const ENDED_BADLY = new Set(["failed", "cancelled", "interrupted", "stopped"]);

/** The tone of an event: bad, unknown or "". @param {Event} event */
export function toneOf(event) {
  const { kind, data = {} } = event;
  if (BAD.has(kind) || (kind === "request.ended" && data.complete === false) || data.ok === false) return "bad";
  if (kind === "agent.ended" && ENDED_BADLY.has(data.status)) return "bad";
  return kind === "damage" ? "unknown" : "";
}

const FIELDS = new Set(["agent", "kind", "source", "file", "native", "caller", "call", "attempt", "seq", "line"]);

/** A filter as terms: `agent:child -kind:message.delta "two words" word`. @returns {Term[]} */
export function parseFilter(text) {
  const terms = [];
  for (const [, minus, field, quoted, bare] of text.matchAll(/(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/g)) {
    const known = field !== undefined && FIELDS.has(field);
    const value = quoted ?? bare ?? "";
    const whole = field !== undefined && !known ? `${field}:${value}` : value;
    if (whole) terms.push({ field: known ? field : "", value: whole.toLowerCase(), not: minus === "-" });
  }
  return terms;
}

/** Kinds that the list leaves out unless the filter names a kind; the timeline shows them. */
const QUIET = "process.sample";

/** Whether the event passes: every field named must match one of its terms, no `-` term may. */
export function passes(event, terms) {
  if (event.kind === QUIET && !terms.some((term) => term.field === "kind" && !term.not)) return false;
  const asked = new Map();
  for (const term of terms) {
    const found = matches(event, term);
    if (term.not) {
      if (found) return false;
    } else if (!term.field) {
      if (!found) return false;
    } else {
      asked.set(term.field, asked.get(term.field) || found);
    }
  }
  for (const found of asked.values()) if (!found) return false;
  return true;
}

function matches(event, term) {
  if (!term.field) return haystack(event).includes(term.value);
  return term.value.split(",").some((value) => value !== "" && holds(event, term.field, value));
}

function holds(event, field, value) {
  if (field === "source") return [event, ...(event.also ?? [])].some((place) => place.source === value);
  if (field === "seq" || field === "line" || field === "call" || field === "attempt") {
    return inRange(event[field] ?? event.data?.[field], value);
  }
  if (field === "caller") return String(event.data?.caller ?? "").toLowerCase() === value;
  return String(event[field] ?? "").toLowerCase().includes(value);
}

function inRange(number, value) {
  const [, from, dots, to] = value.match(/^(\d*)(\.\.|-)?(\d*)$/) ?? [];
  if (number === null || number === undefined || (from ?? "") + (to ?? "") === "") return false;
  return dots ? number >= Number(from || 0) && number <= Number(to || Infinity) : number === Number(from);
}

function haystack(event) {
  event.text ??= `${event.kind} ${event.agent} ${event.native} ${event.source} ${event.file} ${JSON.stringify(event.data)}`.toLowerCase();
  return event.text;
}
