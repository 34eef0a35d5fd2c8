// A row of the table and its line point at each other.
function pick(id) {
  for (const plot of document.querySelectorAll(".plot")) {
    const line = [...plot.querySelectorAll(".plot-line")].find((each) => each.dataset.line === id);
    plot.classList.toggle("has-picked", Boolean(line));
    for (const each of plot.querySelectorAll(".plot-line")) {
      each.classList.toggle("picked", each === line);
    }
  }
  for (const row of document.querySelectorAll("tr[data-line]")) {
    row.classList.toggle("picked", row.dataset.line === id);
  }
}

const over = (event) => pick(event.target.closest?.("[data-line]")?.dataset.line ?? "");
document.addEventListener("pointerover", over);
document.addEventListener("focusin", over);
