// Bars and marks in words: for the tip under the pointer and for screen readers.

import { clean, seconds } from "./events-words.js";
import { endOf, valueOf } from "./timeline-model.js";

const NOUNS = {
  attempt: "attempt", tool: "tool", run: "run", session: "session", process: "process", question: "question",
  fault: "fault", finding: "finding", told: "told", terminal: "terminal event", spawn: "spawn",
};

/**
 * @param {import("./timeline-model.js").Item} item @param {number} now
 * @param {(t: number) => string} clock @returns {string}
 */
export function worded(item, now, clock) {
  const value = valueOf(item);
  const { lane } = item;
  const noun = lane.kind === "status" ? "" : NOUNS[value.kind] ?? value.kind;
  const label = clean(value.label, 120);
  const name = [noun, label === noun ? "" : label].filter(Boolean).join(" ");
  const parts = [lane.kind === "findings" ? name : `${clean(lane.label, 80)}: ${name}`];
  if (item.what === "mark") parts.push(`at ${clock(value.t)}`);
  else if (value.end === null) parts.push(`from ${clock(value.start)}, no end`, seconds(endOf(value, now) - value.start));
  else parts.push(`${clock(value.start)} to ${clock(value.end)}`, seconds(value.end - value.start));
  if (value.detail) parts.push(clean(value.detail, 160));
  if (value.count > 1) parts.push("several, drawn as one");
  return parts.join(", ");
}

/** The small box under the pointer. It repeats what selection shows, so readers skip it. */
export class Tip {
  constructor() {
    this.element = document.createElement("div");
    this.element.className = "timeline-tip";
    this.element.setAttribute("aria-hidden", "true");
    this.element.hidden = true;
  }

  show(text, { x, y }, width) {
    const { element } = this;
    if (element.textContent !== text) element.textContent = text;
    element.hidden = false;
    const left = Math.min(Math.max(6, x + 12), Math.max(6, width - element.offsetWidth - 6));
    element.style.transform = `translate(${left}px, ${y + 18}px)`;
  }

  hide() {
    this.element.hidden = true;
  }
}
