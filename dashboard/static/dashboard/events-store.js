// The stretch of the run's events that this page holds. It is one piece without holes: events come in
// the order of their numbers, a number seen before is ignored. Mirrored sightings join their first one.

/** @typedef {import("./events-words.js").Event} Event */

export const MOST = 20_000;

export class Store {
  constructor() {
    /** @type {Event[]} without mirrored sightings */
    this.events = [];
    /** @type {Map<number, Event>} also by the number of each mirrored sighting */
    this.bySeq = new Map();
    this.clear(0);
    this.tip = 0;
    this.newest = 0;
  }

  /** Starts a new stretch after event number `after`. @param {number} after */
  clear(after) {
    this.events.length = 0;
    this.bySeq.clear();
    this.mirrored = 0;
    this.samples = 0;
    this.dropped = after > 0;
    this.first = after + 1;
    this.last = after;
  }

  /**
   * Takes events past the last one; answers those that are new to the list.
   * @param {Event[]} events @returns {Event[]}
   */
  append(events) {
    const fresh = [];
    for (const event of events) {
      if (event.seq <= this.last) continue;
      this.last = event.seq;
      this.newest = Math.max(this.newest, event.t ?? 0);
      if (!this.#joins(event)) {
        this.events.push(event);
        if (event.kind === "process.sample") this.samples += 1;
        this.bySeq.set(event.seq, event);
        fresh.push(event);
      }
    }
    this.tip = Math.max(this.tip, this.last);
    return fresh;
  }

  /** Puts earlier events in front; they must end right before `first`. @param {Event[]} events */
  prepend(events) {
    const earlier = events.filter((event) => event.seq < this.first);
    if (!earlier.length) return;
    const later = this.events;
    this.events = [];
    const [last, tip] = [this.last, this.tip];
    this.last = 0;
    this.append(earlier);
    [this.last, this.tip] = [last, tip];
    this.events = this.events.concat(later);
    this.first = earlier[0].seq;
  }

  /** Forgets the oldest events above the bound; answers how many. */
  trim() {
    const extra = this.events.length - MOST;
    if (extra <= 0) return 0;
    for (const event of this.events.splice(0, extra)) this.bySeq.delete(event.seq);
    this.first = this.events[0].seq;
    this.dropped = true;
    return extra;
  }

  /** Whether the stretch has every event of the run. */
  get whole() {
    return this.first <= 1 && this.last >= this.tip;
  }

  /** How many events the run has beside mirrored sightings, as far as is known here. */
  get total() {
    return this.whole ? this.events.length : this.tip - this.mirrored;
  }

  #joins(event) {
    if (event.kind !== "seen.again") return false;
    this.mirrored += 1;
    const first = this.bySeq.get(event.data?.of);
    if (!first) return false;
    first.also = [...(first.also ?? []), { source: event.source, file: event.file, line: event.line, pointer: event.pointer }];
    first.text = undefined;
    this.bySeq.set(event.seq, first);
    return true;
  }
}
