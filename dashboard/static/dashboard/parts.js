// Keeps the [data-part] sections of #living fresh while what it shows goes on: asks again when the
// server pokes, else every few seconds. Without JavaScript the page is whole and is reloaded.

import { paintClock, say } from "./base.js";
import { hearRuns, spaced } from "./pokes.js";

const SPACING = 900;
const POLL = 4000;
const root = document.getElementById("living");
const state = document.getElementById("live-state");
/** What can be renewed under the pointer: it is folded, unfolded and focused again. */
const FOLD = "details[data-key] > summary";
const seen = new Map();
let open = root.dataset.open === "true";
let asked = 0;

/** What a part says; the token of its forms is another one each time. */
const gist = (part) => part.innerHTML.replaceAll(/"csrfmiddlewaretoken" value="[^"]*"/g, "");
const busy = (part) => {
  const active = document.activeElement;
  const focused = part.contains(active) && !active.matches(FOLD);
  const held = focused || part.querySelector("input:checked, details[open]:not([data-key])");
  return Boolean(held) && !part.matches('[data-part="head"]');
};

/** New content for a part; what somebody unfolded or folded in it stays so. */
function renew(old, part) {
  const folds = new Map();
  for (const one of old.querySelectorAll("details[data-key]")) folds.set(one.dataset.key, one.open);
  const active = old.contains(document.activeElement) && document.activeElement.matches(FOLD);
  const key = active ? document.activeElement.parentElement.dataset.key : null;
  old.replaceChildren(...part.childNodes);
  for (const one of old.querySelectorAll("details[data-key]")) {
    one.open = folds.get(one.dataset.key) ?? one.open;
    if (one.dataset.key === key) one.querySelector("summary").focus({ preventScroll: true });
  }
  paintClock(old);
}

function replace(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  for (const part of fresh.querySelectorAll("[data-part]")) {
    const old = root.querySelector(`[data-part="${part.dataset.part}"]`);
    const says = gist(part);
    if (!old || seen.get(part.dataset.part) === says || busy(old)) continue;
    seen.set(part.dataset.part, says);
    renew(old, part);
  }
  const word = fresh.querySelector("[data-state]")?.dataset.state;
  if (!word) return;
  if (open && word !== "going") say(word);
  open = word === "going";
  show(open ? "live" : "ended", word);
}

function show(name, word) {
  if (!state) return;
  state.dataset.state = name;
  state.textContent = name === "live" ? "live" : word;
}

async function refresh() {
  asked = Date.now();
  try {
    const answer = await fetch(root.dataset.parts, { headers: { Accept: "text/html" } });
    if (!answer.ok) throw new Error(String(answer.status));
    replace(await answer.text());
  } catch {
    show("reconnecting", "reconnecting");
  }
}

const poke = spaced(refresh, () => SPACING);

if (open) {
  hearRuns({ poke: () => open && poke(), wanted: () => open });
  refresh();
  setInterval(() => open && !document.hidden && Date.now() - asked > POLL && refresh(), 1000);
}
