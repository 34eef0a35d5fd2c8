// Drafts of notes that this browser keeps until the server has acknowledged them.
import { browserStorage } from "../desk/storage.js";

const PREFIX = "carrel:note-draft:";

const keyOf = (user, note, token) => `${PREFIX}${user}:${note || "new"}:${token}`;

export function newToken() {
  return [...crypto.getRandomValues(new Uint8Array(12))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

/** Keeps a draft; false where the browser has no room for it or keeps nothing. */
export function keepDraft(user, note, token, draft) {
  return browserStorage.keep(keyOf(user, note, token), JSON.stringify(draft));
}

export function dropDraft(user, note, token) {
  browserStorage.drop(keyOf(user, note, token));
}

/** All drafts of a note, the newest first. */
export function listDrafts(user, note) {
  const beginning = keyOf(user, note, "");
  const found = [];
  for (const key of browserStorage.list(beginning)) {
    const draft = readDraft(browserStorage.read(key));
    if (draft) found.push({ ...draft, token: key.slice(beginning.length) });
  }
  return found.sort((one, other) => other.at - one.at);
}

/** Forgets a draft that was sent, once a page of ours names it as saved. */
export function acknowledge(user, notes, token) {
  for (const note of notes) {
    for (const draft of listDrafts(user, note)) {
      if (draft.token === token && draft.isSent) dropDraft(user, note, token);
    }
  }
}

function readDraft(text) {
  try {
    const draft = JSON.parse(text);
    const isWhole = ["title", "tags", "content", "version"].every(
      (name) => typeof draft?.[name] === "string",
    );
    return isWhole && typeof draft.at === "number" ? draft : null;
  } catch {
    return null;
  }
}
