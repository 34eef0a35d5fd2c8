// How far a research run is; it follows by asking for the status again.
import { Stage } from "./stage.js";
import { listOf, textOf } from "./answers.js";
import { badge, element } from "./elements.js";
import { t, term } from "./words.js";

const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 15_000;
const KINDS = {
  completed: ["good", "✓"],
  failed: ["danger", "✕"],
  cancelled: ["warn", "■"],
  paused: ["warn", "Ⅱ"],
  held: ["warn", "!"],
  active: ["info", "●"],
  initializing: ["info", "●"],
};
const IS_OVER = new Set(["completed", "failed", "cancelled"]);
let timer = 0;
let pause = FIRST_PAUSE_MS;

function readProgress(facts) {
  return textOf(facts.research_id) && textOf(facts.status) ? { facts } : null;
}

function drawProgress(stage) {
  const { facts } = stage.model;
  const [kind, sign] = KINDS[facts.status] ?? ["plain", ""];
  const share =
    facts.status === "completed"
      ? 1
      : Number.isFinite(facts.progress)
        ? Math.min(1, Math.max(0, facts.progress))
        : null;
  const top = facts.top_hypothesis;
  return [
    stage.head(t("progress.title"), "", badge(term("status", facts.status), kind, sign)),
    element("p", { class: "lead" }, textOf(facts.goal)),
    IS_OVER.has(facts.status) ? null : drawBar(facts, share),
    drawCounts(facts),
    drawUnderstanding(facts),
    textOf(facts.problem) ? element("p", { class: "notice warn" }, facts.problem) : null,
    top
      ? element(
          "div",
          { class: "card" },
          element(
            "div",
            { class: "label" },
            t(facts.status === "completed" ? "progress.best" : "progress.leading"),
          ),
          element("p", { class: "serif" }, textOf(top.title)),
        )
      : null,
    drawAction(stage, facts),
  ];
}

function drawBar(facts, share) {
  const percent = Math.round((share ?? 0) * 100);
  const left = facts.estimated_completion_minutes;
  const beside = facts.stage ? term("stage", facts.stage) : "";
  const words = [
    share === null ? "" : t("progress.percent", { percent }),
    beside,
    Number.isFinite(left) && !IS_OVER.has(facts.status)
      ? t("progress.left", { count: Math.max(1, Math.round(left)) })
      : "",
  ];
  return element(
    "div",
    { class: "bar" },
    element("progress", {
      max: 100,
      value: share === null ? null : percent,
      "aria-label": t("progress.title"),
    }),
    element("div", { class: "small muted" }, words.filter(Boolean).join(" · ")),
  );
}

function drawCounts(facts) {
  const rows = [
    ["generated", facts.hypotheses_generated],
    ["reviewed", facts.hypotheses_reviewed],
    ["compared", facts.hypotheses_in_tournament],
    ["matches", facts.matches_played],
  ].filter(([, value]) => Number.isFinite(value));
  if (!rows.length || (IS_OVER.has(facts.status) && !facts.hypotheses_generated)) return null;
  return element(
    "dl",
    { class: "counts" },
    rows.map(([name, value]) =>
      element(
        "div",
        {},
        element("dt", {}, t(`progress.${name}`)),
        element("dd", {}, new Intl.NumberFormat(document.documentElement.lang).format(value)),
      ),
    ),
  );
}

// Before there is a hypothesis, what matters is whether the goal was understood.
function drawUnderstanding(facts) {
  const says = textOf(facts.understood_as?.says);
  return says && !facts.top_hypothesis ? element("p", { class: "small muted clamp" }, says) : null;
}

function drawAction(stage, facts) {
  if (facts.status === "completed" && stage.bridge.capabilities.message) {
    const show = () => sendMessage(stage, t("progress.message", { id: facts.research_id }));
    return element(
      "div",
      { class: "row" },
      element(
        "button",
        { type: "button", class: "main", "data-focus": "act", onclick: show },
        t("progress.show"),
      ),
    );
  }
  const operation = facts.status === "paused" ? "resume_research" : "pause_research";
  if (!["active", "initializing", "paused"].includes(facts.status) || !stage.can(operation))
    return null;
  const change = async () => {
    const { problem } = await stage.call(operation, { research_id: facts.research_id });
    if (problem) return stage.say(problem.message, "danger", problem.nextStep);
    stage.tellModel(
      `The person ${operation === "pause_research" ? "paused" : "resumed"} research ${facts.research_id}.`,
    );
    pause = FIRST_PAUSE_MS;
    await readStatus(stage);
  };
  return element(
    "div",
    { class: "row" },
    element(
      "button",
      { type: "button", "data-focus": "act", onclick: change },
      t(operation === "pause_research" ? "progress.pause" : "progress.resume"),
    ),
  );
}

async function sendMessage(stage, text) {
  const answer = await stage.bridge
    .ask("ui/message", { role: "user", content: [{ type: "text", text }] })
    .catch(() => ({ isError: true }));
  stage.say(
    answer?.isError ? t("progress.not_sent") : t("progress.sent"),
    answer?.isError ? "danger" : "",
  );
}

// Asks less and less often, and not at all while nobody sees it.
function followRun(stage) {
  clearTimeout(timer);
  const { facts } = stage.model;
  if (stage.bridge.isOver || IS_OVER.has(facts.status) || !stage.can("get_research_status")) return;
  timer = setTimeout(
    () => (document.visibilityState === "hidden" ? followRun(stage) : readStatus(stage)),
    pause,
  );
  pause = Math.min(LONGEST_PAUSE_MS, pause * 1.25);
}

async function readStatus(stage) {
  clearTimeout(timer);
  const before = stage.model.facts;
  const { facts, problem } = await stage.call("get_research_status", {
    research_id: before.research_id,
  });
  if (stage.bridge.isOver) return;
  if (problem) {
    pause = LONGEST_PAUSE_MS;
    stage.say(problem.message, "danger", problem.nextStep);
    return followRun(stage);
  }
  if (facts.status !== before.status)
    stage.say(t("progress.now", { status: term("status", facts.status) }));
  stage.take(facts, null);
}

function readProgressAgain(stage, input) {
  if (!stage.can("get_research_status")) return null;
  const known = textOf(input.research_id);
  return known
    ? stage.call("get_research_status", { research_id: known })
    : readNewestRun(stage, textOf(input.goal));
}

async function readNewestRun(stage, goal) {
  if (!stage.can("list_research_projects")) return { facts: {}, problem: null };
  const { facts, problem } = await stage.call("list_research_projects", { limit: 20 });
  const projects = listOf(facts.result);
  const newest = goal ? projects.find((project) => project.goal === goal) : projects[0];
  return problem || !newest
    ? { facts: {}, problem }
    : stage.call("get_research_status", { research_id: newest.id });
}

const stage = new Stage({
  read: readProgress,
  draw: drawProgress,
  follow: followRun,
  end: () => clearTimeout(timer),
  describe: (input) =>
    textOf(input.goal) ? t("progress.starting", { goal: input.goal }) : t("waiting"),
  readAgain: readProgressAgain,
});
stage.start();
