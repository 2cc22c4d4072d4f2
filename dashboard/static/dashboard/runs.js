// The live list: fetches its rows again when the server pokes, else every few seconds; counts on in between.

import { paintClock } from "./base.js";
import { countOn, hearRuns, spaced } from "./pokes.js";

const POLL = 3000;
const QUIET_POLL = 30000;
const SPACING = 400;
const rows = document.getElementById("rows");
const state = document.getElementById("live-state");
let last = rows.innerHTML;
let asked = 0;
let heard = false;

function show(word) {
  state.dataset.state = word;
  state.textContent = word === "live" ? "live" : "reconnecting";
}

async function refresh() {
  asked = Date.now();
  try {
    const answer = await fetch(rows.dataset.url + location.search, { headers: { Accept: "text/html" } });
    if (!answer.ok) throw new Error(String(answer.status));
    replace(await answer.text());
    show("live");
  } catch {
    show("reconnecting");
  }
}

/** Puts the new rows in, keeping the focus on the run that had it. */
function replace(html) {
  if (html === last) return;
  last = html;
  const focused = document.activeElement?.closest?.("[data-run]")?.dataset.run;
  const fresh = new DOMParser().parseFromString(html, "text/html");
  rows.replaceChildren(...fresh.body.childNodes);
  if (rows.querySelector("[data-run]")) rows.closest("section").hidden = false;
  paintClock(rows);
  if (focused) rows.querySelector(`[data-run="${CSS.escape(focused)}"] a`)?.focus({ preventScroll: true });
}

/** How long the list may go without asking: what an open run is doing changes without a poke. */
function patience() {
  return heard && !rows.querySelector('[data-status="running"],[data-status="queued"]') ? QUIET_POLL : POLL;
}

/** The version field suggests the versions of the chosen agent. */
function chooseAgent() {
  const agent = document.getElementById("start-agent");
  const version = document.getElementById("start-version");
  agent.addEventListener("change", () => {
    version.setAttribute("list", `versions-${agent.value}`);
    version.value = "";
  });
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input,select,textarea") || event.ctrlKey || event.metaKey) return;
  const filter = document.getElementById("filter");
  if (!filter.offsetParent) return;
  event.preventDefault();
  filter.select();
});

chooseAgent();
setInterval(() => rows.querySelectorAll("[data-since],[data-until]").forEach(countOn), 250);
if (rows.dataset.newest === "true") {
  hearRuns({
    poke: spaced(refresh, () => SPACING),
    opened() {
      heard = true;
      show("live");
    },
    closed: () => (heard = false),
  });
  setInterval(() => document.hidden || Date.now() - asked < patience() || refresh(), 1000);
  refresh();
} else {
  state.textContent = "an older page";
}
