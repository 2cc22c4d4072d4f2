// The inspector: the selected event, parsed, raw, with its request and response. The server renders it
// (bodies are escaped there) and it is fetched when the selection rests.

import { paintClock, say } from "./base.js";
import { clean } from "./events-words.js";

const REST = 90;

export class Inspector {
  /**
   * @param {HTMLElement} root @param {import("./select.js").Selection} selection
   * @param {{nameOf: (agent: string) => string}} page
   */
  constructor(root, selection, page) {
    Object.assign(this, { root, selection, page });
    this.nothing = [...root.childNodes];
    this.tab = "";
    /** @type {Map<number, string>} */
    this.kept = new Map();
    selection.addEventListener("change", ({ detail }) => detail.has("seq") && this.#soon());
    root.addEventListener("click", (event) => this.#pressed(event));
    root.addEventListener("keydown", (event) => this.#key(event));
    this.close = root.parentElement.querySelector(".sheet-close");
    this.close.addEventListener("click", () => this.selection.select(null));
    if (selection.seq !== null) this.#soon();
  }

  #soon() {
    clearTimeout(this.resting);
    this.close.hidden = this.selection.seq === null;
    if (this.close.hidden) return this.root.replaceChildren(...this.nothing);
    this.resting = setTimeout(() => this.#fetch(this.selection.seq), REST);
    return undefined;
  }

  async #fetch(seq) {
    let html = this.kept.get(seq);
    if (html === undefined) {
      this.root.setAttribute("aria-busy", "true");
      const address = this.root.dataset.url.replace("/events/0/", `/events/${seq}/`);
      try {
        const answer = await fetch(address, { headers: { Accept: "text/html" } });
        html = answer.ok ? await answer.text() : "";
        if (answer.ok) this.kept.set(seq, html);
      } catch {
        html = "";
      }
      if (this.kept.size > 60) this.kept.delete(this.kept.keys().next().value);
    }
    if (this.selection.seq !== seq) return;
    this.root.removeAttribute("aria-busy");
    this.#show(html || `<p class="empty">Event ${seq} could not be read. It is read again when you select it again.</p>`);
  }

  #show(html) {
    const fresh = new DOMParser().parseFromString(html, "text/html");
    this.root.replaceChildren(...fresh.body.childNodes);
    paintClock(this.root);
    const agent = this.root.querySelector("dd[data-agent]");
    const name = agent && clean(this.page.nameOf(agent.dataset.agent), 80);
    if (name && name !== agent.dataset.agent) agent.prepend(`${name} `);
    this.#tabs();
  }

  /** The folded parts of the fragment become tabs; the chosen one stays chosen for the next event. */
  #tabs() {
    const panels = [...this.root.querySelectorAll(".event-detail > details")].map(unfolded);
    if (!panels.length) return;
    const bar = document.createElement("div");
    bar.className = "inspector-tabs";
    bar.setAttribute("role", "tablist");
    bar.setAttribute("aria-label", "Views of this event");
    panels.forEach((panel, index) => {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", id: `tab-${index}`, textContent: panel.dataset.tab });
      button.setAttribute("role", "tab");
      panel.id ||= `tab-panel-${index}`;
      button.setAttribute("aria-controls", panel.id);
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", button.id);
      bar.append(button);
    });
    panels[0].before(bar);
    const wanted = panels.findIndex((panel) => panel.dataset.tab === this.tab);
    this.#choose(Math.max(0, wanted), false);
  }

  #choose(index, chosen = true) {
    const buttons = [...this.root.querySelectorAll("[role=tab]")];
    const panels = [...this.root.querySelectorAll("[data-tab]")];
    buttons.forEach((button, at) => {
      button.setAttribute("aria-selected", String(at === index));
      button.tabIndex = at === index ? 0 : -1;
      panels[at].hidden = at !== index;
    });
    if (!chosen) return;
    this.tab = panels[index].dataset.tab;
    say(this.tab);
  }

  #pressed(event) {
    const tab = event.target.closest("[role=tab]");
    if (tab) this.#choose([...this.root.querySelectorAll("[role=tab]")].indexOf(tab));
  }

  #key(event) {
    const tab = event.target.closest("[role=tab]");
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!tab || !by) return;
    const buttons = [...this.root.querySelectorAll("[role=tab]")];
    const next = (buttons.indexOf(tab) + by + buttons.length) % buttons.length;
    this.#choose(next);
    buttons[next].focus();
    event.preventDefault();
  }
}

/** A folded part as a panel that has its summary's word as name. @returns {HTMLElement} */
function unfolded(details) {
  const summary = details.querySelector("summary");
  const panel = document.createElement("div");
  panel.dataset.tab = summary.firstChild?.textContent.trim() || "part";
  const size = summary.querySelector("small");
  panel.append(...[...details.childNodes].filter((node) => node !== summary));
  if (size) {
    const note = Object.assign(document.createElement("p"), { className: "inspector-size" });
    note.append(size);
    panel.prepend(note);
  }
  details.replaceWith(panel);
  return panel;
}
