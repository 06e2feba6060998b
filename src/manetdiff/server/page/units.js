// Numbers as people read them.

const MINUS = "−";

/** Three significant digits or so, never in exponents. */
export function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  const digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2; // as it is once it is rounded
  return value.toFixed(digits).replace("-", MINUS);
}

/** T with one digit, so that it does not jump about. */
export function throughput(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  return value.toFixed(Math.abs(value) >= 1000 ? 0 : 1);
}

export function signed(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "";
  return `${value >= 0 ? "+" : MINUS}${number(Math.abs(value))}`;
}

export function metres(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  return Math.abs(value) >= 1000 ? `${number(value / 1000)} km` : `${number(value)} m`;
}

/** Where something is, to ten metres: finer than how far, since nodes of a fleet are near each other. */
export const kilometres = (value) => (value / 1000).toFixed(2).replace(/^-0\.00$/, "0.00").replace("-", MINUS);

/** Heading in degrees clockwise from north, of a yaw counter-clockwise from east. */
export function heading(yaw) {
  const degrees = (((90 - (yaw * 180) / Math.PI) % 360) + 360) % 360;
  return `${String(Math.round(degrees) % 360).padStart(3, "0")}°`;
}

export function clock(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (Math.abs(seconds) >= 86400) return `${seconds.toFixed(1)} s`; // somebody's own clock, such as Unix time
  const minutes = Math.floor(seconds / 60);
  return `${minutes}:${(seconds - 60 * minutes).toFixed(1).padStart(4, "0")}`;
}

export function count(n, one, many = `${one}s`) {
  return `${n} ${n === 1 ? one : many}`;
}

export const linkName = (a, b) => `${a} – ${b}`;
