// Messages in the host's language, of the tables that the document carries.
import { textOf } from "./answers.js";
const tables = JSON.parse(document.getElementById("messages").textContent);
let language = "en";

export function chooseLanguage(locale) {
  const wanted = textOf(locale).toLowerCase().split(/[-_]/)[0];
  language = Object.hasOwn(tables, wanted) ? wanted : "en";
  document.documentElement.lang = language;
  return language;
}

export function t(key, values = {}) {
  const found = tables[language][key];
  const pattern = typeof found === "object" ? (found[plural(values.count)] ?? found.other) : found;
  return pattern.replace(/\{(\w+)\}/g, (_, name) => showValue(values[name]));
}

// Words of the server's own vocabulary, such as a verdict; an unknown one stands as it is.
export function term(group, word) {
  const key = `${group}.${textOf(word).replaceAll(" ", "_")}`;
  return Object.hasOwn(tables[language], key) ? tables[language][key] : textOf(word);
}

function plural(count) {
  return new Intl.PluralRules(language).select(count);
}

function showValue(value) {
  return typeof value === "number" ? new Intl.NumberFormat(language).format(value) : textOf(value);
}
