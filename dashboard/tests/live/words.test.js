import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { clean, learn, parseFilter, passes, says, seconds, toneOf } from "./events-words.js";
import { MOST, Store } from "./events-store.js";
import { thinned } from "./timeline-paper.js";

const event = (seq, more = {}) => ({ seq, t: seq, kind: "tool.started", agent: "repro-child", source: "stdout", file: "stdout.jsonl", line: seq, pointer: "", native: "tool.start", data: {}, ...more });
const passing = (filter, events) => events.filter((one) => passes(one, parseFilter(filter))).map((one) => one.seq);

test("it filters by field, by what must not be there and by words", () => {
  const events = [
    event(1), event(2, { agent: "root" }), event(3, { kind: "message.delta" }), event(4, { source: "provider", data: { fault: "sse-cut", caller: "child:1", attempt: 3 } }),
    event(5, { kind: "process.sample", agent: "" }), event(6, { also: [{ source: "session", file: "s", line: 1 }] }),
  ];
  assert.deepEqual(passing("", events), [1, 2, 3, 4, 6]);
  assert.deepEqual(passing("agent:repro-child -kind:message.delta", events), [1, 4, 6]);
  assert.deepEqual(passing("kind:process.sample", events), [5]);
  assert.deepEqual(passing("source:provider,session", events), [4, 6]);
  assert.deepEqual(passing("SSE-cut", events), [4]);
  assert.deepEqual(passing("caller:child:1 attempt:2..4", events), [4]);
  assert.deepEqual(passing("agent:root agent:repro-child source:stdout", events), [1, 2, 3, 6]);
  assert.deepEqual(passing("seq:2-3", events), [2, 3]);
  assert.deepEqual(passing('"no such words"', events), []);
  assert.deepEqual(passing("-", events), passing("-", events));
});

test("it survives any filter a person may type", () => {
  for (const text of ['"', "-", ":", "agent:", "a:b:c", "((", "\\", "kind:,", "-\"x", "seq:-"]) passing(text, [event(1)]);
});

test("it says what an event is in words", () => {
  const { table, cases } = JSON.parse(readFileSync(new URL("words.json", import.meta.url), "utf8"));
  learn(table);
  for (const [kind, data, words, tone] of cases) {
    const one = event(1, { kind, data });
    assert.deepEqual([kind, says(one), toneOf(one)], [kind, words, tone]);
  }
  assert.equal(says(event(1, { kind: "never.heard", data: { a: 1, b: "x", c: { d: 1 }, e: null } })), "a 1, b x");
  for (const data of [{}, { bytes: "many" }, { delay: {} }, { raw: ["x"] }, { text_length: null }]) {
    for (const kind of ["model.retry", "error", "request.ended", "process.sample", "retry.claim", "message.agent"]) says(event(1, { kind, data }));
  }
});

test("it makes visible what would hide or reorder", () => {
  assert.equal(clean("a\u202eb\u0000c\u200bd"), "a␣b␣c␣d");
  assert.equal(clean("x".repeat(500)).length, 301);
  assert.equal(clean(null), "");
  assert.ok(!/[\u0000-\u001f]/.test(says(event(1, { kind: "error", data: { raw: "\u001b[31mred\u0007" } }))));
});

test("it names durations as people do", () => {
  assert.deepEqual([0.004, 1.005, 41.23, 200, 7500].map(seconds), ["4 ms", "1.00 s", "41.2 s", "3 min 20 s", "2 h 5 min"]);
});

test("it gives a tone to what went wrong and to nothing else", () => {
  assert.equal(toneOf(event(1, { kind: "request.ended", data: { complete: false } })), "bad");
  assert.equal(toneOf(event(1, { kind: "request.ended", data: { complete: true } })), "");
  assert.equal(toneOf(event(1, { kind: "damage" })), "unknown");
});

test("it finds an agent by its id and by its name", () => {
  const one = event(1, { agent: "4bd9c2" });
  const nameOf = (agent) => ({ "4bd9c2": "Kuhn" })[agent] ?? agent;
  assert.equal(passes(one, parseFilter("agent:kuhn"), nameOf), true);
  assert.equal(passes(one, parseFilter("agent:4bd"), nameOf), true);
  assert.equal(passes(one, parseFilter("agent:kuhn")), false);
});

test("it ignores a number that it has seen", () => {
  const store = new Store();
  assert.equal(store.append([event(1), event(2)]).length, 2);
  assert.deepEqual(store.append([event(2), event(3)]).map((one) => one.seq), [3]);
  assert.deepEqual(store.events.map((one) => one.seq), [1, 2, 3]);
});

test("it joins a mirrored sighting with its first one", () => {
  const store = new Store();
  store.append([event(1), event(2, { kind: "seen.again", source: "session", data: { of: 1 } }), event(3)]);
  assert.deepEqual(store.events.map((one) => one.seq), [1, 3]);
  assert.equal(store.events[0].also[0].source, "session");
  assert.equal(store.bySeq.get(2).seq, 1);
  assert.equal(store.total, 2);
});

test("it puts earlier events in front and stays one piece", () => {
  const store = new Store();
  store.clear(10);
  store.append([event(11), event(12)]);
  assert.equal(store.whole, false);
  store.prepend([event(9), event(10), event(11)]);
  assert.deepEqual(store.events.map((one) => one.seq), [9, 10, 11, 12]);
  assert.deepEqual([store.first, store.last, store.tip], [9, 12, 12]);
});

test("it holds a bounded number and says from where on", () => {
  const store = new Store();
  store.append(Array.from({ length: MOST + 50 }, (_, at) => event(at + 1)));
  assert.equal(store.trim(), 50);
  assert.deepEqual([store.first, store.events.length, store.whole], [51, MOST, false]);
});

test("it says how many of a lane's bars and marks stand for more", () => {
  assert.equal(thinned({ of: 12_400, shown: 1500 }), "1,500 of 12,400");
  assert.equal(thinned({ of: 12, shown: 12 }), "");
  assert.equal(thinned({}), "");
});
