// The matrix: a card with a cell's last runs under the pointer or the focus, copying.

import { copy, paintClock } from "./base.js";

const WAIT = 220;
const grid = document.getElementById("grid");
const card = document.getElementById("cell-card");
const known = new Map();
/** Seconds for which a card is shown again without asking; a sweep's cells grow. */
const KEPT = 5;
let waiting = 0;
let shown = null;

/** The card's text, fetched once a cell. @param {HTMLAnchorElement} link */
async function textOf(link) {
  const kept = known.get(link.href);
  if (kept && Date.now() - kept.at < KEPT * 1000) return kept.text;
  const answer = await fetch(`${link.href}&part=1`);
  if (!answer.ok) return "";
  known.set(link.href, { at: Date.now(), text: await answer.text() });
  return known.get(link.href).text;
}

async function open(link) {
  shown = link;
  const text = await textOf(link).catch(() => "");
  if (!text || shown !== link) return;
  const fresh = new DOMParser().parseFromString(text, "text/html");
  card.replaceChildren(...fresh.body.childNodes);
  paintClock(card);
  card.hidden = false;
  const cell = link.closest("td").getBoundingClientRect();
  const below = cell.bottom + 6 + card.offsetHeight < innerHeight || cell.top < card.offsetHeight;
  const left = Math.max(14, Math.min(cell.left, document.documentElement.clientWidth - card.offsetWidth - 14));
  card.style.left = `${left + scrollX}px`;
  card.style.top = `${(below ? cell.bottom + 4 : cell.top - card.offsetHeight - 4) + scrollY}px`;
}

function close() {
  clearTimeout(waiting);
  shown = null;
  card.hidden = true;
}

function later(action, time = WAIT) {
  clearTimeout(waiting);
  waiting = setTimeout(action, time);
}

const linkOf = (target) => target.closest?.(".cell")?.querySelector("a");

grid.addEventListener("pointerover", (event) => {
  const link = linkOf(event.target);
  if (event.pointerType === "touch") return;
  if (!link) later(close);
  else if (link !== shown) later(() => open(link));
});
grid.addEventListener("pointerleave", () => later(close, 320));
card.addEventListener("pointerenter", () => clearTimeout(waiting));
card.addEventListener("pointerleave", () => later(close, 320));
grid.addEventListener("focusin", (event) => {
  const link = event.target.closest(".cell > a");
  if (link?.matches(":focus-visible")) later(() => open(link));
});
grid.addEventListener("focusout", () => later(close));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !card.hidden) close();
  const typing = event.target.closest("input,select,textarea") || event.ctrlKey || event.metaKey;
  if (event.key !== "/" || typing) return;
  event.preventDefault();
  document.querySelector('[data-shortcut="/"]').select();
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy-url]");
  if (!button) return;
  const answer = await fetch(button.dataset.copyUrl);
  if (answer.ok && (await copy(await answer.text()))) {
    button.dataset.done = "";
    button.textContent = "Copied ✓";
  }
});
