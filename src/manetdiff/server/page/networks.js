// The networks: pick, create, rename, delete; and the ways out of an empty screen.

import { createNetwork, of } from "./api.js";
import { byId, fill, offer, say, toast } from "./dom.js";
import { DEMO, tried } from "./flight.js";
import { choose, refreshNetworks } from "./session.js";
import { get, network, on } from "./store.js";

export function startNetworks() {
  byId("network").addEventListener("change", () => choose(byId("network").value));
  for (const id of ["new-network", "new-network-below"]) byId(id).addEventListener("click", () => askForNew("flight"));
  byId("new-cancel").addEventListener("click", () => byId("new-dialog").close());
  byId("new-dialog").querySelector("form").addEventListener("submit", createAsked);
  byId("start-demo").addEventListener("click", () => create({ name: "Demo fleet" }, true));
  byId("start-own").addEventListener("click", () => askForNew("own"));
  byId("waiting-fly").addEventListener("click", () => tried(() => of(get("chosen")).fly(DEMO)));
  byId("waiting-copy").addEventListener("click", copy);
  byId("naming").addEventListener("submit", (event) => event.preventDefault());
  byId("name").addEventListener("change", rename);
  byId("delete-network").addEventListener("click", askToDelete);
  byId("delete-dialog").addEventListener("close", deleteAsked);
  on(["networks", "chosen", "live"], show);
  on(["choices"], () => offer(byId("new-radio"), get("choices").radios.map(({ name, title }) => [name, title])));
}

async function copy() {
  const line = byId("waiting-curl");
  try {
    await navigator.clipboard.writeText(line.textContent);
    toast("Copied.");
  } catch {
    // Without TLS a browser does not let pages copy: it is selected, for the keys that copy.
    getSelection().selectAllChildren(line);
    line.focus();
    toast("Selected: copy it with the keyboard.");
  }
}

function askForNew(source) {
  byId("new-name").value = `Network ${get("networks").length + 1}`;
  byId("new-source").value = source;
  byId("new-dialog").showModal();
  byId("new-name").select();
}

function createAsked(event) {
  event.preventDefault();
  const { radio } = get("choices").radios.find(({ name }) => name === byId("new-radio").value);
  const flies = byId("new-source").value === "flight";
  byId("new-dialog").close();
  create({ name: byId("new-name").value.trim(), radio }, flies);
}

async function create(body, flies) {
  const made = await tried(() => createNetwork(body));
  if (made === null) return;
  if (flies) await tried(() => of(made.id).fly(DEMO));
  await tried(refreshNetworks);
  choose(made.id);
}

async function rename() {
  const name = byId("name").value.trim();
  if (name === "" || get("chosen") === null) return;
  await tried(() => of(get("chosen")).change({ name }));
  await tried(refreshNetworks);
}

function askToDelete() {
  say(byId("delete-what"), `“${network().name}”, its history and its pins will be gone for everybody.`);
  byId("delete-dialog").returnValue = "cancel";
  byId("delete-dialog").showModal();
}

async function deleteAsked() {
  if (byId("delete-dialog").returnValue !== "delete") return;
  byId("delete-dialog").returnValue = "";
  await tried(() => of(get("chosen")).remove()); // the stream says that it is gone, and another is chosen
}

let offered = "";

function show() {
  const chosen = get("chosen");
  const live = get("live");
  // The list is asked for rarely; the name of the one that is looked at comes with its events.
  const options = get("networks").map(({ id, name }) => [id, id === chosen && live !== null ? live.network.name : name]);
  if (JSON.stringify(options) !== offered) {
    offered = JSON.stringify(options);
    offer(byId("network"), options.length === 0 ? [["", "No networks"]] : options);
  }
  byId("network").value = chosen ?? "";
  byId("network").disabled = options.length === 0;
  fill(byId("name"), network()?.name ?? "");
  for (const id of ["name", "delete-network"]) byId(id).disabled = chosen === null;
  say(byId("network-id"), chosen ?? "");
  document.title = network() === null ? "NetDiff controller" : `${network().name}, NetDiff`;
}
