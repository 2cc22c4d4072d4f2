// Keeps the run page's tables fresh while the run lives: fetches its parts again when it changed.
//
// Whoever follows the run dispatches `lifeline:changed` on document (detail: {status}), and
// `lifeline:told` when an attempt or an agent began or ended; without a socket this polls by itself. Evidence links select their event: `lifeline:select` {seq}.

import { paintClock, say } from "./base.js";
import { countOn, spaced } from "./pokes.js";

const SPACING = 700;
const CALM = 2000;
const POLL = 4000;
const page = document.getElementById("run");
const seen = new Map();
let asked = 0;
let spacing = SPACING;
let missed = false;
let open = page.dataset.open === "true";

const busy = (part) => part.contains(document.activeElement) || part.querySelector("details.menu[open]");
/** What a part says; the token of its forms is another one each time. */
const gist = (part) => part.innerHTML.replaceAll(/"csrfmiddlewaretoken" value="[^"]*"/g, "");

/** The status and the head's chips in words. */
function spoken(head) {
  const chips = [...head.querySelectorAll(".chip")].map((chip) => chip.textContent.trim());
  return [page.dataset.status, ...chips.filter((word) => word !== page.dataset.status)].join(", ");
}

let told = spoken(page.querySelector('[data-part="head"]'));

/** Says to readers that it ended, the diagnosis: what of the head is new. */
function tell(head) {
  const words = spoken(head);
  if (words !== told) say(words);
  told = words;
}

/** Puts the fresh parts in place; a part with an open menu or the focus waits for the next time. */
function replace(html) {
  missed = false;
  const fresh = new DOMParser().parseFromString(html, "text/html");
  for (const part of fresh.querySelectorAll("[data-part]")) {
    const name = part.dataset.part;
    const old = page.querySelector(`[data-part="${name}"]`);
    const says = gist(part);
    if (!old || seen.get(name) === says) continue;
    if (busy(old)) {
      missed = true;
      continue;
    }
    seen.set(name, says);
    const unfolded = [...old.querySelectorAll("details[open] > summary")].map((item) => item.textContent);
    old.replaceChildren(...part.childNodes);
    for (const summary of old.querySelectorAll("details > summary")) {
      if (unfolded.includes(summary.textContent)) summary.parentElement.open = true;
    }
    paintClock(old);
    if (name === "head") tell(old);
    document.dispatchEvent(new CustomEvent("lifeline:part", { detail: { part: old, name } }));
  }
}

async function refresh() {
  asked = Date.now();
  try {
    const answer = await fetch(page.dataset.parts);
    if (answer.ok) replace(await answer.text());
    spacing = Math.max(SPACING, 4 * (Date.now() - asked)); // a slow answer is asked for less often
  } catch {
    // The next change or poll asks again; live.js says "reconnecting".
  }
}

const soon = spaced(refresh, () => spacing);

function count() {
  const pulse = document.getElementById("pulse");
  if (pulse) countOn(pulse);
}

document.addEventListener("lifeline:changed", (event) => {
  const status = event.detail?.status;
  if (!open && status === page.dataset.status) return; // it had ended when the page was made
  if (status) {
    page.dataset.status = status;
    open = status === "queued" || status === "running";
    page.dataset.open = String(open);
  }
  soon();
});

document.addEventListener("lifeline:told", () => open && soon(CALM));

page.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-seq]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const chosen = new CustomEvent("lifeline:select", { detail: { seq: Number(link.dataset.seq) }, cancelable: true });
  if (!document.dispatchEvent(chosen)) event.preventDefault();
});

if (open) {
  setInterval(count, 250);
  setInterval(() => (open || missed) && !document.hidden && Date.now() - asked > POLL && refresh(), 1000);
}
