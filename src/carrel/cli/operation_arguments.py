"""The fields of an operation as arguments of its command: declared, and read back from words."""

from __future__ import annotations

import argparse
import base64
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from carrel.core.errors import InvalidInputError
from carrel.core.operation import Operation
from carrel.doors.schemas import input_schema

# A text that may be this long may come from a file (@FILE) or from standard input (-).
_LONG_TEXT_CHARACTERS = 2000
_MOST_UTF8_BYTES = 4
# Where a field has no bound of its own.
_MOST_BYTES = 256 * 1024 * 1024
_NEVER_TEXT = {"path", "url"}
_WORDS = {"query", "content", "text"}
_SCALARS = {"integer", "number", "boolean"}
_FROM_FILE = "@FILE reads it from a file, - from standard input"
_PAIRS = "a JSON object, or KEY=TEXT and KEY:=JSON for each; @FILE and - read it"


def add_operation_arguments(parser: argparse.ArgumentParser, operation: Operation[Any]) -> None:
    """What is required by its place, all else by an option."""
    schema = input_schema(operation)
    required = set(schema.get("required", ()))
    for field, facts in schema.get("properties", {}).items():
        kinds = _kinds(facts)
        has_place = field in required or facts.get("positional")
        about: dict[str, Any] = {"help": _meaning(field, facts, operation)}
        if choices := _choices(facts):
            about["choices"] = choices
        elif "boolean" not in kinds:
            about["metavar"] = "N" if set(kinds) <= {"integer", "null"} else field.upper()
        many = bool({"array", "object"} & set(kinds))
        if has_place:
            about["nargs"] = "+" if many and field in required else "*" if many else None
            if field not in required and not many:
                about["nargs"] = "?"
            if _takes_many_words(field, facts, required):
                about["nargs"] = "+"
            parser.add_argument(f"_{field}", **about)
            continue
        if "boolean" in kinds:
            is_on = facts.get("default") is True
            about["action"] = "store_false" if is_on else "store_true"
            about["default"] = None
            name = f"no-{field}" if is_on else field
        else:
            name = field
            about |= {"nargs": "+", "action": "extend"} if many else {}
        parser.add_argument(f"--{name.replace('_', '-')}", dest=f"_{field}", **about)


def _takes_many_words(field: str, facts: Mapping[str, Any], required: set[str]) -> bool:
    """Whether words without quotes around them are one text: where nothing else has a place."""
    return field in _WORDS and required == {field} and set(_kinds(facts)) == {"string"}


def read_operation_arguments(
    operation: Operation[Any], options: argparse.Namespace
) -> dict[str, object]:
    """The arguments of the operation that were given, in the types of its fields."""
    given: dict[str, object] = {}
    for field, facts in input_schema(operation).get("properties", {}).items():
        value = getattr(options, f"_{field}")
        if value is not None and value != []:
            given[field] = _read_value(field, value, facts, operation)
    return given


def read_pairs(name: str, words: list[str]) -> dict[str, object]:
    """An object from words: JSON, `KEY=TEXT`, `KEY:=JSON`, `@FILE` or `-`; later ones win."""
    found: dict[str, object] = {}
    for word in words:
        if word == "-" or word.startswith("@"):
            found |= _parse_object(name, _text_from(word, _MOST_BYTES))
            continue
        if word.lstrip().startswith("{"):
            found |= _parse_object(name, word)
            continue
        key, sign, text = word.partition("=")
        if not sign or not key.rstrip(":"):
            raise InvalidInputError(
                f"{name} cannot be read from {word[:80]!r}", next_step=f"Give {_PAIRS}."
            )
        found[key.removesuffix(":")] = _parse_json(name, text) if key.endswith(":") else text
    return found


def _read_value(
    field: str, value: Any, facts: Mapping[str, Any], operation: Operation[Any]
) -> object:
    kinds = set(_kinds(facts))
    if "array" in kinds:
        items = _array_items(facts)
        return [_read_item(field, item, items) for item in value]
    if "object" in kinds:
        return read_pairs(field, value)
    if isinstance(value, list) and "string" in kinds:
        value = " ".join(value)
    if not isinstance(value, str):
        return value
    if "string" in kinds:
        return _read_text(field, value, facts) if _is_long(field, facts, operation) else value
    return _parse_or_keep(value) if kinds & _SCALARS else value


def _read_item(field: str, item: str, facts: Mapping[str, Any]) -> object:
    kinds = set(_kinds(facts))
    if "string" in kinds and "maxLength" not in facts and _names_file(item):
        return _text_from(item, _MOST_BYTES)
    may_be_object = "$ref" in json.dumps(facts) or "object" in kinds
    if may_be_object and item.lstrip().startswith("{"):
        return _parse_object(field, item)
    if "integer" in kinds and item.removeprefix("-").isdecimal():
        return int(item)
    return item if "string" in kinds else _parse_or_keep(item)


def _names_file(item: str) -> bool:
    """Whether one of several texts is `-` or `@FILE`; BibTeX begins with @ as well."""
    return item == "-" or (item.startswith("@") and not {"{", "(", "\n"} & set(item))


def _read_text(field: str, value: str, facts: Mapping[str, Any]) -> str:
    if value.startswith("@@"):
        return value[1:]
    if value != "-" and not value.startswith("@"):
        return value
    longest = facts.get("maxLength")
    bound = _MOST_BYTES if longest is None else longest * _MOST_UTF8_BYTES
    if field.endswith("_base64"):
        content = _bytes_from(value, bound)
        is_encoded = content.lstrip()[:4] == b"JVBE"
        return content.decode("ascii") if is_encoded else base64.b64encode(content).decode()
    return _text_from(value, bound)


def _text_from(word: str, bound: int) -> str:
    try:
        return _bytes_from(word, bound).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInputError(
            f"{_place(word)} is not UTF-8 text", next_step="Convert it to UTF-8, then try again."
        ) from None


def _bytes_from(word: str, bound: int) -> bytes:
    """What `-` or `@FILE` stands for, at most so many bytes."""
    try:
        if word == "-":
            content = sys.stdin.buffer.read(bound + 1)
        else:
            with Path(word[1:]).expanduser().open("rb") as file:
                content = file.read(bound + 1)
    except OSError as error:
        raise InvalidInputError(
            f"{_place(word)} cannot be read: {error.strerror or error}",
            next_step="Name a file after @; a text that begins with @ is written with @@.",
        ) from None
    if len(content) > bound:
        raise InvalidInputError(
            f"{_place(word)} is longer than {bound:,} bytes", next_step="Give less of it."
        )
    return content


def _place(word: str) -> str:
    return "standard input" if word == "-" else word[1:201]


def _parse_object(name: str, text: str) -> dict[str, object]:
    value = _parse_json(name, text)
    if not isinstance(value, dict):
        raise InvalidInputError(f"{name} must be a JSON object", next_step=f"Give {_PAIRS}.")
    return value


def _parse_json(name: str, text: str) -> object:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"{name} is not JSON: {error}", next_step="KEY=TEXT takes plain text, KEY:=JSON JSON."
        ) from None


def _parse_or_keep(text: str) -> object:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return text


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no number of JSON")


def _kinds(facts: Mapping[str, Any]) -> list[str | None]:
    """Every JSON type that a field may have, alternatives included."""
    alternatives = [kind for each in facts.get("anyOf", ()) for kind in _kinds(each)]
    kind = facts.get("type")
    if isinstance(kind, list):
        return [*kind, *alternatives]
    return [kind, *alternatives] if kind is not None or not alternatives else alternatives


def _array_items(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    for each in (facts, *facts.get("anyOf", ())):
        if "items" in each:
            items: Mapping[str, Any] = each["items"]
            return items
    return {}


def _choices(facts: Mapping[str, Any]) -> list[str]:
    """The only values that a field, or each item of a list, may have."""
    for each in (facts, *facts.get("anyOf", ()), _array_items(facts)):
        if "enum" in each:
            return [value for value in each["enum"] if value is not None]
    return []


def _is_long(field: str, facts: Mapping[str, Any], operation: Operation[Any]) -> bool:
    if "string" not in _kinds(facts) or field in _NEVER_TEXT or _choices(facts):
        return False
    longest = facts.get("maxLength")
    # Texts of local operations are paths and names.
    return not operation.is_local if longest is None else longest >= _LONG_TEXT_CHARACTERS


def _meaning(field: str, facts: Mapping[str, Any], operation: Operation[Any]) -> str:
    """The description of a field, with the values it may have and how long texts are given."""
    meaning = str(facts.get("description") or "")
    meaning = meaning[:1].lower() + meaning[1:] if meaning[1:2].islower() else meaning
    said = [_bounds(facts), _default(facts)]
    if "object" in _kinds(facts):
        said.append(_PAIRS)
    elif _is_long(field, facts, operation):
        said.append(_FROM_FILE)
    elif "array" in _kinds(facts) and "string" not in _kinds(facts):
        said.append("one or more")
    noted = "; ".join(each for each in said if each)
    return f"{meaning} ({noted})" if noted else meaning


def _bounds(facts: Mapping[str, Any]) -> str:
    least, most = facts.get("minimum"), facts.get("maximum")
    if least is not None and most is not None:
        return f"{least} to {most}"
    return f"at least {least}" if least is not None else ""


def _default(facts: Mapping[str, Any]) -> str:
    default = facts.get("default")
    is_plain = default is not None and default is not False and default not in ("", [])
    return f"default: {default}" if is_plain and not isinstance(default, bool) else ""
