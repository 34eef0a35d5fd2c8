// Hypotheses in the order of their tournament; a person approves or rejects.
import { Stage } from "./stage.js";
import { listOf, textOf, totalOf } from "./answers.js";
import { badge, drawing, element, whenEntered } from "./elements.js";
import { t, term } from "./words.js";

const SIGNS = { approved: ["good", "✓"], rejected: ["danger", "✕"] };
const SCALE_WIDTH = 120;
const SCALE_HEIGHT = 16;
let openId = "";
let lastAt = 0;
let rejectingId = "";
let reason = "";
let isBusy = false;

function readTournament(facts, stage) {
  const given = Array.isArray(facts.top_hypotheses) ? facts.top_hypotheses : facts.result;
  const rows = listOf(given).filter((row) => row.id && row.title);
  if (!Array.isArray(given) || (!rows.length && listOf(given).length)) return null;
  const path = facts.top_hypotheses ? "top_hypotheses" : "result";
  if (!openId || !rows.some((row) => row.id === openId)) openId = rows[0]?.id ?? "";
  return {
    rows,
    total: Math.max(facts.total_hypotheses ?? 0, totalOf(facts, path, rows.length)),
    goal: textOf(facts.goal) || (stage.model?.goal ?? ""),
    researchId: textOf(facts.research_id ?? rows[0]?.research_id ?? stage.input.research_id),
  };
}

function drawTournament(stage, size) {
  const { rows, total, goal } = stage.model;
  const heading = stage.head(t("tournament.title"), t("tournament.count", { count: total }));
  if (!rows.length) return [heading, element("p", { class: "muted" }, t("tournament.none"))];
  keepOpenRowShown(stage, rows, size);
  const shown = rows.slice(stage.at, stage.at + size);
  const span = spanOf(rows);
  return [
    heading,
    goal ? element("p", { class: "lead" }, goal) : null,
    element(
      "ol",
      { class: "rows", start: stage.at + 1 },
      shown.map((row, at) => drawHypothesis(stage, row, stage.at + at + 1, span)),
    ),
    stage.pager(rows.length, size, total),
  ];
}

// A new page opens with its first row; a row that a person opened stays on the page.
function keepOpenRowShown(stage, rows, size) {
  if (stage.at !== lastAt) openId = rows[stage.at].id;
  const index = rows.findIndex((row) => row.id === openId);
  if (index >= stage.at + size) stage.at = index - size + 1;
  lastAt = stage.at;
}

function drawHypothesis(stage, row, rank, span) {
  const isOpen = row.id === openId;
  const toggle = () => {
    openId = isOpen ? "" : row.id;
    rejectingId = "";
    stage.draw();
  };
  const [kind, sign] = SIGNS[row.approval] ?? [];
  return element(
    "li",
    { class: isOpen ? "hypothesis open" : "hypothesis" },
    element(
      "button",
      {
        type: "button",
        class: "line",
        "aria-expanded": isOpen ? "true" : "false",
        "data-focus": `open-${row.id}`,
        onclick: toggle,
      },
      element("span", { class: "rank" }, String(row.rank ?? rank)),
      element(
        "span",
        { class: "name" },
        element("span", { class: "title-text" }, row.title),
        kind ? badge(term("approval", row.approval), kind, sign) : "",
      ),
      drawInterval(row.strength, span),
    ),
    isOpen ? drawDetails(stage, row) : "",
  );
}

function drawDetails(stage, row) {
  const facts = [
    row.wins === undefined
      ? ""
      : t("tournament.record", { wins: row.wins, losses: row.losses, draws: row.draws }),
    row.strength?.best_rank
      ? t("tournament.ranks", { best: row.strength.best_rank, worst: row.strength.worst_rank })
      : "",
    row.citation_count === undefined ? "" : t("tournament.papers", { count: row.citation_count }),
    row.place && row.place !== "ranked" ? term("place", row.place) : "",
  ].filter(Boolean);
  return element(
    "div",
    { class: "details" },
    element("p", { class: stage.isFull ? "summary" : "summary clamp" }, textOf(row.summary)),
    element("p", { class: "small muted" }, facts.join(" · ")),
    textOf(row.approval_reason)
      ? element("p", { class: "small" }, t("tournament.because", { reason: row.approval_reason }))
      : "",
    rejectingId === row.id ? drawRejection(stage, row) : drawDecisions(stage, row),
  );
}

function drawDecisions(stage, row) {
  if (!stage.can("approve_hypothesis") || !stage.can("reject_hypothesis")) return "";
  const approve = element(
    "button",
    {
      type: "button",
      class: "main",
      "data-focus": "approve",
      "aria-disabled": isBusy ? "true" : null,
      onclick: () => decide(stage, row, "approve_hypothesis", ""),
    },
    t("tournament.approve"),
  );
  const reject = element(
    "button",
    {
      type: "button",
      "data-focus": "reject",
      "aria-disabled": isBusy ? "true" : null,
      onclick: () => askReason(stage, row),
    },
    t("tournament.reject"),
  );
  return element(
    "div",
    { class: "row" },
    row.approval === "approved" ? "" : approve,
    row.approval === "rejected" ? "" : reject,
  );
}

function askReason(stage, row) {
  rejectingId = row.id;
  stage.draw();
  document.getElementById("reason")?.focus({ preventScroll: true });
}

function drawRejection(stage, row) {
  const send = () => decide(stage, row, "reject_hypothesis", reason.trim());
  const back = () => {
    rejectingId = "";
    stage.draw();
    document.querySelector('[data-focus="reject"]')?.focus({ preventScroll: true });
  };
  const field = element("input", {
    id: "reason",
    maxlength: 1000,
    value: reason,
    "data-focus": "reason",
    autocomplete: "off",
    oninput: (event) => (reason = event.target.value),
    onkeydown: whenEntered(send),
  });
  return element(
    "div",
    { class: "ask", onkeydown: (event) => event.key === "Escape" && back() },
    element("label", { for: "reason" }, t("tournament.reason")),
    field,
    element(
      "div",
      { class: "row" },
      element(
        "button",
        {
          type: "button",
          class: "danger",
          "data-focus": "send-rejection",
          "aria-disabled": isBusy ? "true" : null,
          onclick: send,
        },
        t("tournament.reject"),
      ),
      element("button", { type: "button", class: "quiet", onclick: back }, t("tournament.back")),
    ),
  );
}

async function decide(stage, row, operation, why) {
  if (isBusy) return;
  isBusy = true;
  stage.say(t("tournament.deciding"));
  stage.draw();
  const { facts, problem } = await stage.call(
    operation,
    why ? { hypothesis_id: row.id, reason: why } : { hypothesis_id: row.id },
  );
  isBusy = false;
  if (problem) {
    stage.draw();
    return stage.say(problem.message, "danger", problem.nextStep);
  }
  rejectingId = "";
  reason = "";
  // A decision moves strengths of all; the place in the list stays until the list is read again.
  const approval =
    textOf(facts.approval) || (operation === "approve_hypothesis" ? "approved" : "rejected");
  Object.assign(row, {
    approval,
    approval_reason: textOf(facts.approval_reason),
    place: facts.place ?? row.place,
    strength: facts.strength ?? row.strength,
  });
  stage.draw();
  document
    .querySelector(`[data-focus="${CSS.escape(`open-${row.id}`)}"]`)
    ?.focus({ preventScroll: true });
  stage.say(t("tournament.decided", { what: term("approval", approval), title: row.title }));
  stage.tellModel(`The person ${approval} hypothesis ${row.id}.`);
}

function spanOf(rows) {
  const ends = rows
    .flatMap(({ strength }) => (strength ? [strength.low, strength.high] : []))
    .filter(Number.isFinite);
  const low = Math.min(0, ...ends);
  const high = Math.max(0, ...ends);
  return { low, width: high - low || 1 };
}

// Strength with its 95 % interval, all on one scale.
function drawInterval(strength, span) {
  if (!strength || ![strength.low, strength.high, strength.value].every(Number.isFinite)) return "";
  const at = (value) => Math.round(4 + ((value - span.low) / span.width) * (SCALE_WIDTH - 8));
  const middle = SCALE_HEIGHT / 2;
  const label = t("tournament.strength", {
    value: strength.value,
    low: strength.low,
    high: strength.high,
  });
  return drawing(
    "svg",
    {
      class: "interval",
      viewBox: `0 0 ${SCALE_WIDTH} ${SCALE_HEIGHT}`,
      width: SCALE_WIDTH,
      height: SCALE_HEIGHT,
      role: "img",
      "aria-label": label,
    },
    drawing("line", { class: "axis", x1: at(0), x2: at(0), y1: 1, y2: SCALE_HEIGHT - 1 }),
    drawing("line", {
      class: "range",
      x1: at(strength.low),
      x2: at(strength.high),
      y1: middle,
      y2: middle,
    }),
    drawing("circle", { class: "value", cx: at(strength.value), cy: middle, r: 4 }),
  );
}

function readTournamentAgain(stage, input) {
  if (!stage.can("list_hypotheses")) return null;
  const known = textOf(input.research_id);
  return known ? stage.call("list_hypotheses", { research_id: known }) : readNewest(stage);
}

async function readNewest(stage) {
  if (!stage.can("list_research_projects")) return { facts: {}, problem: null };
  const { facts, problem } = await stage.call("list_research_projects", { limit: 10 });
  const newest = listOf(facts.result).find((project) => project.hypothesis_count > 0);
  return problem || !newest
    ? { facts: { result: [] }, problem }
    : stage.call("list_hypotheses", { research_id: newest.id });
}

const stage = new Stage({
  rows: 5,
  read: readTournament,
  draw: drawTournament,
  readAgain: readTournamentAgain,
});
stage.start();
