// Copies a bibliography with its formatting, where the browser can.
import { announce } from "../desk/announce.js";

const canCopyRich = () => Boolean(globalThis.ClipboardItem && navigator.clipboard?.write);

function showButtons() {
  if (!canCopyRich()) return;
  for (const button of document.querySelectorAll("[data-copy-rich]")) button.hidden = false;
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy-rich]");
  if (!button) return;
  const piece = (text, type) => new Blob([text], { type });
  try {
    await navigator.clipboard.write([
      new ClipboardItem({
        "text/html": piece(button.dataset.copyRich, "text/html"),
        "text/plain": piece(button.dataset.copyPlain, "text/plain"),
      }),
    ]);
    announce(button.dataset.copied);
  } catch (problem) {
    announce(problem.message, "danger");
  }
});
document.addEventListener("part:replaced", showButtons);
showButtons();
