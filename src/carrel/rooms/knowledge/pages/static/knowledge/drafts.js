// Drafts of notes that this browser keeps until the server has acknowledged them.

const PREFIX = "carrel:note-draft:";

const keyOf = (user, note, token) => `${PREFIX}${user}:${note || "new"}:${token}`;

export function newToken() {
  return [...crypto.getRandomValues(new Uint8Array(12))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

/** Keeps a draft; false where the browser has no room for it or keeps nothing. */
export function keepDraft(user, note, token, draft) {
  try {
    localStorage.setItem(keyOf(user, note, token), JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

export function dropDraft(user, note, token) {
  try {
    localStorage.removeItem(keyOf(user, note, token));
  } catch {
    // Storage that is switched off has nothing to forget.
  }
}

/** All drafts of a note, the newest first. */
export function listDrafts(user, note) {
  const found = [];
  try {
    const beginning = keyOf(user, note, "");
    for (let at = 0; at < localStorage.length; at += 1) {
      const key = localStorage.key(at);
      if (!key.startsWith(beginning)) continue;
      const draft = readDraft(localStorage.getItem(key));
      if (draft) found.push({ ...draft, token: key.slice(beginning.length) });
    }
  } catch {
    return [];
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
