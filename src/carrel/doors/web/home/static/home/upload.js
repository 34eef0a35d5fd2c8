// Sends a file in pieces, and goes on where it stopped when the connection breaks.
import { CallError, csrfToken } from "../desk/call.js";
import { browserStorage } from "../desk/storage.js";

const PIECE_BYTES = 4 * 1024 * 1024;
const WAITS_SECONDS = [1, 2, 4, 8, 15, 30, 30, 30];
const PLACE = "/console/uploads";

/** The person stopped it. */
export class Stopped extends Error {}

/** The id of the complete upload; `onProgress` is told parts of 1, `onBreak` of broken connections. */
export async function sendFile(file, signal, { onProgress, onBreak }) {
  let { id, offset } = (await findEarlier(file, signal)) ?? (await begin(file, signal));
  let failures = 0;
  onProgress(offset / file.size);
  while (offset < file.size) {
    try {
      const state = await ask(`${PLACE}/${id}`, {
        method: "PATCH",
        headers: { "content-type": "application/offset+octet-stream", "upload-offset": String(offset) },
        body: file.slice(offset, offset + PIECE_BYTES),
        signal,
      });
      offset = state.offset;
      failures = 0;
      onProgress(offset / file.size);
    } catch (problem) {
      if (problem.status === 409 && Number.isInteger(problem.details.offset) && problem.details.offset > offset) {
        offset = problem.details.offset; // The piece arrived, and only its answer was lost.
        continue;
      }
      if (!isPassing(problem) || failures >= WAITS_SECONDS.length) {
        if (!isPassing(problem)) browserStorage.drop(keyOf(file));
        throw problem;
      }
      onBreak();
      await wait(WAITS_SECONDS[failures], signal);
      failures += 1;
      offset = await findOffset(id, offset, signal);
    }
  }
  browserStorage.drop(keyOf(file));
  return id;
}

async function begin(file, signal) {
  const state = await ask(PLACE, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: file.name, size: file.size }),
    signal,
  });
  browserStorage.keep(keyOf(file), state.upload_id);
  return { id: state.upload_id, offset: 0 };
}

/** An upload of the same file that a page before could not finish. */
async function findEarlier(file, signal) {
  const id = browserStorage.read(keyOf(file));
  if (!id) return null;
  try {
    const state = await ask(`${PLACE}/${id}`, { method: "GET", signal });
    return state.is_complete ? null : { id, offset: state.offset };
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    browserStorage.drop(keyOf(file));
    return null;
  }
}

async function findOffset(id, last, signal) {
  try {
    return (await ask(`${PLACE}/${id}`, { method: "GET", signal })).offset;
  } catch (problem) {
    if (isPassing(problem)) return last;
    throw problem;
  }
}

async function ask(address, options) {
  let response;
  try {
    response = await fetch(address, { ...options, headers: { ...options.headers, "x-csrf": csrfToken() } });
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new CallError(0, null);
  }
  let body = null;
  try {
    body = await response.json();
  } catch {
    // A proxy's page, or an answer that was cut off.
  }
  if (!response.ok || !body) throw new CallError(response.status || 502, body);
  return body;
}

const isPassing = (problem) => problem instanceof CallError && [0, 408, 429, 502, 503, 504].includes(problem.status) && problem.code !== "home_not_persistent";

function wait(seconds, signal) {
  return new Promise((keep, fail) => {
    const timer = setTimeout(keep, seconds * 1000);
    addEventListener("online", keep, { once: true });
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      fail(new Stopped());
    }, { once: true });
  });
}

const keyOf = (file) => `carrel-upload:${file.name}:${file.size}:${file.lastModified}`;
