// What lists and pages that stay fresh share: the pokes of the server, and one call for many of them.

const AGAIN = 5000;

/**
 * Calls `work` once for many asks, `spacing()` milliseconds after it was called last or later.
 * @param {() => void} work @param {() => number} spacing @returns {(least?: number) => void} an earlier date wins
 */
export function spaced(work, spacing) {
  let called = 0;
  let due = 0;
  let waiting = null;
  return (least = 0) => {
    const at = called + Math.max(spacing(), least);
    if (waiting !== null && due <= at) return;
    clearTimeout(waiting);
    due = at;
    waiting = setTimeout(() => {
      waiting = null;
      called = Date.now();
      work();
    }, Math.max(0, at - Date.now()));
  };
}

/** Hears that some run changed, and connects again when the socket closes while `wanted()`. */
export function hearRuns({ poke, opened = () => {}, closed = () => {}, wanted = () => true }) {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const socket = new WebSocket(`${scheme}://${location.host}/ws/runs/`);
  socket.onopen = opened;
  socket.onmessage = () => poke();
  socket.onclose = () => {
    closed();
    if (wanted()) setTimeout(() => hearRuns({ poke, opened, closed, wanted }), AGAIN);
  };
}

/** "silent 41 s of 180 s" and "next in 1.2 s" go on counting between two fetches. @param {HTMLElement} pulse */
export function countOn(pulse) {
  const { since, limit, until } = pulse.dataset;
  const now = Date.now() / 1000;
  if (since) pulse.textContent = `silent ${Math.max(0, Math.round(now - since))} s${limit ? ` of ${Math.round(limit)} s` : ""}`;
  else if (until) pulse.textContent = pulse.textContent.replace(/next in .*/, `next in ${Math.max(0, until - now).toFixed(1)} s`);
}
