// A field for hosts that tell a view nothing: the person asks here what was asked in the chat.
import { element, whenEntered } from "./elements.js";
import { t } from "./words.js";

const LEAST_LETTERS = 3;
let typed = "";

export function questionForm(stage, label, verb, ask) {
  const send = async () => {
    const text = typed.trim();
    if (text.length < LEAST_LETTERS) return;
    const asked = ask(text);
    if (!asked) return stage.say(t("no_tools"), "danger");
    stage.say(t("reading"));
    const { facts, problem } = await asked;
    stage.say("");
    stage.take(facts, problem);
  };
  const field = element("input", {
    id: "question",
    maxlength: 500,
    value: typed,
    "data-focus": "question",
    autocomplete: "off",
    oninput: (event) => (typed = event.target.value),
    onkeydown: whenEntered(send),
  });
  return element(
    "div",
    { class: "ask" },
    element("label", { for: "question" }, label),
    element(
      "div",
      { class: "row" },
      field,
      element("button", { class: "main", type: "button", onclick: send }, verb),
    ),
  );
}
