// A list of any length with a few dozen rows in the page: only what is in sight exists.

const ROW = 26;
const BEYOND = 8;
/** Rows at most on paper, and those that stay made after it. */
const [PRINTED, SPARE] = [5000, 200];

/**
 * @template T
 */
export class Rows {
  /**
   * @param {HTMLElement} scroller @param {HTMLElement} head stays on top
   * @param {{make: () => HTMLElement, fill: (row: HTMLElement, item: T, index: number) => void}} how
   */
  constructor(scroller, head, how) {
    Object.assign(this, { scroller, head, how });
    /** @type {T[]} */
    this.items = [];
    this.space = document.createElement("div");
    this.space.className = "event-space";
    this.space.setAttribute("role", "rowgroup");
    scroller.append(head, this.space);
    /** @type {HTMLElement[]} */
    this.made = [];
    /** Whether all rows are made, for paper. */
    this.whole = false;
    scroller.addEventListener("scroll", () => this.redraw(), { passive: true });
    new ResizeObserver(() => this.redraw()).observe(scroller);
  }

  /** Whether the last row is in sight. */
  get atEnd() {
    return this.scroller.scrollTop + this.scroller.clientHeight >= this.scroller.scrollHeight - ROW;
  }

  /** @param {T[]} items @param {boolean} [toEnd] */
  show(items, toEnd = false) {
    this.items = items;
    this.space.style.height = `${items.length * ROW}px`;
    if (toEnd) this.scroller.scrollTop = this.scroller.scrollHeight;
    this.redraw();
  }

  /** Scrolls no further than needed so that the row is in sight. @param {number} index */
  reveal(index) {
    const top = index * ROW;
    const visible = this.scroller.clientHeight - this.head.offsetHeight;
    const at = this.scroller.scrollTop;
    if (top < at) this.scroller.scrollTop = Math.max(0, top - (at - top > visible ? visible / 2 : 0));
    else if (top + ROW > at + visible) {
      this.scroller.scrollTop = top + ROW - visible + (top - at > 2 * visible ? visible / 2 : 0);
    }
    this.redraw();
  }

  /** Paints once, in the next frame. */
  redraw() {
    if (!this.queued) this.queued = requestAnimationFrame(() => this.draw());
  }

  #inSight() {
    const height = this.scroller.clientHeight || 400;
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / ROW) - BEYOND);
    return [first, Math.min(this.items.length, Math.ceil((this.scroller.scrollTop + height) / ROW) + BEYOND)];
  }

  draw() {
    cancelAnimationFrame(this.queued);
    this.queued = 0;
    const [first, past] = this.whole ? [0, Math.min(this.items.length, PRINTED)] : this.#inSight();
    const wanted = Math.max(0, past - first);
    for (const row of this.made.splice(Math.max(wanted, SPARE))) row.remove();
    this.space.dataset.rest = this.items.length > wanted ? `and ${(this.items.length - wanted).toLocaleString("en")} more; a filter chooses` : "";
    while (this.made.length < wanted) {
      const row = this.how.make();
      this.made.push(row);
      this.space.append(row);
    }
    this.made.forEach((row, at) => {
      row.hidden = at >= wanted;
      if (row.hidden) return;
      row.style.transform = `translateY(${(first + at) * ROW}px)`;
      this.how.fill(row, this.items[first + at], first + at);
    });
  }
}
