// Marks of the timeline: scissors where a fault fired, diamonds of findings, a shape by tone and a word for the rest.

import { marksWithin } from "./timeline-model.js";
import { label, tone } from "./timeline-paper.js";

const WORDED = new Set(["told", "terminal", "error", "result", "cancel", "abort", "watchdog", "asked", "guard.fired", "exit"]);
const SPLIT = 1.5;
const SCISSORS = 7;

/** @param {CanvasRenderingContext2D} pen @param {import("./timeline-draw.js").Frame} frame */
export function marks(pen, frame, row) {
  const { scale, width } = frame;
  const { lane } = row;
  const [first, past] = marksWithin(lane, scale.t(scale.left - 8), scale.t(width + 8));
  if (lane.kind === "findings") return findings(pen, frame, row, first, past);
  let lastX = -Infinity;
  for (let index = first; index < past; index += 1) {
    const mark = lane.marks[index];
    const x = scale.x(mark.t);
    const chosen = isIt(frame.selected, lane, index);
    if (x - lastX < (mark.kind === "fault" ? SCISSORS : SPLIT) && !chosen) continue;
    lastX = x;
    const y = place(mark, row);
    sign(pen, mark, x, y, frame);
    halo(pen, frame, x, y, chosen, frame.evidence.has(mark.seq), isIt(frame.hovered, lane, index));
  }
  if (lane.kind === "agent") words(pen, frame, row, first, past);
  return undefined;
}

function isIt(item, lane, index) {
  return item?.what === "mark" && item.index === index && item.lane.id === lane.id;
}

function place(mark, row) {
  if (mark.kind === "fault") return row.middle - 16;
  return row.lane.kind === "process" ? row.top + row.height - 9 : row.middle + 12;
}

function sign(pen, mark, x, y, { palette, model }) {
  const refuted = mark.kind === "told" && model.broken.has(mark.seq);
  pen.fillStyle = tone(palette, refuted ? "bad" : mark.tone).ink;
  if (mark.kind === "fault") {
    pen.font = `12px ${palette.sans}`;
    pen.textAlign = "center";
    pen.fillText("✂", x, y);
  } else if (refuted || mark.tone === "bad") diamond(pen, x, y, 4);
  else if (mark.tone === "unknown") triangle(pen, x, y, 3.6);
  else {
    pen.beginPath();
    pen.arc(x, y, mark.kind === "many" ? 3.4 : 2.6, 0, 7);
    pen.fill();
  }
}

function halo(pen, { palette }, x, y, chosen, lit, hovered) {
  if (!chosen && !lit && !hovered) return;
  pen.strokeStyle = chosen ? palette.accent : lit ? palette.bad : palette.edge;
  pen.lineWidth = chosen ? 2 : 1.2;
  pen.beginPath();
  pen.arc(x, y, 7.5, 0, 7);
  pen.stroke();
}

/** The words of the marks that tell an end, where they fit before the next mark. */
function words(pen, frame, row, first, past) {
  const { scale, width, palette } = frame;
  const { marks: all } = row.lane;
  let free = -Infinity;
  for (let index = first; index < past; index += 1) {
    const mark = all[index];
    if (!WORDED.has(mark.kind)) continue;
    const x = scale.x(mark.t);
    const before = index ? scale.x(all[index - 1].t) + 8 : scale.left;
    const after = index + 1 < all.length ? scale.x(all[index + 1].t) - 8 : width;
    const refuted = mark.kind === "told" && frame.model.broken.has(mark.seq);
    const text = mark.kind === "told" ? `told “${mark.label}”${refuted ? " ✗" : ""}` : mark.label;
    const colour = refuted || mark.tone === "bad" ? palette.bad : palette.dim;
    if (after - x > 60 && x > free) free = label(pen, text, x + 8, row.middle + 12, after, colour);
    else if (x - Math.max(before, free) > 46) {
      pen.font = pen.labelFont;
      const fits = pen.measureText(text).width < x - 9 - Math.max(before, free);
      if (fits) free = label(pen, text, x - 8, row.middle + 12, 1e6, colour, "right", -1e6) && x + 8;
    }
  }
}

/** Findings stand as diamonds; those of one moment share their words, at the end also with those before. */
function findings(pen, frame, row, first, past) {
  const { scale, palette, width } = frame;
  let index = first;
  let before = { laws: [], x: null }; // neighbours that had no room for their words
  while (index < past) {
    const x = scale.x(row.lane.marks[index].t);
    const laws = [];
    let chosen = false;
    let lit = false;
    let end = x;
    for (; index < past && scale.x(row.lane.marks[index].t) - x < 11; index += 1) {
      const mark = row.lane.marks[index];
      end = scale.x(mark.t);
      if (!laws.includes(mark.label)) laws.push(mark.label);
      chosen ||= isIt(frame.selected, row.lane, index);
      lit ||= frame.evidence.has(mark.seq);
      pen.fillStyle = tone(palette, mark.tone).ink;
      diamond(pen, end, row.middle, 5.5);
    }
    halo(pen, frame, x, row.middle, chosen, lit, false);
    const shown = few(laws);
    pen.font = pen.labelFont;
    const right = index < past ? scale.x(row.lane.marks[index].t) - 8 : width;
    if (end + 12 + pen.measureText(shown).width < right) {
      label(pen, shown, end + 10, row.middle, right, palette.dim);
      before = { laws: [], x: null };
    } else {
      before = { laws: [...new Set([...before.laws, ...laws])], x: before.x ?? x };
      if (index >= past) label(pen, few(before.laws), before.x - 10, row.middle, 1e6, palette.dim, "right", -1e6);
    }
  }
}

/** `L2 L3 L6 +2` */
const few = (laws) => (laws.length > 4 ? `${laws.slice(0, 3).join(" ")} +${laws.length - 3}` : laws.join(" "));

function triangle(pen, x, y, size) {
  pen.beginPath();
  pen.moveTo(x, y - size);
  pen.lineTo(x + size, y + size);
  pen.lineTo(x - size, y + size);
  pen.fill();
}

function diamond(pen, x, y, size) {
  pen.beginPath();
  pen.moveTo(x, y - size);
  pen.lineTo(x + size, y);
  pen.lineTo(x, y + size);
  pen.lineTo(x - size, y);
  pen.fill();
}
