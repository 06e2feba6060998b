// The event stream of one network, read by fetch because EventSource cannot send a token; it comes back by itself.

import { ApiError, NoAnswerError, of } from "./api.js";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 5000;
const SILENCE_MS = 40000; // the server says something at least every 15 s

/**
 * Follow a network until `stop()` of what is returned is called.
 *
 * `heard(kind, data)` gets every event; `lost()` is told when the stream has ended, and will be tried again;
 * `missing()` when there is no such network any more.
 */
export function follow(id, { heard, lost, missing }) {
  const control = new AbortController();
  run(id, control.signal, { heard, lost, missing });
  return { stop: () => control.abort() };
}

async function run(id, stopped, { heard, lost, missing }) {
  let wait = FIRST_WAIT_MS;
  while (!stopped.aborted) {
    try {
      const ended = await read(id, stopped, (kind, data) => {
        wait = FIRST_WAIT_MS;
        try {
          heard(kind, data);
        } catch (error) {
          console.error(error); // of the page, not of the stream, which goes on
        }
      });
      if (ended === "deleted") return;
    } catch (error) {
      if (stopped.aborted) return;
      if (error instanceof ApiError && error.status === 404) {
        missing();
        return;
      }
      const expected = error instanceof TypeError || error instanceof ApiError || error instanceof NoAnswerError || error.name === "AbortError";
      if (!expected) console.error(error);
    }
    if (stopped.aborted) return;
    lost();
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(2 * wait, LONGEST_WAIT_MS);
  }
}

async function read(id, stopped, heard) {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENCE_MS);
  };
  try {
    const response = await of(id).events(AbortSignal.any([stopped, silence.signal]));
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let left = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return "ended";
      alive();
      const blocks = (left + value).split(/\r?\n\r?\n/);
      left = blocks.pop();
      for (const block of blocks) {
        const { kind, data } = parsed(block);
        if (data === null) continue;
        heard(kind, data);
        if (kind === "deleted") return kind;
      }
    }
  } finally {
    clearTimeout(timer);
  }
}

function parsed(block) {
  let kind = "message";
  const lines = [];
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith("event:")) kind = line.slice(6).trim();
    else if (line.startsWith("data:")) lines.push(line.slice(5).trimStart());
  }
  if (kind === "deleted") return { kind, data: {} };
  return { kind, data: lines.length === 0 ? null : JSON.parse(lines.join("\n")) };
}
