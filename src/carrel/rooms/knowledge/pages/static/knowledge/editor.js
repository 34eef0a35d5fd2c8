// The editor: keeps a draft while one types, shows the text as it will be read, and inserts links.
import { announce } from "../desk/announce.js";
import { call } from "../desk/call.js";
import { clear, debounce, element, icon, replacePart } from "../desk/dom.js";
import { dropDraft, keepDraft, listDrafts, newToken } from "./drafts.js";

const DRAFT_MILLISECONDS = 400;
const PREVIEW_MILLISECONDS = 500;
const FOUND_LINKS = 8;

const form = document.querySelector("form[data-editor]");
if (form) start(form);

function start(form) {
  const { user, note } = form.dataset;
  const fields = Object.fromEntries(
    ["title", "tags", "content"].map((name) => [name, form.elements[name]]),
  );
  const version = form.elements.updated_at;
  const token = form.elements.draft;
  const state = form.querySelector(".editor-state");
  if (!token.value) token.value = newToken();
  const text = () =>
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.value]));
  const isSame = (one, other) =>
    Object.keys(fields).every((name) => one[name] === other[name]);
  let isDirty = false;

  const keep = (isSent = false) => {
    const draft = { ...text(), version: version.value, at: Date.now(), isSent };
    const isKept = keepDraft(user, note, token.value, draft);
    state.textContent = isKept ? form.dataset.textKept : form.dataset.textFailed;
  };
  const keepSoon = debounce(() => {
    if (isDirty) keep();
  }, DRAFT_MILLISECONDS);

  form.addEventListener("input", (event) => {
    if (!Object.values(fields).includes(event.target)) return;
    isDirty = true;
    keepSoon();
    showPreview();
  });
  // A tab that is closed or put aside by a phone does not wait for the timer.
  addEventListener("pagehide", () => {
    if (isDirty) keep(isSending);
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden" && isDirty) keep(isSending);
  });
  let isSending = false;
  form.addEventListener("submit", (event) => {
    if (isSending) {
      // A second press while the first is on its way would save a new note twice.
      event.preventDefault();
      return;
    }
    isSending = (event.submitter?.value ?? "save") === "save";
    if (isDirty || isSending) keep(isSending);
  });
  addEventListener("pageshow", () => {
    isSending = false;
  });

  if ("isConflict" in form.dataset) {
    isDirty = true;
  } else {
    offerDrafts();
  }

  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "s") {
      event.preventDefault();
      form.requestSubmit(form.querySelector('button[name="step"][value="save"]'));
    }
  });

  const preview = form.dataset.preview;
  const previewButton = form.querySelector('button[name="step"][value="preview"]');
  if (preview && previewButton) previewButton.hidden = true;
  let asking = null;
  const showPreview = debounce(async () => {
    if (!preview) return;
    asking?.abort();
    asking = new AbortController();
    const body = new URLSearchParams({
      csrf: form.elements.csrf.value,
      content: fields.content.value,
    });
    try {
      await replacePart("#note-preview", preview, { method: "POST", body, signal: asking.signal });
    } catch (problem) {
      if (problem.name !== "AbortError") console.info("preview left out", problem.message);
    }
  }, PREVIEW_MILLISECONDS);

  function offerDrafts() {
    const place = form.querySelector(".draft-offers");
    for (const draft of listDrafts(user, note)) {
      if (draft.token === token.value) continue;
      if (isSame(draft, text())) {
        dropDraft(user, note, draft.token);
        continue;
      }
      place.append(draftOffer(draft));
    }
  }

  function draftOffer(draft) {
    const words = `${form.dataset.textOffer} ${new Date(draft.at).toLocaleString(document.documentElement.lang)}.`;
    const isOlder = draft.version !== version.value;
    const offer = element(
      "div",
      { class: "notice notice-warn", role: "status" },
      icon("clock"),
      element("p", {}, words, isOlder && note ? ` ${form.dataset.textOlder}` : ""),
    );
    const button = (label, kind, run) =>
      element("button", { class: `button ${kind}`, type: "button", onclick: run }, label);
    offer.append(
      button(form.dataset.textRestore, "button-main", () => {
        for (const [name, field] of Object.entries(fields)) field.value = draft[name];
        version.value = draft.version;
        // From now on this draft is the one that is kept.
        token.value = draft.token;
        isDirty = true;
        keep();
        showPreview();
        form.querySelector(".draft-offers").replaceChildren();
        fields.content.focus();
      }),
      button(form.dataset.textDiscard, "", () => {
        dropDraft(user, note, draft.token);
        offer.remove();
      }),
    );
    return offer;
  }

  const find = form.elements.find;
  if (find) startFinder();

  function startFinder() {
    const list = form.querySelector(".found-links");
    let looking = null;
    const look = async () => {
      const query = find.value.trim();
      looking?.abort();
      if (!query) return clear(list);
      looking = new AbortController();
      try {
        const answer = await call(
          "search_desk",
          { query, limit: FOUND_LINKS },
          { signal: looking.signal },
        );
        clear(list).append(...answer.hits.map(showHit));
        if (!answer.hits.length) {
          list.append(element("li", { class: "muted" }, form.dataset.textNone));
        }
      } catch (problem) {
        if (problem.name === "AbortError") return list;
        clear(list).append(element("li", { class: "muted" }, problem.message));
      }
      return list;
    };
    find.addEventListener("input", debounce(look, PREVIEW_MILLISECONDS));
    find.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      look();
    });
    form.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button?.name === "step" && button.value === "find") {
        event.preventDefault();
        look();
      }
      if (button?.dataset.insert) {
        event.preventDefault();
        insert(button.dataset.insert);
      }
    });
  }

  function showHit(hit) {
    return element(
      "li",
      {},
      element(
        "button",
        { class: "button button-quiet", type: "button", "data-insert": writeLink(hit) },
        icon("add"),
        element("span", {}, hit.title || hit.id),
      ),
      " ",
      element("span", { class: "muted small" }, hit.kind),
    );
  }

  function insert(link) {
    const area = fields.content;
    const at = area.selectionEnd;
    const before = at && !/\s$/.test(area.value.slice(0, at)) ? " " : "";
    area.focus();
    area.setRangeText(`${before}${link}`, at, at, "end");
    area.dispatchEvent(new Event("input", { bubbles: true }));
    announce(form.dataset.textInserted);
  }
}

/** A hit as a link in a note; the server writes the same where there are no modules. */
function writeLink(hit) {
  const label = hit.title.replace(/[[\]|\n]+/g, " ").replace(/\s+/g, " ").trim();
  if (hit.kind === "note") {
    const isPlain = /^[^[\]|#^:\n]{1,200}$/.test(hit.title);
    return isPlain ? `[[${hit.title}]]` : `[[note:${hit.id}|${label}]]`;
  }
  const prefix = hit.kind === "reference" ? "ref" : hit.kind;
  return label ? `[[${prefix}:${hit.id}|${label}]]` : `[[${prefix}:${hit.id}]]`;
}
