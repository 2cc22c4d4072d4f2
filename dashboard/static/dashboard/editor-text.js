// The TOML side: line numbers, marked lines, problems with a press that puts the known word in.

import { make } from "./editor-fields.js";

const area = document.getElementById("editor-toml");
const lines = document.getElementById("editor-lines");
const list = document.getElementById("editor-problems");
const state = document.getElementById("editor-state");

/** Draws the line numbers, the wrong ones marked. */
export function number(problems) {
  const wrong = new Set(problems.map((problem) => problem.line));
  const count = area.value.split("\n").length;
  lines.replaceChildren(
    ...Array.from({ length: count }, (_, index) => make("span", wrong.has(index + 1) ? { className: "wrong" } : {}, `${index + 1}\n`)),
  );
  area.rows = Math.min(44, Math.max(18, count + 1));
  lines.scrollTop = area.scrollTop;
}

function goTo(line) {
  const before = area.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  const end = area.value.indexOf("\n", before);
  area.focus();
  area.setSelectionRange(before, end === -1 ? area.value.length : end);
}

function replaced(problem) {
  const rows = area.value.split("\n");
  const from = problem.line > 0 ? problem.line - 1 : 0;
  for (let index = from; index < rows.length; index += 1) {
    if (!rows[index].includes(problem.word)) continue;
    rows[index] = rows[index].replace(problem.word, problem.nearest);
    return rows.join("\n");
  }
  return null;
}

/** Shows the problems; `put(text)` is called when one takes the word that was meant. */
export function tell(problems, put) {
  state.className = `chip small ${problems.length ? "bad" : "ok"}`;
  state.firstElementChild.textContent = problems.length ? `${problems.length} problem${problems.length === 1 ? "" : "s"}` : "valid";
  area.setAttribute("aria-invalid", String(problems.length > 0));
  list.replaceChildren(...problems.map((problem) => item(problem, put)));
}

function item(problem, put) {
  const words = make("span", {});
  if (problem.line) {
    const jump = make("button", { type: "button" }, `line ${problem.line}`);
    jump.addEventListener("click", () => goTo(problem.line));
    words.append(jump, " ");
  }
  if (problem.key) words.append(make("code", {}, problem.key), " ");
  words.append(problem.says);
  const row = make("li", { className: "shape bad" }, words);
  if (problem.nearest && problem.word) {
    const use = make("button", { type: "button" }, `Use ${problem.nearest}`);
    use.addEventListener("click", () => {
      const text = replaced(problem);
      if (text !== null) put(text);
    });
    row.append(use);
  }
  return row;
}

area.addEventListener("scroll", () => {
  lines.scrollTop = area.scrollTop;
});
