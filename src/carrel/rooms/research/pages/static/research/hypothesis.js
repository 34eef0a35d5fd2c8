// Rejecting asks for the reason in a dialog; without script its link leads to the same form.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-opens]");
  const dialog = link && document.getElementById(link.dataset.opens);
  if (!dialog || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  dialog.showModal();
});

// An edge leads to a sentence that may lie in a closed part.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const part = target?.closest("details");
  if (part && !part.open) part.open = true;
  if (target?.classList.contains("anchor")) {
    target.scrollIntoView({ block: "center" });
    target.focus({ preventScroll: true });
  }
}
addEventListener("hashchange", reveal);
reveal();
