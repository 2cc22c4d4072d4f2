// What the page says of its connection and of the run's present: live, reconnecting, ended; the attempt
// that is going on; how long it has been silent.

import { say } from "./base.js";
import { seconds } from "./events-words.js";

const QUIET_AFTER = 5;
/** Readers hear of a new attempt at most so often (milliseconds). */
const TELL_EVERY = 4000;
const WORDS = { live: "live", reconnecting: "reconnecting", ended: "ended", gone: "deleted" };

export class Pulse {
  /** @param {HTMLElement} word @param {{open: boolean, start: Date|null}} page */
  constructor(word, page) {
    Object.assign(this, { word, page });
    this.state = page.open ? "connecting" : "ended";
    this.limits = {};
    this.newest = null;
    this.attempt = null;
    this.told = { n: 1, at: 0 };
    this.present = document.getElementById("present");
    setInterval(() => this.#tick(), 250);
  }

  /** @param {string} state @param {number} [until] epoch milliseconds of the next try */
  connection(state, until) {
    this.state = state;
    this.until = until;
    this.#say();
  }

  run(state) {
    this.status = state.status;
    this.limits = state.limits ?? {};
    if (!this.page.open && this.state === "live") this.state = "ended";
    this.#say();
    this.#tick();
  }

  /** Learns from events what goes on. */
  heard(events) {
    for (const event of events) {
      if (event.kind === "process.sample" || event.t === null) continue;
      this.newest = Math.max(this.newest ?? 0, event.t);
      const { data, kind } = event;
      if (kind === "model.retry" || (kind === "session.status" && data.status === "retrying")) {
        const next = data.next_at ?? (data.delay != null && this.page.start ? this.page.start / 1000 + event.t + Number(data.delay) : null);
        this.attempt = { n: data.attempt ?? this.attempt?.n, of: data.of, next };
      } else if (kind === "request.received") {
        this.attempt = { n: data.attempt, of: this.attempt?.of, next: null };
      } else if ((kind === "request.ended" && data.complete) || kind === "agent.ended" || kind === "process.exited") {
        this.attempt = null;
      }
    }
  }

  #say() {
    const state = this.state === "live" && !this.page.open ? "ended" : this.state;
    let text = WORDS[state] ?? "connecting";
    if (state === "reconnecting" && this.until) {
      const left = Math.ceil((this.until - Date.now()) / 1000);
      if (left > 1) text += ` in ${left} s`;
    }
    if (this.word.textContent !== text) this.word.textContent = text;
    if (this.word.dataset.state !== state) this.word.dataset.state = state;
  }

  #tick() {
    if (this.state === "reconnecting") this.#say();
    if (this.page.open) this.#tell();
    if (!this.present) return;
    const text = this.page.open ? this.#now() : "";
    if (this.present.textContent !== text) this.present.textContent = text;
    const head = document.getElementById("pulse"); // it came with the page's parts, this is newer
    if (!text || !head || head.textContent === text) return;
    head.textContent = text;
    for (const name of ["since", "until"]) delete head.dataset[name];
  }

  /** Says the attempt that goes on to readers. */
  #tell() {
    const n = this.attempt?.n ?? 1;
    if (n === this.told.n || Date.now() - this.told.at < TELL_EVERY) return;
    if (n > 1) say(`attempt ${n}`);
    this.told = { n, at: Date.now() };
  }

  #now() {
    const now = Date.now() / 1000;
    const { attempt } = this;
    if (attempt?.next > now) return `attempt ${attempt.n ?? "?"}${attempt.of ? ` of ${attempt.of}` : ""}, next in ${seconds(attempt.next - now)}`;
    if (this.newest !== null && this.page.start) {
      const silent = now - this.page.start / 1000 - this.newest;
      const most = this.limits.deadline ? this.limits.deadline - this.newest : this.limits.stall; // as in the head
      const limit = most ? ` of ${Math.round(most)} s` : "";
      if (silent > QUIET_AFTER) return `silent ${Math.floor(silent)} s${limit}`;
    }
    return attempt?.n > 1 ? `attempt ${attempt.n}${attempt.of ? ` of ${attempt.of}` : ""}` : "";
  }
}
