// Texts of the map's modules, and addresses of papers.

/** A message with its values; numbers are written as the language does. */
export function say(text, facts, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === "number" ? value.toLocaleString(facts.language) : String(value ?? "");
  });
}

/** Tells screen readers what everybody else sees. */
export function murmur(text) {
  document.getElementById("map-status").textContent = text;
}

export function paperAddress(id) {
  return `/papers/paper/${encodeURIComponent(id).replaceAll("%2F", "/").replaceAll("%3A", ":")}`;
}
