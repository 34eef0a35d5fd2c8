// A bibliography, and the same works again in another style.
import { Stage } from "./stage.js";
import { listOf, noticeOf, textOf, totalOf } from "./answers.js";
import { badge, element, whenEntered } from "./elements.js";
import { t, term } from "./words.js";

const COMMON_STYLES = {
  apa: "APA",
  vancouver: "Vancouver",
  ieee: "IEEE",
  "chicago-author-date": "Chicago",
  "modern-language-association": "MLA",
  "harvard-cite-them-right": "Harvard",
  nature: "Nature",
  "american-medical-association": "AMA",
};
const MOST_REFERENCES = 20;
let styles = Object.entries(COMMON_STYLES).map(([name, title]) => ({ name, title }));
let query = "";

function readBibliography(facts) {
  if (typeof facts.style !== "string" || typeof facts.text !== "string") return null;
  const entries = listOf(facts.entries).map((entry) => ({
    id: textOf(entry.id),
    text: plainText(entry.text, facts.format),
    notice: noticeOf(facts.work_notices?.[entry.id]),
  }));
  const rows = entries.length ? entries : [{ id: "", text: plainText(facts.text, facts.format) }];
  return {
    rows: rows.filter((row) => row.text),
    total: totalOf(facts, "entries", rows.length),
    style: facts.style,
    kind: textOf(facts.kind),
  };
}

// Entries asked for as HTML are shown as their text.
function plainText(text, format) {
  if (format !== "html") return textOf(text).trim();
  // Tags go before the parser sees them: it would ask the policy about each handler in them.
  const untagged = textOf(text).replace(/<[^>]*>/g, "");
  return (new DOMParser().parseFromString(untagged, "text/html").body.textContent ?? "").trim();
}

function drawBibliography(stage, size) {
  const { rows, total, kind } = stage.model;
  const heading = stage.head(
    t(kind === "in_text" ? "bibliography.citation" : "bibliography.title"),
    t("bibliography.count", { count: total }),
  );
  if (!rows.length) return [heading, element("p", { class: "muted" }, t("bibliography.none"))];
  const shown = rows.slice(stage.at, stage.at + size);
  return [
    heading,
    stage.can("cite_references")
      ? drawPicker(stage)
      : element("p", { class: "small muted" }, stage.model.style),
    element(
      "ul",
      { class: "entries", id: "entries" },
      shown.map((row) =>
        element(
          "li",
          {},
          row.text,
          row.notice ? [" ", badge(term("notice", row.notice), "danger", "!")] : "",
        ),
      ),
    ),
    element(
      "div",
      { class: "row" },
      element(
        "button",
        { type: "button", class: "main", "data-focus": "copy", onclick: () => copyAll(stage) },
        t("bibliography.copy"),
      ),
    ),
    stage.pager(rows.length, size, total),
  ];
}

function drawPicker(stage) {
  const { style } = stage.model;
  const options = styles.some((each) => each.name === style)
    ? styles
    : [{ name: style, title: style }, ...styles];
  const choose = (event) => citeAgain(stage, event.target.value);
  const picker = element(
    "select",
    { id: "style", "data-focus": "style", onchange: choose },
    options.map((each) =>
      element("option", { value: each.name, selected: each.name === style }, each.title),
    ),
  );
  return element(
    "div",
    { class: "picker" },
    element("div", {}, element("label", { for: "style" }, t("bibliography.style")), picker),
    stage.can("list_citation_styles") ? drawStyleSearch(stage) : "",
  );
}

function drawStyleSearch(stage) {
  const find = () => findStyles(stage);
  const field = element("input", {
    id: "style-query",
    value: query,
    maxlength: 200,
    "data-focus": "style-query",
    autocomplete: "off",
    oninput: (event) => (query = event.target.value),
    onkeydown: whenEntered(find),
  });
  return element(
    "div",
    {},
    element("label", { for: "style-query" }, t("bibliography.other")),
    element(
      "div",
      { class: "row" },
      field,
      element(
        "button",
        { type: "button", "data-focus": "find-style", onclick: find },
        t("bibliography.find"),
      ),
    ),
  );
}

async function findStyles(stage) {
  if (!query.trim()) return;
  stage.say(t("reading"));
  const { facts, problem } = await stage.call("list_citation_styles", {
    query: query.trim(),
    limit: 30,
  });
  const found = listOf(facts.styles).map((each) => ({
    name: textOf(each.name),
    title: textOf(each.title) || textOf(each.name),
  }));
  if (problem || !found.length)
    return stage.say(
      problem?.message ?? t("bibliography.no_style", { query }),
      "danger",
      problem?.nextStep,
    );
  styles = found;
  await citeAgain(stage, found[0].name);
  document.querySelector('[data-focus="style"]')?.focus({ preventScroll: true });
}

async function citeAgain(stage, style) {
  const ids = Array.isArray(stage.input.ids)
    ? stage.input.ids
    : stage.model.rows.map((row) => row.id).filter(Boolean);
  stage.say(t("bibliography.formatting"));
  const { locale, kind } = stage.input;
  const { facts, problem } = await stage.call("cite_references", {
    ids,
    style,
    ...(kind ? { kind } : {}),
    ...(locale ? { locale } : {}),
  });
  stage.say("");
  stage.take(facts, problem);
  if (problem) return stage.draw();
  stage.say(
    t("bibliography.now", { style: styles.find((each) => each.name === style)?.title ?? style }),
  );
  stage.tellModel(`The person chose the citation style ${textOf(facts.style)}.`);
}

async function copyAll(stage) {
  const text = stage.model.rows.map((row) => row.text).join("\n");
  const isCopied = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  if (isCopied || copySelection())
    return stage.say(t("bibliography.copied", { count: stage.model.rows.length }));
  stage.say(t("bibliography.select"));
}

// Where the host grants no clipboard, what is shown is selected for the person's own copy key.
function copySelection() {
  getSelection().selectAllChildren(document.getElementById("entries"));
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  }
}

function readBibliographyAgain(stage, input) {
  if (!stage.can("cite_references")) return null;
  return Array.isArray(input.ids) && input.ids.length
    ? stage.call("cite_references", input)
    : citeLibrary(stage);
}

async function citeLibrary(stage) {
  if (!stage.can("list_references")) return { facts: {}, problem: null };
  const { facts, problem } = await stage.call("list_references", { limit: MOST_REFERENCES });
  const ids = listOf(facts.references)
    .map((each) => textOf(each.id))
    .filter(Boolean);
  return problem || !ids.length ? { facts: {}, problem } : stage.call("cite_references", { ids });
}

const stage = new Stage({
  rows: 8,
  read: readBibliography,
  draw: drawBibliography,
  describe: () => t("bibliography.formatting"),
  readAgain: readBibliographyAgain,
});
stage.start();
