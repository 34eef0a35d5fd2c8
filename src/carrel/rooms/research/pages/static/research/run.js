// Follows a run: the strip at once, the lists below it when something was added, and at the end.
import { follow } from "../desk/live.js";
import { replacePart } from "../desk/dom.js";
import { announce } from "../desk/announce.js";
import { fillText } from "../desk/words.js";

const SECONDS_BETWEEN = 3;

function showState(run, words, state) {
  const stage = words[`stage.${state.stage}`];
  const head = words[`status.${state.status}`] ?? state.status;
  const text = run.querySelector(".live-text");
  if (text) text.textContent = `${head}${stage ? `: ${stage}` : ""} · ${fillText(words.counts, state)}`;
  const value = run.querySelector(".meter-value");
  if (value) value.setAttribute("width", state.percent);
  const progress = run.querySelector("progress");
  if (progress) progress.value = state.percent;
}

function start(run) {
  const strip = run.querySelector("[data-live]");
  if (!strip || strip.classList.contains("live-over")) return;
  const words = JSON.parse(run.dataset.words);
  const firstStatus = { value: null };
  let seen = "";
  let last = 0;
  let waiting = 0;
  const refresh = async () => {
    last = Date.now();
    waiting = 0;
    const open = document.querySelector("#project-view details[open], #project-view :focus");
    if (!open) await replacePart("#project-view", location.href);
  };
  const plan = () => {
    if (waiting) return;
    waiting = setTimeout(refresh, Math.max(0, last + 1000 * SECONDS_BETWEEN - Date.now()));
  };
  follow("research", strip.dataset.liveId, {
    onState(state) {
      showState(run, words, state);
      firstStatus.value ??= state.status;
      const now = `${state.hypotheses} ${state.reviewed} ${state.matches}`;
      if (seen && seen !== now) plan();
      seen = now;
    },
    async onEnd() {
      clearTimeout(waiting);
      await replacePart("#main", location.href);
    },
    onTrouble() {
      announce(words.trouble, "warn");
    },
  });
}

const run = document.getElementById("run");
if (run) start(run);
