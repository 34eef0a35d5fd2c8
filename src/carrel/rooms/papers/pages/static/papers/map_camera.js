// Where the map is looked at: a middle in map coordinates (0 to 1) and pixels per unit.

const MOST = 60;

export class Camera {
  constructor(onChange) {
    this.x = 0.5;
    this.y = 0.5;
    this.scale = 600;
    this.width = 1;
    this.height = 1;
    this.fit = 600;
    this.onChange = onChange;
  }

  resize(width, height) {
    const isFirst = this.width === 1;
    const wasFit = Math.abs(this.scale - this.fit) < 1;
    this.width = width;
    this.height = height;
    this.fit = Math.max(50, Math.min(width, height) - 8);
    if (isFirst || wasFit) this.scale = this.fit;
    this.onChange();
  }

  /** Pixels of a place. */
  toScreen(x, y) {
    return [(x - this.x) * this.scale + this.width / 2, (y - this.y) * this.scale + this.height / 2];
  }

  /** The place under pixels. */
  toMap(px, py) {
    return [(px - this.width / 2) / this.scale + this.x, (py - this.height / 2) / this.scale + this.y];
  }

  pan(dx, dy) {
    this.x = clamp(this.x - dx / this.scale, 0, 1);
    this.y = clamp(this.y - dy / this.scale, 0, 1);
    this.onChange();
  }

  /** Zooms by a factor; the place under the pixels stays there. */
  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const [x, y] = this.toMap(px, py);
    this.scale = clamp(this.scale * factor, this.fit * 0.7, this.fit * MOST);
    this.x = clamp(x - (px - this.width / 2) / this.scale, 0, 1);
    this.y = clamp(y - (py - this.height / 2) / this.scale, 0, 1);
    this.onChange();
  }

  showAll() {
    this.x = 0.5;
    this.y = 0.5;
    this.scale = this.fit;
    this.onChange();
  }

  goTo(x, y, nearness) {
    this.x = x;
    this.y = y;
    this.scale = clamp(this.fit * nearness, this.fit * 0.7, this.fit * MOST);
    this.onChange();
  }

  get nearness() {
    return this.scale / this.fit;
  }
}

function clamp(value, least, most) {
  return Math.min(most, Math.max(least, value));
}
