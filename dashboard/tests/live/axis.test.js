import assert from "node:assert/strict";
import { test } from "node:test";
import { Bend, Scale, clamped, firstAtLeast, idleStretches, tickStep, tickText, ticks } from "./timeline-scale.js";

const near = (a, b, within = 1e-9) => assert.ok(Math.abs(a - b) <= within, `${a} is not ${b}`);

test("it finds the first at least as large, as a walk would", () => {
  const sorted = [0, 1, 1, 1, 4, 9];
  for (const value of [-1, 0, 0.5, 1, 2, 4, 9, 10]) {
    const walked = sorted.findIndex((one) => one >= value);
    assert.equal(firstAtLeast(sorted, value), walked < 0 ? sorted.length : walked);
  }
  assert.equal(firstAtLeast([], 3), 0);
});

test("it folds only stretches that are long enough, and leaves a margin", () => {
  assert.deepEqual(idleStretches([0, 1, 20, 21], 8), [[2, 19]]);
  assert.deepEqual(idleStretches([20, 0, 21, 1], 8), [[2, 19]]);
  assert.deepEqual(idleStretches([0, 1, 2], 8), []);
});

test("it bends and unbends to the same moment, always ascending", () => {
  const bend = new Bend([[2, 10], [20, 100]], 1);
  let before = -Infinity;
  for (let t = -1; t < 130; t += 0.37) {
    const bent = bend.bend(t);
    assert.ok(bent > before);
    before = bent;
    near(bend.unbend(bent), t, 1e-6);
  }
  near(bend.bend(2), 2);
  near(bend.bend(10), 3);
  near(bend.bend(120), 120 - 7 - 79);
});

test("it maps the ends of the view to the ends of the paper and back", () => {
  const scale = new Scale([2, 12], 100, 500);
  near(scale.x(2), 100);
  near(scale.x(12), 600);
  near(scale.t(scale.x(7.25)), 7.25);
});

test("it zooms about the pointer: what is under it stays there", () => {
  const scale = new Scale([0, 100], 50, 800, new Bend([[30, 80]], 2));
  const x = 300;
  const closer = new Scale(scale.zoomed(0.5, x), 50, 800, scale.bending);
  near(closer.t(x), scale.t(x), 1e-6);
  near(closer.span, scale.span / 2, 1e-6);
});

test("it pans by pixels", () => {
  const scale = new Scale([10, 20], 0, 1000);
  const [from, to] = scale.moved(100);
  near(from, 11);
  near(to, 21);
});

test("it keeps the view inside the run and no closer than a limit", () => {
  assert.deepEqual(clamped([-5, 5], 100), [0, 10]);
  assert.deepEqual(clamped([95, 105], 100), [90, 100]);
  assert.deepEqual(clamped([-50, 500], 100), [0, 100]);
  const [from, to] = clamped([50, 50.0000001], 100, 0.01);
  near(to - from, 0.01);
  near((from + to) / 2, 50, 1e-6);
  assert.deepEqual(clamped([0, 1], 0, 0.001), [0, 0.001]);
});

test("it chooses round steps that leave room for their text", () => {
  for (const [perPixel, step] of [[0.0001, 0.01], [0.001, 0.1], [0.01, 1], [0.05, 5], [0.5, 60], [40, 3600]]) {
    assert.equal(tickStep(perPixel, 84), step);
  }
  const scale = new Scale([0.3, 6.9], 0, 600);
  assert.deepEqual(ticks(scale, 84).times, [1, 2, 3, 4, 5, 6]);
});

test("it bounds the ticks of any view", () => {
  assert.ok(ticks(new Scale([0, 1e9], 0, 500), 80).times.length < 20);
  assert.ok(ticks(new Scale([5, 5 + 1e-6], 0, 500), 80).times.length < 20);
});

test("it writes ticks as people read them", () => {
  assert.equal(tickText(0, 1), "0 s");
  assert.equal(tickText(2.5, 0.5), "2.5 s");
  assert.equal(tickText(0.25, 0.05), "0.25 s");
  assert.equal(tickText(200, 60), "3:20");
  assert.equal(tickText(3900, 600), "1:05:00");
});
