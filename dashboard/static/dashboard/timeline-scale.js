// Pure maths of the time axis: folding idle stretches, searching sorted times, choosing ticks.
// Times are seconds since the run's start. No DOM here: it is tested with node alone.

/** @typedef {[number, number]} Stretch from and to, in seconds */

/**
 * The first index whose value is at least `value` in an ascending array.
 * @param {ArrayLike<number>} sorted @param {number} value @returns {number}
 */
export function firstAtLeast(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Stretches between neighbouring times that are longer than `longest`, trimmed so
 * that a margin stays visible on both sides.
 * @param {number[]} times any order @param {number} longest @returns {Stretch[]}
 */
export function idleStretches(times, longest) {
  const sorted = Float64Array.from(times).sort();
  const margin = longest / 8;
  const found = [];
  for (let index = 1; index < sorted.length; index += 1) {
    const [before, after] = [sorted[index - 1], sorted[index]];
    if (after - before > longest) found.push([before + margin, after - margin]);
  }
  return found;
}

/** Seconds → bent seconds, in which each folded stretch has the same small length. */
export class Bend {
  /** @param {Stretch[]} folds ascending, not overlapping @param {number} kept bent length of a fold */
  constructor(folds = [], kept = 0) {
    this.folds = folds;
    this.kept = kept;
    this.starts = folds.map(([from]) => from);
    this.bentStarts = [];
    let removed = 0;
    for (const [from, to] of folds) {
      this.bentStarts.push(from - removed);
      removed += to - from - kept;
    }
  }

  /** @param {number} t @returns {number} */
  bend(t) {
    const index = firstAtLeast(this.starts, t) - 1;
    if (index < 0) return t;
    const [from, to] = this.folds[index];
    const bent = this.bentStarts[index];
    return t < to ? bent + ((t - from) / (to - from)) * this.kept : bent + this.kept + (t - to);
  }

  /** @param {number} u a bent time @returns {number} */
  unbend(u) {
    const index = firstAtLeast(this.bentStarts, u) - 1;
    if (index < 0) return u;
    const [from, to] = this.folds[index];
    const inside = u - this.bentStarts[index];
    return inside < this.kept ? from + (inside / this.kept) * (to - from) : to + inside - this.kept;
  }
}

/** The map between seconds and pixels of one view. */
export class Scale {
  /**
   * @param {Stretch} view @param {number} left first pixel @param {number} width in pixels
   * @param {Bend} bend
   */
  constructor(view, left, width, bend = new Bend()) {
    [this.from, this.to] = view;
    this.left = left;
    this.width = Math.max(width, 1);
    this.bending = bend;
    this.start = bend.bend(this.from);
    this.span = Math.max(bend.bend(this.to) - this.start, 1e-9);
  }

  /** @param {number} t @returns {number} */
  x(t) {
    return this.left + ((this.bending.bend(t) - this.start) / this.span) * this.width;
  }

  /** @param {number} x @returns {number} */
  t(x) {
    return this.bending.unbend(this.start + ((x - this.left) / this.width) * this.span);
  }

  /** The view moved by `pixels` to the right. @param {number} pixels @returns {Stretch} */
  moved(pixels) {
    const shift = (pixels / this.width) * this.span;
    return [this.bending.unbend(this.start + shift), this.bending.unbend(this.start + this.span + shift)];
  }

  /**
   * The view zoomed by `factor` (< 1 is closer) about the pixel `x`.
   * @param {number} factor @param {number} x @returns {Stretch}
   */
  zoomed(factor, x) {
    const centre = this.start + ((x - this.left) / this.width) * this.span;
    return [
      this.bending.unbend(centre - (centre - this.start) * factor),
      this.bending.unbend(centre + (this.start + this.span - centre) * factor),
    ];
  }
}

/**
 * The view kept inside [0, end], no closer than `closest` seconds.
 * @param {Stretch} view @param {number} end @param {number} closest @returns {Stretch}
 */
export function clamped([from, to], end, closest = 0.001) {
  const length = Math.min(Math.max(to - from, closest), Math.max(end, closest));
  const middle = (from + to) / 2;
  const start = Math.min(Math.max(to - from < length ? middle - length / 2 : from, 0), Math.max(end - length, 0));
  return [start, start + length];
}

const STEPS = [1, 2, 5];
const LONG_STEPS = [15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];

/**
 * A round step in seconds so that ticks are at least `apart` pixels from each other.
 * @param {number} secondsPerPixel @param {number} apart @returns {number}
 */
export function tickStep(secondsPerPixel, apart = 84) {
  const least = secondsPerPixel * apart;
  if (least > 10) return LONG_STEPS.find((step) => step >= least) ?? Math.ceil(least / 86400) * 86400;
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-6)));
  return (STEPS.find((step) => step * power >= least) ?? 10) * power;
}

/**
 * Tick times inside the view.
 * @param {Scale} scale @param {number} apart @returns {{step: number, times: number[]}}
 */
export function ticks(scale, apart = 84) {
  const step = tickStep(scale.span / scale.width, apart);
  const times = [];
  let last = -Infinity;
  for (let index = Math.ceil(scale.from / step - 1e-9); index * step <= scale.to + 1e-9; index += 1) {
    const x = scale.x(index * step);
    if (x - last >= apart * 0.6) {
      times.push(index * step);
      last = x;
    }
    if (times.length > 400) break;
  }
  return { step, times };
}

/**
 * A tick as text: `0 s`, `2.5 s`, `250 ms`, `3:20`, `1:05:00`.
 * @param {number} t @param {number} step @returns {string}
 */
export function tickText(t, step) {
  if (step < 1) {
    const digits = Math.min(6, Math.max(1, Math.ceil(-Math.log10(step) - 1e-9)));
    return `${t.toFixed(digits)} s`;
  }
  if (t < 60 || step < 10) return `${Math.round(t)} s`;
  const whole = Math.round(t);
  const two = (n) => String(n).padStart(2, "0");
  const [hours, minutes, seconds] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  return hours ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}
