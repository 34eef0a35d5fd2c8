// Messages with places to fill, such as "{count} chosen".

/** The text with the values in its places; a place without a value stays as it is. */
export function fillText(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}
