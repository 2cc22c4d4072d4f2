// A scenario as data: reading and changing one dotted key of the tree that the TOML stands for.

/** The value at "faults.0.on.caller"; undefined where there is none. */
export function read(tree, path) {
  let here = tree;
  for (const part of path.split(".")) here = here?.[part];
  return here;
}

/** A copy of the tree with this value; undefined takes the key away, and tables that it leaves empty. */
export function changed(tree, path, value) {
  const fresh = structuredClone(tree);
  const parts = path.split(".");
  const trail = [fresh];
  for (const part of parts.slice(0, -1)) {
    const here = trail.at(-1);
    if (typeof here[part] !== "object" || here[part] === null) here[part] = {};
    trail.push(here[part]);
  }
  const last = parts.at(-1);
  if (value !== undefined) trail.at(-1)[last] = value;
  else delete trail.at(-1)[last];
  for (let depth = trail.length - 1; depth > 0; depth -= 1) {
    const empty = Object.keys(trail[depth]).length === 0 && !Array.isArray(trail[depth - 1]);
    if (!empty) break;
    delete trail[depth - 1][parts[depth - 1]];
  }
  return fresh;
}

/** A copy with one fault more. */
export function withFault(tree, fault) {
  const fresh = structuredClone(tree);
  fresh.faults = [...(Array.isArray(fresh.faults) ? fresh.faults : []), fault];
  return fresh;
}

/** A copy without the fault at this position. */
export function withoutFault(tree, position) {
  const fresh = structuredClone(tree);
  fresh.faults.splice(position, 1);
  if (!fresh.faults.length) delete fresh.faults;
  return fresh;
}

/** The fault at a position as another kind of fault: its target stays, its own settings go. */
export function ofKind(tree, position, name) {
  const fresh = structuredClone(tree);
  const old = fresh.faults[position];
  fresh.faults[position] = old.on === undefined ? { fault: name } : { fault: name, on: old.on };
  return fresh;
}

/** What a person typed, in the type that the setting has; what is no such thing stays a text. */
export function typed(spec, text) {
  if (text.trim() === "") return undefined;
  if (spec.key === "attempt" && /^\d+$/.test(text.trim())) return Number(text);
  if (spec.kind === "int" || spec.kind === "float") {
    const number = Number(text.trim());
    return Number.isFinite(number) ? number : text;
  }
  if (spec.kind === "list") return text.split("\n").filter((line) => line.trim());
  return text;
}
