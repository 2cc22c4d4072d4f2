// The elements of the timeline: a scroller that holds one sticky canvas, and what lies over it.

import { Tip } from "./timeline-words.js";

const NAME = "Timeline: arrow keys go along a lane and between lanes; the tables of this page hold the same facts";

/**
 * Builds the elements into `root`.
 * @param {HTMLElement} root
 */
export function stage(root) {
  const scroller = element("div", "timeline-scroll");
  const canvas = element("canvas", "timeline-canvas", {
    tabindex: "0",
    role: "application",
    "aria-roledescription": "timeline",
    "aria-label": NAME,
    "aria-describedby": "truth-title attempts-title events-title",
  });
  const spacer = element("div", "timeline-spacer");
  const spoken = element("div", "unseen", { "aria-live": "polite", id: "timeline-said" });
  const news = element("button", "timeline-news", { type: "button", hidden: "" });
  const empty = element("p", "empty timeline-empty");
  const tip = new Tip();
  spacer.append(canvas);
  scroller.append(spacer);
  scroller.hidden = true;
  root.replaceChildren(empty, scroller, news, tip.element, spoken);
  return { scroller, canvas, spacer, spoken, news, empty, tip };
}

function element(name, classes, attributes = {}) {
  const made = document.createElement(name);
  made.className = classes;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/** Some properties of an object. @param {object} from @param {string} names */
export function pick(from, names) {
  return Object.fromEntries(names.split(" ").map((name) => [name, from[name]]));
}
