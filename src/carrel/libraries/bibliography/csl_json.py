"""CSL-JSON in and out, lenient about what the world calls by that name."""

import json
import re
from collections.abc import Iterator
from typing import Any

from carrel.libraries.bibliography.dates import read_date
from carrel.libraries.bibliography.imports import CslItem, ImportResult, open_text
from carrel.libraries.bibliography.items import put_other
from carrel.libraries.csl.schema import DATE_VARIABLES, NAME_VARIABLES
from carrel.libraries.text.budget import MAX_DEPTH, check_nesting, current_budget, too_deep

_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]]', re.DOTALL)
_OTHER_TYPES = {
    "journal-article": "article-journal", "proceedings-article": "paper-conference",
    "book-chapter": "chapter", "book-section": "chapter", "posted-content": "article",
    "dissertation": "thesis", "monograph": "book", "edited-book": "book", "reference-book": "book",
    "proceedings": "book", "journal": "periodical", "peer-review": "review",
    "reference-entry": "entry-encyclopedia", "report-series": "report", "component": "document",
    "other": "document", "misc": "document",
}  # fmt: skip
_WHOLE_NUMBER = re.compile(r"\s*-?[0-9]{1,18}\s*", re.ASCII)
_STANDARD_NUMBERS = frozenset({"ISSN", "ISBN"})
# Crossref's own JSON wraps these in lists.
_LISTED = frozenset({
    "title", "container-title", "container-title-short", "short-container-title", "ISSN", "ISBN",
    "subtitle", "original-title", "archive", "publisher",
})  # fmt: skip


def read_csl_json(content: str | bytes) -> ImportResult:
    """A list of items, one item, or an object that holds such a list as `items` or `references`."""
    text, answer = open_text(content)
    content = text.lstrip("\ufeff")
    try:
        whole = _parse_json(content)
    except json.JSONDecodeError as error:
        whole = _parse_beginning(content)
        if not whole:
            answer.fail(error.lineno, f"Not JSON: {error.msg}")
            return answer
        reason = f"The JSON is broken here ({error.msg}); what stands before was read"
        answer.fail(error.lineno, reason)
    except ValueError:
        answer.fail(1, "Not JSON that can be read: a number has too many digits")
        return answer
    lines = _lines(content)
    line = 1
    budget = current_budget()
    for place, raw in enumerate(_item_list(whole), start=1):
        budget.step(10)
        if not isinstance(raw, dict):
            answer.fail(line, f"Item {place} must be an object, and is {type(raw).__name__}")
            continue
        line = next(lines, line)
        if not raw or set(raw) <= {"id"}:
            answer.fail(line, "The item is empty")
            continue
        item = _item(raw, line, answer)
        answer.keep(item, line)
    return answer


def write_csl_json(items: list[CslItem]) -> str:
    """UTF-8 with two spaces of indent, as libraries are stored."""
    return json.dumps(items, ensure_ascii=False, indent=2) + "\n"


def _parse_json(content: str) -> Any:
    try:
        try:
            whole = json.loads(content)
        except json.JSONDecodeError:
            whole = _parse_sequence(content)
            if whole is None:
                raise
    except RecursionError:
        raise too_deep("the JSON") from None
    if content.count("[") + content.count("{") > MAX_DEPTH:
        check_nesting(whole, "the JSON")
    return whole


def _parse_sequence(text: str) -> list[Any] | None:
    """JSON values one after the other, with or without commas or line ends between them."""
    decoder, position, found = json.JSONDecoder(), 0, []
    while position < len(text):
        while position < len(text) and text[position] in " \t\r\n,":
            position += 1
        if position >= len(text):
            break
        try:
            value, position = decoder.raw_decode(text, position)
        except json.JSONDecodeError:
            return None
        found.append(value)
    return found or None


def _parse_beginning(text: str) -> list[Any]:
    """The whole elements of an array that breaks off or is broken further on."""
    text = text.lstrip()
    if not text.startswith("["):
        return []
    decoder, position, found = json.JSONDecoder(), 1, []
    try:
        while position < len(text):
            if text[position] in " \t\r\n,":
                position += 1
                continue
            value, position = decoder.raw_decode(text, position)
            found.append(value)
    except (ValueError, RecursionError):
        pass
    check_nesting(found, "the JSON")
    return found


def _item_list(whole: Any) -> list[Any]:
    if isinstance(whole, list):
        return whole
    if isinstance(whole, dict):
        for name in ("items", "references", "message"):
            inner = whole.get(name)
            if isinstance(inner, list) or (name == "message" and isinstance(inner, dict)):
                return _item_list(inner)
    return [whole]


def _lines(text: str) -> Iterator[int]:
    """The line where each object of the outermost list begins."""
    depth, line, counted = 0, 1, 0
    base = 1 if text.lstrip().startswith("[") else 0
    for found in _STRUCTURE.finditer(text):
        sign = found.group()
        if sign in {"{", "["}:
            if depth == base and sign == "{":
                line += text.count("\n", counted, found.start())
                counted = found.start()
                yield line
            depth += 1
        elif sign in {"}", "]"}:
            depth -= 1


def _item(raw: CslItem, line: int, answer: ImportResult) -> CslItem:
    """The item as it is, but for what CSL would not understand."""
    item = dict(raw)
    if isinstance(item.get("id"), int | float) and not isinstance(item["id"], bool):
        item["id"] = str(item["id"])
    elif "id" in item and not isinstance(item["id"], str):
        # A key that is neither a text nor a number names nothing; the library gives the item one.
        del item["id"]
    kind = item.get("type")
    if not isinstance(kind, str) or not kind:
        item["type"] = "document"
        message = f"The item {item.get('id', '')!r} has no type; it was taken for a document"
        answer.warn(line, message)
    elif kind in _OTHER_TYPES:
        item["type"] = _OTHER_TYPES[kind]
    for name, value in raw.items():
        if name in _LISTED and isinstance(value, list):
            _read_listed(name, [str(part) for part in value if part], item, line, answer)
        elif name not in {"id", "type"}:
            item[name] = _field(name, value)
    if "short-container-title" in item:
        item.setdefault("container-title-short", item.pop("short-container-title"))
    return item


def _field(name: str, value: Any) -> Any:
    """The value of a variable in the shape that CSL gives it."""
    if name in DATE_VARIABLES:
        return _date(value)
    if name in NAME_VARIABLES and isinstance(value, list):
        return [_name(person) for person in value]
    if name in NAME_VARIABLES and isinstance(value, str | dict):
        return [_name(value)]
    if isinstance(value, list) and name == "keyword":
        return "; ".join(str(word) for word in value)
    return value


def _read_listed(
    name: str, texts: list[str], item: CslItem, line: int, answer: ImportResult
) -> None:
    """The variable as one text; what CSL has no place for stays beside the item's own fields."""
    if not texts:
        del item[name]
        return
    item[name] = ", ".join(texts) if name in _STANDARD_NUMBERS else texts[0]
    others = [] if name in _STANDARD_NUMBERS else texts[1:]
    if not others:
        return
    custom = item.get("custom", {})
    if isinstance(custom, dict) and isinstance(custom.get("fields", {}), dict):
        put_other(item, name, "; ".join(others))
        answer.warn(
            line,
            f"Of several values of {name} the first was taken, the others kept in custom.fields",
        )
    else:
        answer.warn(line, f"Of several values of {name} only the first was kept: {others}")


def _date(value: Any) -> Any:
    if isinstance(value, (str, int)):
        return read_date(str(value))
    if isinstance(value, dict) and isinstance(value.get("date-parts"), list):
        parts = value["date-parts"]
        if parts and not isinstance(parts[0], list):
            parts = [parts]
        cleaned = [
            [_number(part) for part in point if part not in (None, "")]
            for point in parts
            if isinstance(point, list)
        ]
        cleaned = [point for point in cleaned if point]
        if cleaned:
            return value | {"date-parts": cleaned}
        rest = {name: part for name, part in value.items() if name != "date-parts"}
        return rest or {"literal": ""}
    return value


def _number(part: Any) -> Any:
    """Numbers in strings are numbers; anything else is left for others to judge."""
    return int(part) if isinstance(part, str) and _WHOLE_NUMBER.fullmatch(part) else part


def _name(person: Any) -> Any:
    if isinstance(person, str):
        return {"literal": person}
    if (
        isinstance(person, dict)
        and "name" in person
        and not {"family", "given", "literal"} & person.keys()
    ):
        return {
            **{key: value for key, value in person.items() if key != "name"},
            "literal": person["name"],
        }
    return person
