// The same data as tables: nodes and links. Kept up to date only while they are seen, a hundred rows at a time.

import { byId, el, say, throttled } from "./dom.js";
import { openLinkMenu } from "./link_menu.js";
import { linkKey } from "./merge.js";
import { pinOf } from "./pins.js";
import { get, on, seen, set } from "./store.js";
import { onOpen, visible } from "./tabs.js";
import { count, heading, kilometres, metres, number } from "./units.js";

const BETWEEN_MS = 700;
const PAGE = 100;
const limit = { nodes: PAGE, links: PAGE };
let wanted = "";
let tables = null;

export function startTables() {
  build();
  onOpen("tables", refresh);
  on(["live", "shown", "selected", "chosen"], () => visible("tables") && refresh());
}

function build() {
  const filter = el("input", { type: "search", id: "filter", placeholder: "Filter by id", autocomplete: "off", aria: { label: "Filter nodes and links by id" } });
  filter.addEventListener("input", () => {
    wanted = filter.value.trim().toLowerCase();
    refresh();
  });
  tables = {
    nodes: table("nodes", "Nodes", ["Node", "Slot", "Heading", "East, km", "North, km", "Links"]),
    links: table("links", "Links", ["Link", "Mbit/s", "Back", "Length", "Pin"]),
  };
  byId("panel-tables").replaceChildren(el("div", { className: "filter" }, filter), ...Object.values(tables).map(({ box }) => box));
}

function table(name, title, heads) {
  const caption = el("caption", { textContent: title });
  const body = el("tbody", { data: { testid: `${name}-rows` } });
  const more = el("button", { type: "button", className: "more", hidden: true });
  more.addEventListener("click", () => {
    limit[name] += 5 * PAGE;
    refresh();
  });
  const head = el("thead", {}, el("tr", {}, ...heads.map((textContent) => el("th", { scope: "col", textContent }))));
  const grid = el("table", { id: `table-${name}` }, caption, head, body);
  const box = el("div", {}, el("div", { className: "scroll" }, grid), more);
  return { title, caption, body, more, box, rows: new Map() };
}

const byName = new Intl.Collator(undefined, { numeric: true });
const bySource = (one, other) => byName.compare(one.source, other.source) || byName.compare(one.target, other.target);

const refresh = throttled(() => {
  const state = seen();
  const nodes = state === null ? [] : [...state.nodes.values()];
  const links = state === null ? [] : [...state.links.values()].sort(bySource);
  const degree = new Map();
  for (const { source, target } of links) {
    degree.set(source, (degree.get(source) ?? 0) + 1);
    degree.set(target, (degree.get(target) ?? 0) + 1);
  }
  const has = (...ids) => wanted === "" || ids.some((id) => id.toLowerCase().includes(wanted));
  const live = get("mode") === "live";
  fillRows("nodes", nodes.filter(({ id }) => has(id)), ({ id }) => id, nodeRow, (node) => [
    node.stale ? "stale" : "", String(node.parity), heading(node.yaw), kilometres(node.x), kilometres(node.y), String(degree.get(node.id) ?? 0),
  ]);
  fillRows("links", links.filter(({ source, target }) => has(source, target)), (link) => linkKey(link.source, link.target), linkRow, (link) => [
    number(link.forward), number(link.backward), metres(link.distance),
  ]);
  for (const [id, { tr }] of tables.nodes.rows) {
    if (id === get("selected")) tr.setAttribute("aria-current", "true");
    else tr.removeAttribute("aria-current");
  }
  for (const { pin, ends } of tables.links.rows.values()) {
    pin.disabled = !live;
    say(pin, { keep: "Kept", avoid: "Forbidden" }[pinOf(...ends)] ?? "Pin");
  }
}, BETWEEN_MS);

/** Rows are made once and their texts changed, so that the focus and the reading place stay. */
function fillRows(name, items, keyOf, make, textsOf) {
  const { title, caption, body, more, rows } = tables[name];
  say(caption, `${title} (${items.length})`);
  const shown = items.slice(0, limit[name]);
  let next = body.firstChild;
  const keys = new Set(shown.map(keyOf));
  for (const [key, { tr }] of rows) {
    if (keys.has(key)) continue;
    if (tr === next) next = tr.nextSibling;
    tr.remove();
    rows.delete(key);
  }
  for (const item of shown) {
    const key = keyOf(item);
    let row = rows.get(key);
    if (row === undefined) rows.set(key, (row = make(item)));
    if (row.tr === next) next = next.nextSibling;
    else body.insertBefore(row.tr, next);
    textsOf(item).forEach((text, k) => say(row.cells[k], text));
  }
  more.hidden = items.length <= shown.length;
  say(more, `Show more, ${count(items.length - shown.length, "row")} left`);
}

function nodeRow({ id }) {
  const remark = el("small", { className: "quiet-text" });
  const cells = Array.from({ length: 5 }, () => el("td"));
  const button = el("button", { type: "button", className: "name", textContent: id, title: `Select ${id} on the map` });
  button.addEventListener("click", () => set({ selected: id }));
  return { cells: [remark, ...cells], tr: el("tr", {}, el("th", { scope: "row" }, button, remark), ...cells) };
}

function linkRow({ source, target }) {
  const cells = Array.from({ length: 3 }, () => el("td"));
  const name = `${source} – ${target}`;
  const pin = el("button", { type: "button", aria: { description: `link ${name}` } });
  pin.addEventListener("click", () => openLinkMenu(source, target));
  const tr = el("tr", {}, el("th", { scope: "row", textContent: name, title: name }), ...cells, el("td", {}, pin));
  return { cells, pin, ends: [source, target], tr };
}
