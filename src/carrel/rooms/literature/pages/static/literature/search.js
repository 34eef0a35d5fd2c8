// Works from outside: says that services are asked, counts what is chosen, and adds in place.
import { call } from "../desk/call.js";
import { element, icon, clear } from "../desk/dom.js";
import { follow } from "../desk/live.js";
import { fillText } from "../desk/words.js";

const words = JSON.parse(document.getElementById("literature-words")?.textContent ?? "{}");

// A search takes seconds: the page says so instead of seeming dead.
document.addEventListener("submit", (event) => {
  const text = event.target.dataset.slow;
  if (!text || event.defaultPrevented) return;
  const line = element("p", { class: "asking live-strip", role: "status" }, element("span", { class: "live-dot", "aria-hidden": "true" }), text);
  event.target.after(line);
  event.target.classList.add("is-asking");
  for (const button of event.target.querySelectorAll("button")) button.setAttribute("aria-disabled", "true");
});
addEventListener("pageshow", () => {
  for (const line of document.querySelectorAll("p.asking")) line.remove();
  for (const form of document.querySelectorAll(".is-asking")) {
    form.classList.remove("is-asking");
    for (const button of form.querySelectorAll("[aria-disabled]")) button.removeAttribute("aria-disabled");
  }
});

function countChosen(form) {
  const place = form.querySelector("[data-chosen]");
  if (!place) return;
  const count = form.querySelectorAll("input[name=identifiers]:checked, input[name=ids]:checked").length;
  place.textContent = count ? fillText(words.chosen ?? "{count}", { count }) : "";
}

for (const form of document.querySelectorAll("form:has([data-chosen])")) {
  form.addEventListener("change", () => countChosen(form));
  countChosen(form);
}

const kinds = { added: ["good", "check"], known: ["plain", "check"], failed: ["danger", "warn"], waiting: ["info", "clock"] };

function showOutcome(place, work) {
  const [kind, sign] = kinds[work.outcome] ?? ["plain", "info"];
  const parts = [element("span", { class: `badge badge-${kind}` }, icon(sign), words[work.outcome] ?? work.outcome)];
  if (work.paper_id) parts.push(element("a", { href: `/papers/paper/${encodeURI(work.paper_id)}` }, words.corpus ?? work.paper_id));
  if (work.reference_id) parts.push(element("a", { href: `/references/item/${encodeURIComponent(work.reference_id)}` }, words.library ?? work.reference_id));
  if (work.reason) parts.push(element("span", { class: "small coverage-reason" }, work.reason));
  if (work.text) parts.push(element("span", { class: "small muted" }, work.text));
  clear(place).append(...parts);
}

function showAll(form, works) {
  for (const work of works) {
    for (const place of placesOf(form, work.identifier)) showOutcome(place, work);
  }
}

function placesOf(form, identifier) {
  const holders = [form, ...form.querySelectorAll("[data-work]")];
  return holders.filter((each) => each.dataset.work === identifier).map((each) => each.querySelector("[data-outcome]"));
}

async function addWorks(form, identifiers) {
  const fields = new FormData(form);
  for (const identifier of identifiers) {
    for (const place of placesOf(form, identifier)) {
      clear(place).append(element("span", { class: "live-dot", "aria-hidden": "true" }), words.adding ?? "…");
    }
  }
  try {
    const answer = await call("add_works", { identifiers, into: fields.get("into"), with_fulltext: fields.has("with_fulltext") });
    showAll(form, answer.works);
    if (answer.job_id) {
      follow("job", answer.job_id, {
        onState: (job) => job.result?.works && showAll(form, job.result.works),
        onTrouble: (text) => text && showFailure(form, identifiers, { message: text, nextStep: "" }),
      });
    }
  } catch (problem) {
    showFailure(form, identifiers, problem);
  }
}

function showFailure(form, identifiers, problem) {
  for (const identifier of identifiers) {
    for (const place of placesOf(form, identifier)) {
      showOutcome(place, { outcome: "failed", reason: `${problem.message.replace(/\.?$/, ".")} ${problem.nextStep ?? ""}`.trim() });
    }
  }
}

for (const form of document.querySelectorAll("form[data-add-works]")) {
  form.addEventListener("submit", (event) => {
    const one = event.submitter?.dataset.addOne;
    const fields = new FormData(form);
    const chosen = one ? [one] : fields.getAll("identifiers");
    if (!chosen.length || !fields.get("into")) return; // The page of the form says what is missing.
    event.preventDefault();
    addWorks(form, chosen);
  });
}
