// The scenario editor: drawing, fields and TOML of one scenario, always in step. The server reads
// and writes the TOML; this asks it on every change and shows what it answers.

import { say } from "./base.js";
import { panel } from "./editor-fault.js";
import { refill } from "./editor-fields.js";
import { form } from "./editor-form.js";
import { arrows } from "./editor-plan.js";
import { number, tell } from "./editor-text.js";
import { changed, ofKind, withFault, withoutFault } from "./editor-tree.js";

const WAIT = 220;
const root = document.getElementById("editor");
const area = document.getElementById("editor-toml");
const plan = document.getElementById("editor-plan");
const fields = document.getElementById("editor-fields");
const below = document.getElementById("editor-fault");
const undo = document.getElementById("editor-undo");
const saves = document.getElementById("editor-saves");
const schema = JSON.parse(document.getElementById("editor-schema").textContent);
let answer = JSON.parse(document.getElementById("editor-start").textContent);
let tree = answer.tree;
let selected = null;
let spot = "";
let asked = 0;
let timer = null;
let leaving = false;
const before = [];
const first = area.value;

async function ask(changes, { text = false } = {}) {
  const turn = (asked += 1);
  const body = new URLSearchParams({ csrfmiddlewaretoken: root.csrfmiddlewaretoken.value, ...changes });
  try {
    const reply = await fetch(root.dataset.check, { method: "POST", body, headers: { Accept: "application/json" } });
    if (!reply.ok) throw new Error(String(reply.status));
    const given = await reply.json();
    if (turn === asked) take(given, text);
  } catch {
    tell([{ key: "", says: "The server does not answer; what you write is kept here.", line: 0 }], put);
  }
}

function take(given, text) {
  answer = given;
  if (given.selected !== null) selected = given.selected;
  if (given.tree) tree = given.tree;
  if (!text && area.value !== given.toml) {
    before.push(area.value);
    area.value = given.toml;
  }
  show();
}

function show() {
  const count = Array.isArray(tree?.faults) ? tree.faults.length : 0;
  if (selected !== null && selected >= count) selected = null;
  redraw();
  number(answer.problems);
  tell(answer.problems, put);
  fields.toggleAttribute("data-off", !answer.tree);
  if (tree) refill(fields, ...form(tree, schema, { ...answer, selected }, { change, select, add }));
  for (const control of fields.querySelectorAll("input, select, textarea, button")) control.disabled = !answer.tree;
  openPanel();
  undo.disabled = before.length === 0;
  saves.textContent = answer.saves.says;
  saves.className = answer.saves.ok ? "dim" : "bad";
}

function redraw() {
  // What cannot be drawn leaves the last drawing, paled, so that nothing jumps while one types.
  const stale = !answer.plan.includes("<table") && plan.querySelector("table");
  plan.toggleAttribute("data-stale", Boolean(stale));
  if (stale) return plan.querySelectorAll("button.box").forEach((box) => (box.disabled = true));
  const held = plan.contains(document.activeElement) ? document.activeElement.value?.split("@")[0] : "";
  const scrolled = plan.firstElementChild?.scrollLeft ?? 0;
  const fresh = new DOMParser().parseFromString(answer.plan, "text/html");
  plan.replaceChildren(...fresh.body.childNodes);
  if (plan.firstElementChild) plan.firstElementChild.scrollLeft = scrolled;
  for (const box of plan.querySelectorAll("button.box")) {
    box.type = "button";
    const mine = box.dataset.fault !== undefined && Number(box.dataset.fault) === selected;
    if (box.dataset.fault !== undefined) box.setAttribute("aria-pressed", String(mine));
    if (held && box.value.split("@")[0] === held) box.focus({ preventScroll: true });
  }
}

function openPanel() {
  below.hidden = selected === null || !answer.tree;
  if (below.hidden) return below.replaceChildren();
  const mend = spot ? () => ask({ toml: area.value, mend: `${spot}@${selected}` }).then(() => unpick()) : null;
  const remove = () => {
    const position = selected;
    unpick();
    write(withoutFault(tree, position));
  };
  refill(below, ...panel(tree, schema, selected, plan, { change, kind, remove, mend, close: unpick }));
}

function write(fresh) {
  tree = fresh;
  return ask({ tree: JSON.stringify(fresh) });
}

function change(path, value) {
  tree = changed(tree, path, value);
  clearTimeout(timer);
  timer = setTimeout(() => write(tree), WAIT);
}

function kind(position, name) {
  write(ofKind(tree, position, name));
}

function select(position) {
  selected = position;
  spot = "";
  show();
}

function add() {
  selected = Array.isArray(tree.faults) ? tree.faults.length : 0;
  spot = "";
  write(withFault(tree, { fault: "sse-cut", on: { caller: "child", attempt: "all" } }));
}

function unpick() {
  const back = spot;
  selected = null;
  spot = "";
  show();
  if (back) plan.querySelector(`button.box[value^="${CSS.escape(back)}"]`)?.focus();
}

function put(text) {
  before.push(area.value);
  area.value = text;
  ask({ toml: text }, { text: true });
}

plan.addEventListener("click", (event) => {
  const box = event.target.closest("button.box");
  if (!box) return;
  event.preventDefault();
  [spot] = box.value.split("@");
  if (box.dataset.fault !== undefined) {
    selected = Number(box.dataset.fault);
    show();
    return;
  }
  say("Broken; its settings are below the drawing");
  ask({ toml: area.value, press: spot });
});

plan.addEventListener("keydown", (event) => {
  const box = event.target.closest("button.box");
  if (!box) return;
  if (event.key === "Delete" && box.dataset.fault !== undefined) {
    event.preventDefault();
    ask({ toml: area.value, mend: box.value });
  } else if (arrows(plan, box, event.key)) event.preventDefault();
});

area.addEventListener("input", () => {
  number(answer.problems);
  clearTimeout(timer);
  timer = setTimeout(() => ask({ toml: area.value }, { text: true }), WAIT);
});

undo.addEventListener("click", () => {
  const text = before.pop();
  if (text === undefined) return;
  area.value = text;
  ask({ toml: text }, { text: true });
});

// Enter in a field must not press a button of the form.
root.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches("input:not([type=checkbox])")) event.preventDefault();
  if (event.key === "Escape" && below.contains(event.target)) unpick();
});
root.addEventListener("submit", () => {
  leaving = true;
});
window.addEventListener("beforeunload", (event) => {
  if (!leaving && area.value !== first) event.preventDefault();
});
document.getElementById("run-agent").addEventListener("change", (event) => {
  document.getElementById("run-version").setAttribute("list", `run-versions-${event.target.value}`);
});

document.getElementById("editor-check").hidden = true;
undo.hidden = false;
show();
