// A short movement from one view to another; at once for those who want no motion.

const LASTS = 140;

export class Motion {
  constructor() {
    this.preference = matchMedia("(prefers-reduced-motion: reduce)");
  }

  get still() {
    return this.preference.matches;
  }

  /** @param {boolean} atOnce @param {(share: number) => void} paint gets shares that end with 1 */
  run(atOnce, paint) {
    cancelAnimationFrame(this.frame);
    if (atOnce || this.still || document.hidden) return paint(1);
    const began = performance.now();
    const step = (now) => {
      const share = Math.min(1, Math.max(0, (now - began) / LASTS));
      paint(1 - (1 - share) ** 3);
      if (share < 1) this.frame = requestAnimationFrame(step);
    };
    this.frame = requestAnimationFrame(step);
    return undefined;
  }
}
