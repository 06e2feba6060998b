// Small helpers for elements. Text goes in as text only: ids of nodes may hold any characters.

export const byId = (id) => document.getElementById(id);

/** An element with properties, data-… attributes (`data`), ARIA attributes (`aria`) and children. */
export function el(tag, { data = {}, aria = {}, ...properties } = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) made[name] = value;
  for (const [name, value] of Object.entries(data)) made.dataset[name] = value;
  for (const [name, value] of Object.entries(aria)) made.setAttribute(`aria-${name}`, value);
  made.append(...children);
  return made;
}

/** Set the text only where it differs, so that nothing is laid out or read aloud for no reason. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Set a field's value, but not under the hands of whoever is editing it. */
export function fill(field, value) {
  const text = value === null || value === undefined ? "" : String(value);
  if (document.activeElement !== field && field.value !== text) field.value = text;
}

/** Replace the options of a select; each is [value, text]. Keeps the value where it is still offered. */
export function offer(select, options) {
  const before = select.value;
  select.replaceChildren(...options.map(([value, text]) => el("option", { value, textContent: text })));
  if (options.some(([value]) => value === before)) select.value = before;
}

/** Call `work` at most once in `ms`, with the newest arguments; the last call always comes through. */
export function throttled(work, ms) {
  let due = 0;
  let timer = null;
  let newest = [];
  return (...given) => {
    newest = given;
    if (timer !== null) return;
    const now = performance.now();
    const wait = Math.max(0, due - now);
    due = now + wait + ms;
    timer = setTimeout(() => {
      timer = null;
      work(...newest);
    }, wait);
  };
}

/** A line at the foot of the map that goes away by itself: mostly what the server has refused, and why. */
export function toast(text) {
  const line = el("div", { className: "toast", textContent: text });
  const box = byId("toasts");
  while (box.children.length >= 3) box.firstChild.remove();
  box.append(line);
  setTimeout(() => line.remove(), 6000);
}
