// Elements by name; text is only ever text.
import { textOf } from "./answers.js";
const SVG = "http://www.w3.org/2000/svg";

export function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function drawing(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(
    ...children.flat().filter((child) => child !== null && child !== undefined && child !== ""),
  );
  return made;
}

// New children, with the focus on the element of the same name as before.
export function replaceKept(node, ...children) {
  const held = document.activeElement?.dataset?.focus;
  node.replaceChildren(...children.flat().filter(Boolean));
  if (held && document.activeElement === document.body) {
    node.querySelector(`[data-focus="${CSS.escape(held)}"]`)?.focus({ preventScroll: true });
  }
}

// Our extracts mark words by ** and escape what else Markdown would read.
export function markedText(text) {
  return textOf(text)
    .split(/(?<!\\)\*\*/)
    .map((part) => part.replace(/\\([^\w\s])/g, "$1"))
    .map((part, at) => (at % 2 ? element("mark", {}, part) : part));
}

export function badge(text, kind = "plain", sign = "") {
  return element(
    "span",
    { class: `badge ${kind}` },
    sign ? element("span", { "aria-hidden": "true" }, `${sign} `) : "",
    text,
  );
}

// A sandbox may forbid forms, so the Enter key is heard here and not by a form.
export function whenEntered(act) {
  return (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    act();
  };
}
