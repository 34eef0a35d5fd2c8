// Labels over the map: of regions when it is seen whole, finer ones when it is looked at nearer.

const SVG = "http://www.w3.org/2000/svg";
// From this nearness on the finer labels are shown.
const FINE_FROM = 1.9;

export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

export class Labels {
  constructor(overlay, facts, camera) {
    this.camera = camera;
    this.layer = overlay.appendChild(svg("g"));
    this.coarse = facts.regions
      .filter((region) => region.terms.length)
      .map((region) => ({ ...region, node: this.add(region.terms, false) }));
    this.fine = facts.labels.map((label) => ({ ...label, node: this.add([label.text], true) }));
  }

  add(terms, isFine) {
    const node = svg("text", { class: isFine ? "map-label map-label-fine" : "map-label" });
    node.append(svg("tspan", { x: 0 }, terms[0]));
    if (terms.length > 1) {
      node.append(svg("tspan", { x: 0, dy: "1.25em", class: "map-label-more" }, terms.slice(1).join(", ")));
    }
    const size = Math.max(terms[0].length * 7.6, terms.slice(1).join(", ").length * 6.2);
    node.dataset.width = Math.min(220, size);
    this.layer.append(node);
    return node;
  }

  light(region) {
    for (const each of this.coarse) {
      each.node.dataset.lit = region < 0 || each.number === region ? "1" : "0";
    }
  }

  /** Puts every label in its place; those that would cover a larger one are left out. */
  place() {
    const isFine = this.camera.nearness >= FINE_FROM;
    const taken = [];
    for (const each of this.coarse) this.put(each, !isFine, taken, 16, true);
    for (const each of this.fine) this.put(each, isFine, taken, 8, false);
  }

  put(each, isWanted, taken, height, hasTwoLines) {
    const { node } = each;
    const [x, y] = this.camera.toScreen(each.x, each.y);
    const half = Number(node.dataset.width) / 2;
    const { width, height: whole } = this.camera;
    const at = Math.min(Math.max(x, half + 6), Math.max(half + 6, width - half - 6));
    const box = [at - half, y - height - 4, at + half, y + (hasTwoLines ? height + 8 : height)];
    const isOut = x < 0 || x > width || box[1] < 44 || y > whole - 24;
    const isFree = taken.every((other) => box[2] < other[0] || box[0] > other[2] || box[3] < other[1] || box[1] > other[3]);
    if (!isWanted || isOut || !isFree) {
      node.setAttribute("visibility", "hidden");
      return;
    }
    taken.push(box);
    node.setAttribute("visibility", "visible");
    node.setAttribute("transform", `translate(${at.toFixed(1)} ${y.toFixed(1)})`);
  }
}
