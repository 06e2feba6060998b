// Taking it with you: NetJSON, a picture, a video.

import { of } from "./api.js";
import { byId, el, say, toast } from "./dom.js";
import { tried } from "./flight.js";
import { redraw } from "./map/fleet_view.js";
import { get, network, seen } from "./store.js";
import { palette } from "./theme.js";
import { count, throughput } from "./units.js";

const FRAMES_A_SECOND = 30;
const FOOT_PX = 44;
const VIDEO = ["video/webm", "video/mp4"].find((kind) => globalThis.MediaRecorder?.isTypeSupported(kind)); // Safari: mp4
let recorder = null;

export function startExports() {
  menu();
  byId("export-netjson").addEventListener("click", () => tried(netjson));
  byId("export-png").addEventListener("click", picture);
  const video = byId("export-video");
  video.hidden = VIDEO === undefined || byId("canvas").captureStream === undefined;
  say(byId("export-video-kind"), `${VIDEO === "video/mp4" ? "MP4" : "WebM"}, until you stop it`);
  video.addEventListener("click", () => (recorder === null ? record() : recorder.stop()));
}

function menu() {
  const button = byId("export");
  const box = byId("export-menu");
  const open = (yes) => {
    box.hidden = !yes;
    button.setAttribute("aria-expanded", String(yes));
  };
  button.addEventListener("click", () => open(box.hidden));
  box.addEventListener("click", () => open(false));
  document.addEventListener("pointerdown", (event) => {
    if (!box.hidden && !box.parentElement.contains(event.target)) open(false);
  });
  box.parentElement.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || box.hidden) return;
    open(false);
    button.focus();
  });
}

async function netjson() {
  const version = get("mode") === "history" ? get("shown").version : null;
  const response = await of(get("chosen")).topology(version);
  save(await response.blob(), `${fileName()}.json`);
}

/** The map as it is, with a line under it that says what it is of. */
function picture() {
  const canvas = byId("canvas");
  const state = seen();
  const ratio = canvas.width / canvas.clientWidth;
  const copy = el("canvas", { width: canvas.width, height: canvas.height + Math.round(FOOT_PX * ratio) });
  const context = copy.getContext("2d");
  context.fillStyle = palette.panel;
  context.fillRect(0, 0, copy.width, copy.height);
  context.drawImage(canvas, 0, 0);
  context.scale(ratio, ratio);
  context.fillStyle = palette.ink;
  context.font = `13px ${palette.font}`;
  context.textBaseline = "middle";
  const facts = state === null || state.version === null ? ""
    : `, version ${state.version}: ${count(state.nodes.size, "node")}, ${count(state.links.size, "link")}, T ${throughput(state.metrics.throughput)} Mbit/s`;
  context.fillText(`${network()?.name ?? "NetDiff"}${facts}`, 20, canvas.clientHeight + FOOT_PX / 2);
  copy.toBlob((blob) => save(blob, `${fileName()}.png`), "image/png");
}

function record() {
  const chunks = [];
  const stream = byId("canvas").captureStream(FRAMES_A_SECOND);
  recorder = new MediaRecorder(stream, { mimeType: VIDEO });
  recorder.addEventListener("dataavailable", ({ data }) => chunks.push(data));
  recorder.addEventListener("stop", () => {
    stream.getTracks().forEach((track) => track.stop());
    recorder = null;
    tellRecording();
    save(new Blob(chunks, { type: VIDEO }), `${fileName()}.${VIDEO.slice("video/".length)}`);
  });
  recorder.start(1000);
  redraw(); // a fleet that stands still is not drawn by itself, and would leave an empty video
  tellRecording();
  toast("Recording the map. Export again to stop.");
}

function tellRecording() {
  byId("export").dataset.recording = String(recorder !== null);
  byId("export-video").setAttribute("aria-pressed", String(recorder !== null));
  say(byId("export-video-text"), recorder === null ? "Record video" : "Stop recording");
}

/** Letters and digits of the name only: it becomes a file on somebody's disk. */
function fileName() {
  const name = (network()?.name ?? "netdiff").normalize("NFKD").replace(/[^\w-]+/g, "-").slice(0, 40) || "netdiff";
  return `${name}-${seen()?.version ?? 0}`;
}

function save(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
