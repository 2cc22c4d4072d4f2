// The panel below the drawing: one fault, what it does, and which requests it hits.

import { field, make } from "./editor-fields.js";
import { read } from "./editor-tree.js";

function wire(picture) {
  const list = make("ol", { className: "wire", "aria-label": "What goes over the wire, in order" });
  for (const stage of picture) list.append(make("li", { className: `wire-${stage.kind}` }, stage.words));
  return list;
}

function callers(plan) {
  const names = ["parent", "child", "grandchild", "utility", "any-agent"];
  for (const row of plan.querySelectorAll("tr[data-caller]")) names.push(row.dataset.caller);
  const list = make("datalist", { id: "editor-callers" });
  for (const name of new Set(names)) list.append(new Option(name, name));
  return list;
}

function tool(words, press, kind = "") {
  const button = make("button", { type: "button", className: kind }, words);
  button.dataset.path = `tool-${words}`;
  button.addEventListener("click", press);
  return button;
}

/** The panel for the fault at `position`. `hands`: {change, kind(position, name), remove, mend or null, close}. */
export function panel(tree, schema, position, plan, hands) {
  const fault = tree.faults[position];
  const known = schema.faults[fault.fault];
  const at = `faults.${position}`;
  const head = make("div", { className: "fault-head" }, make("h3", {}, `Fault ${position + 1}`), make("span", { className: "grow" }));
  if (hands.mend) head.append(tool("Mend this attempt", hands.mend));
  head.append(tool("Remove the fault", hands.remove, "danger"), tool("Close", hands.close));
  const picker = { key: "fault", label: "what is broken", kind: "choice", choices: Object.keys(schema.faults), default: "", wide: true, always: true };
  const what = make("div", {}, make("div", { className: "row" }, field(picker, `${at}.fault`, fault.fault, (_, name) => hands.kind(position, name))));
  if (known) {
    what.append(make("p", {}, known.sentence), wire(known.picture), make("p", { className: "dim" }, `A client sees: ${known.seen}`));
    const own = known.settings.map((spec) => field(spec, `${at}.${spec.key}`, read(tree, `${at}.${spec.key}`), hands.change));
    if (own.length) what.append(make("div", { className: "row" }, ...own));
  }
  const labels = { caller: "who", attempt: "which attempts", turn: "which call" };
  const target = schema.target.map((spec) => {
    const shown = { ...spec, label: labels[spec.key], list: spec.key === "caller" ? "editor-callers" : "" };
    return field(shown, `${at}.on.${spec.key}`, read(tree, `${at}.on.${spec.key}`), hands.change);
  });
  const where = make("div", {}, make("h4", {}, "Where it strikes"), make("div", { className: "row" }, ...target), callers(plan));
  return [head, make("div", { className: "fault-grid" }, what, where)];
}
