// Paints one frame of the timeline on a 2D context. Only what the view shows is visited, and what
// falls on the same pixels is painted once: the cost is bounded by the width, not by the run.

import { barsWithin, endOf, marksWithin } from "./timeline-model.js";
import { AXIS, NARROWEST } from "./timeline-layout.js";
import { axis, folds, label, names, tone } from "./timeline-paper.js";
import { bound, samples } from "./timeline-lines.js";

/**
 * @typedef {{layout: import("./timeline-layout.js").Layout, scale: import("./timeline-scale.js").Scale,
 *   model: import("./timeline-model.js").Model, now: number, live: boolean, width: number, height: number,
 *   offset: number, palette: Record<string, string>, selected: import("./timeline-model.js").Item|null,
 *   selectedAt: number|null, hovered: import("./timeline-model.js").Item|null, evidence: Set<number>,
 *   clock: (t: number, step: number) => string, sweep: [number, number]|null}} Frame
 */

const BAR_HEIGHT = { status: 16, agent: 15, caller: 18 };
const LIFETIMES = new Set(["run", "agent", "lifetime", "agent.run"]);

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
  clipped(pen, frame, () => {
    folds(pen, frame);
    hairline(pen, frame);
    for (const row of seen) content(pen, frame, row);
    bound(pen, frame);
  });
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

function clipped(pen, { layout, width, height, offset }, work) {
  pen.save();
  pen.beginPath();
  pen.rect(layout.gutter - 6, offset + AXIS, width, height);
  pen.clip();
  work();
  pen.restore();
}

/** A thread through all lanes at the selected moment. */
function hairline(pen, { selectedAt, scale, palette, offset, height }) {
  if (selectedAt === null) return;
  pen.fillStyle = palette.select;
  pen.fillRect(scale.x(selectedAt) - 5, offset + AXIS, 10, height);
  pen.fillStyle = palette.accent;
  pen.globalAlpha = 0.55;
  pen.fillRect(Math.round(scale.x(selectedAt)), offset + AXIS, 1, height);
  pen.globalAlpha = 1;
}

function content(pen, frame, row) {
  if (row.lane.kind === "process") samples(pen, frame, row);
  gaps(pen, frame, row);
  bars(pen, frame, row);
  marks(pen, frame, row);
}

function bars(pen, frame, row) {
  const { scale, now, palette } = frame;
  const { lane } = row;
  const [first, past] = barsWithin(lane, scale.from, scale.to);
  const height = BAR_HEIGHT[lane.kind] ?? 15;
  const top = Math.round(row.middle - height / 2);
  /** By tone: up to which pixel it is painted already. @type {Record<string, number>} */
  const painted = {};
  for (let index = first; index < past; index += 1) {
    const bar = lane.bars[index];
    const left = Math.max(scale.x(bar.start), -40);
    const right = Math.min(scale.x(endOf(bar, now)), frame.width + 40);
    const wide = right - left;
    if (wide < NARROWEST && left + NARROWEST <= (painted[bar.tone] ?? -1e9) + 1) continue;
    const shown = Math.max(wide, NARROWEST);
    painted[bar.tone] = left + shown;
    const colours = tone(palette, bar.tone);
    const look = LIFETIMES.has(bar.kind) || lane.kind === "status" || wide > 60 ? "band" : "solid";
    shape(pen, left, top, shown, height, colours, look, bar.end === null);
    if (frame.selected?.lane.id === lane.id && frame.selected.what === "bar" && frame.selected.index === index) {
      ring(pen, left, top, shown, height, palette.accent, 2);
    } else if (frame.hovered?.lane.id === lane.id && frame.hovered.what === "bar" && frame.hovered.index === index) {
      ring(pen, left, top, shown, height, palette.edge, 1);
    } else if (frame.evidence.has(bar.seq) || frame.evidence.has(bar.end_seq)) {
      ring(pen, left, top, shown, height, palette.bad, 1.5);
    }
    if (wide > 26) {
      const ink = look === "band" ? (bar.tone === "bad" ? palette.bad : palette.dim) : palette.card;
      label(pen, bar.label, Math.max(left, frame.layout.gutter) + 6, row.middle, right - 6, ink);
    }
  }
}

function shape(pen, left, top, width, height, colours, look, open) {
  pen.beginPath();
  if (open && width > 8) torn(pen, left, top, width, height);
  else pen.roundRect(left, top, width, height, Math.min(3, width / 2));
  pen.fillStyle = look === "band" ? colours.fill : colours.ink;
  pen.fill();
  if (look === "band") {
    pen.strokeStyle = colours.ink;
    pen.lineWidth = 0.8;
    pen.stroke();
  }
}

/** A bar whose right edge is torn: nobody wrote down its end. */
function torn(pen, left, top, width, height) {
  const right = left + width;
  pen.moveTo(left, top);
  pen.lineTo(right, top);
  for (let step = 1; step <= 4; step += 1) {
    pen.lineTo(right - (step % 2 ? 4 : 0), top + (height * step) / 4);
  }
  pen.lineTo(left, top + height);
  pen.closePath();
}

function ring(pen, left, top, width, height, colour, weight) {
  pen.strokeStyle = colour;
  pen.lineWidth = weight;
  pen.beginPath();
  pen.roundRect(left - 2.5, top - 2.5, width + 5, height + 5, 4);
  pen.stroke();
}

function gaps(pen, { scale, palette }, row) {
  const between = row.lane.gaps.filter((gap) => gap.end >= scale.from && gap.start <= scale.to);
  pen.strokeStyle = palette.edge;
  pen.lineWidth = 1;
  pen.setLineDash([2, 3]);
  pen.beginPath();
  let last = -Infinity;
  for (const gap of between) {
    const [left, right] = [scale.x(gap.start) + 3, scale.x(gap.end) - 3];
    if (right - left < 6 || right < last + 4) continue;
    last = right;
    pen.moveTo(left, row.middle + 0.5);
    pen.lineTo(right, row.middle + 0.5);
  }
  pen.stroke();
  pen.setLineDash([]);
  for (const gap of between) {
    const [left, right] = [scale.x(gap.start) + 6, scale.x(gap.end) - 6];
    label(pen, gapText(gap, right - left), (left + right) / 2, row.middle - 9, right, palette.dim, "center", left);
  }
}

function gapText(gap, room) {
  const measured = (gap.end - gap.start).toFixed(2);
  if (gap.claimed === null || gap.claimed === undefined) return measured;
  const full = `${measured} s, claimed ${Number(gap.claimed).toFixed(2)}`;
  return room > full.length * 6 ? full : measured;
}

const SIGNS = { fault: "✂", "fault.fired": "✂" };

function marks(pen, frame, row) {
  const { scale, palette } = frame;
  const { lane } = row;
  const [first, past] = marksWithin(lane, scale.t(scale.left - 8), scale.t(frame.width + 8));
  let lastX = -Infinity;
  let free = -Infinity;
  for (let index = first; index < past; index += 1) {
    const mark = lane.marks[index];
    const x = scale.x(mark.t);
    const chosen = frame.selected?.lane.id === lane.id && frame.selected.what === "mark" && frame.selected.index === index;
    if (x - lastX < 1.5 && !chosen) continue;
    lastX = x;
    sign(pen, mark, x, row, frame, chosen);
    if (lane.kind === "findings" && x > free) {
      free = label(pen, mark.label, x + 9, row.middle, frame.width, palette.dim);
    }
  }
}

function sign(pen, mark, x, row, frame, chosen) {
  const { palette } = frame;
  const colour = tone(palette, mark.tone).ink;
  const lit = frame.evidence.has(mark.seq);
  pen.fillStyle = colour;
  if (SIGNS[mark.kind]) {
    pen.font = `13px ${palette.sans}`;
    pen.textAlign = "center";
    pen.fillText(SIGNS[mark.kind], x, row.middle - 15);
  } else if (row.lane.kind === "findings") {
    diamond(pen, x, row.middle, 5.5);
  } else {
    pen.beginPath();
    pen.arc(x, row.middle + 11, 2.6, 0, 7);
    pen.fill();
  }
  if (!chosen && !lit) return;
  pen.strokeStyle = chosen ? palette.accent : palette.bad;
  pen.lineWidth = 2;
  pen.beginPath();
  const y = SIGNS[mark.kind] ? row.middle - 15 : row.lane.kind === "findings" ? row.middle : row.middle + 11;
  pen.arc(x, y, 8, 0, 7);
  pen.stroke();
}

function diamond(pen, x, y, size) {
  pen.beginPath();
  pen.moveTo(x, y - size);
  pen.lineTo(x + size, y);
  pen.lineTo(x, y + size);
  pen.lineTo(x - size, y);
  pen.fill();
}
