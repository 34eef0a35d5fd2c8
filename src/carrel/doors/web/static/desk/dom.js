// Builds and replaces parts of a page without ever parsing text as HTML of others.

/** An element; attributes beginning with "on" are listeners, and children may be strings. */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on") && typeof value === "function") {
      node.addEventListener(name.slice(2).toLowerCase(), value);
    } else if (name === "class") {
      node.className = value;
    } else {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

export function icon(name) {
  const sheet = document.querySelector("svg.icon use")?.getAttribute("href")?.split("#")[0] ?? "";
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `${sheet}#${name}`);
  svg.append(use);
  return svg;
}

export function clear(node) {
  node.replaceChildren();
  return node;
}

const policy = globalThis.trustedTypes
  ? trustedTypes.createPolicy("carrel", {
      createHTML: (text) => text,
      createScriptURL: (address) => {
        const url = new URL(address, location.href);
        if (url.origin !== location.origin) throw new TypeError("a script of another host");
        return url.href;
      },
    })
  : null;

/** A page of our own server as a document; its scripts do not run. */
export async function fetchPage(address, options = {}) {
  const url = new URL(address, location.href);
  if (url.origin !== location.origin) throw new TypeError("a page of another host");
  const response = await fetch(url, { headers: { accept: "text/html" }, ...options });
  const text = await response.text();
  return new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, "text/html");
}

/** Fetches a page of ours and swaps what the selector finds; gives the new node or null. */
export async function replacePart(selector, address, options = {}) {
  const fetched = (await fetchPage(address, options)).querySelector(selector);
  const present = document.querySelector(selector);
  if (!fetched || !present) return null;
  const node = document.importNode(fetched, true);
  present.replaceWith(node);
  node.dispatchEvent(new CustomEvent("part:replaced", { bubbles: true }));
  return node;
}

export function scriptAddress(address) {
  return policy ? policy.createScriptURL(address) : address;
}

export function debounce(run, milliseconds) {
  let timer = 0;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...args), milliseconds);
  };
}
