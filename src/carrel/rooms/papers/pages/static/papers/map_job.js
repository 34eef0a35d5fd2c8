// Shows how far the drawing of the map is, and opens the map when it is done.
import { follow } from "../desk/live.js";

const strip = document.getElementById("map-job");
if (strip && strip.dataset.state === "running") {
  const text = document.getElementById("map-job-text");
  const bar = document.getElementById("map-job-progress");
  follow("paper_map", strip.dataset.job, {
    onState(state) {
      text.textContent = state.message;
      if (state.total) {
        bar.max = state.total;
        bar.value = state.done;
      } else {
        bar.removeAttribute("value");
      }
      if (state.state === "completed") location.assign("/papers/map");
      else if (state.state !== "running") location.reload();
    },
    onTrouble(problem) {
      text.textContent = problem;
    },
  });
}
