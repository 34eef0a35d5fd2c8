// Moving, zooming and drawing outlines, by mouse, by fingers and by keys.
import { announce } from "../desk/announce.js";
import { svg } from "./map_labels.js";

const STEP_PIXELS = 60;
const TAP_PIXELS = 6;
const MOST_CORNERS = 300;

export class Tools {
  constructor(stage, overlay, facts, camera, onOutline) {
    Object.assign(this, { stage, facts, camera, onOutline });
    this.tool = "move";
    this.pointers = new Map();
    this.drawn = null;
    this.outline = null;
    // The rectangle of the keys, in pixels: left, top, width, height.
    this.box = null;
    this.path = overlay.appendChild(svg("path", { class: "map-lasso", visibility: "hidden" }));
    const buttons = document.getElementById("map-tools");
    buttons.addEventListener("click", (event) => this.press(event));
    stage.addEventListener("pointerdown", (event) => this.down(event));
    stage.addEventListener("pointermove", (event) => this.move(event));
    for (const kind of ["pointerup", "pointercancel"]) stage.addEventListener(kind, (event) => this.up(event));
    stage.addEventListener("wheel", (event) => this.turn(event), { passive: false });
    stage.addEventListener("keydown", (event) => this.key(event));
  }

  press(event) {
    const button = event.target.closest("button");
    if (!button) return;
    const { zoom, tool } = button.dataset;
    if (zoom === "in") this.camera.zoom(1.6);
    else if (zoom === "out") this.camera.zoom(1 / 1.6);
    else if (zoom === "all") this.camera.showAll();
    // A press of a key on the button has no place of a pointer.
    if (tool) this.choose(tool, event.detail === 0);
  }

  choose(tool, isByKeys = false) {
    this.tool = tool;
    this.stage.dataset.tool = tool;
    for (const button of document.querySelectorAll("[data-tool].button")) {
      button.setAttribute("aria-pressed", String(button.dataset.tool === tool));
    }
    const { width, height } = this.camera;
    this.box = null;
    if (isByKeys && tool !== "move") {
      this.box = [width * 0.35, height * 0.35, width * 0.3, height * 0.3];
      announce(this.facts.said.rectangle_help);
    }
    this.stage.focus();
    this.draw();
  }

  place(event) {
    const box = this.stage.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  down(event) {
    if (event.button > 0) return;
    this.stage.setPointerCapture(event.pointerId);
    const at = this.place(event);
    this.pointers.set(event.pointerId, at);
    this.began = at;
    this.wasMoved = false;
    this.box = null;
    this.drawn = this.tool === "move" || this.pointers.size > 1 ? null : [at];
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const at = this.place(event);
    if (Math.hypot(at[0] - this.began[0], at[1] - this.began[1]) > TAP_PIXELS) this.wasMoved = true;
    if (this.pointers.size === 2) this.pinch(event.pointerId, before, at);
    else if (this.drawn && this.tool === "box") this.drawn = corners(this.began, at);
    else if (this.drawn) this.drawn.push(at);
    else if (this.wasMoved) this.camera.pan(at[0] - before[0], at[1] - before[1]);
    this.pointers.set(event.pointerId, at);
    if (this.drawn) this.draw();
  }

  pinch(id, before, at) {
    const [, other] = [...this.pointers].find(([each]) => each !== id);
    const was = Math.hypot(before[0] - other[0], before[1] - other[1]) || 1;
    const is = Math.hypot(at[0] - other[0], at[1] - other[1]) || 1;
    this.wasMoved = true;
    this.drawn = null;
    this.camera.pan((at[0] - before[0]) / 2, (at[1] - before[1]) / 2);
    this.camera.zoom(is / was, (at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
  }

  up(event) {
    if (!this.pointers.delete(event.pointerId)) return;
    const { drawn } = this;
    this.drawn = null;
    if (event.type === "pointercancel") return this.draw();
    if (drawn && drawn.length > 2 && this.wasMoved) this.finish(drawn);
    else if (!this.wasMoved && this.pointers.size === 0) {
      const [px, py] = this.place(event);
      const isMouse = event.pointerType === "mouse";
      this.stage.dispatchEvent(new CustomEvent("map:tap", { detail: { px, py, isMouse } }));
    }
    this.draw();
  }

  finish(drawn) {
    const every = Math.ceil(drawn.length / MOST_CORNERS);
    const kept = drawn.filter((_, at) => at % every === 0);
    this.onOutline(kept.map(([px, py]) => this.camera.toMap(px, py)));
    this.choose("move");
  }

  turn(event) {
    // Pages scroll by the wheel: the map takes it once it was clicked, or with a key held down.
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== this.stage) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 30 : 1;
    this.camera.zoom(Math.exp(-event.deltaY * lines * 0.0018), ...this.place(event));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (arrow && this.box) this.shape(arrow, event.shiftKey);
    else if (arrow) this.camera.pan(-arrow[0] * STEP_PIXELS, -arrow[1] * STEP_PIXELS);
    else if (event.key === "+" || event.key === "=") this.camera.zoom(1.4);
    else if (event.key === "-") this.camera.zoom(1 / 1.4);
    else if (event.key === "0") this.camera.showAll();
    else if (event.key.toLowerCase() === "r") this.choose("box", true);
    else if (event.key === "Escape" && this.tool !== "move") this.choose("move");
    else if (event.key === "Enter" && this.box) {
      const [left, top, width, height] = this.box;
      this.finish(corners([left, top], [left + width, top + height]));
    } else if (event.key === "Enter") {
      const detail = { px: this.camera.width / 2, py: this.camera.height / 2, isMouse: false };
      this.stage.dispatchEvent(new CustomEvent("map:open", { detail }));
    } else return;
    event.preventDefault();
  }

  shape([dx, dy], isSize) {
    const step = 20;
    const from = isSize ? 2 : 0;
    this.box[from] = Math.max(from ? step : 0, this.box[from] + dx * step);
    this.box[from + 1] = Math.max(from ? step : 0, this.box[from + 1] + dy * step);
    this.draw();
  }

  /** The outline that is being drawn, or the one that was selected. */
  draw() {
    const points = this.drawn
      ?? (this.box ? corners(this.box, [this.box[0] + this.box[2], this.box[1] + this.box[3]]) : null)
      ?? this.outline?.map(([x, y]) => this.camera.toScreen(x, y));
    this.path.setAttribute("visibility", points?.length > 1 ? "visible" : "hidden");
    if (points?.length > 1) this.path.setAttribute("d", `M${points.map((at) => at.join(" ")).join("L")}Z`);
  }
}

function corners([left, top], [right, bottom]) {
  return [[left, top], [right, top], [right, bottom], [left, bottom]];
}
