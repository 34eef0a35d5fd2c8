// The editor: rows of names, a preview while typing, and text that is not lost with its page.
import { call } from "../desk/call.js";
import { debounce, element } from "../desk/dom.js";
import { tabStorage } from "../desk/storage.js";
import { offerStyles } from "./style_picker.js";

const form = document.getElementById("editor");
const preview = document.getElementById("preview");
const problems = document.getElementById("preview-problems");
const styleInput = form.querySelector("[data-style-input]");
let isSent = false;
let isChanged = false;
let control = null;

/** The record as the form has it now; the server reads the same fields when it is saved. */
function readItem() {
  const data = new FormData(form);
  const base = JSON.parse(data.get("base") || "{}");
  const item = { ...base, type: data.get("type") };
  for (const [name, value] of data) {
    if (name.startsWith("f.")) put(item, name.slice(2), value.trim() || null);
  }
  for (const set of form.querySelectorAll("[data-names]")) {
    put(item, set.dataset.names, readNames(set));
  }
  for (const set of form.querySelectorAll("[data-date]")) {
    put(item, set.dataset.date, readDate(set, base[set.dataset.date]));
  }
  return item;
}

function put(item, name, value) {
  if (value === null) delete item[name];
  else item[name] = value;
}

function readNames(set) {
  const people = [];
  for (const row of set.querySelectorAll("[data-name-row]")) {
    const person = {};
    for (const input of row.querySelectorAll("input")) {
      const part = input.name.split(".").at(-1);
      const text = input.value.trim();
      if (part === "rest") Object.assign(person, text ? JSON.parse(text) : {});
      else if (text) person[part] = text;
    }
    if (person.family || person.given || person.literal) people.push(person);
  }
  return people.length ? people : null;
}

function readDate(set, before) {
  const part = (name) => set.querySelector(`[name$=".${name}"]`);
  const inputs = ["year", "month", "day", "text"].map(part);
  if (before && inputs.every((input) => input.value === input.defaultValue)) return before;
  const [year, month, day, text] = inputs.map((input) => input.value.trim());
  const parts = [year, month, day];
  while (parts.length && !parts.at(-1)) parts.pop();
  if (!parts.length) return text ? { literal: text } : null;
  return parts.every((each) => /^-?\d+$/.test(each)) ? { "date-parts": [parts.map(Number)] } : null;
}

const TAGS = [
  ["is_small_caps", "span"],
  ["is_lowered", "sub"],
  ["is_raised", "sup"],
  ["is_bold", "b"],
  ["is_italic", "i"],
];

function drawRun(run) {
  let node = document.createTextNode(run.text);
  for (const [look, tag] of TAGS) {
    if (run[look]) node = element(tag, tag === "span" ? { class: "small-caps" } : {}, node);
  }
  return node;
}

const showPreview = debounce(async (style = styleInput.value.trim()) => {
  control?.abort();
  control = new AbortController();
  let answer;
  try {
    const asked = style ? { item: readItem(), style } : { item: readItem() };
    answer = await call("preview_citation", asked, { signal: control.signal });
  } catch (problem) {
    if (problem.name !== "AbortError") problems.replaceChildren(element("li", {}, problem.message));
    return;
  }
  preview.replaceChildren(
    ...(answer.runs.length
      ? answer.runs.map(drawRun)
      : [element("span", { class: "muted" }, preview.dataset.empty)]),
  );
  problems.replaceChildren(
    ...answer.problems.map((each) => element("li", {}, `${each.field}: ${each.expected}`)),
  );
}, 250);

/* Names. */
function renumber(set) {
  set.querySelectorAll("[data-name-row]").forEach((row, at, rows) => {
    for (const input of row.querySelectorAll("input")) {
      input.name = input.name.replace(/\.\d+\.(\w+)$/, `.${at}.$1`);
    }
    const label = set.querySelector("legend").textContent;
    row.setAttribute("aria-label", `${label}, ${at + 1}`);
    row.querySelector("[data-up-name]").hidden = at === 0;
    row.querySelector("[data-drop-name]").hidden = rows.length === 1;
  });
}

for (const set of form.querySelectorAll("[data-names]")) renumber(set);
form.addEventListener("click", (event) => {
  const set = event.target.closest("[data-names]");
  if (!set) return;
  const rows = set.querySelector("[data-name-rows]");
  const row = event.target.closest("[data-name-row]");
  if (event.target.closest("[data-add-name]")) {
    event.preventDefault();
    const added = rows.lastElementChild.cloneNode(true);
    for (const input of added.querySelectorAll("input")) {
      input.value = "";
      input.removeAttribute("aria-invalid");
    }
    rows.append(added);
    renumber(set);
    added.querySelector("input").focus();
  } else if (event.target.closest("[data-drop-name]")) {
    const next = row.nextElementSibling ?? row.previousElementSibling;
    row.remove();
    renumber(set);
    next.querySelector("input").focus();
    changed();
  } else if (event.target.closest("[data-up-name]")) {
    row.previousElementSibling.before(row);
    renumber(set);
    row.querySelector("input").focus();
    changed();
  }
});

/* Another type has other fields: the server draws them, with everything that was typed. */
form.querySelector("[data-change-type]").hidden = true;
form.querySelector("[data-check]").hidden = true;
form.querySelector("#field-type").addEventListener("change", () => {
  isSent = true;
  form.requestSubmit(form.querySelector("[data-change-type]"));
});

/* Drafts: kept for this tab until the form is sent. */
const draftKey = `carrel-draft:${form.dataset.user}:${form.getAttribute("action")}`;

const keepDraft = debounce(() => {
  if (isSent) return;
  const fields = [...new FormData(form)].filter(([name]) => name !== "csrf" && name !== "do");
  tabStorage.keep(draftKey, JSON.stringify(fields));
}, 300);

function changed() {
  isChanged = true;
  showPreview();
  keepDraft();
}

function forgetDraft() {
  tabStorage.drop(draftKey);
}

function offerDraft() {
  const kept = tabStorage.read(draftKey);
  if (!kept) return;
  const fields = JSON.parse(kept);
  const line = element(
    "div",
    { class: "notice notice-info removed-notice", role: "status" },
    element("p", {}, form.dataset.draft),
    element("button", { class: "button", type: "button", onclick: () => sendDraft(fields) }, form.dataset.draftRestore),
    element("button", { class: "button button-quiet", type: "button", onclick: () => {
      forgetDraft();
      line.remove();
    } }, form.dataset.draftForget),
  );
  form.before(line);
}

/** Lets the server draw the form with the kept text; it checks whether the record has changed. */
function sendDraft(fields) {
  const sent = element("form", { method: "post", action: form.action, hidden: true });
  const all = [...fields, ["do", "check"], ["csrf", form.querySelector("[name=csrf]").value]];
  for (const [name, value] of all) {
    const area = element("textarea", { name });
    area.value = value;
    sent.append(area);
  }
  document.body.append(sent);
  forgetDraft();
  isSent = true;
  sent.submit();
}

form.addEventListener("input", (event) => {
  if (event.target === styleInput) return;
  changed();
});
form.addEventListener("submit", () => {
  isSent = true;
  forgetDraft();
});
addEventListener("beforeunload", (event) => {
  if (isChanged && !isSent) event.preventDefault();
});
offerStyles(styleInput, (style) => showPreview(style));
offerDraft();
