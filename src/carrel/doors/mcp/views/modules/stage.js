// What every view does alike: meet the host, take results, fall back, fit, tell, end.
import { HostBridge, HostRefusal } from "./bridge.js";
import { readAnswer, readRefusal } from "./answers.js";
import { element, replaceKept } from "./elements.js";
import { applyAppearance } from "./appearance.js";
import { SizeReporter } from "./size_reporter.js";
import { chooseLanguage, t } from "./words.js";

const PATIENCE_MS = 2_000;
// For tools that ask services outside: their answers take long and cost something.
const LONG_PATIENCE_MS = 20_000;
const LONG_READS = new Set(["search_literature"]);
const TALLEST_INLINE_PX = 500;
const MOST_ROWS_FULLSCREEN = 50;
const settings = JSON.parse(document.getElementById("settings").textContent);

function endSentence(text, following) {
  return following && text && !/[.!?…]$/.test(text) ? `${text}.` : text;
}

export class Stage {
  bridge = new HostBridge();
  #size = new SizeReporter(this.bridge);
  input = {};
  model = null;
  at = 0;
  #view;
  #main = document.getElementById("main");
  #status = document.getElementById("status");
  #hasResult = false;
  #isPatienceOver = false;
  #patience = 0;
  #problem = null;
  #done = [];

  constructor(view) {
    this.#view = view;
  }

  async start() {
    this.bridge.on("ui/notifications/tool-input", ({ arguments: given }) => this.#takeInput(given));
    this.bridge.on("ui/notifications/tool-input-partial", ({ arguments: given }) =>
      this.#takeInput(given),
    );
    this.bridge.on("ui/notifications/tool-result", (result) => this.#takeResult(result));
    this.bridge.on("ui/notifications/tool-cancelled", () => this.#takeCancellation());
    this.bridge.on("ui/notifications/host-context-changed", (changed) =>
      this.#takeContext(changed),
    );
    this.bridge.on("ui/resource-teardown", () => this.#end());
    const { name, version } = settings;
    try {
      await this.bridge.open({ name, version }, ["inline", "fullscreen"]);
    } catch {
      return this.say(t("no_answer"), "danger");
    }
    this.#takeContext({});
    this.#size.watch(() => this.model && this.draw());
    this.#waitForResult();
  }

  // The operation whose tool opened the view, where the host says so.
  get opened() {
    return settings.opened[this.bridge.context.toolInfo?.tool?.name] ?? "";
  }

  // Whether this door has the operation for this person, and the host lets views call tools.
  can(operation) {
    return Boolean(this.bridge.capabilities.serverTools && settings.tools[operation]);
  }

  async call(operation, given) {
    const route = settings.tools[operation];
    const params = route.through
      ? { name: route.through, arguments: { name: route.name, arguments: given } }
      : { name: route.name, arguments: given };
    try {
      return readAnswer(await this.bridge.ask("tools/call", params));
    } catch (error) {
      if (!(error instanceof HostRefusal)) throw error;
      const refused = readRefusal(error);
      return {
        facts: {},
        problem: { message: refused.message || t("no_answer"), nextStep: refused.nextStep },
      };
    }
  }

  // The view's own read tool, for hosts that deliver nothing.
  async readAgain() {
    const asked = this.#view.readAgain?.(this, this.input);
    if (!asked) return this.draw();
    const hadResult = this.#hasResult;
    this.say(t("reading"));
    const { facts, problem } = await asked;
    // What the host has delivered in the meantime counts.
    if (this.bridge.isOver || this.#hasResult !== hadResult) return;
    this.say("");
    this.take(facts, problem);
  }

  take(facts, problem) {
    const model = problem ? null : this.#view.read(facts, this);
    if (problem && this.model) return this.say(problem.message, "danger", problem.nextStep);
    this.#problem = problem;
    if (model) this.model = model;
    if (this.at >= (this.model?.rows?.length ?? 0)) this.at = 0;
    this.draw();
    if (model) this.#view.follow?.(this);
  }

  draw() {
    if (this.bridge.isOver) return;
    this.#main.dataset.state = this.model ? "drawn" : "waiting";
    if (!this.model) {
      replaceKept(this.#main, this.#heading(t(`${settings.view}.title`), ""), this.#drawWaiting());
      return this.#size.report();
    }
    // As many rows as fit, since nothing scrolls inside a chat.
    let rows = this.isFull ? MOST_ROWS_FULLSCREEN : (this.#view.rows ?? 1);
    do replaceKept(this.#main, ...this.#view.draw(this, rows));
    while (!this.isFull && document.documentElement.offsetHeight > this.#tallest() && --rows > 0);
    this.#size.report();
  }

  get isFull() {
    return this.bridge.context.displayMode === "fullscreen";
  }

  head(title, count = "", ...more) {
    return this.#heading(title, count, ...more, this.#drawModeButton());
  }

  // `told` is how many there are, of which `total` have arrived.
  pager(total, rows, told = total) {
    const canReadOn = told > total && Boolean(this.#view.canReadOn?.(this));
    if (total <= rows && !canReadOn && told <= total) return null;
    const last = Math.min(this.at + rows, total);
    const place =
      rows === 1
        ? t("shown_one", { at: last, count: told })
        : t("shown", { from: this.at + 1, to: last, count: told });
    const back = () => this.#turn(Math.max(0, this.at - rows));
    const forth = () => (last < total ? this.#turn(last) : this.#readOn(last));
    return element(
      "nav",
      { class: "pager", "aria-label": t("pages") },
      element("span", { class: "muted" }, place),
      total > rows || canReadOn
        ? [
            this.#drawStep("previous", this.at === 0, back),
            this.#drawStep("next", last >= total && !canReadOn, forth),
          ]
        : null,
    );
  }

  #drawStep(name, isOff, step) {
    return element(
      "button",
      {
        type: "button",
        class: "quiet",
        "data-focus": name,
        "aria-disabled": isOff ? "true" : null,
        onclick: () => isOff || step(),
      },
      t(name),
    );
  }

  async #readOn(at) {
    this.say(t("reading"));
    const problem = await this.#view.readOn(this);
    this.say(problem?.message ?? "", problem ? "danger" : "", problem?.nextStep);
    if (!problem && at < this.model.rows.length) this.#turn(at);
  }

  say(text, kind = "", nextStep = "") {
    const words = [endSentence(text, nextStep), nextStep].filter(Boolean).join(" ");
    this.#status.className = `status ${kind}`;
    if (this.#status.textContent !== words) this.#status.textContent = words;
    this.#size.report();
  }

  // One sentence of ids and decisions for the model; never words that others wrote.
  tellModel(sentence) {
    this.#done.push(sentence);
    if (!this.bridge.capabilities.updateModelContext) return;
    const content = [{ type: "text", text: this.#done.join("\n") }];
    this.bridge.ask("ui/update-model-context", { content }).catch(() => {});
  }

  link(address, text) {
    if (!address || !this.bridge.capabilities.openLinks) return text;
    const open = (event) => {
      event.preventDefault();
      this.bridge
        .ask("ui/open-link", { url: address })
        .catch(() => this.say(t("link_refused"), "danger"));
    };
    return element("a", { href: address, rel: "noreferrer", onclick: open }, text);
  }

  #heading(title, count, ...more) {
    return element(
      "header",
      { class: "head" },
      element("h1", {}, title),
      count ? element("span", { class: "count" }, count) : "",
      ...more,
    );
  }

  #drawModeButton() {
    const modes = this.bridge.context.availableDisplayModes;
    if (!this.model?.rows?.length || !Array.isArray(modes) || !modes.includes("fullscreen"))
      return null;
    const mode = this.isFull ? "inline" : "fullscreen";
    const change = async () => {
      const answer = await this.bridge.ask("ui/request-display-mode", { mode }).catch(() => null);
      if (answer?.mode) this.#takeContext({ displayMode: answer.mode });
    };
    return element(
      "button",
      { type: "button", class: "quiet mode", "data-focus": "mode", onclick: change },
      t(this.isFull ? "smaller" : "larger"),
    );
  }

  #drawWaiting() {
    if (this.#problem) {
      const { message, nextStep } = this.#problem;
      return element(
        "div",
        { class: "notice danger" },
        element("p", {}, message || t("failed")),
        nextStep ? element("p", { class: "muted" }, nextStep) : "",
      );
    }
    const form = this.#isPatienceOver && !this.#hasResult && this.#view.drawQuestion?.(this);
    if (form) return form;
    const told = this.#view.describe?.(this.input) ?? t("waiting");
    return element("p", { class: "muted" }, this.#hasResult ? t("nothing_to_show") : told);
  }

  // Counts anew with every piece of the arguments, while the model still writes them.
  #waitForResult() {
    clearTimeout(this.#patience);
    const isLong = LONG_READS.has(this.opened);
    this.#patience = setTimeout(
      () => {
        this.#isPatienceOver = true;
        if (!this.#hasResult && !this.bridge.isOver) this.readAgain();
      },
      isLong ? LONG_PATIENCE_MS : PATIENCE_MS,
    );
  }

  #turn(at) {
    this.at = at;
    this.draw();
  }

  #takeInput(given) {
    this.input = given && typeof given === "object" ? given : {};
    if (this.model || this.#hasResult) return;
    this.#waitForResult();
    this.draw();
  }

  #takeResult(result) {
    this.#hasResult = true;
    this.say("");
    const { facts, problem } = readAnswer(result);
    if (!problem && !this.#view.read(facts, this)) return this.readAgain();
    this.take(facts, problem);
  }

  #takeCancellation() {
    this.#hasResult = true;
    this.say(t("cancelled"));
  }

  #takeContext(changed) {
    const { context } = this.bridge;
    this.bridge.context = {
      ...context,
      ...changed,
      styles: { ...context.styles, ...changed.styles },
    };
    chooseLanguage(this.bridge.context.locale ?? navigator.language);
    applyAppearance(this.bridge.context);
    this.draw();
  }

  #tallest() {
    const { maxHeight, height } = this.bridge.context.containerDimensions ?? {};
    return Math.min(TALLEST_INLINE_PX, ...[maxHeight, height].filter((each) => each > 0));
  }

  #end() {
    this.say(t("ended"));
    this.bridge.isOver = true;
    this.#view.end?.();
    return {};
  }
}
