// Reads dropped and chosen files into the form, and follows works that are still looked up.
import { announce } from "../desk/announce.js";
import { element, replacePart } from "../desk/dom.js";
import { follow } from "../desk/live.js";
import { fillText } from "../desk/words.js";
import { divideBibliography, importPieces } from "./import_pieces.js";

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
    const size = files.reduce((sum, file) => sum + file.size, 0);
    if (size > MOST_BYTES) return sendPieces(files);
    for (const file of files) {
      const text = element("textarea", { name: "file", hidden: true });
      text.value = await file.text();
      form.append(text);
    }
    if (files.length) form.requestSubmit();
  }

  async function sendPieces(files) {
    const pieces = [];
    for (const file of files) {
      const found = divideBibliography(await file.text());
      if (!found) {
        announce(fillText(form.dataset.tooLarge, { name: file.name }), "danger");
        return;
      }
      pieces.push(...found);
    }
    const text = element("span", { class: "live-text" });
    const strip = element("div", { class: "live-strip", role: "status" },
      element("span", { class: "live-dot", "aria-hidden": "true" }), text);
    const reasons = element("ul", { class: "report-rows" });
    document.getElementById("report").replaceChildren(strip, reasons);
    try {
      await importPieces(pieces, (at, sum) => {
        const said = at < pieces.length ? form.dataset.piece : form.dataset.piecesDone;
        text.textContent = fillText(said, {
          at: at + 1,
          of: pieces.length,
          added: sum.added,
          skipped: sum.skipped,
          failed: sum.failed.length,
        });
        reasons.replaceChildren(
          ...sum.failed.slice(0, 100).map((reason) => element("li", {}, reason)),
        );
      });
    } catch (problem) {
      announce(problem.message, "danger");
    }
    strip.classList.add("live-over");
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
