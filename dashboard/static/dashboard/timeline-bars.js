// Bars of the timeline and the gaps between attempts.

import { barsWithin, endOf } from "./timeline-model.js";
import { NARROWEST } from "./timeline-layout.js";
import { label, tone } from "./timeline-paper.js";

const HEIGHTS = { status: 16, agent: 16, caller: 18, process: 9 };
const SPANS = new Set(["run", "session", "process"]);

/** @param {CanvasRenderingContext2D} pen @param {import("./timeline-draw.js").Frame} frame */
export function bars(pen, frame, row) {
  const { scale, now, width } = frame;
  const { lane } = row;
  const [first, past] = barsWithin(lane, scale.from, scale.to);
  /** By tone: up to which pixel it is painted already. @type {Record<string, number>} */
  const painted = {};
  for (let index = first; index < past; index += 1) {
    const bar = lane.bars[index];
    const left = Math.max(scale.x(bar.start), -40);
    const right = Math.min(scale.x(endOf(bar, now)), width + 40);
    const chosen = isIt(frame.selected, lane, index);
    if (right - left < NARROWEST && left + NARROWEST <= (painted[bar.tone] ?? -1e9) + 1 && !chosen) continue;
    const box = boxOf(row, bar, left, Math.max(right - left, NARROWEST));
    if (right - left < NARROWEST) painted[bar.tone] = left + box.width;
    const refuted = bar.kind === "run" && bar.tone === "ok" && frame.model.broken.has(bar.end_seq);
    shape(pen, box, tone(frame.palette, refuted ? "bad" : bar.tone), bar.end === null);
    rings(pen, frame, bar, box, chosen, isIt(frame.hovered, lane, index));
    words(pen, frame, row, bar, box, right, lane.bars[index + 1]);
    if (refuted) refutation(pen, frame, box, bar);
  }
}

function isIt(item, lane, index) {
  return item?.what === "bar" && item.index === index && item.lane.id === lane.id;
}

function boxOf(row, bar, left, width) {
  const { kind } = row.lane;
  const span = SPANS.has(bar.kind) || kind === "status";
  const height = kind === "agent" && !span ? 10 : HEIGHTS[kind] ?? 15;
  const middle = kind === "process" ? row.top + row.height - 9 : kind === "agent" ? row.middle - 4 : row.middle;
  return { left, width, height, top: Math.round(middle - height / 2), middle, soft: span || width > 60 };
}

function shape(pen, { left, top, width, height, soft }, colours, open) {
  if (width < 5 && !soft) {
    pen.fillStyle = colours.ink;
    pen.fillRect(left, top, width, height);
    return;
  }
  pen.beginPath();
  if (open && width > 8) torn(pen, left, top, width, height);
  else pen.roundRect(left, top, width, height, Math.min(3, width / 2));
  pen.fillStyle = soft ? colours.fill : colours.ink;
  pen.fill();
  if (!soft) return;
  pen.strokeStyle = colours.ink;
  pen.lineWidth = 0.8;
  pen.stroke();
}

/** A bar whose right edge is torn: nobody wrote down its end. */
function torn(pen, left, top, width, height) {
  const right = left + width;
  pen.moveTo(left, top);
  pen.lineTo(right, top);
  for (let step = 1; step <= 4; step += 1) pen.lineTo(right - (step % 2 ? 4 : 0), top + (height * step) / 4);
  pen.lineTo(left, top + height);
  pen.closePath();
}

function rings(pen, { palette, evidence }, bar, box, chosen, hovered) {
  if (chosen) ring(pen, box, palette.accent, 2);
  else if (evidence.has(bar.seq) || evidence.has(bar.end_seq)) ring(pen, box, palette.bad, 1.5);
  else if (hovered) ring(pen, box, palette.edge, 1);
}

function ring(pen, { left, top, width, height }, colour, weight) {
  pen.strokeStyle = colour;
  pen.lineWidth = weight;
  pen.beginPath();
  pen.roundRect(left - 2.5, top - 2.5, width + 5, height + 5, 4);
  pen.stroke();
}

function words(pen, frame, row, bar, box, right, next) {
  const { scale, layout, palette } = frame;
  const { kind } = row.lane;
  if (kind === "process") return;
  if (bar.kind === "run" && bar.tone === "ok" && frame.model.broken.has(bar.end_seq)) return;
  const bad = bar.tone === "bad";
  if (kind === "caller" && box.width < 22) {
    if (bar.count > 1) return; // several, drawn as one: its lane says how many
    if (bar.label === "1" && next?.label !== "2") return; // a call that was not tried again
    const room = next ? scale.x(next.start) - box.left : 40;
    if (room > 15) label(pen, bar.label, box.left + box.width / 2, row.middle + 16, 1e6, bad ? palette.bad : palette.faint, "center", -1e6);
    return;
  }
  const left = Math.max(box.left, layout.gutter) + 6;
  const until = box.soft && next && SPANS.has(bar.kind) ? Math.min(right, scale.x(next.start)) : right;
  const colour = box.soft ? (bad ? palette.bad : palette.dim) : palette.card;
  label(pen, bar.label, left, box.middle, until - 5, colour);
}

/** What the agent said of its end, where the evidence says otherwise. */
function refutation(pen, { layout, palette }, box, bar) {
  const text = `${bar.label} ✗`;
  pen.font = pen.labelFont;
  const room = box.left + box.width - Math.max(box.left, layout.gutter);
  if (pen.measureText(text).width + 12 < room) label(pen, text, box.left + box.width - 6, box.middle, 1e6, palette.bad, "right", -1e6);
}

/** Gaps with the time that was measured, and what the agent claimed where it said so. */
export function gaps(pen, { scale, palette }, row) {
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
  last = -Infinity;
  for (const gap of between) {
    const [left, right] = [scale.x(gap.start) + 8, scale.x(gap.end) - 8];
    if (right - left < 20 || left < last) continue;
    last = right;
    const { text, colour } = gapText(gap, right - left, palette);
    label(pen, text, (left + right) / 2, row.middle - 9, right, colour, "center", left);
  }
}

function gapText(gap, room, palette) {
  const measured = gap.end - gap.start;
  const short = measured < 10 ? measured.toFixed(2) : measured.toFixed(1);
  if (gap.claimed === null || gap.claimed === undefined) return { text: short, colour: palette.dim };
  const differs = Math.abs(measured - gap.claimed) > Math.max(0.2, gap.claimed * 0.15);
  const full = `${short} s, claimed ${Number(gap.claimed).toFixed(2)}`;
  return { text: room > full.length * 6 ? full : short, colour: differs ? palette.bad : palette.dim };
}
