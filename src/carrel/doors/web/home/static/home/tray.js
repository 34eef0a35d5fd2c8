// The tray: adds dropped or chosen files, one line each, two at a time.
import { call, csrfToken } from "../desk/call.js";
import { clear, element, icon } from "../desk/dom.js";
import { follow } from "../desk/live.js";
import { fillText } from "../desk/words.js";
import { sendFile, Stopped } from "./upload.js";

const HEAD_BYTES = 64 * 1024;
const MARKDOWN_BYTES = 1024 * 1024;
const MOST_AT_ONCE = 2;
// What one call may carry, with room for the escapes of JSON.
const LONGEST_LIST_BYTES = 3 * 1024 * 1024;

const waiting = [];
let running = 0;
let done = 0;
let words = null;
let may = null;
let paths = {};
let tray = null;

document.head.append(element("link", { rel: "stylesheet", href: new URL("./tray.css", import.meta.url).pathname }));

addEventListener("beforeunload", (event) => {
  if (running || waiting.length) event.preventDefault();
});
for (const name of ["dragenter", "dragover"]) {
  addEventListener(name, (event) => {
    if ([...(event.dataTransfer?.types ?? [])].includes("Files")) document.body.classList.add("tray-over");
  });
}
for (const name of ["dragleave", "drop"]) {
  addEventListener(name, (event) => {
    if (name === "drop" || !event.relatedTarget) document.body.classList.remove("tray-over");
  });
}

const say = (key, values = {}) => fillText(words[key] ?? key, values);

/** Adds the files; gives a promise that is kept once they are listed. */
export async function addFiles(files) {
  document.body.classList.remove("tray-over");
  if (!files.length) return;
  if (!words) {
    const response = await fetch("/add/words", { headers: { accept: "application/json" } });
    ({ words, may, paths } = await response.json());
  }
  openTray();
  for (const file of files) waiting.push(new Line(file));
  showCounts();
  startNext();
}

function openTray() {
  if (tray) return;
  const lines = element("ul", { class: "tray-lines" });
  const counts = element("span", { class: "muted small", role: "status" });
  const close = element("button", { class: "button button-quiet", type: "button", onclick: closeTray, "aria-label": say("close") }, icon("cross"));
  const node = element("section", { class: "tray", "aria-label": say("title") }, element("div", { class: "tray-head" }, element("h2", {}, say("title")), counts, close), lines);
  document.body.append(node);
  tray = { node, lines, counts };
}

function closeTray() {
  if ((running || waiting.length) && !confirm(say("leave"))) return;
  for (const line of waiting.splice(0)) line.stop();
  tray.node.remove();
  tray = null;
  done = 0;
}

function showCounts() {
  if (!tray) return;
  const at = running + waiting.length;
  const parts = [];
  if (at) parts.push(say("running", { number: at }));
  if (done) parts.push(say("done", { number: done }));
  tray.counts.textContent = parts.join(" · ");
}

function startNext() {
  while (running < MOST_AT_ONCE && waiting.length) {
    const line = waiting.shift();
    running += 1;
    line.run().finally(() => {
      running -= 1;
      done += 1;
      showCounts();
      startNext();
    });
  }
  showCounts();
}

/** One file: what becomes of it, and its row. */
class Line {
  constructor(file) {
    this.file = file;
    this.abort = new AbortController();
    this.bar = element("progress", { max: "100", value: "0", "aria-label": file.name });
    this.said = element("span", { class: "tray-said", role: "status" }, say("waiting"));
    this.actions = element("span", { class: "tray-actions" });
    this.row = element("li", { class: "tray-line" }, element("span", { class: "tray-name", title: file.name }, file.name), this.bar, this.said, this.actions);
    tray.lines.append(this.row);
    this.offerStop();
  }

  offerStop() {
    const stop = element("button", { class: "button button-quiet", type: "button", "aria-label": `${say("stop")}: ${this.file.name}`, onclick: () => this.stop() }, say("stop"));
    clear(this.actions).append(stop);
  }

  stop() {
    this.abort.abort();
  }

  tell(text) {
    this.said.textContent = text;
  }

  progress(part) {
    if (part === null) this.bar.removeAttribute("value");
    else this.bar.value = Math.round(part * 100);
  }

  end(kind, text, links = []) {
    this.row.classList.add(`tray-${kind}`);
    clear(this.said).append(icon({ good: "check", bad: "warn", ask: "info" }[kind]), text);
    this.bar.value = kind === "good" ? 100 : this.bar.value || 0;
    if (!this.bar.hasAttribute("value")) this.bar.value = 0;
    clear(this.actions).append(...links);
  }

  again(target = null) {
    const press = () => {
      this.row.classList.remove("tray-bad", "tray-good", "tray-ask");
      this.abort = new AbortController();
      this.target = target;
      this.offerStop();
      this.tell(say("waiting"));
      waiting.push(this);
      done -= 1;
      startNext();
    };
    return (label) => element("button", { class: "button button-quiet", type: "button", "aria-label": `${label}: ${this.file.name}`, onclick: press }, label);
  }

  async run() {
    try {
      if (this.abort.signal.aborted) throw new Stopped();
      await this.add();
    } catch (problem) {
      if (problem instanceof Stopped || problem.name === "AbortError") {
        this.end("bad", say("stopped"), [this.again(this.target)(say("again"))]);
        return;
      }
      const text = problem.code === "unreachable" ? say("offline") : sentence(problem);
      this.end("bad", text, [this.again(this.target)(say("again"))]);
    }
  }

  async add() {
    if (!this.file.size) return this.end("bad", say("empty"));
    this.tell(say("looking"));
    const found = this.target ? { target: this.target } : await findKind(this.file, this.abort.signal);
    if (found.target === "none") return this.end("bad", found.reason);
    if (found.target === "ask") {
      const choices = [];
      if (may.notes) choices.push(this.again("notes")(say("as_note")));
      if (may.papers) choices.push(this.again("papers")(say("as_paper")));
      return this.end("ask", say("choose"), choices);
    }
    this.target = found.target;
    if (!may[found.target]) return this.end("bad", say("not_allowed"));
    if (found.target === "references") return this.addReferences();
    if (found.target === "notes") return this.addNote();
    return this.addPaper();
  }

  async addPaper() {
    const upload = await sendFile(this.file, this.abort.signal, {
      onProgress: (part) => {
        this.progress(part);
        this.tell(say("sending", { percent: Math.floor(part * 100) }));
      },
      onBreak: () => this.tell(say("resuming")),
    });
    this.progress(null);
    this.tell(say("adding"));
    clear(this.actions);
    let added = await call("add_paper", { upload_id: upload });
    if (added.job_id) added = await this.followJob(added.job_id, added);
    const link = linkTo("paper", added.paper_id, this.file.name);
    if (added.count > 1) this.end("good", say("added_papers", { number: added.count }), link);
    else this.end("good", `${added.title || ""} · ${say(added.is_new ? "added_paper" : "known_paper")}`.replace(/^ · /, ""), link);
  }

  async addReferences() {
    if (this.file.size > LONGEST_LIST_BYTES) return this.end("bad", say("too_large_list", { name: this.file.name }));
    this.progress(null);
    this.tell(say("adding"));
    let added = await call("add_references", { input: await readText(this.file) }, { signal: this.abort.signal });
    if (added.job_id) added = await this.followJob(added.job_id, added);
    const said = [say("added_references", { number: added.added.length })];
    if (added.skipped.length) said.push(say("known_references", { number: added.skipped.length }));
    if (added.failed.length) said.push(`${say("failed_references", { number: added.failed.length })} (${added.failed[0].reason})`);
    const isGood = added.added.length || added.skipped.length;
    this.end(isGood ? "good" : "bad", said.join(" · "), isGood ? [openLink("/references", this.file.name)] : []);
  }

  async addNote() {
    this.progress(null);
    this.tell(say("adding"));
    const title = this.file.name.replace(/\.[^.]{1,10}$/, "");
    const content = await readText(this.file);
    const known = await findNote(title, content);
    if (known) return this.end("good", say("known_note"), linkTo("note", known, this.file.name));
    const saved = await call("save_knowledge", { content, title }, { signal: this.abort.signal });
    this.end("good", say("added_note"), linkTo("note", saved.id, this.file.name));
  }

  /** The answer of a job once it has ended; its messages are shown meanwhile. */
  followJob(id, first) {
    return new Promise((keep, fail) => {
      let last = null;
      const stop = follow("job", id, {
        onState: (job) => {
          last = job;
          if (job.message) this.tell(job.message);
          if (job.total) this.progress(job.done / job.total);
        },
        onEnd: () => {
          stop();
          if (last?.state === "completed") keep(last.result ?? first);
          else fail(Object.assign(new Error(last?.message ?? say("stopped")), { code: last?.state ?? "failed" }));
        },
        onTrouble: (text) => text && this.tell(text),
      });
    });
  }
}

/** The id of a note of this title and these words, which a file that is dropped again became. */
async function findNote(title, content) {
  const found = await call("search_knowledge", { query: title, limit: 10 }).catch(() => []);
  for (const note of found.filter((each) => each.title === title)) {
    const whole = await call("get_knowledge", { id: note.id }).catch(() => null);
    if (whole?.content?.trim() === content.trim()) return note.id;
  }
  return null;
}

function linkTo(kind, id, name) {
  return id && paths[kind] ? [openLink(paths[kind].replace("ADDED-ID", encodeURI(id)), name)] : [];
}

function openLink(path, name) {
  return element("a", { class: "button button-quiet", href: path, "aria-label": `${say("open")}: ${name}` }, say("open"));
}

function sentence(problem) {
  const text = problem.message.replace(/\.?$/, ".");
  return problem.nextStep ? `${text} ${problem.nextStep}` : text;
}

/** Text as UTF-8, or as Latin-1 where it is none: old bibliographies are. */
async function readText(file) {
  const bytes = await file.arrayBuffer();
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** Where the file belongs, by its name and beginning, as the server tells it. */
async function findKind(file, signal) {
  const isMarkdown = /\.(md|markdown)$/i.test(file.name);
  let head;
  try {
    head = new Uint8Array(await file.slice(0, isMarkdown ? MARKDOWN_BYTES : HEAD_BYTES).arrayBuffer());
  } catch {
    // Browsers hand a folder over as a file that cannot be read.
    return { target: "none", reason: say("unreadable") };
  }
  let text = "";
  for (let at = 0; at < head.length; at += 0x8000) text += String.fromCharCode(...head.subarray(at, at + 0x8000));
  const body = new URLSearchParams({ csrf: csrfToken(), name: file.name, head: btoa(text) });
  let response;
  try {
    response = await fetch("/add/kind", { method: "POST", body, signal, headers: { accept: "application/json" } });
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw Object.assign(new Error(""), { code: "unreachable" });
  }
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.error ?? ""), { code: answer.error_type, nextStep: answer.recovery_suggestions?.[0] });
  return answer;
}
