// A field for hosts that tell a view nothing: the person asks here what was asked in the chat.
import { element } from "./elements.js";
import { t } from "./words.js";

let typed = "";

export function questionForm(stage, label, verb, ask) {
  const field = element("input", {
    id: "question",
    name: "question",
    required: true,
    minlength: 3,
    maxlength: 500,
    value: typed,
    "data-focus": "question",
    autocomplete: "off",
  });
  const send = async (event) => {
    event.preventDefault();
    const asked = ask(field.value.trim());
    if (!asked) return stage.say(t("no_tools"), "danger");
    stage.say(t("reading"));
    const { facts, problem } = await asked;
    stage.say("");
    stage.take(facts, problem);
  };
  return element(
    "form",
    { class: "ask", onsubmit: send, oninput: () => (typed = field.value) },
    element("label", { for: "question" }, label),
    element(
      "div",
      { class: "row" },
      field,
      element("button", { class: "main", type: "submit" }, verb),
    ),
  );
}
