// Attaches files that are chosen or dropped at this browser, each as one call.
import { announce } from "../desk/announce.js";
import { call } from "../desk/call.js";
import { fillText } from "../desk/words.js";

// A call carries the file as base64 within server.max_body_bytes, 4 MiB unless set.
const MOST_BYTES = 3_000_000;

const place = document.querySelector("[data-attach]");
if (place) takeFiles();

function takeFiles() {
  const chooser = place.querySelector("input[type=file]");
  place.hidden = false;

  async function attach(files) {
    let attached = 0;
    chooser.disabled = true;
    for (const file of files) {
      if (file.size > MOST_BYTES) {
        announce(fillText(place.dataset.tooLarge, { name: file.name }), "danger");
        continue;
      }
      try {
        const content = await readBase64(file);
        await call("attach_file", { id: place.dataset.attach, name: file.name, content });
        attached += 1;
      } catch (problem) {
        announce(`${file.name}: ${problem.message}`, "danger");
      }
    }
    chooser.disabled = false;
    chooser.value = "";
    if (attached && attached === files.length) location.reload();
    else if (attached) announce(place.dataset.some);
  }

  chooser.addEventListener("change", () => attach([...chooser.files]));
}

function readBase64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result.split(",")[1] ?? ""));
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(file);
  });
}
