// Where the map looks: a centre in metres and pixels a metre; y goes up. Follows the fleet until somebody takes over.

const SETTLE_MS = 420;
const CLOSEST = 20; // pixels a metre
const FARTHEST = 1e-5;

export class Camera {
  constructor() {
    this.x = 0;
    this.y = 0;
    this.scale = 0.01;
    this.width = 1;
    this.height = 1;
    this.following = true;
    this.aim = null;
  }

  screenX = (x) => (x - this.x) * this.scale + this.width / 2;
  screenY = (y) => this.height / 2 - (y - this.y) * this.scale;
  worldX = (sx) => (sx - this.width / 2) / this.scale + this.x;
  worldY = (sy) => (this.height / 2 - sy) / this.scale + this.y;

  /** Aim so that all of a box is in view within margins; `at once` where there is nothing to glide from. */
  fit(box, { left, right, top, bottom }, atOnce) {
    const wide = Math.max(box.maxX - box.minX, 1);
    const high = Math.max(box.maxY - box.minY, 1);
    const scale = this.#within(
      Math.min(Math.max(80, this.width - left - right) / wide, Math.max(60, this.height - top - bottom) / high),
    );
    this.aim = {
      x: (box.minX + box.maxX) / 2 + (right - left) / 2 / scale,
      y: (box.minY + box.maxY) / 2 + (top - bottom) / 2 / scale,
      scale,
    };
    if (atOnce) this.#arrive();
  }

  /** Glide towards the aim; whether there is still way to go. */
  glide(ms) {
    if (this.aim === null) return false;
    const share = 1 - Math.exp(-ms / SETTLE_MS);
    const ratio = Math.log(this.aim.scale / this.scale);
    this.x += (this.aim.x - this.x) * share;
    this.y += (this.aim.y - this.y) * share;
    this.scale *= Math.exp(ratio * share);
    const off = Math.hypot(this.aim.x - this.x, this.aim.y - this.y) * this.scale;
    if (off < 0.3 && Math.abs(ratio) < 0.001) this.#arrive();
    return this.aim !== null;
  }

  /** Go along with what is looked at, in metres. */
  shift(dx, dy) {
    this.x += dx;
    this.y += dy;
  }

  pan(dx, dy) {
    this.#takeOver();
    this.x -= dx / this.scale;
    this.y += dy / this.scale;
  }

  /** Zoom by a factor, with what is at (sx, sy) staying there. */
  zoom(factor, sx = this.width / 2, sy = this.height / 2) {
    this.#takeOver();
    const x = this.worldX(sx);
    const y = this.worldY(sy);
    this.scale = this.#within(this.scale * factor);
    this.x += x - this.worldX(sx);
    this.y += y - this.worldY(sy);
  }

  #takeOver() {
    this.following = false;
    this.aim = null;
  }

  #arrive() {
    Object.assign(this, this.aim);
    this.aim = null;
  }

  #within = (scale) => Math.min(Math.max(scale, FARTHEST), CLOSEST);
}
