// Choosing what to compare: a form with [data-compare] says what is chosen, and sends no other number.

import { say } from "./base.js";

/** As many as the page takes (MOST in views/compare.py). */
const [FEWEST, MOST] = [2, 4];

/** The boxes of a form that are pressed. @param {HTMLFormElement} form */
const chosenOf = (form) => [...form.querySelectorAll("input[type=checkbox]:checked")];

/** Why these cannot be compared, or "". */
function trouble(count) {
  if (count > MOST) return `${count} are chosen: ${MOST} at most fit beside each other.`;
  return count < FEWEST ? "Choose two first." : "";
}

/** The line at the button; a sweep's page renews it with its cells. */
function tell(form, text) {
  const words = form.querySelector(".chosen-words");
  if (words) words.textContent = text;
}

function show(form) {
  const boxes = chosenOf(form);
  for (const place of form.querySelectorAll("td.chosen")) place.classList.remove("chosen");
  for (const box of boxes) box.closest("td")?.classList.add("chosen");
  const cells = boxes.filter((box) => box.name === "cells").map((box) => box.value.replaceAll("|", " "));
  if (boxes.length > MOST) tell(form, trouble(boxes.length));
  else if (!boxes.length) tell(form, "Choose two to four to compare them.");
  else tell(form, cells.length ? cells.join(" ↔ ") : `${boxes.length} chosen`);
}

document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-compare]");
  if (form) show(form);
});

document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-compare]");
  const words = form && trouble(chosenOf(form).length);
  if (!words) return;
  event.preventDefault();
  say(words);
  tell(form, words);
});

for (const form of document.querySelectorAll("form[data-compare]")) {
  if (chosenOf(form).length) show(form);
}
