// The table of the library as one window over all rows: about three pages of them are drawn.
import { announce } from "../desk/announce.js";
import { call } from "../desk/call.js";
import { debounce, element } from "../desk/dom.js";
import { fillText } from "../desk/words.js";

const PAGE = 100;
// Browsers cannot draw a box much higher than this; beyond it the links to pages remain.
const TALLEST = 15_000_000;

const form = document.getElementById("selection");
const pane = document.getElementById("library-window");
if (form && pane) start();

function start() {
  const selection = followSelection();
  const total = Number(pane.dataset.total);
  const first = pane.querySelector("tbody[data-page] tr");
  const rowHeight = first.getBoundingClientRect().height;
  const settleKeys = moveByKeys();
  form.classList.add("is-live");
  // On a phone a window within the page is in the way: links to pages are better there.
  if (matchMedia("(max-width: 40rem)").matches) return;
  if (total <= PAGE || total * rowHeight > TALLEST) return;
  drawEndless(selection, settleKeys, total, rowHeight);
}

/** Keeps what is chosen, also of rows that are not drawn now, and sends it with the form. */
function followSelection() {
  const most = Number(form.dataset.max);
  const text = form.querySelector(".selection-text");
  const bar = form.querySelector(".selection-bar");
  const forget = form.querySelector("[data-forget]");
  const chosen = new Set();
  let last = null;

  const boxes = () => [...pane.querySelectorAll("tbody input[type=checkbox]")];
  const show = () => {
    bar.classList.toggle("has-choice", chosen.size > 0);
    text.textContent = chosen.size
      ? fillText(text.dataset.chosen, { count: chosen.size })
      : text.dataset.hint;
    forget.hidden = !chosen.size;
    for (const button of form.querySelectorAll("[data-needs-choice]")) {
      button.disabled = !chosen.size;
    }
  };
  const set = (box, on) => {
    if (on && !chosen.has(box.value) && chosen.size >= most) {
      box.checked = false;
      announce(form.dataset.tooMany, "danger");
      return;
    }
    box.checked = on;
    if (on) chosen.add(box.value);
    else chosen.delete(box.value);
  };
  pane.addEventListener("click", (event) => {
    const box = event.target.closest("tbody input[type=checkbox]");
    if (!box) return;
    const all = boxes();
    const from = event.shiftKey && last ? all.findIndex((each) => each.value === last) : -1;
    const to = all.indexOf(box);
    const on = box.checked;
    const range = from < 0 ? [box] : all.slice(Math.min(from, to), Math.max(from, to) + 1);
    for (const each of range) set(each, on);
    last = box.value;
    show();
  });
  forget.addEventListener("click", () => {
    chosen.clear();
    for (const box of boxes()) box.checked = false;
    show();
    boxes()[0]?.focus({ preventScroll: true });
  });
  form.addEventListener("submit", () => {
    for (const old of form.querySelectorAll("input[type=hidden][name=id]")) old.remove();
    for (const box of boxes()) box.removeAttribute("name");
    for (const id of chosen) form.append(element("input", { type: "hidden", name: "id", value: id }));
  });
  // A page that the browser kept comes back with its boxes ticked.
  addEventListener("pageshow", () => {
    for (const box of boxes()) {
      box.name = "id";
      if (box.checked) chosen.add(box.value);
    }
    show();
  });
  show();
  return { has: (id) => chosen.has(id) };
}

/**
 * One row is reached by Tab, up and down go from row to row, and x chooses the row with the focus;
 * else hundreds of rows would stand between the search and the filters.
 */
function moveByKeys() {
  const rowAt = (index) => pane.querySelector(`tbody tr[aria-rowindex="${index}"]`);
  const indexOf = (row) => Number(row.getAttribute("aria-rowindex"));
  const controls = (row) => row.querySelectorAll("input, a");
  let current = 0;

  const enter = (row) => {
    const before = rowAt(current);
    if (before) for (const each of controls(before)) each.tabIndex = -1;
    current = indexOf(row);
    for (const each of controls(row)) each.tabIndex = 0;
  };
  /** After rows were drawn: the row that Tab reaches is among those in sight. */
  const settle = () => {
    for (const each of pane.querySelectorAll("tbody input, tbody a")) each.tabIndex = -1;
    const top = pane.getBoundingClientRect().top;
    const rows = [...pane.querySelectorAll("tbody:not(.spacer) tr")];
    const row = rowAt(current) ?? rows.find((each) => each.getBoundingClientRect().top >= top);
    if (row ?? rows[0]) enter(row ?? rows[0]);
  };
  pane.addEventListener("focusin", (event) => {
    const row = event.target.closest("tbody tr");
    if (row && indexOf(row) !== current) enter(row);
  });
  pane.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = event.target.closest("tbody tr");
    if (!row) return;
    if (event.key === "x") {
      row.querySelector("input[type=checkbox]")?.click();
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const next = step && rowAt(indexOf(row) + step);
    if (!next) return;
    event.preventDefault();
    next.querySelector(event.target.matches("input") ? "input" : "a").focus();
  });
  settle();
  return settle;
}

function drawEndless(selection, settleKeys, startTotal, rowHeight) {
  const question = JSON.parse(pane.dataset.question);
  const template = document.getElementById("library-row");
  const table = pane.querySelector("table");
  const head = table.tHead;
  const loaded = new Map();
  const waiting = new Map();
  let total = startTotal;
  let generation = Number(pane.dataset.generation);
  let drawn = "";

  const position = Number(pane.dataset.position);
  const firstBody = pane.querySelector("tbody[data-page]");
  if (position % PAGE === 0) loaded.set(position / PAGE, firstBody);
  else firstBody.remove();

  pane.classList.add("is-endless");
  pane.tabIndex = 0;
  document.body.classList.add("is-endless-page");
  const above = spacer();
  const below = spacer();

  function spacer() {
    const cell = element("td");
    const body = element("tbody", { class: "spacer", "aria-hidden": "true" }, element("tr", {}, cell));
    return { body, resize: (rows) => {
      cell.style.height = `${rows * rowHeight}px`;
      body.hidden = rows <= 0;
    } };
  }

  const lastPage = () => Math.max(0, Math.ceil(total / PAGE) - 1);
  const topRow = () => Math.max(0, Math.floor(pane.scrollTop / rowHeight));

  function wantedPages() {
    const rows = pane.clientHeight / rowHeight;
    const middle = Math.floor(Math.min(topRow() + rows / 2, total - 1) / PAGE);
    return [middle - 1, middle, middle + 1].filter((page) => page >= 0 && page <= lastPage());
  }

  function draw() {
    const pages = wantedPages();
    for (const page of pages) if (!loaded.has(page)) load(page);
    const key = pages.map((page) => `${page}${loaded.has(page) ? "+" : "-"}`).join();
    if (key === drawn) return;
    drawn = key;
    const held = table.contains(document.activeElement) && document.activeElement !== table;
    const bodies = pages.map((page) => loaded.get(page) ?? placeholder(page));
    above.resize(pages[0] * PAGE);
    below.resize(Math.max(0, total - (pages.at(-1) + 1) * PAGE));
    const wanted = [above.body, ...bodies, below.body];
    for (const body of [...table.tBodies]) if (!wanted.includes(body)) body.remove();
    let before = head;
    for (const body of wanted) {
      if (before.nextElementSibling !== body) before.after(body);
      before = body;
    }
    settleKeys();
    if (held && !table.contains(document.activeElement)) pane.focus({ preventScroll: true });
    for (const page of [...loaded.keys()]) {
      if (Math.abs(page - pages[0]) > 6) loaded.delete(page);
    }
  }

  function placeholder(page) {
    const { body, resize } = spacer();
    resize(Math.min(PAGE, total - page * PAGE));
    return body;
  }

  async function load(page) {
    if (waiting.has(page)) return;
    const control = new AbortController();
    waiting.set(page, control);
    try {
      const answer = await call(
        "browse_references",
        { ...question, position: page * PAGE, limit: PAGE },
        { signal: control.signal },
      );
      if (answer.generation !== generation) renew(answer);
      loaded.set(page, makeBody(answer.rows, page * PAGE));
      drawn = "";
      draw();
    } catch (problem) {
      if (problem.name !== "AbortError") announce(problem.message, "danger");
    } finally {
      waiting.delete(page);
    }
  }

  /** The library was changed meanwhile: rows that were drawn before may stand elsewhere. */
  function renew(answer) {
    generation = answer.generation;
    total = answer.total;
    loaded.clear();
    table.setAttribute("aria-rowcount", total + 1);
    announce(pane.dataset.changed);
  }

  function makeBody(rows, first) {
    const body = element("tbody");
    rows.forEach((row, at) => body.append(makeRow(row, first + at + 2)));
    return body;
  }

  function makeRow(row, index) {
    const node = document.importNode(template.content, true).querySelector("tr");
    const [check, authors, title, year, added, key, text, read] = node.cells;
    const link = title.firstElementChild;
    const box = check.firstElementChild;
    node.setAttribute("aria-rowindex", index);
    link.id = `r${index}`;
    link.textContent = row.title || pane.dataset.untitled;
    link.href = `/references/item/${encodeURIComponent(row.id)}`;
    box.value = row.id;
    box.checked = selection.has(row.id);
    box.setAttribute("aria-labelledby", link.id);
    authors.textContent = row.authors;
    year.textContent = row.year ?? "";
    added.textContent = row.added.slice(0, 10);
    key.textContent = row.id;
    if (!row.has_fulltext) text.replaceChildren();
    const mark = document.getElementById(`read-${row.read_state}`);
    if (mark) read.append(document.importNode(mark.content, true));
    return node;
  }

  const keepPlace = debounce(() => {
    const address = new URL(location.href);
    for (const name of ["after", "after_id", "before", "before_id", "at"]) {
      address.searchParams.delete(name);
    }
    const page = Math.floor(topRow() / PAGE) * PAGE;
    if (page) address.searchParams.set("at", page);
    history.replaceState(history.state, "", address);
  }, 400);

  let asked = false;
  pane.addEventListener("scroll", () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      draw();
      keepPlace();
    });
  });
  addEventListener("resize", debounce(() => {
    fit();
    const row = pane.querySelector("tbody:not(.spacer) tr");
    if (row) rowHeight = row.getBoundingClientRect().height;
    drawn = "";
    draw();
  }, 150));

  const fit = () => {
    const top = pane.getBoundingClientRect().top + scrollY;
    pane.style.height = `${Math.max(360, innerHeight - top - 24)}px`;
  };
  fit();
  above.resize(position);
  below.resize(Math.max(0, total - position - PAGE));
  head.after(above.body);
  table.append(below.body);
  pane.scrollTop = position * rowHeight;
  draw();
}
