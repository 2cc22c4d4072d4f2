// What the timeline shows, without a pixel: lanes, their searchable bars and marks, and changes to
// them as they come over the socket. Pure; tested with node alone.

import { firstAtLeast } from "./timeline-scale.js";

/**
 * @typedef {{start: number, end: number|null, kind: string, label: string, tone: string, seq: number,
 *   end_seq: number|null, detail?: unknown}} Bar   end null: never ended
 * @typedef {{t: number, kind: string, label: string, tone: string, seq: number}} Mark
 * @typedef {{start: number, end: number, claimed: number|null}} Gap
 * @typedef {{id: string, label: string, kind: string, parent: string|null, depth: number, agent: string,
 *   bars: Bar[], marks: Mark[], gaps: Gap[], starts: Float64Array, reach: Float64Array,
 *   times: Float64Array}} Lane   reach: the latest end of all bars up to each one
 * @typedef {{lane: Lane, what: "bar"|"mark", index: number}} Item
 */

const LISTS = ["bars", "marks", "gaps"];

/** Where a bar ends for drawing: an open one reaches to `now`, or to where its run ended. @param {Bar} bar @param {number} now */
export function endOf(bar, now) {
  return bar.end ?? Math.max(bar.until ?? now, bar.start);
}

/** The timeline of one run. */
export class Model {
  constructor() {
    this.version = 0;
    this.duration = 0;
    this.ended = false;
    /** @type {Lane[]} */
    this.lanes = [];
    /** @type {[number, number, number][]} */
    this.samples = [];
  }

  /** Takes a message of the socket; false when it does not fit what is held. */
  take(message) {
    if (message.timeline) this.#whole(message.timeline);
    else if (message.version === this.version + 1) this.#change(message.change);
    else return false;
    this.version = message.version;
    return true;
  }

  #whole(timeline) {
    this.duration = timeline.duration ?? 0;
    this.ended = Boolean(timeline.ended);
    this.samples = timeline.samples ?? [];
    this.lanes = timeline.lanes.map(indexed);
  }

  #change(change) {
    this.duration = change.duration ?? 0;
    this.ended = Boolean(change.ended);
    this.samples = joined(this.samples, change.samples);
    const held = new Map(this.lanes.map((lane) => [lane.id, lane]));
    for (const lane of change.lanes) {
      const before = held.get(lane.id);
      const lists = LISTS.map((name) => [name, joined(before?.[name] ?? [], lane[name])]);
      held.set(lane.id, indexed({ ...lane, ...Object.fromEntries(lists) }));
    }
    this.lanes = change.order.map((id) => held.get(id));
  }

  /** Every time at which something begins, ends or happens. @returns {number[]} */
  times() {
    const found = [0, this.duration];
    for (const lane of this.lanes) {
      if (lane.kind === "process" || lane.kind === "status") continue;
      for (const bar of lane.bars) found.push(bar.start, bar.end ?? bar.start);
      for (const mark of lane.marks) found.push(mark.t);
    }
    return found;
  }

  /**
   * The bar or mark that an event belongs to: one that it begins or is, else one that it ends.
   * @param {number} seq @returns {Item|null}
   */
  find(seq) {
    let ending = null;
    for (const lane of this.lanes) {
      const bar = lane.bars.findIndex((item) => item.seq === seq);
      if (bar >= 0) return { lane, what: "bar", index: bar };
      const mark = lane.marks.findIndex((item) => item.seq === seq);
      if (mark >= 0 && lane.kind !== "findings") return { lane, what: "mark", index: mark };
      if (mark >= 0) ending ??= { lane, what: "mark", index: mark };
      const end = lane.bars.findIndex((item) => item.end_seq === seq);
      if (end >= 0) ending ??= { lane, what: "bar", index: end };
    }
    return ending;
  }

  /**
   * Where an event that begins and ends nothing belongs: the shortest bar around it on its lane.
   * @param {{t: number|null, agent: string, source: string, data?: any}} event @returns {Item|null}
   */
  around(event) {
    if (event.t === null) return null;
    const kind = event.source === "provider" ? "caller" : "agent";
    const lane = this.lanes.find((one) => one.kind === kind && (event.data?.caller ? one.id === `caller:${event.data.caller}` : one.agent === event.agent));
    if (!lane) return null;
    const [first, past] = barsWithin(lane, event.t - 0.001, event.t + 0.001);
    let best = null;
    for (let index = first; index < past; index += 1) {
      const { start, end } = lane.bars[index];
      const length = (end ?? Infinity) - start;
      if (length >= 0 && (end ?? Infinity) >= event.t - 0.001 && !(best && length >= best.length)) best = { lane, what: "bar", index, length };
    }
    return best;
  }

  /** The events that broken findings rest on. @returns {Set<number>} */
  get broken() {
    if (this.brokenFor !== this.version) {
      const lane = this.lanes.find((one) => one.kind === "findings");
      this.brokenSeqs = new Set(lane?.marks.map((mark) => mark.seq));
      this.brokenFor = this.version;
    }
    return this.brokenSeqs;
  }

  /** What agents are called, by id: the labels of their lanes as far as these differ. @returns {Map<string, string>} */
  get names() {
    if (this.namedFor !== this.version) {
      const lanes = this.lanes.filter((lane) => lane.kind === "agent");
      const alone = (lane) => lanes.every((other) => other === lane || other.label !== lane.label);
      this.named = new Map(lanes.filter(alone).map((lane) => [lane.agent, lane.label]));
      this.namedFor = this.version;
    }
    return this.named;
  }
}

/** @param {unknown[]} before @param {[number, unknown[]]} change @returns {any[]} */
function joined(before, [kept, tail]) {
  if (kept === before.length && !tail.length) return before;
  return before.slice(0, kept).concat(tail);
}

/** A lane with what searching needs. @returns {Lane} */
export function indexed(lane) {
  const bars = inOrder(lane.bars ?? [], "start");
  const marks = inOrder(lane.marks ?? [], "t");
  const starts = Float64Array.from(bars, (bar) => bar.start);
  const reach = new Float64Array(bars.length);
  let latest = -Infinity;
  bars.forEach((bar, index) => {
    latest = Math.max(latest, bar.end ?? Infinity);
    reach[index] = latest;
  });
  const times = Float64Array.from(marks, (mark) => mark.t);
  return { ...lane, bars, marks, gaps: lane.gaps ?? [], starts, reach, times };
}

function inOrder(list, key) {
  for (let index = 1; index < list.length; index += 1) {
    if (list[index - 1][key] > list[index][key]) return [...list].sort((a, b) => a[key] - b[key]);
  }
  return list;
}

/**
 * The range of bars that can touch [from, to]: first index and the one past the last.
 * @param {Lane} lane @param {number} from @param {number} to @returns {[number, number]}
 */
export function barsWithin(lane, from, to) {
  return [firstAtLeast(lane.reach, from), firstAtLeast(lane.starts, to + 1e-12)];
}

/** The range of marks inside [from, to]. @returns {[number, number]} */
export function marksWithin(lane, from, to) {
  return [firstAtLeast(lane.times, from), firstAtLeast(lane.times, to + 1e-12)];
}

/** The bar or mark itself. @param {Item} item */
export function valueOf(item) {
  return item.what === "bar" ? item.lane.bars[item.index] : item.lane.marks[item.index];
}

/** When an item begins. @param {Item} item */
export function timeOf(item) {
  return item.what === "bar" ? item.lane.bars[item.index].start : item.lane.marks[item.index].t;
}

/** Every item of a lane in the order of time. @param {Lane} lane @returns {Item[]} */
export function itemsOf(lane) {
  const items = [
    ...lane.bars.map((_, index) => ({ lane, what: "bar", index })),
    ...lane.marks.map((_, index) => ({ lane, what: "mark", index })),
  ];
  return items.sort((a, b) => timeOf(a) - timeOf(b));
}

/**
 * The neighbour of an item for the arrow keys: `along` in its lane, `across` to another lane.
 * @param {Model} model @param {Item|null} item @param {number} along @param {number} across
 * @returns {Item|null}
 */
export function neighbour(model, item, along, across) {
  const lanes = model.lanes.filter((lane) => lane.bars.length + lane.marks.length);
  if (!lanes.length) return null;
  if (!item) return itemsOf(lanes[0])[0];
  if (!across) {
    const items = itemsOf(item.lane);
    const at = items.findIndex((other) => other.what === item.what && other.index === item.index);
    return items[Math.min(Math.max(at + along, 0), items.length - 1)];
  }
  const at = lanes.indexOf(item.lane);
  const lane = lanes[Math.min(Math.max(at + across, 0), lanes.length - 1)];
  if (lane === item.lane) return item;
  const t = timeOf(item);
  return itemsOf(lane).reduce((best, other) =>
    Math.abs(timeOf(other) - t) < Math.abs(timeOf(best) - t) ? other : best,
  );
}
