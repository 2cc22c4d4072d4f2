// The sweep form: says what it would start, and takes scenarios by press.

const form = document.getElementById("sweep-form");
const planned = document.getElementById("sweep-planned");
let waiting = 0;

async function plan() {
  const query = new URLSearchParams();
  for (const name of ["agents", "scenarios", "repeat"]) query.set(name, form.elements[name].value);
  if (!query.get("agents").trim() || !query.get("scenarios").trim()) return;
  const answer = await fetch(`${form.dataset.plan}?${query}`);
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  planned.replaceChildren(...fresh.body.childNodes);
}

function soon() {
  clearTimeout(waiting);
  waiting = setTimeout(() => plan().catch(() => {}), 350);
}

const names = () => form.elements.scenarios.value.split(/[\s,]+/).filter(Boolean);

/** The pressed look of each name follows the field. */
function paint() {
  const chosen = new Set(names());
  for (const chip of form.querySelectorAll("[data-scenario]")) {
    const on = chosen.has(chip.dataset.scenario);
    chip.setAttribute("aria-pressed", String(on));
    chip.classList.toggle("picked", on);
  }
}

form?.addEventListener("click", (event) => {
  const chip = event.target.closest("[data-scenario]");
  if (!chip) return;
  const chosen = new Set(names());
  if (!chosen.delete(chip.dataset.scenario)) chosen.add(chip.dataset.scenario);
  form.elements.scenarios.value = [...chosen].join(", ");
  paint();
  soon();
});
form?.addEventListener("input", () => {
  paint();
  soon();
});
if (form) {
  paint();
  soon();
}
