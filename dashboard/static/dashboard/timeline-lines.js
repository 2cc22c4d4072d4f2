// The lines of the timeline: who spawned whom, and the samples of the process.

import { label } from "./timeline-paper.js";

/** From each parent's lane down to the first bar of its child. */
export function bound(pen, { layout, scale, palette, offset }) {
  const rows = new Map();
  for (const row of layout.rows) if (row.lane.kind === "agent") rows.set(row.lane.agent || row.lane.id, row);
  pen.strokeStyle = palette.edge;
  pen.lineWidth = 1;
  pen.beginPath();
  const drawn = new Set();
  for (const row of rows.values()) {
    const parent = rows.get(row.lane.parent ?? "") ?? layout.rows.find((one) => one.lane.id === row.lane.parent);
    const start = row.lane.bars[0]?.start;
    if (!parent || parent === row || start === undefined || start < scale.from || start > scale.to) continue;
    const x = Math.round(scale.x(start)) - 3.5;
    const place = `${x >> 1} ${parent.top}`;
    if (row.top < offset || drawn.has(place + row.top)) continue;
    drawn.add(place + row.top);
    pen.moveTo(x, parent.middle + 4);
    pen.lineTo(x, row.middle - 4);
    pen.lineTo(x + 3.5, row.middle - 4);
  }
  pen.stroke();
}

/** From a child's end up to the moment when its parent was told of it; dashed where the word was wrong. */
export function told(pen, { layout, scale, palette, model }) {
  const agents = layout.rows.filter((row) => row.lane.kind === "agent");
  const rows = new Map(agents.map((row) => [row.lane.id, row]));
  for (const row of agents) {
    const parent = rows.get(row.lane.parent ?? "");
    const end = row.lane.bars.findLast((bar) => bar.kind === "run")?.end;
    if (!parent || parent === row || end === null || end === undefined || end < scale.from || end > scale.to) continue;
    const mark = parent.lane.marks.find((one) => one.kind === "told" && one.t >= end - 0.05);
    if (!mark || mark.t > scale.to) continue;
    const wrong = mark.tone === "bad" || model.broken.has(mark.seq);
    const colour = wrong ? palette.bad : mark.tone === "ok" ? palette.edge : palette.unknown;
    pen.strokeStyle = colour;
    pen.lineWidth = 1;
    pen.setLineDash(colour === palette.edge ? [] : [3, 2]);
    const [x, to] = [scale.x(end), scale.x(mark.t)];
    pen.beginPath();
    pen.moveTo(x, row.middle - 12);
    pen.lineTo(x, parent.middle + 20);
    pen.lineTo(to, parent.middle + 20);
    pen.lineTo(to, parent.middle + 16);
    pen.stroke();
    pen.setLineDash([]);
  }
}

/** Memory as an area with its highest value, processor time as a thin line; all runs on one scale. */
export function samples(pen, { model, scale, palette, width, layout }, row) {
  const { samples: every } = model;
  const all = row.lane.samples ?? every;
  if (!all.length) return;
  const points = thinned(all, scale, width);
  const [top, bottom] = [row.top + 12, row.top + row.height - 18];
  const most = every.reduce((high, sample) => Math.max(high, sample[1] ?? 0), 1);
  const busiest = every.reduce((high, sample) => Math.max(high, sample[2] ?? 0), 100);
  const y = (value, highest) => bottom - ((value ?? 0) / highest) * (bottom - top);
  pen.lineWidth = 1.3;
  pen.strokeStyle = palette.ok;
  pen.fillStyle = palette["ok-bg"];
  pen.beginPath();
  points.forEach(([t, memory], index) => pen[index ? "lineTo" : "moveTo"](scale.x(t), y(memory, most)));
  pen.stroke();
  pen.lineTo(scale.x(points.at(-1)[0]), bottom);
  pen.lineTo(scale.x(points[0][0]), bottom);
  pen.globalAlpha = 0.5;
  pen.fill();
  pen.globalAlpha = 0.75;
  pen.lineWidth = 1;
  pen.strokeStyle = palette.unknown;
  pen.setLineDash([1, 2]);
  pen.beginPath();
  points.forEach(([t, , load], index) => pen[index ? "lineTo" : "moveTo"](scale.x(t), y(load, busiest)));
  pen.stroke();
  pen.setLineDash([]);
  pen.globalAlpha = 1;
  const peak = points.reduce((best, sample) => (sample[1] > best[1] ? sample : best));
  const text = `${Math.round(peak[1] / 1048576)} MiB`;
  const x = Math.min(scale.x(peak[0]) + 4, width - 60);
  const free = scale.left + (layout.above ? 60 : 2); // on a phone the lane's name stands there
  label(pen, text, Math.max(x, free), top - 4, width, palette.dim);
}

/** At most one sample a pixel, one more on either side so that the line reaches the edges. */
function thinned(all, scale, width) {
  const step = Math.max(1, Math.floor(all.length / (width * 2)));
  const from = all.findIndex((sample) => sample[0] >= scale.from);
  const first = Math.max(0, (from < 0 ? all.length : from) - 1);
  const points = [];
  for (let index = first; index < all.length; index += step) {
    points.push(all[index]);
    if (all[index][0] > scale.to) break;
  }
  return points.length ? points : [all.at(-1)];
}
