// Says something to everybody: a line that is seen for a while and read by screen readers.
import { element } from "./dom.js";

const SECONDS = 6;

export function announce(text, kind = "info") {
  const place = document.getElementById("announcements");
  if (!place) return;
  const line = element("p", { class: `toast toast-${kind}` }, text);
  place.append(line);
  setTimeout(() => line.remove(), SECONDS * 1000);
}
