// The card of the selected node: where it is, its links, and the button that silences it.

import { byId, el, say } from "./dom.js";
import { openLinkMenu } from "./link_menu.js";
import { isSilent, toggleSilent } from "./pins.js";
import { get, on, seen, set } from "./store.js";
import { heading, kilometres, number } from "./units.js";
import { camera, scene } from "./map/fleet_view.js";

const MARGIN_PX = 24;
const card = byId("inspector");
let parts = null; // of the node that the card is for; texts change at each update, elements do not

export function startInspector() {
  on(["selected", "live", "shown", "mode"], show);
}

function show() {
  const state = seen();
  const node = state?.nodes.get(get("selected"));
  card.hidden = node === undefined;
  if (node === undefined) {
    parts = null;
    return;
  }
  if (parts?.id !== node.id) {
    build(node.id);
    standAside(node.id);
  }
  parts.mark.className = `key plane-${node.parity}`;
  say(parts.slot, String(node.parity));
  say(parts.heading, heading(node.yaw));
  say(parts.east, `${kilometres(node.x)} km`);
  say(parts.north, `${kilometres(node.y)} km`);
  say(parts.heard, node.stale ? "not lately" : "yes");
  const silent = isSilent(node.id);
  say(parts.silence, silent ? "Let it send" : "Silence");
  parts.silence.disabled = get("mode") !== "live";
  showLinks(state, node.id);
}

function build(id) {
  const close = el("button", { type: "button", className: "small quiet", textContent: "Close" });
  close.addEventListener("click", () => {
    set({ selected: null });
    byId("map").focus();
  });
  parts = { id, peers: "", mark: el("span", { aria: { hidden: "true" } }), silence: el("button", { type: "button", className: "small", data: { testid: "silence" } }) };
  parts.silence.addEventListener("click", () => toggleSilent(id));
  const facts = el("dl");
  for (const [name, title] of [["slot", "Sends in slot"], ["heading", "Heading"], ["east", "East"], ["north", "North"], ["heard", "Heard of"]]) {
    parts[name] = el("dd");
    facts.append(el("dt", { textContent: title }), parts[name]);
  }
  parts.links = el("div", { className: "links" });
  card.replaceChildren(
    el("header", {}, parts.mark, el("h2", { textContent: id, title: id }), close), facts, parts.links, parts.silence,
  );
}

/** To the left where the node itself would be under the card. */
function standAside(id) {
  const node = scene.nodes.get(id);
  const isUnder = node !== undefined && camera.screenX(node.x) > camera.width - 2 * MARGIN_PX - card.offsetWidth &&
    camera.screenY(node.y) > camera.height - 4 * MARGIN_PX - card.offsetHeight;
  card.dataset.side = isUnder ? "left" : "right";
}

function showLinks(state, id) {
  const links = [...state.links.values()].filter(({ source, target }) => source === id || target === id);
  const peers = links.map(({ source, target }) => (source === id ? target : source));
  if (JSON.stringify(peers) !== parts.peers) {
    parts.peers = JSON.stringify(peers);
    parts.rates = links.map(() => el("span", { className: "quiet-text" }));
    parts.links.hidden = links.length === 0;
    parts.links.replaceChildren(...peers.map((peer, k) => {
      const button = el("button", { type: "button" }, el("span", { textContent: peer }), parts.rates[k]);
      button.addEventListener("click", () => {
        if (get("mode") === "live") openLinkMenu(id, peer);
      });
      return button;
    }));
  }
  links.forEach(({ forward, backward }, k) => say(parts.rates[k], forward === null ? "" : `${number(forward + backward)} Mbit/s`));
}
