// Bearings, sectors, and which links break a rule.

const TURN = 2 * Math.PI;

/** The antenna of a node that looks at a point: sector k has its centre at yaw + boresight + k · 2π/Q. */
export function sectorTowards(node, x, y, sectors, boresight) {
  const bearing = Math.atan2(y - node.y, x - node.x) - node.yaw - boresight;
  const k = Math.floor((bearing * sectors) / TURN + 0.5);
  return ((k % sectors) + sectors) % sectors;
}

/** The shorter way from one angle to another. */
export function turnBetween(from, to) {
  const turn = (to - from) % TURN;
  return turn > Math.PI ? turn - TURN : turn < -Math.PI ? turn + TURN : turn;
}

/** Keys of the links that break a rule: both nodes send in the same slot, or two links share an antenna. */
export function brokenLinks(state) {
  const broken = new Set();
  const holders = new Map();
  const hold = (id, sector, key) => {
    if (sector === null || sector === undefined) return;
    let antennas = holders.get(id);
    if (antennas === undefined) holders.set(id, (antennas = new Map()));
    const other = antennas.get(sector);
    if (other === undefined) antennas.set(sector, key);
    else broken.add(other).add(key);
  };
  for (const [key, link] of state.links) {
    const a = state.nodes.get(link.source);
    const b = state.nodes.get(link.target);
    if (a === undefined || b === undefined) continue;
    if (a.parity === b.parity) broken.add(key);
    hold(link.source, link.sector_source, key);
    hold(link.target, link.sector_target, key);
  }
  return broken;
}

/** How far a point is from a stretch between two points. */
export function distanceToStretch(px, py, ax, ay, bx, by) {
  const dx = bx - ax;
  const dy = by - ay;
  const long = dx * dx + dy * dy;
  const share = long === 0 ? 0 : Math.min(1, Math.max(0, ((px - ax) * dx + (py - ay) * dy) / long));
  return Math.hypot(px - ax - share * dx, py - ay - share * dy);
}

// The Earth's, of WGS 84: half the equator's width in metres, and how flat it is.
const EQUATOR = 6378137;
const FLATNESS = 0.00669437999014;

/** Latitude and longitude of a place in metres, near a node of which both are known. */
export function degreesAt(node, x, y) {
  const degree = Math.PI / 180;
  const round = 1 - FLATNESS * Math.sin(node.lat * degree) ** 2;
  const northwards = (EQUATOR * (1 - FLATNESS)) / round ** 1.5;
  const eastwards = (EQUATOR / Math.sqrt(round)) * Math.cos(node.lat * degree);
  return { lat: node.lat + (y - node.y) / northwards / degree, lon: node.lon + (x - node.x) / eastwards / degree };
}
