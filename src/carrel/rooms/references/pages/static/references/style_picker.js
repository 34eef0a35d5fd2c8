// Finds citation styles while their name is typed, and shows citations in the style that is chosen.
import { announce } from "../desk/announce.js";
import { call } from "../desk/call.js";
import { debounce, element, replacePart } from "../desk/dom.js";

const MOST = 12;

/** Offers styles below the field; `choose` is called with the name of the one that was taken. */
export function offerStyles(input, choose) {
  const list = input.parentElement.querySelector(".style-options");
  let active = -1;
  let control = null;

  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", input.labels?.[0]?.textContent ?? "");
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-expanded", "false");
  input.setAttribute("aria-controls", list.id);

  const options = () => [...list.querySelectorAll("[role=option]")];
  const close = () => {
    list.hidden = true;
    active = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const mark = (at) => {
    const all = options();
    if (!all.length) return;
    active = (at + all.length) % all.length;
    all.forEach((option, index) => option.setAttribute("aria-selected", index === active));
    all[active].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", all[active].id);
    choose(all[active].dataset.name, { isFinal: false });
  };
  const take = (option) => {
    input.value = option.dataset.name;
    close();
    choose(option.dataset.name, { isFinal: true });
  };
  const look = debounce(async () => {
    const query = input.value.trim().replaceAll("-", " ");
    if (!query) return close();
    control?.abort();
    control = new AbortController();
    let found;
    try {
      found = await call("list_citation_styles", { query, limit: MOST }, { signal: control.signal });
    } catch {
      return close();
    }
    if (document.activeElement !== input) return;
    list.replaceChildren(
      ...(found.styles.length
        ? found.styles.map((style, at) =>
            element(
              "li",
              { role: "option", id: `${list.id}-${at}`, "data-name": style.name, "aria-selected": "false" },
              style.title,
              element("span", { class: "style-name" }, style.name),
            ),
          )
        : [element("li", { class: "muted", role: "presentation" }, input.dataset.none)]),
    );
    active = -1;
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
  }, 180);

  input.addEventListener("input", look);
  input.addEventListener("blur", () => setTimeout(close, 150));
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) look();
      else mark(active + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter" && !list.hidden && active >= 0) {
      event.preventDefault();
      take(options()[active]);
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      close();
    }
  });
  list.addEventListener("mousedown", (event) => {
    const option = event.target.closest("[role=option]");
    if (!option) return;
    event.preventDefault();
    take(option);
  });
}

/** Shows the part of the page that has the citations, in the style of the form. */
function followPicker(form) {
  const input = form.querySelector("[data-style-input]");
  const show = debounce(async (style, isFinal) => {
    const fields = new URLSearchParams(new FormData(form));
    fields.set("style", style);
    if (!fields.get("locale")) fields.delete("locale");
    const address = `${form.getAttribute("action")}?${fields}`;
    try {
      await replacePart(form.dataset.target, address);
    } catch {
      announce(form.dataset.broken, "danger");
      return;
    }
    for (const chip of form.querySelectorAll(".chip")) {
      if (chip.value === style) chip.setAttribute("aria-current", "true");
      else chip.removeAttribute("aria-current");
    }
    if (isFinal) history.replaceState(history.state, "", address);
  }, 60);
  offerStyles(input, (style, { isFinal }) => show(style, isFinal));
  form.querySelector("select")?.addEventListener("change", () => show(input.value, true));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const style = event.submitter?.name === "style" ? event.submitter.value : input.value;
    input.value = style;
    show(style, true);
  });
}

for (const form of document.querySelectorAll("[data-style-picker]")) followPicker(form);
