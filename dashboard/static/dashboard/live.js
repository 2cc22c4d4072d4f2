// The entry of the live part of the run page: reads the page, wires timeline, events, inspector and keys
// to one selection and one socket. The page is whole without it.

import { say } from "./base.js";
import { EventList } from "./events.js";
import { Store } from "./events-store.js";
import { learn, says } from "./events-words.js";
import { Inspector } from "./inspector.js";
import { Keys } from "./keys.js";
import { History, STRETCH } from "./live-history.js";
import { LiveSocket } from "./live-socket.js";
import { printing } from "./printing.js";
import { Pulse } from "./live-pulse.js";
import { Marks } from "./live-marks.js";
import { Selection } from "./select.js";
import { Timeline } from "./timeline.js";

const OPEN = new Set(["queued", "running"]);
/** What the tables beside the timeline are made of. */
const TELLING = new Set(["request.received", "request.ended", "agent.started", "agent.ended", "notice.delivered"]);
const run = document.getElementById("run");
const told = JSON.parse(document.getElementById("run-data").textContent);

learn(JSON.parse(document.getElementById("event-words").textContent));

const page = {
  start: run.dataset.started ? new Date(run.dataset.started) : null,
  open: run.dataset.open === "true",
  tailing: true,
  eventOf: (seq) => store.bySeq.get(seq),
  nameOf: (agent) => timeline.model.names.get(agent) ?? agent,
  load,
  search,
};
const selection = new Selection();
const store = new Store();
const history = new History(document.getElementById("events").dataset.url);
const list = new EventList(document.getElementById("events"), store, selection, page);
const timeline = new Timeline(document.getElementById("timeline"), selection, page);
const pulse = new Pulse(document.getElementById("live-state"), page);
const marks = new Marks(run, selection, { list, timeline });
new Inspector(document.getElementById("inspector"), selection, page);

const known = told.event_count ?? 0;
store.tip = known;
const first = firstEvent();
store.clear(first);
const socket = new LiveSocket(run.dataset.socket, page.tailing ? first : known, {
  events(events) {
    store.tip = Math.max(store.tip, events.at(-1).seq);
    pulse.heard(events);
    if (events.some((event) => TELLING.has(event.kind))) document.dispatchEvent(new CustomEvent("lifeline:told"));
    if (!page.tailing) {
      timeline.noted(events.length);
      return list.refilter(list.found ?? undefined);
    }
    const fresh = store.append(events);
    list.append(fresh);
    timeline.noted(fresh.length);
    return undefined;
  },
  timeline(message) {
    const called = () => [...timeline.model.names].join();
    const before = called();
    const fits = timeline.take(message);
    document.getElementById("thinned").hidden = !timeline.model.lanes.some((lane) => lane.of > lane.shown);
    if (called() !== before) list.refilter(list.found ?? undefined);
    return fits;
  },
  run: (state) => changed(state),
  state: (state, until) => pulse.connection(state, until),
  gone() {
    pulse.connection("gone");
    say("This run was deleted.");
  },
});

/** The stretch that is shown first: all of a short run, the end of a long open one. */
function firstEvent() {
  const wanted = selection.seq;
  if (known <= STRETCH) return 0;
  if (wanted !== null && wanted <= known - STRETCH) page.tailing = false;
  else if (page.open || wanted !== null) return known - STRETCH;
  else page.tailing = false;
  return Math.max(0, (wanted ?? 0) - STRETCH / 10);
}

let before = page.open ? "" : "as painted";
function changed(state) {
  page.start ??= state.started_at ? new Date(state.started_at * 1000) : null;
  if (page.start) run.dataset.started = page.start.toISOString();
  page.open = OPEN.has(state.status);
  pulse.run(state);
  timeline.setLive(page.open && state.started_at !== null, state.started_at);
  const now = JSON.stringify({ ...state, event_count: 0 });
  if (now !== before && before !== "as painted") document.dispatchEvent(new CustomEvent("lifeline:changed", { detail: { status: state.status } }));
  before = now;
}

/** Loads another stretch of a long run. @param {"earlier"|"later"|"tail"} where */
async function load(where) {
  if (where === "tail" && page.open) {
    page.tailing = true;
    store.clear(Math.max(0, store.tip - STRETCH));
    list.refilter();
    return socket.restart(store.last);
  }
  try {
    if (where === "earlier") {
      const after = Math.max(0, store.first - 1 - STRETCH);
      store.prepend(await history.stretch(after, STRETCH, store.first));
    } else store.append(await history.stretch(where === "tail" ? store.tip - STRETCH : store.last));
  } catch {
    say("These events could not be read; try again.");
  }
  page.tailing ||= store.last >= store.tip;
  return list.refilter();
}

/** Shows the stretch around an event that the page does not hold. */
async function around(seq) {
  if (seq === null || seq > store.tip || store.bySeq.has(seq) || (seq >= store.first && seq <= store.last)) return;
  page.tailing = false;
  store.clear(Math.max(0, seq - STRETCH / 10));
  await load("later");
  list.reveal();
}

let searching = 0;
async function search(filter) {
  const mine = (searching += 1);
  const wanted = () => mine === searching && selection.sight.filter === filter.trim();
  const progress = (read, found) => (list.note.textContent = `searched ${read.toLocaleString("en")}, found ${found.toLocaleString("en")}`);
  try {
    const found = await history.search(filter, progress, wanted, page.nameOf);
    if (wanted()) list.refilter(found);
  } catch {
    list.note.textContent = "The search broke off; try again.";
  }
}

new Keys([
  { keys: ["/"], words: "filter the events", act: () => list.input.select() },
  { keys: ["j"], words: "next event", act: () => list.step(1) },
  { keys: ["k"], words: "previous event", act: () => list.step(-1) },
  { keys: ["]"], words: "next finding", act: () => marks.step(1) },
  { keys: ["["], words: "previous finding", act: () => marks.step(-1) },
  { keys: ["w"], words: "zoom in", act: () => timeline.zoom(0.6) },
  { keys: ["s"], words: "zoom out", act: () => timeline.zoom(1 / 0.6) },
  { keys: ["a"], words: "to the left", act: () => timeline.pan(-0.2) },
  { keys: ["d"], words: "to the right", act: () => timeline.pan(0.2) },
  { keys: ["f"], words: "fit the whole run", act: () => timeline.fit() },
  { keys: ["."], words: "follow what is new", act: () => (timeline.follow(), list.toTail()) },
  { keys: ["i"], words: "fold idle stretches", act: () => selection.set({ fold: !selection.sight.fold }) },
  { keys: ["c"], words: "copy the selected event as JSON", act: () => list.copySelected() },
  { keys: ["Escape"], words: "select nothing", act: () => selection.select(null) },
]);

document.addEventListener("lifeline:select", (event) => {
  event.preventDefault();
  selection.select(event.detail.seq);
  around(event.detail.seq);
  const chosen = store.bySeq.get(event.detail.seq);
  if (chosen) say(`event ${chosen.seq}: ${chosen.kind}, ${says(chosen)}. The inspector shows it.`);
});
selection.addEventListener("change", ({ detail }) => detail.has("seq") && around(selection.seq));
const fold = document.getElementById("fold");
const foldIs = () => fold.setAttribute("aria-pressed", String(selection.sight.fold));
fold.addEventListener("click", () => selection.set({ fold: !selection.sight.fold }));
selection.addEventListener("change", foldIs);
foldIs();
document.getElementById("fit").addEventListener("click", () => timeline.fit());
document.querySelector(".timeline-tools").hidden = false;

printing({ timeline, list });
socket.open();
if (!page.tailing) load("later");
Object.assign(window, { lifeline: { store, timeline, list, socket, selection } });
