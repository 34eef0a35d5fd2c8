// The map of the corpus: moves about in it, colours it, and shows what lies where.
import { announce } from "../desk/announce.js";
import { debounce, element } from "../desk/dom.js";
import { startWorker } from "../desk/worker.js";
import { Bridges } from "./map_bridges.js";
import { Camera } from "./map_camera.js";
import { readColours } from "./map_colours.js";
import { Hits } from "./map_hits.js";
import { Labels } from "./map_labels.js";
import { Pointing } from "./map_pointing.js";
import { Selection } from "./map_selection.js";
import { Tools } from "./map_tools.js";
import { murmur } from "./map_words.js";

const facts = JSON.parse(document.getElementById("map-facts").textContent);
facts.shapes = facts.regions.map((region) => region.shape);
facts.colours = facts.regions.map((region) => region.colour);
// Which of the spans of years a year of a tile belongs to.
facts.yearStep = Array.from({ length: 256 }, (_, year) => {
  const step = facts.years.findIndex(([, last]) => facts.firstYear + year - 1 <= last);
  return step < 0 ? Math.max(0, facts.years.length - 1) : step;
});

const stage = document.getElementById("map-stage");
const overlay = document.getElementById("map-overlay");
const worker = startWorker("papers/map_worker.js");
const tell = (kind, more = {}) => worker.postMessage({ kind, ...more });

document.getElementById("map-static").setAttribute("hidden", "");
for (const id of ["map-stage", "map-tools", "map-colour", "map-keys"]) document.getElementById(id).hidden = false;

let isDue = false;
const camera = new Camera(() => {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    const { x, y, scale, fit, width, height } = camera;
    tell("view", { view: { x, y, scale, fit, width, height, ratio: Math.min(2, devicePixelRatio) } });
    labels.place();
    bridges.draw();
    tools.draw();
    pointing.follow();
  });
});

const canvas = document.getElementById("map-canvas").transferControlToOffscreen();
worker.postMessage({ kind: "start", canvas, facts: workerFacts() }, [canvas]);
const labels = new Labels(overlay, facts, camera);
const bridges = new Bridges(overlay, facts, camera);
const selection = new Selection(facts, (outline) => {
  tools.outline = outline;
  tell("outline", { outline });
  camera.onChange();
});
const tools = new Tools(stage, overlay, facts, camera, (outline) => selection.take(outline));
const pointing = new Pointing(stage, overlay, facts, camera, worker, tools);
const hits = new Hits(facts, (points) => {
  tell("hits", { points });
  chooseMode("query");
});

function workerFacts() {
  const { version, papers, tiles, shapes, colours, yearStep } = facts;
  return { version, papers, tiles, shapes, colours, yearStep };
}

function chooseMode(mode) {
  document.querySelector(`#map-colour [value="${mode}"]`).checked = true;
  document.getElementById("map-years").hidden = mode !== "year";
  document.querySelector(".map-panel").dataset.mode = mode;
  tell("mode", { mode });
}

document.getElementById("map-colour").addEventListener("change", (event) => {
  chooseMode(event.target.value);
  if (event.target.value === "query" && !hits.count) document.getElementById("map-q").focus();
  else murmur(facts.said[event.target.value]);
});

// A region of the list is lit up while it is pointed at, and shown nearer by its button.
let isStuck = -1;
function light(region) {
  tell("lit", { region });
  labels.light(region);
  for (const row of document.querySelectorAll("#map-regions li")) {
    row.dataset.lit = Number(row.dataset.region) === region ? "1" : "0";
  }
}
for (const row of document.querySelectorAll("#map-regions li")) {
  const region = facts.regions[Number(row.dataset.region)];
  const name = row.querySelector(".map-region-name").textContent;
  const swatch = row.querySelector(".map-swatch");
  const button = element("button", { type: "button", class: "button map-goto", "aria-label": name, "aria-pressed": "false" });
  swatch.replaceWith(button);
  button.append(swatch);
  button.addEventListener("click", () => {
    isStuck = isStuck === region.number ? -1 : region.number;
    for (const other of document.querySelectorAll(".map-goto")) {
      other.setAttribute("aria-pressed", String(other === button && isStuck >= 0));
    }
    light(isStuck);
    if (isStuck >= 0) camera.goTo(region.x, region.y, Math.max(1.6, camera.nearness));
  });
  row.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && light(region.number));
  row.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && light(isStuck));
}

function sendColours() {
  tell("colours", { colours: readColours(facts) });
}
sendColours();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", sendColours);

new ResizeObserver(() => camera.resize(stage.clientWidth, stage.clientHeight)).observe(stage);
camera.resize(stage.clientWidth, stage.clientHeight);

worker.addEventListener("message", ({ data }) => {
  if (data.kind === "read") {
    stage.dataset.tiles = String(data.tiles);
  }
  if (data.kind === "drawn") stage.dataset.milliseconds = data.milliseconds.toFixed(1);
  if (data.kind === "trouble") announceTrouble(data.message);
});
const announceTrouble = debounce((message) => announce(message, "danger"), 500);

if (facts.query) hits.show(facts.hits);
