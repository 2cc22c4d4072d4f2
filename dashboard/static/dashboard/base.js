// What every page does: theme and clock at once, copying, menus. Everything here also works without it.

const SAID_FOR = 1500;

/** Says a sentence to screen readers (polite). */
export function say(sentence) {
  const region = document.getElementById("said");
  if (region) region.textContent = sentence;
}

/** Copies text; answers whether it worked. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) return false;
  }
  say("Copied");
  return true;
}

function remember(name, value) {
  document.cookie = `${name}=${value};path=/;max-age=31536000;SameSite=Strict`;
}

/** The zone-aware text of a moment on the chosen clock. */
function clockText(date, clock) {
  const iso = (when) => when.toISOString();
  if (clock !== "local") return `${iso(date).slice(0, 10)} ${iso(date).slice(11, 19)} UTC`;
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60000);
  return `${iso(local).slice(0, 10)} ${iso(local).slice(11, 19)}`;
}

/** The text of `t` seconds since `start` (a Date) on the chosen clock. */
export function timeText(t, start, clock) {
  if (clock === "start" || !start) return t.toFixed(3);
  const when = new Date(start.getTime() + t * 1000);
  const shifted = clock === "local" ? new Date(when.getTime() - when.getTimezoneOffset() * 60000) : when;
  return shifted.toISOString().slice(11, 23);
}

/** Repaints every time below `root` for the clock in `<html data-clock>`. */
export function paintClock(root = document) {
  const clock = document.documentElement.dataset.clock;
  for (const time of root.querySelectorAll("time[data-moment]")) {
    time.textContent = clockText(new Date(time.dateTime), clock);
  }
  const started = document.querySelector("[data-started]")?.dataset.started;
  const start = started ? new Date(started) : null;
  for (const span of root.querySelectorAll("[data-t]")) {
    span.textContent = timeText(Number(span.dataset.t), start, clock);
  }
}

function choose(button) {
  const root = document.documentElement;
  root.dataset[button.name] = button.value;
  remember(button.name, button.value);
  for (const other of button.closest("fieldset").querySelectorAll("button")) {
    other.setAttribute("aria-pressed", String(other === button));
  }
  if (button.name === "clock") paintClock();
  document.dispatchEvent(new CustomEvent("lifeline:preference", { detail: { [button.name]: button.value } }));
  say(`${button.name}: ${button.textContent.trim()}`);
}

async function copyFrom(button) {
  const target = button.dataset.copyFrom && document.getElementById(button.dataset.copyFrom);
  const text = target ? target.value ?? target.textContent : button.dataset.copy;
  if (!(await copy(text))) return;
  button.dataset.done = "";
  setTimeout(() => delete button.dataset.done, SAID_FOR);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.closest(".preferences") && button.name) {
    event.preventDefault();
    choose(button);
  } else if (button?.matches("[data-copy],[data-copy-from]")) {
    copyFrom(button);
  }
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.open = false;
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
  }
});

document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
});

/** On a phone the row of pages scrolls: the one that is open stands in sight. */
function showPlace() {
  const here = document.querySelector(".top nav [aria-current]");
  if (here) here.parentElement.scrollLeft = here.offsetLeft - here.parentElement.clientWidth / 2;
}

showPlace();
paintClock();
