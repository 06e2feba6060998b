// Calls of the server: JSON in and out, the token by header, and errors with the server's own words.

import { ask, current } from "./token.js";

// Relative to the page, so that it works behind a proxy that puts it under a path.
const ROOT = new URL("v1/", document.baseURI);

export class ApiError extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

/** The server could not be reached at all. */
export class NoAnswerError extends Error {
  constructor() {
    super("The server does not answer.");
  }
}

/** The response of a call, with the token where there is one; asks for it where it is missing or wrong. */
export async function open(path, { method = "GET", body, signal } = {}) {
  for (;;) {
    const token = current();
    const headers = {};
    if (token !== null) headers.Authorization = `Bearer ${token}`;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const request = { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store" };
    const response = await fetch(new URL(path, ROOT), request).catch((error) => {
      throw error instanceof TypeError ? new NoAnswerError() : error;
    });
    if (response.status === 401) {
      await ask(token);
      continue;
    }
    if (!response.ok) throw new ApiError(response.status, await detail(response));
    return response;
  }
}

export async function call(path, options) {
  const response = await open(path, options);
  return response.status === 204 ? null : response.json();
}

export const getChoices = () => call("choices");
export const getNetworks = async () => (await call("networks")).networks;
export const createNetwork = (body) => call("networks", { method: "POST", body });

/** The calls of one network. */
export function of(id) {
  const base = `networks/${encodeURIComponent(id)}`;
  const sent = (method, path, body) => call(`${base}${path}`, { method, body });
  return {
    change: (body) => sent("PATCH", "", body),
    remove: () => sent("DELETE", ""),
    positions: (body) => sent("POST", "/positions?wait=true", body),
    fly: (body) => sent("PUT", "/flight", body),
    changeFlight: (body) => sent("PATCH", "/flight", body),
    endFlight: () => sent("DELETE", "/flight"),
    pin: (body) => sent("PUT", "/pins", body),
    state: (version, signal) => call(`${base}/state?version=${version}`, { signal }),
    history: (before) => call(`${base}/history?limit=60${before === null ? "" : `&before=${before}`}`),
    metrics: (signal) => call(`${base}/metrics-over-time?limit=500`, { signal }),
    explain: (version) => call(`${base}/explain?version=${version}`),
    denoising: (seed) => call(`${base}/denoising?steps=16&seed=${seed}`),
    topology: (version) => open(`${base}/topology${version === null ? "" : `?version=${version}`}`),
    events: (signal) => open(`${base}/events`, { signal }),
  };
}

async function detail(response) {
  try {
    const { detail: words } = await response.json();
    return typeof words === "string" ? words : JSON.stringify(words);
  } catch {
    return `The server answered ${response.status} ${response.statusText}`;
  }
}
