// Draws the points of the map: tiles are read when they are looked at, and every point is stamped
// into one buffer of pixels, which is faster than any drawing call per point.

const POINT_BYTES = 10;
// A tile is read once it is so many pixels wide on the screen: a whole screen then shows the first
// 86,000 points, so that dense regions look denser than others.
const LEAST_PIXELS = 160;

const tiles = new Map();
const waiting = new Map();
let canvas, context, image, pixels;
let facts = null;
let view = null;
let mode = "topic";
let colours = null;
let hits = new Set();
let outline = null;
let lit = -1;
let isDue = false;

onmessage = ({ data }) => {
  if (data.kind === "start") {
    canvas = data.canvas;
    context = canvas.getContext("2d");
    facts = data.facts;
  } else if (data.kind === "view") view = data.view;
  else if (data.kind === "colours") colours = data.colours;
  else if (data.kind === "mode") mode = data.mode;
  else if (data.kind === "hits") hits = new Set(data.points);
  else if (data.kind === "outline") outline = data.outline;
  else if (data.kind === "lit") lit = data.region;
  else if (data.kind === "pick") {
    postMessage({ kind: "picked", request: data.request, point: pick(data.x, data.y, data.reach) });
    return;
  }
  requestDrawing();
};

function requestDrawing() {
  if (isDue || !view || !colours || !facts) return;
  isDue = true;
  (self.requestAnimationFrame ?? setTimeout)(() => {
    isDue = false;
    const began = performance.now();
    draw();
    postMessage({ kind: "drawn", milliseconds: performance.now() - began });
  });
}

/** Names of the tiles to draw, parents first; those that are not here yet are asked for. */
function visibleTiles() {
  const left = view.x - view.width / 2 / view.scale;
  const right = view.x + view.width / 2 / view.scale;
  const top = view.y - view.height / 2 / view.scale;
  const bottom = view.y + view.height / 2 / view.scale;
  const found = [];
  for (let queue = [[0, 0, 0]]; queue.length; ) {
    const [depth, column, row] = queue.shift();
    const name = `${depth}-${column}-${row}`;
    const side = 1 / 2 ** depth;
    if (!(name in facts.tiles)) continue;
    if (column * side > right || (column + 1) * side < left) continue;
    if (row * side > bottom || (row + 1) * side < top) continue;
    if (depth > 0 && side * view.scale < LEAST_PIXELS) continue;
    const tile = tiles.get(name);
    if (tile) found.push(tile);
    else readTile(name, depth, column, row);
    for (const [dx, dy] of [[0, 0], [1, 0], [0, 1], [1, 1]]) {
      queue.push([depth + 1, column * 2 + dx, row * 2 + dy]);
    }
  }
  return found;
}

async function readTile(name, depth, column, row) {
  if (waiting.has(name)) return;
  waiting.set(name, true);
  try {
    const response = await fetch(`/papers/map/tile/${facts.version}/${name}`);
    if (!response.ok) throw new Error(`${response.status}`);
    tiles.set(name, decode(await response.arrayBuffer(), depth, column, row));
    waiting.delete(name);
    postMessage({ kind: "read", tiles: tiles.size, waiting: waiting.size });
    requestDrawing();
  } catch (problem) {
    // It stays marked as waiting: a tile that fails is not asked for with every frame.
    postMessage({ kind: "trouble", message: String(problem.message) });
  }
}

function decode(body, depth, column, row) {
  const data = new DataView(body);
  const count = body.byteLength / POINT_BYTES;
  const side = 1 / 2 ** depth;
  const tile = {
    count,
    x: new Float32Array(count),
    y: new Float32Array(count),
    number: new Uint32Array(count),
    year: new Uint8Array(count),
    region: new Uint8Array(count),
  };
  for (let at = 0; at < count; at++) {
    const byte = at * POINT_BYTES;
    tile.x[at] = (column + (data.getUint16(byte, true) + 0.5) / 65536) * side;
    tile.y[at] = (row + (data.getUint16(byte + 2, true) + 0.5) / 65536) * side;
    tile.number[at] = data.getUint32(byte + 4, true);
    tile.year[at] = data.getUint8(byte + 8);
    tile.region[at] = data.getUint8(byte + 9);
  }
  return tile;
}

function draw() {
  const width = Math.max(1, Math.round(view.width * view.ratio));
  const height = Math.max(1, Math.round(view.height * view.ratio));
  if (canvas.width !== width || canvas.height !== height || !image) {
    canvas.width = width;
    canvas.height = height;
    image = context.createImageData(width, height);
    pixels = new Uint32Array(image.data.buffer);
  }
  const [red, green, blue] = colours.ground;
  pixels.fill((255 << 24) | (blue << 16) | (green << 8) | red);
  const visible = visibleTiles();
  const radius = pointRadius() * view.ratio;
  const isFaded = mode === "query" || outline !== null || lit >= 0;
  stampAll(visible, width, height, radius, isFaded ? "behind" : "all");
  if (isFaded) stampAll(visible, width, height, radius * (mode === "query" && facts.papers > 3000 ? 1.7 : 1.25), "front");
  context.putImageData(image, 0, 0);
}

function pointRadius() {
  const fewer = facts.papers < 500 ? 1.8 : facts.papers < 3000 ? 1.3 : 1;
  const wider = Math.min(2, Math.max(1, Math.sqrt(view.fit / 750)));
  return Math.min(6, 1.35 * fewer * wider * (view.scale / view.fit) ** 0.42);
}

/** Stamps points: all of them, or those that are lit up in front of those that are not. */
function stampAll(visible, width, height, radius, layer) {
  const scale = view.scale * view.ratio;
  const shiftX = width / 2 - view.x * scale;
  const shiftY = height / 2 - view.y * scale;
  const stamps = [0, 1, 2].map((shape) => makeStamp(shape, radius));
  for (const tile of visible) {
    for (let at = 0; at < tile.count; at++) {
      const x = tile.x[at] * scale + shiftX;
      const y = tile.y[at] * scale + shiftY;
      if (x < -8 || y < -8 || x > width + 8 || y > height + 8) continue;
      const isFront = layer === "all" || isLit(tile, at);
      if (layer === "front" && !isFront) continue;
      if (layer === "behind" && isFront) continue;
      const colour = isFront ? colourOf(tile, at) : colours.faint;
      const shape = mode === "topic" ? facts.shapes[tile.region[at]] : 0;
      stamp(stamps[shape], Math.round(x), Math.round(y), width, height, colour);
    }
  }
}

function isLit(tile, at) {
  // What a search found shows wherever it lies; the outline of a reading list is drawn over it.
  if (mode === "query") return hits.has(tile.number[at]);
  if (outline !== null) return isInside(tile.x[at], tile.y[at]);
  if (lit >= 0) return tile.region[at] === lit;
  return true;
}

function colourOf(tile, at) {
  if (mode === "query") return hits.has(tile.number[at]) ? colours.hit : colours.faint;
  if (mode === "year") {
    const year = tile.year[at];
    return year === 0 ? colours.noYear : colours.years[facts.yearStep[year]];
  }
  return colours.regions[facts.colours[tile.region[at]]];
}

/** Offsets and coverage (0 to 255) of the pixels of a shape. */
const kept = new Map();
function makeStamp(shape, radius) {
  const key = `${shape} ${radius.toFixed(2)}`;
  if (kept.has(key)) return kept.get(key);
  const reach = Math.ceil(radius * 1.4) + 1;
  const dots = [];
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      const distance =
        shape === 0
          ? Math.hypot(dx, dy) - radius
          : shape === 1
            ? Math.max(Math.abs(dx), Math.abs(dy)) - radius * 0.9
            : (Math.abs(dx) + Math.abs(dy)) * 0.7071 - radius * 0.92;
      const cover = Math.round(255 * Math.min(1, Math.max(0, 0.5 - distance)));
      if (cover > 8) dots.push(dx, dy, cover);
    }
  }
  const made = Int16Array.from(dots);
  if (kept.size > 60) kept.clear();
  kept.set(key, made);
  return made;
}

function stamp(dots, x, y, width, height, [red, green, blue]) {
  for (let at = 0; at < dots.length; at += 3) {
    const px = x + dots[at];
    const py = y + dots[at + 1];
    if (px < 0 || py < 0 || px >= width || py >= height) continue;
    const place = py * width + px;
    const cover = dots[at + 2];
    if (cover > 250) {
      pixels[place] = (255 << 24) | (blue << 16) | (green << 8) | red;
      continue;
    }
    const under = pixels[place];
    const rest = 255 - cover;
    const r = ((under & 255) * rest + red * cover) >> 8;
    const g = (((under >> 8) & 255) * rest + green * cover) >> 8;
    const b = (((under >> 16) & 255) * rest + blue * cover) >> 8;
    pixels[place] = (255 << 24) | (b << 16) | (g << 8) | r;
  }
}

function isInside(x, y) {
  let inside = false;
  for (let at = 0, before = outline.length - 1; at < outline.length; before = at++) {
    const [ax, ay] = outline[at];
    const [bx, by] = outline[before];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
  }
  return inside;
}

/** The nearest point to a place within a reach, both in map coordinates; lit ones go before. */
function pick(x, y, reach) {
  let best = null;
  let least = reach * reach;
  for (const tile of visibleTiles()) {
    for (let at = 0; at < tile.count; at++) {
      const dx = tile.x[at] - x;
      const dy = tile.y[at] - y;
      const square = (dx * dx + dy * dy) * (mode === "query" && hits.has(tile.number[at]) ? 0.2 : 1);
      if (square < least) {
        least = square;
        best = { number: tile.number[at], x: tile.x[at], y: tile.y[at] };
      }
    }
  }
  return best;
}
