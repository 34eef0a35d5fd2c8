// The reader: goes from passage to passage, marks words, reads on while scrolling, swaps the margin.
import { announce } from "../desk/announce.js";
import { fetchPage, replacePart } from "../desk/dom.js";

const reader = document.querySelector(".reader");
const words = reader.dataset.words.split(" ").filter((word) => word.length > 1);
const links = () => [...document.querySelectorAll("[data-go]")];
let here = -1;

function foundNode(place) {
  return document.getElementById(`found-${place}`);
}

// Several passages may stand in one paragraph, which is marked once: go to the one before it then.
function goTo(place, { isQuiet = false } = {}) {
  const node = foundNode(place) ?? null;
  if (!node) return false;
  for (const other of document.querySelectorAll(".is-here")) other.classList.remove("is-here");
  node.classList.add("is-here");
  node.scrollIntoView({ block: node.offsetHeight > innerHeight * 0.6 ? "start" : "center" });
  node.focus({ preventScroll: true });
  here = place;
  for (const link of links()) {
    if (Number(link.dataset.go) === place) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  if (!isQuiet) announce(node.getAttribute("aria-label"));
  return true;
}

function foundPlaces() {
  const shown = [...document.querySelectorAll("[data-found]")].map((node) => Number(node.dataset.found));
  const listed = links().map((link) => Number(link.dataset.go));
  return [...new Set([...shown, ...listed])].sort((one, other) => one - other);
}

function step(by) {
  const places = foundPlaces();
  if (!places.length) return;
  const at = places.indexOf(here);
  for (let turn = 1; turn <= places.length; turn += 1) {
    const place = places[(at + by * turn + places.length * turn) % places.length];
    if (goTo(place)) return;
    const link = links().find((each) => Number(each.dataset.go) === place);
    const address = link?.getAttribute("href");
    if (address && !address.startsWith("#")) {
      location.assign(address);
      return;
    }
  }
}

const isTyping = (target) => target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (event.key === "n" || event.key === "p") {
    if (!foundPlaces().length) return;
    event.preventDefault();
    step(event.key === "n" ? 1 : -1);
  }
  if (event.key === "Escape" && event.target.closest(".text-part")) {
    document.getElementById("main").focus();
  }
});

document.addEventListener("click", (event) => {
  const stepper = event.target.closest("[data-step]");
  if (stepper) {
    event.preventDefault();
    step(Number(stepper.dataset.step));
    return;
  }
  const link = event.target.closest("[data-go]");
  if (link && goTo(Number(link.dataset.go))) {
    event.preventDefault();
    closeSheets();
    return;
  }
  if (event.target.closest(".reader-outline a[href^='#']")) closeSheets();
});

function closeSheets() {
  for (const sheet of document.querySelectorAll("[popover]:popover-open")) sheet.hidePopover();
}

// The margin is swapped in place; the address keeps up, so that a reload shows the same.
document.addEventListener("click", async (event) => {
  if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const link = event.target.closest(".reader-margin .tabs a, [data-tab], .page-mark a[data-page]");
  if (!link) return;
  event.preventDefault();
  const wasOpen = document.querySelector(".reader-margin").matches(":popover-open");
  const isTab = Boolean(link.closest(".tabs"));
  link.setAttribute("aria-busy", "true");
  const address = link.href;
  const node = await replacePart(".reader-margin", address).catch(() => null);
  if (!node) {
    location.assign(address);
    return;
  }
  history.replaceState(null, "", address.split("#")[0].replace(/[?&]claim=[^&]*/, ""));
  const isSheet = getComputedStyle(node).display === "none";
  if (wasOpen || isSheet) node.showPopover();
  node.querySelector("#field-claim")?.focus({ preventScroll: true });
  if (link.matches("[data-quote-claim]")) return;
  const focused = isTab ? node.querySelector(".tabs [aria-current]") : node.querySelector(".margin-body a, .tabs [aria-current]");
  focused?.focus({ preventScroll: true });
});

// Words of the query, marked without changing the document.
function markWords() {
  if (!words.length || !globalThis.CSS?.highlights) return;
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${escaped.join("|")})[\\p{L}\\p{N}]{0,3}`, "giu");
  const highlight = new Highlight();
  for (const part of document.querySelectorAll(".text-part .is-found")) {
    const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      for (const match of node.data.normalize("NFC").matchAll(pattern)) {
        if (match.index + match[0].length > node.data.length) break;
        const range = new Range();
        range.setStart(node, match.index);
        range.setEnd(node, match.index + match[0].length);
        highlight.add(range);
      }
    }
  }
  CSS.highlights.set("query-words", highlight);
}

// Reads on where the text ends.
function readOn() {
  const next = document.querySelector("[data-next-part]");
  if (!next) return;
  let isBusy = false;
  const watcher = new IntersectionObserver(
    async (entries) => {
      if (isBusy || !entries.some((entry) => entry.isIntersecting)) return;
      isBusy = true;
      const more = await appendPart(next).catch(() => false);
      isBusy = false;
      if (!more) watcher.disconnect();
      else {
        watcher.unobserve(next);
        watcher.observe(next);
      }
    },
    { rootMargin: "800px 0px" },
  );
  watcher.observe(next);
}

async function appendPart(next) {
  const address = new URL(next.href);
  address.searchParams.set("only", "part");
  const fetched = (await fetchPage(address)).querySelector(".text-part");
  if (!fetched) return false;
  const node = document.importNode(fetched, true);
  next.closest("nav").before(node);
  markWords();
  watchHeadings(node);
  localOutline(node);
  const part = Number(node.dataset.part);
  if (part >= Number(node.dataset.parts)) {
    next.closest("nav").remove();
    return false;
  }
  const following = new URL(next.href);
  following.searchParams.set("part", String(part + 1));
  following.hash = `part-${part + 1}`;
  next.href = following.href;
  const count = document.querySelector("[data-part-count]");
  if (count) count.textContent = node.getAttribute("aria-label");
  return true;
}

// Headings that are here now are reached without loading another page.
function localOutline(part) {
  for (const link of document.querySelectorAll(".reader-outline a[data-at]")) {
    if (part.querySelector(`#at-${link.dataset.at}`)) link.setAttribute("href", `#at-${link.dataset.at}`);
  }
  for (const link of links()) {
    if (foundNode(link.dataset.go)) link.setAttribute("href", `#found-${link.dataset.go}`);
  }
}

const headings = new IntersectionObserver(
  (entries) => {
    const entered = entries.filter((entry) => entry.isIntersecting);
    if (!entered.length) return;
    const name = entered[0].target.id.slice("at-".length);
    for (const link of document.querySelectorAll(".reader-outline a[data-at]")) {
      if (link.dataset.at === name) link.setAttribute("aria-current", "location");
      else link.removeAttribute("aria-current");
    }
  },
  { rootMargin: "0px 0px -70% 0px" },
);
function watchHeadings(part) {
  for (const heading of part.querySelectorAll("h2[id], h3[id], h4[id]")) headings.observe(heading);
}

// A selected sentence can be copied with its source, or checked as a claim.
const LONGEST_QUOTE = 1500;
const tools = document.querySelector("[data-quote-tools]");

function selectedQuote() {
  const selection = document.getSelection();
  if (!selection || selection.isCollapsed || !selection.anchorNode) return null;
  const start = selection.getRangeAt(0).startContainer.parentElement;
  const text = selection.toString().replace(/\s+/g, " ").trim();
  if (!start?.closest(".text-part") || text.length < 12 || text.length > LONGEST_QUOTE) return null;
  const marks = [...document.querySelectorAll(".page-mark")].filter(
    (mark) => mark.compareDocumentPosition(start) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  return { text, page: marks.at(-1)?.textContent.trim() ?? "" };
}

document.addEventListener("selectionchange", () => {
  const quote = selectedQuote();
  tools.hidden = !quote && !tools.contains(document.activeElement);
  if (!quote) return;
  tools.dataset.text = quote.text;
  tools.dataset.place = [tools.dataset.cited, quote.page].filter(Boolean).join(", ");
  const link = tools.querySelector("[data-quote-claim]");
  if (link) {
    const address = new URL(link.href);
    address.searchParams.set("claim", quote.text);
    link.href = address.href;
  }
});

tools.querySelector("[data-quote-copy]").addEventListener("click", async () => {
  await navigator.clipboard.writeText(`“${tools.dataset.text}” (${tools.dataset.place})`);
  announce(tools.dataset.done);
});

markWords();
for (const part of document.querySelectorAll(".text-part")) watchHeadings(part);
readOn();
const named = /^#found-(\d+)$/.exec(location.hash);
const best = document.querySelector(".found-list a[aria-current]")?.dataset.go;
const first = named?.[1] ?? (location.hash ? null : best ?? document.querySelector("[data-found]")?.dataset.found);
if (first !== null && first !== undefined && !goTo(Number(first), { isQuiet: true })) {
  const shown = document.querySelector("[data-found]");
  if (shown && !location.hash) goTo(Number(shown.dataset.found), { isQuiet: true });
}
