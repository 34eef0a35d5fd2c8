// Papers of a search, lit up on the map and listed beside it.
import { call } from "../desk/call.js";
import { clear } from "../desk/dom.js";
import { listed, tell } from "./map_selection.js";
import { murmur, say } from "./map_words.js";

const PER_QUESTION = 100;
const MOST = 300;
const LISTED = 30;

export class Hits {
  constructor(facts, onHits) {
    this.facts = facts;
    this.onHits = onHits;
    this.count = 0;
    this.asked = null;
    const form = document.getElementById("map-search");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.search(form.elements.q.value.trim());
    });
  }

  async search(words) {
    this.asked?.abort();
    this.asked = new AbortController();
    const { signal } = this.asked;
    const address = new URL(location.href);
    if (words) address.searchParams.set("q", words);
    else address.searchParams.delete("q");
    history.replaceState(null, "", address);
    if (!words) return;
    try {
      const ids = [];
      for (let page = 1; page <= MOST / PER_QUESTION; page++) {
        const found = await call("search_papers", { query: words, limit: PER_QUESTION, page }, { signal });
        ids.push(...found.map((paper) => paper.paper_id));
        if (found.length < PER_QUESTION) break;
      }
      this.show(ids.length ? await call("locate_on_map", { paper_ids: ids }, { signal }) : []);
    } catch (problem) {
      if (problem.name !== "AbortError") tell(problem);
    }
  }

  show(papers) {
    this.count = papers.length;
    document.getElementById("map-hits").hidden = false;
    const { said } = this.facts;
    const text = papers.length ? say(said.hits, { count: papers.length }) : said.no_hits;
    document.getElementById("map-hits-count").textContent = text;
    const rows = papers.slice(0, LISTED).map((paper) => listed(paper));
    clear(document.getElementById("map-hits-list")).append(...rows);
    murmur(text);
    this.onHits(papers.map((paper) => paper.point));
  }
}
