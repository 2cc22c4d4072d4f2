// What the person looks at: the selected event, the time range, the filter, folding. The address holds
// it all, so a link shows the same and the back button works.

/**
 * @typedef {{seq: number|null, range: [number, number]|null, filter: string, fold: boolean}} Sight
 */

const TOGETHER = 700;

export class Selection extends EventTarget {
  constructor() {
    super();
    /** @type {Sight} */
    this.sight = this.#read();
    this.changed = 0;
    const again = () => this.#adopt(this.#read());
    addEventListener("popstate", again);
    addEventListener("hashchange", again);
  }

  get seq() {
    return this.sight.seq;
  }

  /** Selects an event everywhere; null selects nothing. @param {number|null} seq */
  select(seq) {
    if (seq !== this.sight.seq) this.set({ seq });
  }

  /**
   * Changes a part of the sight, in the address as well. Changes in quick succession (holding a key)
   * are one step of the back button.
   * @param {Partial<Sight>} part
   */
  set(part) {
    const next = { ...this.sight, ...part };
    const now = Date.now();
    const method = now - this.changed < TOGETHER ? "replaceState" : "pushState";
    this.changed = now;
    const address = this.#address(next);
    if (address !== location.pathname + location.search + location.hash) history[method](null, "", address);
    this.#adopt(next);
  }

  #adopt(next) {
    const before = this.sight;
    const changed = Object.keys(next).filter((key) => String(next[key]) !== String(before[key]));
    this.sight = next;
    if (changed.length) this.dispatchEvent(new CustomEvent("change", { detail: new Set(changed) }));
  }

  #read() {
    const query = new URLSearchParams(location.search);
    const [, seq] = location.hash.match(/^#e(\d{1,9})$/) ?? [];
    const range = (query.get("range") ?? "").split("-").map(Number);
    return {
      seq: seq ? Number(seq) : null,
      range: range.length === 2 && range.every(Number.isFinite) && range[0] < range[1] ? range : null,
      filter: query.get("events") ?? "",
      fold: query.get("fold") === "1",
    };
  }

  #address({ seq, range, filter, fold }) {
    const query = new URLSearchParams(location.search);
    const put = (name, value) => (value ? query.set(name, value) : query.delete(name));
    put("range", range && range.map((t) => Number(t.toFixed(4))).join("-"));
    put("events", filter);
    put("fold", fold ? "1" : "");
    query.delete("after");
    const text = query.toString();
    const hash = seq ? `#e${seq}` : /^#e\d+$/.test(location.hash) ? "" : location.hash;
    return `${location.pathname}${text ? `?${text}` : ""}${hash}`;
  }
}
