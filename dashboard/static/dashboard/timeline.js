// The timeline on the page: one canvas over the lanes, the view on it, and what hands do with it.
// It redraws only when something changed; while the run lives the right edge is now.

import { timeText } from "./base.js";
import { Bend, Scale, clamped, idleStretches, tickText } from "./timeline-scale.js";
import { Model, neighbour, timeOf, valueOf } from "./timeline-model.js";
import { AXIS, layOut } from "./timeline-layout.js";
import { paint } from "./timeline-draw.js";
import { palette } from "./timeline-paper.js";
import { Hands } from "./timeline-hands.js";
import { Motion } from "./timeline-motion.js";
import { pick, stage } from "./timeline-stage.js";
import { worded } from "./timeline-words.js";

const RIGHT = 18;
/** The highest picture on paper (printing.js sets `paper`), CSS pixels. */
const PAPER = 8000;
const TICK = 100;
const STILL_TICK = 1000;

export class Timeline {
  /**
   * @param {HTMLElement} root @param {import("./select.js").Selection} selection
   * @param {{start: Date|null, eventOf: (seq: number) => any}} page
   */
  constructor(root, selection, page) {
    Object.assign(this, { root, selection, page });
    this.model = new Model();
    this.live = false;
    this.following = !selection.sight.range;
    /** @type {[number, number]} */
    this.view = selection.sight.range ?? [0, 1];
    this.bend = new Bend();
    this.evidence = new Set();
    this.hovered = null;
    this.sweep = null;
    this.unseen = 0;
    this.frames = { worst: 0, count: 0 };
    this.motion = new Motion();
    this.#build();
    this.hands = new Hands(this);
    this.#listen();
  }

  #build() {
    Object.assign(this, stage(this.root));
    this.pen = this.canvas.getContext("2d", { alpha: false });
    this.#paint();
  }

  #listen() {
    new ResizeObserver(() => this.resize()).observe(this.root);
    this.scroller.addEventListener("scroll", () => this.redraw());
    this.news.addEventListener("click", () => this.follow());
    for (const media of ["(prefers-color-scheme: dark)", "print"]) {
      matchMedia(media).addEventListener("change", () => this.#paint());
    }
    document.addEventListener("lifeline:preference", () => this.#paint());
    document.fonts?.ready.then(() => this.redraw());
    this.selection.addEventListener("change", ({ detail }) => {
      if (detail.has("range") && !this.hands.moving) this.#show(this.selection.sight.range);
      if (detail.has("fold")) this.#fold();
      if (detail.has("seq")) this.#reveal();
      this.redraw();
    });
    this.timer = setInterval(() => this.#beat(), TICK);
  }

  /** Colours or the clock changed. */
  #paint() {
    this.palette = palette(this.root);
    this.palette.nameFont = `550 12px ${this.palette.sans}`;
    this.pen.labelFont = `11px ${this.palette.sans}`;
    this.redraw();
  }

  /** Takes the socket's timeline; false when a change does not fit. */
  take(message) {
    const fits = this.model.take(message);
    if (!fits) return false;
    const has = this.model.lanes.length > 0;
    this.scroller.hidden = !has;
    this.empty.hidden = has;
    this.empty.textContent = this.live ? "Waiting for the first event." : "Nothing happened in this run.";
    this.resize();
    this.#fold();
    return true;
  }

  /** @param {boolean} live whether the run still goes on @param {number} startedAt epoch seconds */
  setLive(live, startedAt) {
    this.live = live;
    this.startedAt = startedAt;
    if (!live) this.#told(0);
    this.redraw();
  }

  /** New events came: while not followed they are only counted. @param {number} count */
  noted(count) {
    if (this.live && !this.following) this.#told(this.unseen + count);
  }

  #told(count) {
    this.unseen = count;
    this.news.hidden = !count;
    if (count) this.news.textContent = `${count.toLocaleString("en")} new`;
  }

  get now() {
    const reached = Math.max(this.model.duration, 0.001);
    if (!this.live || !this.startedAt) return reached;
    return Math.max(reached, Date.now() / 1000 - this.startedAt);
  }

  get end() {
    return this.now * 1.02;
  }

  get scale() {
    const { gutter } = this.layout;
    return new Scale(this.view, gutter, this.width - gutter - RIGHT, this.bend);
  }

  /** The whole run, and follow while it lives. */
  fit() {
    this.following = true;
    this.whole = true;
    this.#told(0);
    this.#go([0, this.end]);
    this.selection.set({ range: null });
  }

  /** Back to now, at the same zoom. */
  follow() {
    const length = Math.min(this.view[1] - this.view[0], this.end);
    this.following = true;
    this.#told(0);
    this.#go([this.end - length, this.end]);
    this.selection.set({ range: null });
  }

  /** @param {[number, number]} view @param {boolean} settled whether the address may follow */
  move(view, settled = true) {
    this.#go(clamped(view, this.end), !settled);
    this.whole = false;
    this.following &&= this.live && this.target[1] >= this.now - 1e-6;
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      if (!this.following) this.selection.set({ range: this.target });
    }, 350);
  }

  /** @param {number} factor @param {number} [x] */
  zoom(factor, x) {
    const scale = new Scale(this.target ?? this.view, this.scale.left, this.scale.width, this.bend);
    const anchor = x ?? (this.#selectedX(scale) ?? scale.left + scale.width / 2);
    this.move(scale.zoomed(factor, anchor));
  }

  /** @param {number} share of the view's width, negative to the left */
  pan(share) {
    const scale = new Scale(this.target ?? this.view, this.scale.left, this.scale.width, this.bend);
    if (share < 0) this.following = false;
    this.move(scale.moved(share * scale.width));
  }

  #selectedX(scale) {
    const t = this.selectedAt;
    return t !== null && t >= scale.from && t <= scale.to ? scale.x(t) : undefined;
  }

  #show(range) {
    if (!range && this.following) return;
    this.following = this.whole = !range;
    this.#go(range ?? [0, this.end]);
  }

  #go(view, atOnce = false) {
    const from = [...this.view];
    this.target = view;
    this.motion.run(atOnce, (share) => {
      this.view = [0, 1].map((side) => from[side] + (view[side] - from[side]) * share);
      if (share < 1) this.draw();
      else this.redraw();
    });
  }

  #fold() {
    const wanted = this.selection.sight.fold;
    const longest = Math.max(1, this.model.duration / 20);
    const stretches = wanted ? idleStretches(this.model.times(), longest) : [];
    const busy = this.model.duration - stretches.reduce((sum, [from, to]) => sum + to - from, 0);
    this.bend = new Bend(stretches, Math.max(busy / 40, 0.05));
    this.redraw();
  }

  /** Brings the selected moment and its lane into sight. */
  #reveal() {
    const t = this.selectedAt;
    if (t === null || !this.layout) return;
    if (t < this.view[0] || t > this.view[1]) {
      const length = this.view[1] - this.view[0];
      this.move([t - length / 2, t + length / 2]);
    }
    const row = this.layout.rows.find((one) => one.lane.id === this.selected?.lane.id);
    const { scrollTop } = this.scroller;
    if (row && (row.top < scrollTop + AXIS || row.top + row.height > scrollTop + this.height)) this.scroller.scrollTop = row.top - this.height / 2;
  }

  get selected() {
    const { seq } = this.selection;
    if (this.chosen?.seq !== seq || this.chosen.version !== this.model.version) {
      const held = this.page.eventOf(seq ?? -1);
      const item = seq === null ? null : this.model.find(seq) ?? (held ? this.model.find(held.seq) ?? this.model.around(held) : null);
      this.chosen = { seq: held || item ? seq : undefined, version: this.model.version, item };
    }
    return this.chosen.item;
  }

  get selectedAt() {
    if (this.selection.seq === null) return null;
    const t = this.page.eventOf(this.selection.seq)?.t;
    return t ?? (this.selected ? timeOf(this.selected) : null);
  }

  /** Arrow keys: along the lane, across lanes. */
  step(along, across) {
    const item = neighbour(this.model, this.selected, along, across);
    if (!item) return;
    this.selection.select(valueOf(item).seq);
    this.spoken.textContent = worded(item, this.now, (t) => this.clock(t));
  }

  /** A time on the page's clock. */
  clock(t) {
    return timeText(t, this.page.start, document.documentElement.dataset.clock);
  }

  #axisText(t, step) {
    const { clock } = document.documentElement.dataset;
    if (clock === "start" || !this.page.start) return tickText(t, step);
    return timeText(t, this.page.start, clock).slice(0, step < 1 ? 12 : 8);
  }

  #beat() {
    if (!this.live || document.hidden || this.scroller.hidden) return;
    const at = performance.now();
    if (this.motion.still && at - (this.beaten ?? 0) < STILL_TICK) return;
    this.beaten = at;
    if (this.following && !this.hands.moving) {
      const length = this.whole === false ? this.view[1] - this.view[0] : this.end;
      this.view = this.target = [this.end - length, this.end];
    }
    this.redraw();
  }

  resize() {
    this.width = this.root.clientWidth;
    if (!this.width) return;
    this.layout = layOut(this.model.lanes, this.width);
    const most = this.paper ? PAPER : Math.max(240, Math.min(innerHeight * 0.72, 760));
    this.height = Math.min(this.layout.height, most);
    this.scroller.style.height = `${this.height}px`;
    this.spacer.style.height = `${this.layout.height}px`;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) {
      Object.assign(this.canvas, { width, height });
      this.canvas.style.width = `${this.width}px`;
      this.canvas.style.height = `${this.height}px`;
    }
    if (this.following && this.whole !== false) this.view = this.target = [0, this.end];
    this.redraw();
  }

  redraw() {
    if (this.queued) return;
    this.queued = requestAnimationFrame(() => this.draw());
  }

  draw() {
    cancelAnimationFrame(this.queued);
    this.queued = 0;
    if (!this.layout || this.scroller.hidden) return;
    const began = performance.now();
    const ratio = devicePixelRatio || 1;
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    paint(this.pen, {
      ...pick(this, "layout scale model now live width height palette selected selectedAt hovered evidence sweep"),
      offset: this.scroller.scrollTop,
      clock: (t, step) => this.#axisText(t, step),
    });
    const took = performance.now() - began;
    this.frames = { worst: Math.max(this.frames.worst, took), count: this.frames.count + 1, first: this.frames.first ?? performance.now() };
    this.root.dataset.drawn = String(this.model.version);
  }
}
