// The reading list: papers within an outline that a pointer or the keys have drawn.
import { announce } from "../desk/announce.js";
import { call, CallError } from "../desk/call.js";
import { clear, element } from "../desk/dom.js";
import { murmur, paperAddress, say } from "./map_words.js";

const LISTED = 200;

export class Selection {
  constructor(facts, onOutline) {
    this.facts = facts;
    this.onOutline = onOutline;
    this.papers = [];
    this.part = document.getElementById("map-selection");
    this.count = document.getElementById("map-selection-count");
    this.list = document.getElementById("map-selection-list");
    this.actions = document.getElementById("map-selection-actions");
    document.getElementById("map-clear").addEventListener("click", () => this.clear());
    this.actions.addEventListener("click", (event) => {
      const act = event.target.closest("[data-act]")?.dataset.act;
      if (act) this.act(act);
    });
  }

  /** Selects what is inside of an outline of map coordinates. */
  async take(outline) {
    this.onOutline(outline);
    try {
      const found = await call("select_on_map", {
        outline: outline.map(([x, y]) => ({ x, y })),
        limit: LISTED,
      });
      this.show(found);
    } catch (problem) {
      this.onOutline(null);
      tell(problem);
    }
  }

  show({ count, papers }) {
    const { said } = this.facts;
    this.papers = papers;
    this.part.hidden = false;
    this.actions.hidden = count === 0;
    const text =
      count === 0
        ? said.nothing_selected
        : say(count > papers.length ? said.selected_first : said.selected, {
            count,
            shown: papers.length,
          });
    this.count.textContent = text;
    clear(this.list).append(...papers.map((paper) => listed(paper)));
    document.getElementById("map-selection-title").focus();
    murmur(text);
  }

  clear() {
    this.papers = [];
    this.part.hidden = true;
    this.onOutline(null);
    murmur(this.facts.said.cleared);
    document.getElementById("map-stage").focus();
  }

  async act(name) {
    const ids = this.papers.map((paper) => paper.paper_id);
    if (!ids.length) return;
    const { said } = this.facts;
    try {
      if (name === "add") {
        await call("add_references", { input: ids });
        announce(say(said.added, { count: ids.length }));
      } else if (name === "copy") {
        const lines = this.papers.map((p) => `${p.title}${p.year ? ` (${p.year})` : ""}  ${p.paper_id}`);
        await navigator.clipboard.writeText(lines.join("\n"));
        announce(said.copied);
      } else {
        const text = await call("export_papers", { ids, format: name });
        save(text, `reading-list.${name === "bibtex" ? "bib" : name}`);
      }
    } catch (problem) {
      tell(problem);
    }
  }
}

export function listed(paper) {
  const year = paper.year ? element("span", { class: "muted small" }, ` ${paper.year}`) : null;
  return element("li", {}, element("a", { href: paperAddress(paper.paper_id) }, paper.title), year);
}

function save(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export function tell(problem) {
  if (!(problem instanceof CallError)) throw problem;
  announce([problem.message, problem.nextStep].filter(Boolean).join(" "), "danger");
}
