// The list of events: all that the page holds, filtered, joined with the selection.

import { copy, say, timeText } from "./base.js";
import { Rows } from "./events-rows.js";
import { clean, parseFilter, passes, says, toneOf } from "./events-words.js";

const COLUMNS = [
  ["no.", "number"],
  ["time", "number time"],
  ["agent", "who"],
  ["event", "kind"],
  ["what", "what"],
  ["seen in", "src"],
];
const grouped = (count) => count.toLocaleString("en");

export class EventList {
  /**
   * @param {HTMLElement} root @param {import("./events-store.js").Store} store
   * @param {import("./select.js").Selection} selection
   * @param {{start: Date|null, open: boolean, nameOf: (agent: string) => string, load: (where: "earlier"|"later"|"tail") => void,
   *   search: (text: string) => void}} page
   */
  constructor(root, store, selection, page) {
    Object.assign(this, { root, store, selection, page });
    this.input = document.getElementById("event-filter");
    this.counted = document.getElementById("event-count");
    /** @type {import("./events-words.js").Event[]} */
    this.shown = [];
    this.evidence = new Set();
    this.terms = [];
    this.unseen = 0;
    this.#build();
    this.#listen();
    this.refilter();
  }

  #build() {
    this.scroller = part("div", "event-scroll", { role: "grid", tabindex: "0", "aria-labelledby": "events-title", id: "event-grid" });
    const head = part("div", "event-row event-head", { role: "row", "aria-rowindex": "1" });
    for (const [word, classes] of COLUMNS) head.append(part("span", classes, { role: "columnheader" }, word));
    this.more = part("div", "event-more");
    this.earlier = part("button", "", { type: "button" }, "earlier events");
    this.later = part("button", "", { type: "button" }, "later events");
    this.tail = part("button", "event-news", { type: "button", hidden: "" });
    this.note = part("span", "dim");
    this.all = part("button", "", { type: "button" }, "search the whole run");
    this.more.append(this.note, this.earlier, this.later, this.all);
    this.none = part("p", "empty", { hidden: "" });
    this.root.classList.remove("scroll");
    this.root.replaceChildren(this.scroller, this.none, this.tail, this.more);
    document.querySelector("nav.paging[aria-label='Pages of events']")?.remove();
    this.rows = new Rows(this.scroller, head, { make, fill: (row, event, index) => this.#fill(row, event, index) });
  }

  #listen() {
    const form = this.input.closest("form");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#typed(0);
      this.scroller.focus();
    });
    form.querySelector("button")?.remove();
    this.input.value = this.selection.sight.filter;
    this.input.addEventListener("input", () => this.#typed(90));
    this.input.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      this.input.value = "";
      this.#typed(0);
      this.scroller.focus();
    });
    this.scroller.addEventListener("click", (event) => {
      const row = event.target.closest("[data-seq]");
      if (row) this.selection.select(Number(row.dataset.seq));
    });
    this.scroller.addEventListener("keydown", (event) => this.#key(event));
    this.scroller.addEventListener("scroll", () => this.rows.atEnd && this.#told(0), { passive: true });
    this.earlier.addEventListener("click", () => this.page.load("earlier"));
    this.later.addEventListener("click", () => this.page.load("later"));
    this.tail.addEventListener("click", () => this.toTail());
    this.all.addEventListener("click", () => this.page.search(this.input.value));
    document.addEventListener("lifeline:preference", () => this.rows.redraw());
    this.selection.addEventListener("change", ({ detail }) => {
      if (detail.has("filter") && this.input.value !== this.selection.sight.filter) {
        this.input.value = this.selection.sight.filter;
      }
      if (detail.has("filter")) this.refilter();
      if (detail.has("seq")) this.reveal();
    });
  }

  #typed(delay) {
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.selection.set({ filter: this.input.value.trim() }), delay);
  }

  #key(event) {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / 26) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -1e9, End: 1e9 };
    if (!steps[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.step(steps[event.key]);
  }

  /** Filters everything again, after the filter or the stretch changed. */
  refilter(events = this.store.events) {
    this.terms = parseFilter(this.selection.sight.filter);
    this.found = events === this.store.events ? null : events;
    const stick = this.page.open && this.page.tailing && this.rows.atEnd;
    this.shown = events.filter((event) => passes(event, this.terms, this.page.nameOf));
    this.rows.show(this.shown, stick);
    this.#count();
    if (this.selection.seq) this.reveal();
  }

  /** New events at the end. @param {import("./events-words.js").Event[]} fresh */
  append(fresh) {
    const stick = this.page.open && (this.rows.atEnd || !this.shown.length);
    const matching = fresh.filter((event) => passes(event, this.terms, this.page.nameOf));
    for (const event of matching) this.shown.push(event);
    const gone = this.store.trim();
    if (gone) this.shown = this.shown.filter((event) => event.seq >= this.store.first);
    this.rows.show(this.shown, stick);
    if (!document.hidden) this.rows.draw();
    if (this.selection.seq !== null && this.revealed !== this.selection.seq) this.reveal();
    if (!stick && this.page.open) this.#told(this.unseen + matching.length);
    this.#count();
  }

  #told(count) {
    this.unseen = count;
    this.tail.hidden = !count;
    if (count) this.tail.textContent = `${grouped(count)} new`;
  }

  /** To the newest event, which is followed from then on. */
  toTail() {
    this.#told(0);
    if (!this.page.tailing) this.page.load("tail");
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.rows.redraw();
  }

  /** Where the selected event, or the one it mirrors, stands in the list; -1 when it does not. */
  get index() {
    const seq = this.store.bySeq.get(this.selection.seq)?.seq ?? this.selection.seq;
    return seq === null ? -1 : this.#at(seq);
  }

  #at(seq) {
    let [low, high] = [0, this.shown.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (this.shown[middle].seq === seq) return middle;
      if (this.shown[middle].seq < seq) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  /** Selects the event `by` rows further. @param {number} by */
  step(by) {
    if (!this.shown.length) return;
    const at = this.index;
    const next = at < 0 ? (by > 0 ? 0 : this.shown.length - 1) : Math.min(Math.max(at + by, 0), this.shown.length - 1);
    this.selection.select(this.shown[next].seq);
  }

  /** Brings the selected event into sight and names it to readers. */
  reveal() {
    const at = this.index;
    if (at >= 0) {
      this.revealed = this.selection.seq;
      this.rows.reveal(at);
      this.rows.draw();
      this.scroller.setAttribute("aria-activedescendant", `row-${this.shown[at].seq}`);
    } else this.scroller.removeAttribute("aria-activedescendant");
    this.rows.redraw();
  }

  /** Copies the selected event as JSON. */
  async copySelected() {
    const event = this.store.bySeq.get(this.selection.seq);
    if (!event) return say("No event is selected");
    const { text: _, ...plain } = event;
    return copy(JSON.stringify(plain, null, 1));
  }

  #count() {
    const { store } = this;
    const parts = [`${grouped(this.shown.length)} of ${grouped(Math.max(store.total, this.shown.length))} shown`];
    if (store.samples && !this.terms.some((term) => term.field === "kind")) {
      parts.push(`${grouped(store.samples)} process samples are in the timeline`);
    }
    if (store.mirrored) parts.push(`${grouped(store.mirrored)} seen in two sources`);
    this.counted.textContent = parts.join(" · ");
    this.earlier.hidden = store.first <= 1 || Boolean(this.found);
    this.later.hidden = store.last >= store.tip || this.page.tailing || Boolean(this.found);
    this.all.hidden = store.whole || !this.terms.length || Boolean(this.found);
    this.note.textContent = this.found ? "found in the whole run" : store.whole ? "" : `the page holds ${grouped(store.first)} to ${grouped(store.last)}`;
    this.more.hidden = this.earlier.hidden && this.later.hidden && this.all.hidden;
    this.none.hidden = this.shown.length > 0;
    this.none.textContent = this.terms.length ? "No event matches this filter." : this.page.open ? "Nothing has happened yet." : "This run has no events.";
    this.scroller.setAttribute("aria-rowcount", String(this.shown.length + 1));
  }

  #fill(row, event, index) {
    const [number, time, who, kind, what, src] = row.children;
    const selected = index === this.index;
    row.dataset.seq = event.seq;
    row.id = `row-${event.seq}`;
    row.setAttribute("aria-rowindex", String(index + 2));
    row.setAttribute("aria-selected", String(selected));
    row.className = `event-row ${toneOf(event)}${selected ? " selected" : ""}${this.evidence.has(event.seq) ? " evident" : ""}`;
    number.textContent = String(event.seq);
    time.textContent = event.t === null ? "–" : timeText(event.t, this.page.start, document.documentElement.dataset.clock);
    who.textContent = clean(this.page.nameOf(event.agent), 80) || "–";
    who.title = clean(event.agent, 160);
    kind.textContent = event.kind;
    kind.title = clean(event.native, 120);
    what.textContent = says(event);
    src.textContent = event.also ? "both" : event.source;
    src.title = [event, ...(event.also ?? [])].map((place) => clean(`${place.file}${place.line ? `:${place.line}` : ""}`, 160)).join(", ");
  }
}

function part(name, classes, attributes = {}, text = "") {
  const made = document.createElement(name);
  if (classes) made.className = classes;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

function make() {
  const row = part("div", "event-row", { role: "row" });
  for (const [, classes] of COLUMNS) row.append(part("span", classes, { role: "gridcell" }));
  return row;
}
