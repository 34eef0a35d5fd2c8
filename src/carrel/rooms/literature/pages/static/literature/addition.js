// Follows a job that adds works, and draws the page anew with every step.
import { replacePart } from "../desk/dom.js";
import { follow } from "../desk/live.js";

const strip = document.querySelector("[data-job]");
if (strip) {
  const draw = () => replacePart("#addition", location.href);
  follow("job", strip.dataset.job, { onState: draw, onEnd: draw });
}
