// Texts of the map's modules, and addresses of papers.

/** A message with its values; thousands are parted by a narrow space, as on the page. */
export function say(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === "number"
      ? value.toLocaleString("en").replaceAll(",", "\u202f")
      : String(value ?? "");
  });
}

/** Tells screen readers what everybody else sees. */
export function murmur(text) {
  document.getElementById("map-status").textContent = text;
}

export function paperAddress(id) {
  return `/papers/paper/${encodeURIComponent(id).replaceAll("%2F", "/").replaceAll("%3A", ":")}`;
}
