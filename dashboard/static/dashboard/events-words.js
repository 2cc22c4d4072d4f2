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

/**
 * What events say, as the page gives it (runs/sayings.py tells the form of the parts).
 * @type {{says: Record<string, string[]>, loud: Record<string, string>, badEnds: string[], closed: Record<string, string>}}
 */
let table = { says: {}, loud: {}, badEnds: [], closed: {} };

/** Takes the table; before, every event says its plain values. */
export function learn(given) {
  table = given;
}

const HOLE = /\{([a-z_,]+)(?:\|([a-z]+)((?: [a-z_]+)*))?\}/;
const MAYBE = /\[([^\]]*)\]/;
const CONDITIONS = { "?": Boolean, "!": (value) => value === false, "~": (value) => value !== false };

/** What the event says, beside its kind. @param {Event} event @returns {string} */
export function says({ kind, data }) {
  const given = data ?? {};
  const parts = Object.hasOwn(table.says, kind)
    ? table.says[kind].map((part) => said(part, given))
    : Object.entries(given).map(([key, value]) => plain(value) && `${key} ${plain(value)}`);
  return clean(parts.filter(Boolean).join(", "));
}

function said(part, data) {
  const holds = CONDITIONS[part[0]];
  if (holds) {
    const [word] = part.split(" ", 1);
    if (!holds(data[word.slice(1)])) return "";
    part = part.slice(word.length + 1);
  }
  const pieces = part.split(MAYBE).map((piece) => filled(piece, data));
  return pieces.some((piece, at) => piece === null && at % 2 === 0) ? "" : pieces.join("");
}

/** The text with its values; null where one is missing. */
function filled(text, data) {
  const pieces = text.split(HOLE);
  let made = pieces[0];
  for (let at = 1; at < pieces.length; at += 4) {
    const [keys, how, rest, after] = pieces.slice(at, at + 4);
    const key = keys.split(",").find((one) => plain(data[one]));
    const value = key === undefined ? "" : shown(data[key], how, rest?.trim().split(" ") ?? [], data);
    if (!value) return null;
    made += value + after;
  }
  return made;
}

function shown(value, how, rest, data) {
  if (how === "unless") return value === data[rest[0]] ? "" : plain(value);
  if (how === "closed") return value === "ended" && data.status >= 400 ? `error ${data.status}` : table.closed[value] ?? plain(value);
  if (!how || typeof value !== "number") return plain(value);
  if (how === "count") return `${value.toLocaleString("en")} ${value === 1 ? rest[0] : rest[1] ?? `${rest[0]}s`}`;
  if (how === "seconds") return seconds(value);
  return how === "size" ? bytes(value) : String(Math.round(value));
}

function plain(value) {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** The tone of an event: bad, unknown or "". @param {Event} event */
export function toneOf({ kind, data }) {
  if ((kind === "request.ended" && !data?.complete) || data?.ok === false) return "bad";
  if (kind === "agent.ended" && table.badEnds.includes(data?.status)) return "bad";
  return table.loud[kind] ?? "";
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

/**
 * Whether the event passes: every field named must match one of its terms, no `-` term may.
 * @param {Event} event @param {Term[]} terms @param {(agent: string) => string} [nameOf] what an agent is called
 */
export function passes(event, terms, nameOf = (agent) => agent) {
  if (event.kind === QUIET && !terms.some((term) => term.field === "kind" && !term.not)) return false;
  const asked = new Map();
  for (const term of terms) {
    const found = matches(event, term, nameOf);
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

function matches(event, term, nameOf) {
  if (!term.field) return haystack(event).includes(term.value);
  return term.value.split(",").some((value) => value !== "" && holds(event, term.field, value, nameOf));
}

function holds(event, field, value, nameOf) {
  if (field === "agent" && nameOf(event.agent).toLowerCase().includes(value)) return true;
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
