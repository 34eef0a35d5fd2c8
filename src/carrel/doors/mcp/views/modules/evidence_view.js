// Sentences of papers with their place: passages that were found, or the evidence for a claim.
import { Stage } from "./stage.js";
import { listOf, noticeOf, textOf, totalOf } from "./answers.js";
import { badge, element } from "./elements.js";
import { t, term } from "./words.js";
import { questionForm } from "./question_form.js";

const VERDICTS = {
  supports: ["good", "✓"],
  contradicts: ["danger", "✕"],
  mixed: ["warn", "±"],
  undecided: ["plain", "?"],
  silent: ["plain", "○"],
};
const STANCES = {
  supporting: ["good", "✓"],
  contradicting: ["danger", "✕"],
  bearing: ["plain", "?"],
  nearest: ["plain", "~"],
};
const MOST_SENTENCES = 12;
let before = null;
let firstCard = { row: null, at: 0 };

function readEvidence(facts) {
  if (Array.isArray(facts.statements)) return readClaims(facts);
  if (Array.isArray(facts.passages)) return readPassages(facts);
  if (!Array.isArray(facts.result)) return null;
  const rows = listOf(facts.result).map((row) => readCard(row, row.text));
  return {
    kind: "found",
    rows,
    total: totalOf(facts, "result", rows.length),
    hint: textOf(facts.explanation?.message),
  };
}

function readClaims(facts) {
  const statements = listOf(facts.statements).map((row) => {
    const seen = new Set();
    const cards = Object.keys(STANCES).flatMap((stance) =>
      listOf(row[stance]).map((each) => ({
        ...readCard({ ...each, notices: facts.notices?.[each.paper_id] }, each.sentence),
        stance,
      })),
    );
    // One sentence of a paper is shown once, on its gravest side.
    const unique = cards.filter(
      (card) =>
        !seen.has(`${card.paperId}\n${card.sentence}`) &&
        seen.add(`${card.paperId}\n${card.sentence}`),
    );
    return {
      statement: textOf(row.statement),
      verdict: textOf(row.verdict),
      message: textOf(row.message),
      cards: unique.slice(0, MOST_SENTENCES),
    };
  });
  return {
    kind: "claims",
    rows: statements,
    total: totalOf(facts, "statements", statements.length),
  };
}

function readPassages(facts) {
  const whole = {
    paper_id: facts.paper_id,
    title: facts.title,
    authors: facts.authors,
    year: facts.year,
  };
  const rows = listOf(facts.passages).map((row) => ({
    ...readCard({ ...whole, ...row }, row.text),
    isAsked: row.is_asked === true,
  }));
  return { kind: "reading", rows, total: rows.length, title: textOf(facts.title) };
}

function readCard(row, sentence) {
  const authors = Array.isArray(row.authors) ? row.authors.map(textOf) : [];
  return {
    sentence: textOf(sentence),
    paperId: textOf(row.paper_id),
    passageId: textOf(row.passage_id),
    title: textOf(row.title),
    author: authors.length > 1 ? `${authors[0]} …` : (authors[0] ?? ""),
    year: textOf(row.year),
    section: textOf(row.section),
    page: textOf(row.page),
    notice: noticeOf(row.notices),
  };
}

function drawEvidence(stage, size) {
  const { kind, rows, total, hint } = stage.model;
  if (!rows.length) {
    return [
      stage.head(t("evidence.title")),
      element("p", { class: "muted" }, t("evidence.none")),
      hint ? element("p", { class: "small muted" }, hint) : null,
    ];
  }
  if (kind === "claims") return drawClaim(stage, size);
  const isReading = kind === "reading";
  const cards = rows.slice(stage.at, stage.at + size).map((card) => drawCard(stage, card));
  return [
    isReading
      ? stage.head(t("evidence.reading"))
      : stage.head(t("evidence.passages"), t("evidence.count", { count: total })),
    isReading && before ? drawBack(stage) : null,
    isReading ? element("p", { class: "source" }, drawPaperName(rows[0])) : null,
    ...cards,
    stage.pager(rows.length, size, total),
  ];
}

function drawPaperName(card) {
  const byline = [card.author, card.year].filter(Boolean).join(", ");
  return [element("cite", {}, card.title), byline ? ` (${byline})` : ""];
}

function drawClaim(stage, size) {
  const { rows, total } = stage.model;
  const row = rows[Math.min(stage.at, rows.length - 1)];
  const [kind, sign] = VERDICTS[row.verdict] ?? ["plain", ""];
  if (firstCard.row !== row) firstCard = { row, at: 0 };
  return [
    stage.head(t("evidence.claim"), "", badge(term("verdict", row.verdict), kind, sign)),
    element("p", { class: "lead claim" }, row.statement),
    element("p", { class: "small muted" }, row.message),
    ...row.cards.slice(firstCard.at, firstCard.at + size).map((card) => drawCard(stage, card)),
    row.cards.length > size ? drawMoreCards(stage, row, size) : null,
    stage.pager(rows.length, 1, total),
  ];
}

function drawMoreCards(stage, row, size) {
  const left = row.cards.length - firstCard.at - size;
  const turn = () => {
    firstCard.at = left > 0 ? firstCard.at + size : 0;
    stage.draw();
  };
  const label = left > 0 ? t("evidence.more", { count: left }) : t("evidence.first");
  return element(
    "p",
    {},
    element(
      "button",
      { type: "button", class: "quiet", "data-focus": "more", onclick: turn },
      label,
    ),
  );
}

function drawCard(stage, card) {
  const [kind, sign] = STANCES[card.stance] ?? [];
  const isReading = stage.model.kind === "reading";
  const place = [card.page ? t("evidence.page", { page: card.page }) : "", card.section]
    .filter(Boolean)
    .join(" · ");
  const canReadOn = card.passageId && !isReading && stage.can("read_passage");
  return element(
    "article",
    { class: card.isAsked ? "evidence asked" : "evidence" },
    element("blockquote", { class: stage.isFull ? "" : "clamp" }, `“${card.sentence}”`),
    element(
      "p",
      { class: "source" },
      kind ? [badge(term("stance", card.stance), kind, sign), " "] : "",
      isReading ? "" : drawPaperName(card),
      place ? element("span", { class: "muted" }, isReading ? place : ` · ${place}`) : "",
      card.notice ? [" ", badge(term("notice", card.notice), "danger", "!")] : "",
    ),
    canReadOn ? drawReadOn(stage, card) : "",
  );
}

function drawReadOn(stage, card) {
  const read = async () => {
    stage.say(t("reading"));
    const { facts, problem } = await stage.call("read_passage", {
      passage_id: card.passageId,
      before: 1,
      after: 1,
    });
    if (problem) return stage.say(problem.message, "danger", problem.nextStep);
    stage.say("");
    before = { model: stage.model, at: stage.at, focus: `read-${card.passageId}` };
    stage.take(facts, null);
    document.querySelector('[data-focus="back"]')?.focus({ preventScroll: true });
  };
  return element(
    "button",
    {
      type: "button",
      class: "quiet",
      "data-focus": `read-${card.passageId}`,
      "aria-label": `${t("evidence.around")}: ${card.title}`,
      onclick: read,
    },
    t("evidence.around"),
  );
}

function drawBack(stage) {
  const back = () => {
    const { model, at, focus } = before;
    before = null;
    Object.assign(stage, { model, at });
    stage.draw();
    document.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  };
  return element(
    "p",
    {},
    element(
      "button",
      { type: "button", class: "quiet", "data-focus": "back", onclick: back },
      `← ${t("evidence.back")}`,
    ),
  );
}

function readEvidenceAgain(stage, input) {
  const wanted = [
    ["read_passage", input.passage_id],
    ["check_claim", input.text],
    ["find_passages", input.query],
  ];
  const found = wanted.find(([operation, value]) => textOf(value) && stage.can(operation));
  return found ? stage.call(found[0], input) : null;
}

const stage = new Stage({
  rows: 3,
  read: readEvidence,
  draw: drawEvidence,
  describe: (input) =>
    textOf(input.text ?? input.query)
      ? t("evidence.looking", { text: textOf(input.text ?? input.query).slice(0, 300) })
      : t("waiting"),
  readAgain: readEvidenceAgain,
  drawQuestion: (it) =>
    questionForm(it, t("evidence.ask"), t("evidence.find"), (text) =>
      readEvidenceAgain(it, it.can("find_passages") ? { query: text } : { text }),
    ),
});
stage.start();
