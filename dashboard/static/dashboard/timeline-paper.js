// What every lane is drawn on: colours of the page, the axis, names of lanes, folds and fitting text.

import { ticks, tickText } from "./timeline-scale.js";
import { AXIS } from "./timeline-layout.js";

const NAMES = [
  "paper", "card", "ink", "dim", "faint", "line", "hair", "edge", "accent", "accent-ink", "focus", "select",
  "ok", "ok-bg", "bad", "bad-bg", "unknown", "unknown-bg", "wait", "wait-bg", "run",
];

/** The page's colours and fonts as they are now. @returns {Record<string, string>} */
export function palette(element) {
  const probe = element.appendChild(document.createElement("i")); // a property alone says light-dark(…)
  const style = getComputedStyle(probe);
  const colours = NAMES.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, style.color];
  });
  const fonts = ["sans", "mono"].map((name) => [name, style.getPropertyValue(`--${name}`)]);
  probe.remove();
  return Object.fromEntries([...colours, ...fonts]);
}

/** Ink and fill of a tone. @returns {{ink: string, fill: string}} */
export function tone(colours, name) {
  if (name === "run") return { ink: colours.ok, fill: colours["ok-bg"] };
  return { ink: colours[name] ?? colours.wait, fill: colours[`${name}-bg`] ?? colours["wait-bg"] };
}

/** By font and text: its width. Bounded, because agents write the texts. @type {Map<string, number>} */
const widths = new Map();

function widthOf(pen, text) {
  const key = pen.font + text;
  let width = widths.get(key);
  if (width === undefined) {
    if (widths.size > 4000) widths.clear();
    width = pen.measureText(text).width;
    widths.set(key, width);
  }
  return width;
}

/**
 * Writes text if it fits before `right` (cut with an ellipsis where it nearly does).
 * @returns {number} the pixel after it, or -Infinity when nothing was written
 */
export function label(pen, text, x, y, right, colour, align = "left", left = x) {
  if (!text) return -Infinity;
  pen.font = pen.labelFont;
  let shown = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  const room = right - left;
  if (widthOf(pen, shown) > room) {
    if (align === "center" || room < 34) return -Infinity;
    shown = `${shown.slice(0, Math.max(2, Math.floor((room - 10) / 6.2)))}…`;
  }
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.fillText(shown, x, y + 0.5);
  return x + widthOf(pen, shown) + 8;
}

/** The names of the lanes, a child below and right of its parent. */
export function names(pen, { layout, palette: colours, selected }, rows) {
  pen.textAlign = "left";
  for (const row of rows) {
    const { lane } = row;
    const y = layout.above ? row.top + 10 : lane.kind === "agent" ? row.middle - 4 : row.middle;
    let x = 14 + Math.min(lane.depth ?? 0, 6) * 12;
    const branch = lane.kind === "agent" && lane.depth > 0;
    pen.font = colours.nameFont;
    if (branch) {
      pen.strokeStyle = colours.edge;
      pen.lineWidth = 1;
      pen.beginPath();
      pen.moveTo(x - 7.5, y - 9);
      pen.lineTo(x - 7.5, y + 0.5);
      pen.lineTo(x - 1, y + 0.5);
      pen.stroke();
      x += 3;
    }
    const main = lane.kind === "agent" || lane.kind === "status";
    pen.font = main ? colours.nameFont : pen.labelFont;
    pen.fillStyle = selected?.lane.id === lane.id ? colours.accent : main ? colours.ink : colours.dim;
    const room = (layout.above ? 320 : layout.gutter - 10) - x;
    pen.fillText(fitted(pen, lane.label, room), x, y + 0.5);
    const told = layout.above ? "" : thinned(lane);
    if (!told) continue;
    pen.font = pen.labelFont;
    pen.fillStyle = colours.dim;
    pen.fillText(told, x, y + 13.5);
  }
}

/** "1,500 of 12,400" where neighbours were drawn as one; else nothing. @returns {string} */
export function thinned({ of = 0, shown = of }) {
  return of > shown ? `${shown.toLocaleString("en")} of ${of.toLocaleString("en")}` : "";
}

function fitted(pen, text, room) {
  if (widthOf(pen, text) <= room) return text;
  let kept = text.length;
  while (kept > 3 && widthOf(pen, `${text.slice(0, kept)}…`) > room) kept -= Math.max(1, kept >> 4);
  return `${text.slice(0, kept)}…`;
}

/** The axis stays at the top while lanes scroll below it. */
export function axis(pen, frame) {
  const { scale, width, height, palette: colours, layout, sweep } = frame;
  pen.fillStyle = colours.card;
  pen.fillRect(0, 0, width, AXIS);
  const { step, times } = ticks(scale, frame.clock(0, 1).length > 6 ? 104 : 76);
  pen.font = pen.labelFont;
  pen.textAlign = "center";
  for (const t of times) {
    const x = Math.round(scale.x(t));
    if (x < layout.gutter - 1) continue;
    pen.fillStyle = colours.hair;
    pen.fillRect(x, AXIS - 6, 1, 6);
    pen.fillStyle = colours.faint;
    const text = frame.clock(t, step);
    const half = widthOf(pen, text) / 2;
    pen.fillText(text, Math.min(Math.max(x, layout.gutter + half - 6), width - half - 4), AXIS / 2 - 1);
  }
  pen.fillStyle = colours.line;
  pen.fillRect(0, AXIS - 1, width, 1);
  if (sweep) {
    const [left, right] = sweep[0] < sweep[1] ? sweep : [sweep[1], sweep[0]];
    pen.fillStyle = colours.accent;
    pen.globalAlpha = 0.14;
    pen.fillRect(left, 0, right - left, height);
    pen.globalAlpha = 1;
    pen.fillRect(left, 0, 1, height);
    pen.fillRect(right, 0, 1, height);
  }
}

/** Vertical lines at the ticks, and a visible break where idle time is folded away. */
export function folds(pen, frame) {
  const { scale, palette: colours, offset, height } = frame;
  pen.fillStyle = colours.hair;
  for (const t of ticks(scale, 76).times) pen.fillRect(Math.round(scale.x(t)), offset + AXIS, 1, height);
  for (const [from, to] of scale.bending.folds) {
    const [left, right] = [scale.x(from), scale.x(to)];
    if (right < scale.left || left > frame.width) continue;
    pen.fillStyle = colours.paper;
    pen.fillRect(left, offset + AXIS, right - left, height);
    pen.strokeStyle = colours.edge;
    pen.lineWidth = 1;
    for (const x of [left, right]) {
      pen.beginPath();
      for (let y = offset + AXIS, side = 0; y <= offset + height; y += 6, side += 1) {
        pen.lineTo(x + (side % 2 ? 2.5 : -2.5), y);
      }
      pen.stroke();
    }
    pen.save();
    pen.translate((left + right) / 2, offset + height / 2 + AXIS / 2);
    pen.rotate(-Math.PI / 2);
    pen.font = pen.labelFont;
    pen.fillStyle = colours.dim;
    pen.textAlign = "center";
    if (right - left > 12) pen.fillText(`${tickText(Math.round(to - from), 10)} idle`, 0, 0);
    pen.restore();
  }
}
