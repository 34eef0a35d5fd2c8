// Papers or works that a search found, each with one way into the library.
import { Stage } from "./stage.js";
import { listOf, noticeOf, textOf, totalOf } from "./answers.js";
import { badge, element, markedText } from "./elements.js";
import { t, term } from "./words.js";
import { questionForm } from "./question_form.js";

const added = new Map();
const MOST_AUTHORS = 3;

function readPapers(facts) {
  const rows = Array.isArray(facts.works)
    ? listOf(facts.works).map(readWork)
    : Array.isArray(facts.result)
      ? listOf(facts.result).map(readPaper)
      : null;
  if (!rows) return null;
  const told = facts.total ?? listOf(facts.result)[0]?.total ?? rows.length;
  return {
    rows,
    total: Math.max(told, totalOf(facts, "result", rows.length)),
    hint: textOf(facts.explanation?.message ?? facts.message),
    cursor: textOf(facts.next_cursor),
    page: 1,
    isOutside: Array.isArray(facts.works),
  };
}

function readPaper(paper) {
  return {
    ...readRow(paper),
    id: textOf(paper.paper_id),
    doi: textOf(paper.doi),
    keep: { operation: "add_references", given: { input: textOf(paper.paper_id) } },
  };
}

function readWork(work) {
  const id = textOf(work.id);
  return {
    ...readRow(work),
    id,
    doi: textOf(work.ids?.doi),
    kept: textOf(work.in_library),
    keep: { operation: "add_works", given: { identifiers: [id], into: "library" } },
  };
}

function readRow(row) {
  const notice = noticeOf(row.notices) || (row.is_retracted ? "retraction" : "");
  const authors = Array.isArray(row.authors) ? row.authors.map(textOf).filter(Boolean) : [];
  return {
    title: textOf(row.title),
    authors,
    year: textOf(row.year),
    venue: textOf(row.venue),
    snippet: textOf(row.snippet_markdown),
    notice,
    kept: "",
  };
}

function drawPapers(stage, size) {
  const { rows, total, hint } = stage.model;
  const heading = stage.head(t("papers.title"), t("papers.count", { count: total }));
  if (!rows.length)
    return [
      heading,
      element("p", { class: "muted" }, t("papers.none")),
      hint ? element("p", { class: "small muted" }, hint) : null,
    ];
  const shown = rows.slice(stage.at, stage.at + size);
  const canAdd = shown.some((row) => stage.can(row.keep.operation));
  const table = element(
    "table",
    {},
    element(
      "thead",
      { class: "visually-hidden" },
      element(
        "tr",
        {},
        element("th", { scope: "col" }, t("papers.paper")),
        canAdd ? element("th", { scope: "col" }, t("papers.library")) : "",
      ),
    ),
    element(
      "tbody",
      {},
      shown.map((row) => drawPaper(stage, row, canAdd)),
    ),
  );
  return [heading, table, stage.pager(rows.length, size, total)];
}

function drawPaper(stage, row, canAdd) {
  const authors =
    row.authors.slice(0, MOST_AUTHORS).join(", ") + (row.authors.length > MOST_AUTHORS ? " …" : "");
  const address = row.doi
    ? `https://doi.org/${row.doi.split("/").map(encodeURIComponent).join("/")}`
    : "";
  const byline = [authors, row.year, row.venue].filter(Boolean).join(" · ");
  return element(
    "tr",
    {},
    element(
      "td",
      {},
      element(
        "div",
        { class: "title" },
        stage.link(address, row.title || t("papers.untitled")),
        row.notice ? [" ", badge(term("notice", row.notice), "danger", "!")] : "",
      ),
      element("div", { class: "byline" }, byline),
      row.snippet ? element("div", { class: "extract" }, markedText(row.snippet)) : "",
    ),
    canAdd ? element("td", { class: "act" }, drawKeeping(stage, row)) : "",
  );
}

function drawKeeping(stage, row) {
  const state =
    added.get(row.id) ??
    (row.kept ? { text: t("papers.known", { key: row.kept }), kind: "good" } : null);
  if (state && !state.isRetry)
    return element(
      "span",
      { class: `outcome ${state.kind}` },
      element("span", { "aria-hidden": "true" }, state.kind === "good" ? "✓ " : ""),
      state.text,
    );
  if (!stage.can(row.keep.operation)) return "";
  return element(
    "button",
    {
      type: "button",
      "data-focus": `add-${row.id}`,
      "aria-label": `${t("papers.add")}: ${row.title}`,
      onclick: () => addPaper(stage, row),
    },
    t("papers.add"),
  );
}

async function addPaper(stage, row) {
  if (added.get(row.id)?.isBusy) return;
  added.set(row.id, { isBusy: true, text: t("papers.adding"), kind: "" });
  stage.draw();
  const { facts, problem } = await stage.call(row.keep.operation, row.keep.given);
  const outcome = problem
    ? { problem: problem.message, nextStep: problem.nextStep }
    : readOutcome(facts);
  if (outcome.problem) {
    added.delete(row.id);
    stage.draw();
    return stage.say(outcome.problem, "danger", outcome.nextStep);
  }
  added.set(row.id, { text: outcome.text, kind: outcome.isWaiting ? "" : "good" });
  stage.draw();
  stage.say(`${row.title}: ${outcome.text}`);
  if (!outcome.isWaiting)
    stage.tellModel(`The person added ${row.id} to the library (reference ${outcome.key}).`);
}

function readOutcome(facts) {
  const work = listOf(facts.works)[0];
  const fresh =
    listOf(facts.added)[0]?.id ??
    (work?.outcome === "added" ? (work.reference_id ?? work.identifier) : null);
  if (fresh) return { key: textOf(fresh), text: t("papers.added", { key: textOf(fresh) }) };
  const old =
    listOf(facts.skipped)[0]?.duplicate_of ??
    (work?.outcome === "known" ? (work.reference_id ?? work.identifier) : null);
  if (old) return { key: textOf(old), text: t("papers.known", { key: textOf(old) }) };
  if (facts.job_id || facts.pending) return { isWaiting: true, text: t("papers.waiting") };
  const failure = listOf(facts.failed)[0] ?? work;
  return { problem: textOf(failure?.reason) || t("failed"), nextStep: textOf(facts.next_step) };
}

function searchAgain(stage, input) {
  const operation = searchOperation(stage);
  if (!operation || !textOf(input.query)) return null;
  stage.input = input;
  return stage.call(operation, input);
}

function searchOperation(stage) {
  const isOutside = stage.model ? stage.model.isOutside : stage.opened === "search_literature";
  const names = ["search_papers", "search_literature"];
  return (isOutside ? names.reverse() : names).find((name) => stage.can(name));
}

function canReadOn(stage) {
  const { model, input } = stage;
  return model.rows.length < model.total && textOf(input.query) && searchOperation(stage);
}

// The next page of the search; where the answer was cut for its length, the rest of it first.
async function readOn(stage) {
  const { model, input } = stage;
  const page = (Number(input.page) || 1) + model.page;
  const more = model.cursor ? { ...input, cursor: model.cursor } : { ...input, page };
  const { facts, problem } = await stage.call(searchOperation(stage), more);
  const found = problem ? null : readPapers(facts);
  if (!found) return problem ?? { message: t("failed") };
  const known = new Set(model.rows.map((row) => row.id));
  model.rows.push(...found.rows.filter((row) => !known.has(row.id)));
  if (!model.cursor) model.page += 1;
  if (!found.rows.length) model.total = model.rows.length;
  model.cursor = found.cursor;
  return null;
}

const stage = new Stage({
  rows: 5,
  read: readPapers,
  draw: drawPapers,
  describe: (input) =>
    textOf(input.query) ? t("papers.searching", { query: input.query }) : t("waiting"),
  readAgain: searchAgain,
  canReadOn,
  readOn,
  drawQuestion: (it) =>
    questionForm(it, t("papers.ask"), t("papers.search"), (query) => searchAgain(it, { query })),
});
stage.start();
