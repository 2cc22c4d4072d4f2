// Pages of stored events, for stretches that the socket does not bring: the past of a long run.

import { parseFilter, passes } from "./events-words.js";
import { Store } from "./events-store.js";

const PAGE = 500;
const LARGE_PAGE = 2_000;
export const STRETCH = 5_000;
const MOST_FOUND = 5_000;

/** Reads stored events of one run. */
export class History {
  /** @param {string} address of the events in the API */
  constructor(address) {
    this.address = address;
  }

  /** One page. @param {number} after @returns {Promise<object[]>} */
  async page(after, limit = PAGE) {
    const answer = await fetch(`${this.address}?after=${after}&limit=${limit}`, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(`events: ${answer.status}`);
    const told = await answer.json();
    return Array.isArray(told) ? told : told.events;
  }

  /** Up to `count` events above `after`, page by page. @returns {Promise<object[]>} */
  async stretch(after, count = STRETCH, before = Infinity) {
    const found = [];
    let at = after;
    while (found.length < count) {
      const events = await this.page(at, Math.min(LARGE_PAGE, count - found.length));
      for (const event of events) if (event.seq < before) found.push(event);
      if (!events.length || events.at(-1).seq >= before - 1) break;
      at = events.at(-1).seq;
    }
    return found;
  }

  /**
   * Every event of the run that passes the filter, up to a bound. Says how far it is.
   * @param {string} filter @param {(read: number, found: number) => void} progress
   * @param {() => boolean} wanted answers false when nobody waits any more
   * @param {(agent: string) => string} nameOf
   */
  async search(filter, progress, wanted, nameOf) {
    const terms = parseFilter(filter);
    const found = [];
    let at = 0;
    while (found.length < MOST_FOUND && wanted()) {
      const events = await this.page(at, 2 * PAGE);
      if (!events.length) break;
      at = events.at(-1).seq;
      const store = new Store(); // joins sightings that are near their first one
      store.append(events);
      for (const event of store.events) if (passes(event, terms, nameOf)) found.push(event);
      progress(at, found.length);
    }
    return found;
  }
}
