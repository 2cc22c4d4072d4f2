// Moving between the boxes of the drawing with the arrow keys.

const middle = (element) => {
  const box = element.getBoundingClientRect();
  return box.left + box.width / 2;
};

function nearest(boxes, from) {
  const at = middle(from);
  return boxes.reduce((best, box) => (!best || Math.abs(middle(box) - at) < Math.abs(middle(best) - at) ? box : best), null);
}

function beside(box, step) {
  const boxes = [...box.closest("tr").querySelectorAll("button.box")];
  return boxes[boxes.indexOf(box) + step];
}

function across(plan, box, step) {
  const rows = [...plan.querySelectorAll("tr")].filter((row) => row.querySelector("button.box"));
  const row = rows[rows.indexOf(box.closest("tr")) + step];
  return row && nearest([...row.querySelectorAll("button.box")], box);
}

/** Moves the focus from this box; says whether the key was one of the arrows. */
export function arrows(plan, box, key) {
  const found = {
    ArrowLeft: () => beside(box, -1),
    ArrowRight: () => beside(box, 1),
    ArrowUp: () => across(plan, box, -1),
    ArrowDown: () => across(plan, box, 1),
  }[key];
  if (!found) return false;
  found()?.focus();
  return true;
}
