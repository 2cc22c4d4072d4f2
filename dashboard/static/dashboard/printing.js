// A page with a timeline on paper: light, with every lane, and every event that the list shows, in sight or not.

/** @param {{timeline: import("./timeline.js").Timeline, list?: import("./events.js").EventList}} views */
export function printing({ timeline, list }) {
  const root = document.documentElement;
  let { theme } = root.dataset;

  function put(paper) {
    timeline.paper = paper;
    timeline.resize();
    document.dispatchEvent(new CustomEvent("lifeline:preference")); // the colours are others
    timeline.draw();
    if (!list) return;
    list.rows.whole = paper;
    list.rows.draw();
  }

  addEventListener("beforeprint", () => {
    ({ theme } = root.dataset);
    root.dataset.theme = "light";
    put(true);
  });
  addEventListener("afterprint", () => {
    root.dataset.theme = theme;
    put(false);
  });
}
