// Hypotheses of a research project as bridges between the regions of the papers they rest on.
import { announce } from "../desk/announce.js";
import { call } from "../desk/call.js";
import { clear, element } from "../desk/dom.js";
import { svg } from "./map_labels.js";
import { tell } from "./map_selection.js";
import { say } from "./map_words.js";

const MOST = 12;

export class Bridges {
  constructor(overlay, facts, camera) {
    this.facts = facts;
    this.camera = camera;
    this.layer = overlay.appendChild(svg("g"));
    this.list = document.getElementById("map-bridge-list");
    this.found = [];
    const project = document.getElementById("map-project");
    project?.addEventListener("change", () => this.show(project.value));
    if (project?.value) this.show(project.value);
  }

  async show(project) {
    this.found = [];
    clear(this.list);
    clear(this.layer);
    const address = new URL(location.href);
    if (project) address.searchParams.set("project", project);
    else address.searchParams.delete("project");
    history.replaceState(null, "", address);
    if (!project) return;
    try {
      const evidence = await call("list_evidence", { research_id: project, limit: MOST });
      await this.locate(evidence);
    } catch (problem) {
      tell(problem);
      return;
    }
    this.list.append(...this.found.map((bridge) => this.row(bridge)));
    if (!this.found.length) announce(this.facts.said.no_bridges);
    this.draw();
  }

  async locate(evidence) {
    const ids = [...new Set(evidence.flatMap((each) => each.papers.map((p) => p.paper_id)))];
    if (!ids.length) return;
    const located = await call("locate_on_map", { paper_ids: ids.slice(0, 1000) });
    const byId = new Map(located.map((paper) => [paper.paper_id, paper]));
    for (const each of evidence) {
      const papers = each.papers.map((p) => byId.get(p.paper_id)).filter(Boolean);
      if (papers.length) this.found.push({ ...each, papers, ends: endsOf(papers) });
    }
  }

  row(bridge) {
    const { said, regions } = this.facts;
    const [one, other] = bridge.ends.map((end) => regions[end.region]?.terms[0] ?? "");
    const where =
      bridge.ends.length > 1 && bridge.ends[0].region !== bridge.ends[1].region
        ? say(said.bridge_between, { one, other })
        : say(said.bridge_within, { one });
    const light = (isOn) => () => this.light(isOn ? bridge : null);
    return element(
      "li",
      { onpointerenter: light(true), onpointerleave: light(false), onfocusin: light(true), onfocusout: light(false) },
      element("a", { href: `/research/hypothesis/${encodeURIComponent(bridge.hypothesis_id)}` }, bridge.title),
      element("span", { class: "muted small" }, ` ${where}`),
    );
  }

  light(bridge) {
    for (const each of this.found) {
      each.path?.setAttribute("data-lit", bridge === null ? "" : each === bridge ? "1" : "0");
    }
  }

  draw() {
    clear(this.layer);
    this.found.forEach((bridge, at) => {
      const points = bridge.ends.map((end) => this.camera.toScreen(end.x, end.y));
      const [from] = points;
      const to = points[1] ?? [from[0] + 26, from[1] - 26];
      const dx = to[0] - from[0];
      const dy = to[1] - from[1];
      // Bent to one side, each a little more, so that bridges between the same regions stay apart.
      const bend = 0.18 + 0.05 * (at % 5);
      const middle = [(from[0] + to[0]) / 2 - dy * bend, (from[1] + to[1]) / 2 + dx * bend];
      const line = `M${from} Q${middle} ${to}`;
      const top = [(from[0] + 2 * middle[0] + to[0]) / 4, (from[1] + 2 * middle[1] + to[1]) / 4];
      bridge.path = svg("path", { class: "map-bridge", d: line });
      this.layer.append(svg("path", { class: "map-bridge-halo", d: line }), bridge.path);
      for (const paper of bridge.papers) {
        const [cx, cy] = this.camera.toScreen(paper.x, paper.y);
        this.layer.append(svg("circle", { class: "map-bridge-paper", cx, cy, r: 4 }));
      }
      this.layer.append(
        svg("circle", { class: "map-bridge-badge", cx: top[0], cy: top[1], r: 10 }),
        svg("text", { class: "map-bridge-number", x: top[0], y: top[1] }, String(at + 1)),
      );
    });
  }
}

/** The middles of the two regions, or of the one, that most of the papers are in. */
function endsOf(papers) {
  const byRegion = Map.groupBy(papers, (paper) => paper.region);
  const groups = [...byRegion.values()].sort((one, other) => other.length - one.length).slice(0, 2);
  const parts = groups.length > 1 ? groups : halves(papers);
  return parts.map((group) => ({
    region: group[0].region,
    x: group.reduce((sum, paper) => sum + paper.x, 0) / group.length,
    y: group.reduce((sum, paper) => sum + paper.y, 0) / group.length,
  }));
}

/** Papers of one region in two groups, by which of the two farthest they are nearer to. */
function halves(papers) {
  if (papers.length < 2) return [papers];
  const away = (one, other) => Math.hypot(one.x - other.x, one.y - other.y);
  const first = papers[0];
  const far = papers.reduce((best, each) => (away(each, first) > away(best, first) ? each : best));
  const near = papers.filter((each) => away(each, first) <= away(each, far));
  return [near, papers.filter((each) => !near.includes(each))].filter((group) => group.length);
}
