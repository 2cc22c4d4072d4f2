// The compared runs on one clock: the timeline of the run page over all of them.

import { printing } from "./printing.js";
import { Selection } from "./select.js";
import { Timeline } from "./timeline.js";

const APART = 10_000_000;
const root = document.getElementById("timeline");
const picked = document.getElementById("picked");
const runs = Object.entries(JSON.parse(document.getElementById("letters").textContent));
const selection = new Selection();
const timeline = new Timeline(root, selection, { start: null, eventOf: () => null });

/** The event that is selected, as a link to its run. */
function show() {
  const { seq } = selection;
  picked.hidden = seq === null;
  if (seq === null) return;
  const [letter, permalink] = runs[Math.floor(seq / APART)] ?? [];
  if (!permalink) return;
  picked.textContent = `event ${seq % APART} of ${letter}`;
  picked.href = `/runs/${permalink}/#e${seq % APART}`;
}

async function load() {
  const answer = await fetch(root.dataset.url);
  if (!answer.ok) return;
  timeline.take({ version: 1, timeline: await answer.json() });
  document.querySelector(".timeline-tools").hidden = false;
}

selection.addEventListener("change", show);
document.getElementById("fit").addEventListener("click", () => timeline.fit());
printing({ timeline });
load().then(show);
