// The selection and a finding's evidence, lit up in the page's tables as in the timeline and the list.

import { say } from "./base.js";

export class Marks {
  /**
   * @param {HTMLElement} run @param {import("./select.js").Selection} selection
   * @param {{list: import("./events.js").EventList, timeline: import("./timeline.js").Timeline}} views
   */
  constructor(run, selection, { list, timeline }) {
    Object.assign(this, { run, selection, list, timeline });
    this.at = -1;
    selection.addEventListener("change", ({ detail }) => detail.has("seq") && this.paint());
    document.addEventListener("lifeline:part", () => this.paint());
    run.addEventListener("click", (event) => this.#pressed(event));
    this.paint();
  }

  get findings() {
    return [...this.run.querySelectorAll(".finding[data-seqs]")].filter((one) => one.dataset.seqs.trim());
  }

  /** Selects the next or previous finding with evidence. @param {number} by */
  step(by) {
    const { findings } = this;
    if (!findings.length) return say("This run has no findings with evidence");
    this.at = this.at < 0 && by < 0 ? findings.length - 1 : (this.at + by + findings.length) % findings.length;
    const finding = findings[this.at];
    this.#light(finding);
    const fold = finding.closest("details:not([open])");
    if (fold) fold.open = true;
    finding.scrollIntoView({ block: "nearest" });
    return say(finding.textContent.trim().replace(/\s+/g, " ").slice(0, 200));
  }

  #pressed(event) {
    if (event.target.closest("a,button,summary,input,select,textarea")) return;
    const finding = event.target.closest(".finding[data-seqs]");
    const row = event.target.closest("tr[data-seq]");
    if (finding) {
      this.at = this.findings.indexOf(finding);
      this.#light(finding);
    } else if (row) this.selection.select(Number(row.dataset.seq));
  }

  #light(finding) {
    const seqs = finding.dataset.seqs.trim().split(/\s+/).map(Number);
    this.evidence(new Set(seqs));
    for (const one of this.run.querySelectorAll(".finding.lit")) one.classList.remove("lit");
    finding.classList.add("lit");
    this.selection.select(seqs.at(-1));
  }

  /** Lights up these events everywhere. @param {Set<number>} seqs */
  evidence(seqs) {
    this.list.evidence = this.timeline.evidence = seqs;
    this.list.rows.redraw();
    this.timeline.redraw();
  }

  /** Marks what belongs to the selected event in the tables and findings. */
  paint() {
    const { seq } = this.selection;
    for (const row of this.run.querySelectorAll("tr[data-seq]")) {
      const { seq: start, endSeq } = row.dataset;
      row.classList.toggle("selected", seq !== null && (Number(start) === seq || Number(endSeq) === seq));
    }
    for (const link of this.run.querySelectorAll("a[data-seq]")) {
      link.classList.toggle("lit", seq !== null && Number(link.dataset.seq) === seq);
    }
    if (seq === null && this.timeline.evidence.size) this.evidence(new Set());
  }
}
