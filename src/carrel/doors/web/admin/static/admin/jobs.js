// Draws the list of jobs anew whenever one of them changes, for as long as one runs.
import { follow } from "../desk/live.js";
import { replacePart } from "../desk/dom.js";

let drawing = false;
let isStale = false;

async function draw() {
  if (drawing) {
    isStale = true;
    return;
  }
  drawing = true;
  const focused = document.activeElement?.getAttribute?.("aria-label");
  try {
    await replacePart("#jobs", location.href);
  } finally {
    drawing = false;
  }
  if (focused) {
    for (const each of document.querySelectorAll("#jobs [aria-label]")) {
      if (each.getAttribute("aria-label") === focused) each.focus();
    }
  }
  if (isStale) {
    isStale = false;
    draw();
  }
}

if (document.querySelector("#jobs[data-live]")) {
  let isFirst = true;
  follow("admin-jobs", "all", {
    onState() {
      // The page was drawn a moment ago with the first state.
      if (!isFirst) draw();
      isFirst = false;
    },
    onEnd: draw,
  });
}
