// On every page: keys, copy buttons, confirmations, and the tray for dropped files when needed.
import { announce } from "./announce.js";

const isTyping = (target) =>
  target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);

// On a narrow screen the rooms are a bar that may be wider than it.
const bar = document.querySelector(".rooms ul");
const here = bar?.querySelector("[aria-current]");
if (here && bar.scrollWidth > bar.clientWidth) bar.scrollLeft = here.offsetLeft;

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (event.key === "/") {
    const field = document.querySelector("[data-search-focus]");
    if (field) {
      event.preventDefault();
      field.focus();
      field.select();
    }
  }
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
  } catch {
    const area = document.createElement("textarea");
    area.value = button.dataset.copy;
    area.className = "visually-hidden";
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  button.classList.add("copied");
  announce(button.dataset.copied ?? "✓");
});

document.addEventListener("submit", (event) => {
  const question = event.submitter?.dataset.confirm ?? event.target.dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
});

// Where the browser does not know command and commandfor, dialogs still open and close.
if (!("commandForElement" in HTMLButtonElement.prototype)) {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[commandfor]");
    const dialog = button && document.getElementById(button.getAttribute("commandfor"));
    if (!dialog) return;
    if (button.getAttribute("command") === "show-modal") dialog.showModal();
    if (button.getAttribute("command") === "close") dialog.close();
  });
}

const trayAddress = document.body.dataset.tray;
let tray = null;
const loadTray = () => (tray ??= import(trayAddress));
if (trayAddress) {
  document.addEventListener("dragover", (event) => {
    if ([...event.dataTransfer.types].includes("Files")) {
      event.preventDefault();
      loadTray();
    }
  });
  document.addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length || event.defaultPrevented) return;
    event.preventDefault();
    const files = [...event.dataTransfer.files];
    loadTray().then((module) => module.addFiles(files));
  });
  // Links to the page of adding choose files at once where scripts run.
  document.addEventListener("click", (event) => {
    if (!event.target.closest("a[data-add-files]")) return;
    event.preventDefault();
    const field = document.createElement("input");
    field.type = "file";
    field.multiple = true;
    field.addEventListener("change", () => {
      const files = [...field.files];
      loadTray().then((module) => module.addFiles(files));
    });
    field.click();
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("input[type=file][data-tray-files]")) {
      const files = [...event.target.files];
      event.target.value = "";
      loadTray().then((module) => module.addFiles(files));
    }
  });
}
