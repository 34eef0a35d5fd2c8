// The connect block: one assistant is always open, and the browser remembers which.
import { browserStorage } from "../desk/storage.js";

const KEY = "carrel-assistant";
const block = document.querySelector("[data-connect]");

if (block) {
  const kept = block.querySelector(`[data-client="${CSS.escape(browserStorage.read(KEY) ?? "")}"]`);
  if (kept) kept.open = true;
  block.addEventListener("click", (event) => {
    const summary = event.target.closest("summary");
    if (!summary) return;
    const one = summary.parentElement;
    if (one.open) event.preventDefault();
    browserStorage.keep(KEY, one.dataset.client);
  });
}
