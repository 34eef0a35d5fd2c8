// Reads dropped and chosen files into the form, and follows works that are still looked up.
import { announce } from "../desk/announce.js";
import { element, replacePart } from "../desk/dom.js";
import { follow } from "../desk/live.js";

// What a form may carry; a text grows when it is sent.
const MOST_BYTES = 3_000_000;

const form = document.getElementById("import");
if (form) takeFiles();
followJob();

function takeFiles() {
  const place = form.querySelector("[data-drop]");
  const chooser = form.querySelector("input[type=file]");
  place.hidden = false;

  async function send(files) {
    for (const old of form.querySelectorAll("[name=file]")) old.remove();
    let size = 0;
    for (const file of files) {
      size += file.size;
      if (size > MOST_BYTES) {
        announce(form.dataset.tooLarge.replaceAll("{name}", file.name), "danger");
        return;
      }
      const text = element("textarea", { name: "file", hidden: true });
      text.value = await file.text();
      form.append(text);
    }
    if (files.length) form.requestSubmit();
  }

  chooser.addEventListener("change", () => send([...chooser.files]));
  const over = (on) => place.classList.toggle("is-over", on);
  document.addEventListener("dragover", (event) => {
    if (![...event.dataTransfer.types].includes("Files")) return;
    event.preventDefault();
    over(true);
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) over(false);
  });
  // Before the tray of the first page takes it: here a dropped file is a bibliography.
  document.addEventListener(
    "drop",
    (event) => {
      if (!event.dataTransfer.files.length) return;
      event.preventDefault();
      over(false);
      send([...event.dataTransfer.files]);
    },
    { capture: true },
  );
}

function followJob() {
  const strip = document.querySelector("[data-import-job]");
  if (!strip || strip.dataset.state !== "running") return;
  const job = strip.dataset.importJob;
  const text = strip.querySelector(".live-text");
  follow("references-import", job, {
    onState: (state) => {
      text.textContent = state.message;
    },
    onEnd: () => replacePart("#report", `/references/import?job=${encodeURIComponent(job)}`),
    onTrouble: (message) => {
      if (message) text.textContent = message;
    },
  });
}
