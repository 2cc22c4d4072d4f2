// The socket as a cursor: it says which event it has last, gets what came after, acknowledges, and
// connects again (with backoff) from there. An event number that was seen is ignored.

const FIRST_WAIT = 250;
const LONGEST_WAIT = 10_000;
const ACKNOWLEDGE_EVERY = 500;
const GONE = 4404;

/**
 * @typedef {{events: (events: object[]) => void, timeline: (message: object) => boolean,
 *   run: (run: object) => void, state: (state: string, until?: number) => void, gone: () => void}} Listener
 */
export class LiveSocket {
  /** @param {string} path @param {number} after @param {Listener} listener */
  constructor(path, after, listener) {
    this.path = path;
    this.at = after;
    this.listener = listener;
    this.wait = FIRST_WAIT;
    this.acknowledged = after;
    this.stopped = false;
    this.timer = 0;
    addEventListener("online", () => this.#again(0));
    document.addEventListener("visibilitychange", () => document.hidden || this.#again(0));
  }

  open() {
    clearTimeout(this.timer);
    this.timer = 0;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}${this.path}?after=${this.at}`);
    this.socket = socket;
    this.acknowledged = this.at;
    this.pieces = [];
    socket.onmessage = (message) => {
      this.wait = FIRST_WAIT;
      this.#piece(message.data);
    };
    socket.onclose = (closed) => this.#closed(closed);
  }

  /** Goes on after another event. @param {number} after */
  restart(after) {
    this.at = after;
    if (this.socket) this.socket.onmessage = this.socket.onclose = null;
    this.socket?.close(1000);
    this.socket = null;
    this.open();
  }

  /** A long message comes in pieces: all but the last begin with +, the last with =. */
  #piece(text) {
    const sign = text[0];
    if (sign !== "+" && sign !== "=") return this.#take(JSON.parse(text));
    this.pieces.push(text.slice(1));
    if (sign === "+") return undefined;
    const whole = this.pieces.join("");
    this.pieces = [];
    return this.#take(JSON.parse(whole));
  }

  #take(message) {
    if (message.type === "events") {
      const fresh = message.events.filter((event) => event.seq > this.at);
      if (fresh.length) {
        this.at = fresh.at(-1).seq;
        this.listener.events(fresh);
      }
      this.#acknowledge();
    } else if (message.type === "timeline") {
      // A change that does not fit what is held: connecting again brings the whole.
      if (!this.listener.timeline(message)) this.socket.close(1000);
    } else if (message.type === "run") {
      this.listener.state("live");
      this.listener.run(message.run);
    }
  }

  #acknowledge() {
    if (this.at - this.acknowledged < ACKNOWLEDGE_EVERY) return;
    this.acknowledged = this.at;
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(`{"type":"ack","seq":${this.at}}`);
  }

  #closed(closed) {
    if (this.stopped) return;
    if (closed.code === GONE) {
      this.stopped = true;
      this.listener.gone();
      return;
    }
    this.listener.state("reconnecting", Date.now() + this.wait);
    const jitter = 0.75 + Math.random() / 2;
    this.#again(this.wait * jitter);
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
  }

  #again(delay) {
    const state = this.socket?.readyState;
    if (this.stopped || state === WebSocket.OPEN || state === WebSocket.CONNECTING) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open(), delay);
  }
}
