// What is under the pointer, or at the cross in the middle for the keys: its title in a card.
import { call } from "../desk/call.js";
import { clear, debounce, element } from "../desk/dom.js";
import { svg } from "./map_labels.js";
import { paperAddress } from "./map_words.js";

const REACH_PIXELS = 14;
const CROSS_REACH_PIXELS = 60;

export class Pointing {
  constructor(stage, overlay, facts, camera, worker, tools) {
    Object.assign(this, { stage, facts, camera, worker, tools });
    this.card = document.getElementById("map-card");
    this.status = document.getElementById("map-status");
    this.papers = new Map();
    this.request = 0;
    this.at = null;
    this.isByKeys = false;
    this.cross = overlay.appendChild(svg("path", { class: "map-cross", visibility: "hidden" }));
    this.ring = overlay.appendChild(svg("circle", { class: "map-ring", r: 8, visibility: "hidden" }));
    this.ask = debounce((point) => this.describe(point), 60);
    this.look = debounce(() => this.pickCross(), 120);
    worker.addEventListener("message", ({ data }) => {
      if (data.kind === "picked" && data.request === this.request) this.show(data.point);
    });
    stage.addEventListener("pointermove", (event) => {
      if (event.pointerType === "mouse" && event.buttons === 0) this.pickPointer(event);
    });
    stage.addEventListener("pointerleave", () => this.isByKeys || this.show(null));
    stage.addEventListener("focus", () => {
      this.isByKeys = stage.matches(":focus-visible");
      this.follow();
    });
    stage.addEventListener("blur", () => {
      this.isByKeys = false;
      this.show(null);
      this.follow();
    });
    stage.addEventListener("map:tap", (event) => this.tap(event.detail));
    stage.addEventListener("map:open", () => this.open());
  }

  pick(px, py, reach) {
    const [x, y] = this.camera.toMap(px, py);
    this.request += 1;
    this.worker.postMessage({ kind: "pick", request: this.request, x, y, reach: reach / this.camera.scale });
  }

  pickPointer(event) {
    this.isByKeys = false;
    this.follow();
    const box = this.stage.getBoundingClientRect();
    this.pick(event.clientX - box.left, event.clientY - box.top, REACH_PIXELS);
  }

  pickCross() {
    if (this.isByKeys) this.pick(this.camera.width / 2, this.camera.height / 2, CROSS_REACH_PIXELS);
  }

  /** After the view moved: the cross stays in the middle, and what it is at is looked up. */
  follow() {
    const { width, height } = this.camera;
    const [x, y] = [width / 2, height / 2];
    const isCross = this.isByKeys && this.tools.tool === "move";
    this.cross.setAttribute("visibility", isCross ? "visible" : "hidden");
    this.cross.setAttribute("d", `M${x - 12} ${y}h24M${x} ${y - 12}v24`);
    if (this.at) this.put();
    if (isCross) this.look();
  }

  async tap({ px, py, isMouse }) {
    const [x, y] = this.camera.toMap(px, py);
    this.request += 1;
    const { request } = this;
    const wasAt = this.at?.number;
    const point = await new Promise((resolve) => {
      const receive = ({ data }) => {
        if (data.kind !== "picked" || data.request !== request) return;
        this.worker.removeEventListener("message", receive);
        resolve(data.point);
      };
      this.worker.addEventListener("message", receive);
      const reach = (isMouse ? REACH_PIXELS : 26) / this.camera.scale;
      this.worker.postMessage({ kind: "pick", request, x, y, reach });
    });
    this.show(point);
    // A finger first shows the title, and opens it when it taps again.
    if (point && (isMouse || wasAt === point.number)) this.open();
  }

  open() {
    const paper = this.at && this.papers.get(this.at.number);
    if (paper) location.assign(paperAddress(paper.paper_id));
    else if (this.at) this.describe(this.at).then(() => this.open());
  }

  show(point) {
    this.at = point;
    this.stage.toggleAttribute("data-over", point !== null && !this.isByKeys);
    this.ring.setAttribute("visibility", point ? "visible" : "hidden");
    if (!point) {
      this.card.hidden = true;
      return;
    }
    this.put();
    if (this.papers.has(point.number)) this.fill(this.papers.get(point.number));
    else this.ask(point);
  }

  async describe(point) {
    if (this.at?.number !== point.number) return;
    try {
      const [paper] = await call("locate_on_map", { points: [point.number] });
      if (!paper) return;
      this.papers.set(point.number, paper);
      if (this.at?.number === point.number) this.fill(paper);
    } catch {
      // A title that does not come is no reason to interrupt anybody.
      this.card.hidden = true;
    }
  }

  fill(paper) {
    const region = this.facts.regions[paper.region]?.terms[0] ?? "";
    const more = [paper.year ?? this.facts.said.no_year, region].filter(Boolean).join(" · ");
    clear(this.card).append(
      element("p", { class: "map-card-title" }, paper.title),
      element("p", { class: "map-card-more" }, more),
    );
    this.card.hidden = false;
    if (this.isByKeys) this.status.textContent = `${paper.title}, ${more}`;
    this.put();
  }

  put() {
    const [x, y] = this.camera.toScreen(this.at.x, this.at.y);
    this.ring.setAttribute("cx", x);
    this.ring.setAttribute("cy", y);
    const { offsetWidth: width, offsetHeight: height } = this.card;
    const left = Math.min(Math.max(8, x + 14), Math.max(8, this.camera.width - width - 8));
    const top = y + 16 + height > this.camera.height ? y - height - 14 : y + 16;
    this.card.style.transform = `translate(${Math.round(left)}px, ${Math.round(Math.max(4, top))}px)`;
  }
}
