// What pointers, wheels and keys do on the timeline: drag zooms, shift-drag and one finger pan, two
// fingers pinch, a press selects. The wheel zooms with ctrl, or when the timeline has the focus.

import { AXIS, hit } from "./timeline-layout.js";
import { valueOf } from "./timeline-model.js";
import { worded } from "./timeline-words.js";

const STILL = 4;

export class Hands {
  /** @param {import("./timeline.js").Timeline} timeline */
  constructor(timeline) {
    this.timeline = timeline;
    /** @type {Map<number, {x: number, y: number}>} */
    this.pointers = new Map();
    this.drag = null;
    const { canvas } = timeline;
    canvas.addEventListener("pointerdown", (event) => this.#down(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", (event) => this.#up(event));
    canvas.addEventListener("pointercancel", (event) => this.#cancel(event));
    canvas.addEventListener("pointerleave", () => this.#hover(null));
    canvas.addEventListener("dblclick", () => timeline.fit());
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.#key(event));
  }

  get moving() {
    return Boolean(this.drag) || this.pointers.size > 0;
  }

  #place(event) {
    const box = this.timeline.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  #under({ x, y }) {
    const { timeline } = this;
    if (y < AXIS) return null;
    return hit(timeline.layout, timeline.scale, x, y + timeline.scroller.scrollTop, timeline.now);
  }

  #down(event) {
    if (event.button > 1) return;
    const place = this.#place(event);
    this.pointers.set(event.pointerId, place);
    const pans = event.shiftKey || event.button === 1 || event.pointerType === "touch";
    this.drag = { from: place, at: place, pans, view: [...this.timeline.view], scale: this.timeline.scale, far: false };
    if (this.pointers.size === 2) this.pinch = { apart: this.#apart(), view: this.timeline.scale };
    this.timeline.canvas.setPointerCapture(event.pointerId);
    if (event.button === 1) event.preventDefault();
  }

  #apart() {
    const [one, other] = [...this.pointers.values()];
    return Math.max(20, Math.abs(one.x - other.x));
  }

  #move(event) {
    const place = this.#place(event);
    if (!this.pointers.has(event.pointerId)) return this.#hover(place);
    this.pointers.set(event.pointerId, place);
    const { timeline, drag } = this;
    if (this.pinch && this.pointers.size === 2) {
      const [one, other] = [...this.pointers.values()];
      timeline.following = false;
      return timeline.move(this.pinch.view.zoomed(this.pinch.apart / this.#apart(), (one.x + other.x) / 2), false);
    }
    if (!drag) return undefined;
    drag.far ||= Math.abs(place.x - drag.from.x) > STILL;
    if (!drag.far) return undefined;
    this.#hover(null);
    if (drag.pans) {
      timeline.following = false;
      timeline.move(drag.scale.moved(drag.from.x - place.x), false);
    } else {
      timeline.sweep = [Math.max(drag.from.x, timeline.layout.gutter), Math.max(place.x, timeline.layout.gutter)];
      timeline.redraw();
    }
    return undefined;
  }

  #up(event) {
    const { timeline, drag } = this;
    const place = this.#place(event);
    this.pointers.delete(event.pointerId);
    if (this.pointers.size < 2) this.pinch = null;
    if (this.pointers.size) return;
    this.drag = null;
    const swept = timeline.sweep;
    timeline.sweep = null;
    timeline.canvas.focus({ preventScroll: true });
    if (swept && Math.abs(swept[1] - swept[0]) > STILL) {
      const times = swept.map((x) => drag.scale.t(x)).sort((a, b) => a - b);
      timeline.following = false;
      timeline.move(times);
    } else if (drag && !drag.far) {
      const item = this.#under(place);
      timeline.selection.select(item ? valueOf(item).seq || null : null);
    }
    timeline.redraw();
  }

  #cancel(event) {
    this.pointers.delete(event.pointerId);
    this.drag = this.pinch = null;
    this.timeline.sweep = null;
    this.timeline.redraw();
  }

  #hover(place) {
    const { timeline } = this;
    if (!timeline.layout) return;
    const item = place && this.#under(place);
    const same = item?.lane === timeline.hovered?.lane && item?.index === timeline.hovered?.index && item?.what === timeline.hovered?.what;
    if (item && place) timeline.tip.show(worded(item, timeline.now, (t) => timeline.clock(t)), place, timeline.width);
    else timeline.tip.hide();
    timeline.canvas.style.cursor = item ? "pointer" : place && place.x > timeline.layout.gutter ? "crosshair" : "default";
    if (same) return;
    timeline.hovered = item;
    timeline.redraw();
  }

  #wheel(event) {
    const { timeline } = this;
    const { x } = this.#place(event);
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
    if (sideways) {
      event.preventDefault();
      const pixels = event.deltaX || event.deltaY;
      if (pixels < 0) timeline.following = false;
      timeline.move(timeline.scale.moved(pixels), false);
    } else if (event.ctrlKey || event.metaKey || document.activeElement === timeline.canvas) {
      event.preventDefault();
      const length = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
      timeline.move(timeline.scale.zoomed(Math.exp(Math.max(-120, Math.min(120, length)) / 260), x), false);
    }
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { timeline } = this;
    const steps = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    if (steps[event.key]) timeline.step(...steps[event.key]);
    else if (event.key === "Home") timeline.step(-1e9, 0);
    else if (event.key === "End") timeline.step(1e9, 0);
    else if (event.key === "Enter") document.getElementById("inspector-title")?.scrollIntoView({ block: "nearest" });
    else if (event.key === "Escape") timeline.selection.select(null);
    else return;
    event.preventDefault();
  }
}
