// Paints one frame of the timeline on a 2D context. Only what the view shows is visited, and what
// falls on the same pixels is painted once: the cost is bounded by the width, not by the run.

import { AXIS } from "./timeline-layout.js";
import { axis, folds, names } from "./timeline-paper.js";
import { bars, gaps } from "./timeline-bars.js";
import { marks } from "./timeline-marks.js";
import { bound, samples, told } from "./timeline-lines.js";

/**
 * @typedef {{layout: import("./timeline-layout.js").Layout, scale: import("./timeline-scale.js").Scale,
 *   model: import("./timeline-model.js").Model, now: number, live: boolean, width: number, height: number,
 *   offset: number, palette: Record<string, string>, selected: import("./timeline-model.js").Item|null,
 *   selectedAt: number|null, hovered: import("./timeline-model.js").Item|null, evidence: Set<number>,
 *   clock: (t: number, step: number) => string, sweep: [number, number]|null}} Frame
 */

/** @param {CanvasRenderingContext2D} pen @param {Frame} frame */
export function paint(pen, frame) {
  const { width, height, palette, layout, offset } = frame;
  pen.fillStyle = palette.card;
  pen.fillRect(0, 0, width, height);
  pen.textBaseline = "middle";
  const seen = layout.rows.filter((row) => row.top + row.height > offset + AXIS && row.top < offset + height);
  pen.save();
  pen.translate(0, -offset);
  stripes(pen, frame, seen);
  pen.save();
  pen.beginPath();
  pen.rect(layout.gutter - 6, offset + AXIS, width, height);
  pen.clip();
  folds(pen, frame);
  thread(pen, frame);
  bound(pen, frame);
  for (const row of seen) {
    if (row.lane.kind === "process") samples(pen, frame, row);
    gaps(pen, frame, row);
    bars(pen, frame, row);
  }
  told(pen, frame);
  for (const row of seen) marks(pen, frame, row);
  now(pen, frame);
  pen.restore();
  names(pen, frame, seen);
  pen.restore();
  axis(pen, frame);
}

function stripes(pen, { palette, width, selected }, rows) {
  for (const row of rows) {
    if (selected?.lane.id === row.lane.id) {
      pen.fillStyle = palette.hair;
      pen.globalAlpha = 0.6;
      pen.fillRect(0, row.top, width, row.height);
      pen.globalAlpha = 1;
    }
    if (row.lane.depth || row.lane.kind === "caller") continue;
    pen.fillStyle = palette.hair;
    pen.fillRect(0, row.top, width, 1);
  }
}

/** A thread through all lanes at the selected moment. */
function thread(pen, { selectedAt, scale, palette, offset, height }) {
  if (selectedAt === null) return;
  pen.fillStyle = palette.select;
  pen.fillRect(scale.x(selectedAt) - 6, offset + AXIS, 12, height);
  pen.fillStyle = palette.accent;
  pen.globalAlpha = 0.55;
  pen.fillRect(Math.round(scale.x(selectedAt)), offset + AXIS, 1, height);
  pen.globalAlpha = 1;
}

/** The right edge of a run that goes on. */
function now(pen, { live, now: at, scale, palette, offset, height }) {
  if (!live || at < scale.from || at > scale.to) return;
  const x = Math.round(scale.x(at));
  pen.fillStyle = palette.accent;
  pen.fillRect(x, offset + AXIS, 1.5, height);
}
