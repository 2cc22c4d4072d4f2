import assert from "node:assert/strict";
import { test } from "node:test";
import { Model, barsWithin, indexed, itemsOf, marksWithin, neighbour, valueOf } from "./timeline-model.js";
import { hit, layOut, rowAt } from "./timeline-layout.js";
import { Scale } from "./timeline-scale.js";

const bar = (start, end, seq, more = {}) => ({ start, end, kind: "tool", label: "x", tone: "ok", seq, end_seq: seq + 1, ...more });
const mark = (t, seq) => ({ t, kind: "error", label: "e", tone: "bad", seq });
const lane = (id, bars, marks = [], more = {}) => ({ id, label: id, kind: "agent", parent: null, depth: 0, agent: id, bars, marks, gaps: [], ...more });
const whole = (lanes, version = 1) => ({ version, timeline: { duration: 9, ended: true, lanes, samples: [] } });

test("it finds every bar that touches a stretch, also long ones that began before it", () => {
  const one = indexed(lane("a", [bar(0, 100, 1), bar(1, 2, 3), bar(5, 6, 5), bar(8, null, 7)]));
  const touched = (from, to) => {
    const [first, past] = barsWithin(one, from, to);
    return one.bars.slice(first, past).filter((b) => (b.end ?? Infinity) >= from).map((b) => b.seq);
  };
  assert.deepEqual(touched(50, 60), [1, 7]);
  assert.deepEqual(touched(5.5, 5.6), [1, 5]);
  assert.deepEqual(touched(1000, 1001), [7]);
  assert.deepEqual(touched(-2, -1), []);
});

test("it finds marks inside a stretch and no others", () => {
  const one = indexed(lane("a", [], [mark(1, 1), mark(2, 2), mark(2, 3), mark(9, 4)]));
  assert.deepEqual(marksWithin(one, 2, 2), [1, 3]);
  assert.deepEqual(marksWithin(one, 3, 8), [3, 3]);
});

test("it takes changes onto what it holds, and refuses those that do not fit", () => {
  const model = new Model();
  model.take(whole([lane("a", [bar(0, null, 1)]), lane("b", [])]));
  const change = {
    duration: 12, ended: false, order: ["b", "c", "a"], samples: [0, [[1, 2, 3]]],
    lanes: [
      { ...lane("a"), bars: [0, [bar(0, 4, 1)]], marks: [0, [mark(3, 9)]], gaps: [0, []] },
      { ...lane("c"), bars: [0, [bar(5, 6, 20)]], marks: [0, []], gaps: [0, []] },
    ],
  };
  assert.equal(model.take({ version: 3, change }), false);
  assert.equal(model.take({ version: 2, change }), true);
  assert.deepEqual(model.lanes.map((one) => one.id), ["b", "c", "a"]);
  assert.equal(model.lanes[2].bars[0].end, 4);
  assert.deepEqual(model.samples, [[1, 2, 3]]);
  assert.equal(model.duration, 12);
});

test("it knows which bar or mark an event begins, is or ends", () => {
  const model = new Model();
  model.take(whole([lane("a", [bar(0, 4, 10)], [mark(2, 15)]), lane("findings", [], [mark(2, 15)], { kind: "findings" })]));
  assert.equal(model.find(10).what, "bar");
  assert.equal(model.find(11).index, 0);
  assert.equal(model.find(15).lane.id, "a");
  assert.equal(model.find(99), null);
  assert.deepEqual([...model.broken], [15]);
});

test("it walks along a lane and across lanes with the arrow keys", () => {
  const model = new Model();
  model.take(whole([lane("a", [bar(0, 1, 1), bar(5, 6, 3)], [mark(3, 9)]), lane("none", []), lane("b", [bar(0, 1, 21), bar(4.8, 6, 23)])]));
  const seqs = [];
  let item = neighbour(model, null, 1, 0);
  for (let step = 0; step < 4; step += 1, item = neighbour(model, item, 1, 0)) seqs.push(valueOf(item).seq);
  assert.deepEqual(seqs, [1, 9, 3, 3]);
  item = neighbour(model, item, 0, 1);
  assert.equal(valueOf(item).seq, 23);
  assert.equal(neighbour(model, item, 0, 1), item);
  assert.equal(itemsOf(model.lanes[1]).length, 0);
});

test("it lays lanes below each other and finds them by height", () => {
  const rows = ["a", "b", "c"].map((id) => indexed(lane(id, [])));
  for (const width of [320, 1200]) {
    const layout = layOut(rows, width);
    for (const row of layout.rows) {
      assert.equal(rowAt(layout, row.top).lane.id, row.lane.id);
      assert.equal(rowAt(layout, row.top + row.height - 0.1).lane.id, row.lane.id);
    }
    assert.equal(rowAt(layout, layout.height + 1), null);
    assert.equal(rowAt(layout, 1), null);
  }
});

test("it hits what is under the pointer: the shortest bar above, the mark below", () => {
  const one = indexed(lane("a", [bar(0, 10, 1), bar(4, 4.01, 3)], [mark(4, 9)]));
  const layout = layOut([one], 1000);
  const scale = new Scale([0, 10], layout.gutter, 600);
  const { middle } = layout.rows[0];
  const at = (t, y) => hit(layout, scale, scale.x(t), y, 10);
  assert.equal(valueOf(at(8, middle - 4)).seq, 1);
  assert.equal(valueOf(at(4, middle - 4)).seq, 3);
  assert.equal(valueOf(at(4, middle + 12)).seq, 9);
  assert.equal(hit(layout, scale, 10, middle, 10), null);
});
