// Where the lanes stand and what is under a pointer. Pixels, but no canvas.

import { barsWithin, endOf, marksWithin } from "./timeline-model.js";

export const AXIS = 30;
const HEIGHTS = { status: 30, agent: 42, caller: 50, process: 66, findings: 34 };
const LABEL_ABOVE = 15;
const FOOT = 10;
export const NARROWEST = 3;
const REACH = 5;

/**
 * @typedef {{lane: import("./timeline-model.js").Lane, top: number, height: number, middle: number}} Row
 * @typedef {{rows: Row[], gutter: number, above: boolean, height: number}} Layout
 */

/**
 * @param {import("./timeline-model.js").Lane[]} lanes @param {number} width of the canvas, CSS pixels
 * @returns {Layout}
 */
export function layOut(lanes, width) {
  const above = width < 560;
  const gutter = above ? 12 : Math.min(196, Math.max(132, Math.round(width * 0.19)));
  let top = AXIS;
  const rows = lanes.map((lane) => {
    const lead = above ? LABEL_ABOVE : 0;
    const height = (HEIGHTS[lane.kind] ?? 32) + lead;
    const row = { lane, top, height, middle: top + lead + (height - lead) / 2 };
    top += height;
    return row;
  });
  return { rows, gutter, above, height: top + FOOT };
}

/** The row at a height, lanes' own coordinates. @param {Layout} layout @param {number} y */
export function rowAt(layout, y) {
  let low = 0;
  let high = layout.rows.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const row = layout.rows[middle];
    if (y < row.top) high = middle - 1;
    else if (y >= row.top + row.height) low = middle + 1;
    else return row;
  }
  return null;
}

/**
 * The bar or mark at a point. A mark wins over a bar, a short bar over a long one.
 * @param {Layout} layout @param {import("./timeline-scale.js").Scale} scale
 * @param {number} x @param {number} y @param {number} now
 * @returns {import("./timeline-model.js").Item|null}
 */
export function hit(layout, scale, x, y, now) {
  const row = rowAt(layout, y);
  if (!row || x < layout.gutter - REACH) return null;
  const { lane } = row;
  const [from, to] = [scale.t(x - REACH), scale.t(x + REACH)];
  // Marks of an agent stand below its bars: above that line the bar is meant.
  const bar = lane.kind === "agent" && y < row.middle + 4 ? shortestBar(lane, scale, x, from, to, now) : null;
  return bar ?? nearestMark(lane, scale, x, from, to) ?? shortestBar(lane, scale, x, from, to, now);
}

function nearestMark(lane, scale, x, from, to) {
  const [first, past] = marksWithin(lane, from, to);
  let best = null;
  let distance = Infinity;
  for (let index = first; index < past; index += 1) {
    const away = Math.abs(scale.x(lane.marks[index].t) - x);
    if (away < distance) [best, distance] = [{ lane, what: "mark", index }, away];
  }
  return best;
}

function shortestBar(lane, scale, x, from, to, now) {
  const [first, past] = barsWithin(lane, from, to);
  let best = null;
  let length = Infinity;
  for (let index = first; index < past; index += 1) {
    const bar = lane.bars[index];
    const end = endOf(bar, now);
    const right = Math.max(scale.x(end), scale.x(bar.start) + NARROWEST) + 2;
    if (end >= from && right >= x && end - bar.start < length) {
      [best, length] = [{ lane, what: "bar", index }, end - bar.start];
    }
  }
  return best;
}
