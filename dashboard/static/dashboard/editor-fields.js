// Makes the editor's fields out of the settings that the registries describe.

import { typed } from "./editor-tree.js";

let counter = 0;

/** An element with properties and children; `data` and `aria` names go in as attributes. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-")) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function shown(value) {
  if (value === undefined || value === null) return "";
  return Array.isArray(value) ? value.join("\n") : String(value);
}

function standard(spec) {
  const value = shown(spec.default);
  return value === "" ? "" : value.replaceAll("\n", ", ");
}

function entry(spec, value, id) {
  if (spec.kind === "choice") {
    const select = make("select", { id });
    for (const choice of spec.choices) {
      select.append(new Option(choice, choice, false, choice === (value ?? spec.default)));
    }
    if (value === undefined && !spec.choices.includes(spec.default)) select.prepend(new Option("choose…", "", false, true));
    if (value !== undefined && !spec.choices.includes(value)) {
      select.prepend(new Option(`${value} (not known)`, value, false, true));
    }
    return select;
  }
  if (spec.kind === "bool") return make("input", { id, type: "checkbox", checked: value ?? spec.default });
  const common = { id, value: shown(value), placeholder: standard(spec), spellcheck: false, autocomplete: "off" };
  if (spec.kind === "list" || spec.kind === "long") return make("textarea", { ...common, rows: 2 });
  const input = make("input", common);
  if (spec.kind === "int" || spec.kind === "float") input.inputMode = "decimal";
  if (spec.list) input.setAttribute("list", spec.list);
  return input;
}

function valueOf(spec, control) {
  if (spec.kind === "bool") return control.checked === spec.default ? undefined : control.checked;
  if (spec.kind === "choice") return control.value === spec.default ? undefined : control.value;
  return typed(spec, control.value);
}

/** One setting as a labelled field. `change(path, value)` is called with undefined for the default. */
export function field(spec, path, value, change) {
  const id = `field-${(counter += 1)}`;
  const control = entry(spec, value, id);
  control.dataset.path = path;
  const event = control.tagName === "SELECT" || spec.kind === "bool" ? "change" : "input";
  control.addEventListener(event, () => change(path, spec.always ? control.value : valueOf(spec, control)));
  const label = make("label", { htmlFor: id }, spec.label ?? spec.key);
  if (spec.unit) label.append(" ", make("span", { className: "unit" }, spec.unit));
  const kind = spec.kind === "bool" ? "switch" : spec.wide ? "wide" : "";
  const box = make("div", { className: `entryfield ${kind}` });
  if (spec.kind === "bool") box.append(control, label);
  else box.append(label, control);
  if (spec.help) {
    const help = make("small", { id: `${id}-help` }, spec.help);
    control.setAttribute("aria-describedby", help.id);
    box.append(help);
  }
  return box;
}

/** A card of the editor with a heading and a body. */
export function card(title, note, ...children) {
  const header = make("header", {}, make("h2", {}, title));
  if (note) header.append(make("small", {}, note));
  return make("section", { className: "card" }, header, make("div", { className: "body" }, ...children));
}

/** Puts new children into a place and gives the focus back to the field that had it, as it was. */
export function refill(place, ...children) {
  const held = place.contains(document.activeElement) ? document.activeElement : null;
  const path = held?.dataset.path;
  const open = new Set([...place.querySelectorAll("details[open]")].map((each) => each.dataset.name));
  place.replaceChildren(...children);
  for (const each of place.querySelectorAll("details")) {
    if (open.has(each.dataset.name)) each.open = true;
  }
  const next = path && place.querySelector(`[data-path="${CSS.escape(path)}"]`);
  if (!next) return;
  if (next.type !== "checkbox" && next.tagName !== "SELECT") next.value = held.value;
  next.focus({ preventScroll: true });
  if (next.setSelectionRange && held.selectionStart !== null) {
    next.setSelectionRange(held.selectionStart, held.selectionEnd);
  }
}
