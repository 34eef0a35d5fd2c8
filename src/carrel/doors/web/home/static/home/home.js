// The connect block: one assistant is always open, and the browser remembers which.
const KEY = "carrel-assistant";
const block = document.querySelector("[data-connect]");

function remembered() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

if (block) {
  const kept = block.querySelector(`[data-client="${CSS.escape(remembered() ?? "")}"]`);
  if (kept) kept.open = true;
  block.addEventListener("click", (event) => {
    const summary = event.target.closest("summary");
    if (!summary) return;
    const one = summary.parentElement;
    if (one.open) event.preventDefault();
    try {
      localStorage.setItem(KEY, one.dataset.client);
    } catch {
      // A private window keeps nothing.
    }
  });
}
