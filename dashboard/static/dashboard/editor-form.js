// The left side of the editor: words, topology, faults, laws, guards and thresholds as fields.

import { card, field, make } from "./editor-fields.js";
import { read } from "./editor-tree.js";

const WORDS = [
  { key: "name", kind: "text", help: "Small letters, digits and . _ - ; it is saved under this name." },
  { key: "title", kind: "text", help: "A few words for lists." },
  { key: "question", kind: "long", wide: true, help: "What this asks, in one sentence." },
];

function words(tree, change) {
  const fields = WORDS.map((spec) => field({ default: "", ...spec }, spec.key, read(tree, spec.key), change));
  const control = { key: "control", kind: "bool", default: false, label: "healthy control", help: "Nothing may be reported as broken." };
  fields.push(field(control, "control", read(tree, "control"), change));
  return card("What it asks", "", make("div", { className: "row" }, ...fields));
}

/** The script's own settings first, then those that all scripts have. */
function ordered(script, schema) {
  const all = Object.values(schema.scripts);
  const shared = (spec) => all.every((other) => other.settings.some((each) => each.key === spec.key));
  const settings = script?.settings ?? [];
  return [...settings.filter((spec) => !shared(spec)), ...settings.filter(shared)];
}

function topology(tree, schema, change) {
  const choices = Object.keys(schema.scripts);
  const script = schema.scripts[tree.script];
  const picker = { key: "script", kind: "choice", choices, default: "", wide: true, always: true };
  picker.help = script ? script.sentence : "No such script.";
  const settings = ordered(script, schema).map((spec) =>
    field({ ...spec, wide: spec.kind === "list" }, `settings.${spec.key}`, read(tree, `settings.${spec.key}`), change),
  );
  const row = make("div", { className: "row" }, field(picker, "script", tree.script, change), ...settings);
  return card("Topology", "who delegates to whom", row);
}

function faults(tree, answer, hands) {
  const listed = Array.isArray(tree.faults) ? tree.faults : [];
  const items = listed.map((fault, position) => {
    const button = make("button", { type: "button", "aria-pressed": String(position === answer.selected) });
    button.dataset.path = `fault-${position}`;
    const where = answer.said[position] || "cannot be read yet";
    button.append(make("b", {}, `✂ ${fault.fault ?? "?"}`), make("span", { className: "dim" }, where));
    button.addEventListener("click", () => hands.select(position));
    return make("li", {}, button);
  });
  const add = make("button", { type: "button" }, "Add a fault");
  add.dataset.path = "fault-add";
  add.addEventListener("click", hands.add);
  const list = items.length ? make("ul", { className: "faultlist" }, ...items) : make("p", { className: "dim" }, "Nothing is broken yet: press a call in the drawing.");
  return card("Faults", "the first that fits strikes", list, make("div", {}, add));
}

function laws(tree, schema, change) {
  const chosen = Array.isArray(tree.laws) ? tree.laws : [];
  const boxes = schema.laws.map((law) => {
    const box = make("input", { type: "checkbox", checked: chosen.includes(law.id) });
    box.dataset.path = `law-${law.id}`;
    box.addEventListener("change", () => {
      const now = schema.laws.map((each) => each.id).filter((id) => (id === law.id ? box.checked : chosen.includes(id)));
      change("laws", now.length ? now : undefined);
    });
    return make("label", { title: law.sentence }, box, make("b", {}, law.id), law.name.replaceAll("_", " "));
  });
  const legend = make("legend", { className: "unseen" }, "Laws in question");
  return card("Laws in question", `${chosen.length || "none"} chosen; all are judged`, make("fieldset", { className: "lawboxes" }, legend, ...boxes));
}

function folded(name, title, note, specs, tree, change) {
  const set = Object.keys(tree[name] ?? {}).length;
  const body = make("div", { className: "row" }, ...specs.map((spec) => field(spec, `${name}.${spec.key}`, read(tree, `${name}.${spec.key}`), change)));
  const summary = make("summary", {}, `${title} `, make("small", {}, set ? `${set} set` : note));
  const details = make("details", {}, summary, make("div", { className: "body" }, body));
  details.dataset.name = name;
  details.open = set > 0;
  return make("section", { className: "card" }, details);
}

/** All cards for this tree. `hands`: {change(path, value), select(position), add()}. */
export function form(tree, schema, answer, hands) {
  return [
    topology(tree, schema, hands.change),
    faults(tree, answer, hands),
    words(tree, hands.change),
    laws(tree, schema, hands.change),
    folded("guards", "Guards", "what ends a run", schema.guards, tree, hands.change),
    folded("thresholds", "Thresholds", "what the laws measure against", schema.thresholds, tree, hands.change),
  ];
}
