// What is on the map at a moment: nodes on their way to where they were last heard of, links that have just come, and
// links that are fading out. A state goes in whenever one arrives; `advance` moves everything on between them.

import { linkKey } from "../merge.js";
import { brokenLinks, turnBetween } from "./geometry.js";

export const GLOW_MS = 1600;
export const FADE_MS = 1100;
const TRAIL = 14;
const TRAILS_UP_TO = 200; // nodes; beyond, trails are clutter
const NOWHERE = { x: 0, y: 0 };

export class Scene {
  nodes = new Map();
  links = new Map();
  fading = [];
  broken = 0;
  forbidden = [];
  heldUntil = 0; // no node is in anybody's hand after this
  #began = 0;
  #lasts = 1;

  /**
   * Take in a state; by how far the fleet was set over at once, in metres, because it is somewhere else altogether.
   *
   * - lasts: milliseconds in which nodes go to their new places; 0 puts them there at once.
   * - glow: whether links that come and go are shown as doing so.
   */
  show(state, now, { lasts, glow }) {
    const silent = new Set(state.network?.pins.silent ?? []);
    const trails = state.nodes.size <= TRAILS_UP_TO;
    for (const id of this.nodes.keys()) if (!state.nodes.has(id)) this.nodes.delete(id);
    const carried = this.#carry(state);
    for (const node of state.nodes.values()) {
      const shown = this.nodes.get(node.id);
      if (shown === undefined) {
        this.nodes.set(node.id, newcomer(node, silent.has(node.id)));
        continue;
      }
      shown.parity = node.parity;
      shown.stale = node.stale;
      shown.silent = silent.has(node.id);
      if (shown.heldUntil > now) continue;
      if (trails && glow && (shown.toX !== node.x || shown.toY !== node.y)) leaveTrail(shown);
      if (!trails || !glow) shown.trail.length = 0;
      shown.fromX = shown.x;
      shown.fromY = shown.y;
      shown.fromYaw = shown.yaw;
      shown.toX = node.x;
      shown.toY = node.y;
      shown.toYaw = shown.yaw + turnBetween(shown.yaw, node.yaw);
    }
    this.#showLinks(state, now, glow);
    this.#began = now;
    this.#lasts = lasts;
    this.advance(now);
    return carried;
  }

  /**
   * Take the whole fleet along where it has gone farther than it is wide: to another version or another flight. Seen
   * from the fleet, its shape then changes; flying there would show a flight that never was.
   */
  #carry(state) {
    if (this.nodes.size === 0) return NOWHERE;
    const box = this.box();
    let [dx, dy] = [0, 0];
    for (const { id, x, y } of this.nodes.values()) {
      dx += (state.nodes.get(id).x - x) / this.nodes.size;
      dy += (state.nodes.get(id).y - y) / this.nodes.size;
    }
    if (Math.hypot(dx, dy) < Math.max(box.maxX - box.minX, box.maxY - box.minY)) return NOWHERE;
    for (const node of this.nodes.values()) {
      node.x += dx;
      node.y += dy;
      node.trail.length = 0;
      node.heldUntil = 0;
    }
    return { x: dx, y: dy };
  }

  #showLinks(state, now, glow) {
    const broken = brokenLinks(state);
    this.broken = broken.size;
    let most = 0;
    for (const link of state.links.values()) most = Math.max(most, link.forward + link.backward);
    for (const [key, link] of this.links) {
      if (state.links.has(key)) continue;
      this.links.delete(key);
      if (glow && this.fading.length < 400) this.fading.push({ a: link.a, b: link.b, since: now });
    }
    for (const [key, { source, target, forward, backward, pinned }] of state.links) {
      const a = this.nodes.get(source);
      const b = this.nodes.get(target);
      if (a === undefined || b === undefined) {
        this.links.delete(key);
        continue;
      }
      let link = this.links.get(key);
      if (link === undefined) {
        // A link the other way round is the same link to the eye.
        const since = glow && !this.links.has(linkKey(target, source)) ? now : -Infinity;
        this.links.set(key, (link = { key, source, target, since }));
      }
      link.a = a;
      link.b = b;
      link.rate = forward === null ? null : forward + backward;
      link.weight = most > 0 ? Math.sqrt((forward + backward) / most) : 0.5;
      link.pinned = pinned;
      link.broken = broken.has(key);
      if (!glow) link.since = -Infinity;
    }
    if (!glow) this.fading.length = 0;
    this.forbidden = (state.network?.pins.avoid ?? [])
      .map(([a, b]) => [this.nodes.get(a), this.nodes.get(b)])
      .filter(([a, b]) => a !== undefined && b !== undefined);
  }

  /** Move on to a moment; whether anything still moves, glows or fades. */
  advance(now) {
    const share = this.#lasts <= 0 ? 1 : Math.min(1, (now - this.#began) / this.#lasts);
    for (const node of this.nodes.values()) {
      if (node.heldUntil > now) continue;
      node.x = node.fromX + (node.toX - node.fromX) * share;
      node.y = node.fromY + (node.toY - node.fromY) * share;
      node.yaw = node.fromYaw + (node.toYaw - node.fromYaw) * share;
    }
    let glowing = false;
    for (const link of this.links.values()) glowing ||= now - link.since < GLOW_MS;
    if (this.fading.length > 0 && now - this.fading[0].since > FADE_MS) {
      this.fading = this.fading.filter(({ since }) => now - since <= FADE_MS);
    }
    return share < 1 || glowing || this.fading.length > 0;
  }

  /** Put a node somewhere by hand; what the server says of its place is not heeded for `ms`. */
  hold(id, x, y, now, ms) {
    const node = this.nodes.get(id);
    if (node === undefined) return;
    node.heldUntil = now + ms;
    this.heldUntil = Math.max(this.heldUntil, node.heldUntil);
    node.x = node.fromX = node.toX = x;
    node.y = node.fromY = node.toY = y;
    node.trail.length = 0;
  }

  clear() {
    this.nodes.clear();
    this.links.clear();
    this.fading.length = 0;
    this.forbidden.length = 0;
    this.broken = 0;
  }

  /** The box around all nodes as they are, with their middle; null without nodes. */
  box() {
    if (this.nodes.size === 0) return null;
    const box = { minX: Infinity, maxX: -Infinity, minY: Infinity, maxY: -Infinity, middleX: 0, middleY: 0 };
    for (const { x, y } of this.nodes.values()) {
      if (x < box.minX) box.minX = x;
      if (x > box.maxX) box.maxX = x;
      if (y < box.minY) box.minY = y;
      if (y > box.maxY) box.maxY = y;
      box.middleX += x / this.nodes.size;
      box.middleY += y / this.nodes.size;
    }
    return box;
  }
}

function newcomer({ id, x, y, yaw, parity, stale }, silent) {
  return { id, x, y, yaw, fromX: x, fromY: y, fromYaw: yaw, toX: x, toY: y, toYaw: yaw, parity, stale, silent,
    heldUntil: 0, trail: [], corner: 0 };
}

function leaveTrail(node) {
  node.trail.push(node.toX, node.toY);
  if (node.trail.length > 2 * TRAIL) node.trail.splice(0, 2);
}
