// Divides a long bibliography into pieces that each stand alone, and imports one after the other.
import { call } from "../desk/call.js";

// A piece of so many characters is below the size of a request in every script.
const MOST_CHARACTERS = 1_200_000;

/** The pieces of a bibliography, or null where it cannot be divided without losing anything. */
export function divideBibliography(text, most = MOST_CHARACTERS) {
  const start = text.trimStart();
  if (start.startsWith("[")) return divideJson(start, most);
  if (/^TY {2}- /m.test(text)) return gather(cutAfter(text, /^ER {2}-.*$/gm), most, "");
  if (/^PMID- /m.test(text)) return gather(cutBefore(text, /^PMID- /gm), most, "");
  if (/^@/m.test(text)) return divideBibtex(text, most);
  return null;
}

function divideJson(text, most) {
  let items;
  try {
    items = JSON.parse(text);
  } catch {
    return null;
  }
  const texts = items.map((item) => JSON.stringify(item));
  return gather(texts.map((each) => `${each},`), most, "").map(
    (piece) => `[${piece.replace(/,\s*$/, "")}]`,
  );
}

function divideBibtex(text, most) {
  // These take fields from other entries, which may stand in another piece.
  if (/\b(crossref|xdata|xref)\s*=/i.test(text)) return null;
  const entries = [];
  let depth = 0;
  let begin = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === "\\") at += 1;
    else if (sign === "{") depth += 1;
    else if (sign === "}") depth -= 1;
    else if (sign === "@" && depth === 0 && (at === 0 || text[at - 1] === "\n")) {
      if (at > begin) entries.push(text.slice(begin, at));
      begin = at;
    }
  }
  if (depth !== 0) return null;
  entries.push(text.slice(begin));
  const isShared = (entry) => /^@(string|preamble)\b/i.test(entry);
  const shared = entries.filter(isShared).join("");
  return gather(entries.filter((entry) => !isShared(entry)), most, shared);
}

function cutAfter(text, pattern) {
  const parts = [];
  let begin = 0;
  for (const found of text.matchAll(pattern)) {
    const end = found.index + found[0].length;
    parts.push(text.slice(begin, end));
    begin = end;
  }
  return [...parts, text.slice(begin)].filter((part) => part.trim());
}

function cutBefore(text, pattern) {
  const begins = [...text.matchAll(pattern)].map((found) => found.index);
  return begins.map((begin, at) => text.slice(begin, begins[at + 1]));
}

/** Parts together as long as they fit; `before` stands at the start of every piece. */
function gather(parts, most, before) {
  const pieces = [];
  let piece = before;
  let isEmpty = true;
  for (const part of parts) {
    if (!isEmpty && piece.length + part.length > most) {
      pieces.push(piece);
      piece = before;
    }
    piece += part;
    isEmpty = false;
  }
  return isEmpty ? pieces : [...pieces, piece];
}

/** Imports the pieces in order; `onPiece` is told what has become of all so far. */
export async function importPieces(pieces, onPiece) {
  const sum = { added: 0, skipped: 0, failed: [], warnings: 0 };
  for (const [at, piece] of pieces.entries()) {
    onPiece(at, sum);
    const answer = await call("add_references", { input: [piece] });
    sum.added += answer.added.length;
    sum.skipped += answer.skipped.length;
    sum.warnings += answer.warnings.length;
    sum.failed.push(...answer.failed.map((each) => each.reason));
  }
  onPiece(pieces.length, sum);
  return sum;
}
