"""SKOS thesauri in Turtle (or N-Triples) and JSON-LD."""

import json
import re
from collections.abc import Iterator
from typing import Any

from carrel.libraries.vocabularies.entries import DraftEntry, VocabularyEntry, VocabularyFileError

_NAMES = {
    "prefLabel": "label",
    "label": "label",
    "altLabel": "synonym",
    "hiddenLabel": "synonym",
    "broader": "broader",
    "subClassOf": "broader",
}
_SPACES = (
    "http://www.w3.org/2004/02/skos/core#",
    "http://www.w3.org/2000/01/rdf-schema#",
)
_TOKEN = re.compile(
    r"""(?P<space>(?:\s|\#[^\n]*)+)
      | (?P<iri><[^<>"{}|^`\\\s]*>)
      | (?P<long>\"{3}(?:[^"\\]|\\.|"(?!""))*\"{3}|'{3}(?:[^'\\]|\\.|'(?!''))*'{3})
      | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | (?P<language>@[A-Za-z][A-Za-z0-9-]*)
      | (?P<type>\^\^)
      | (?P<mark>[;,.\[\]()])
      | (?P<name>[^\s;,\[\]()<>"']*[^\s;,.\[\]()<>"'])
    """,
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}


def read_turtle(text: str) -> Iterator[VocabularyEntry]:
    """The concepts of a Turtle file, by their labels and broader concepts."""
    drafts: dict[str, DraftEntry] = {}
    prefixes: dict[str, str] = {}
    statement: list[tuple[str, str]] = []
    depth = 0
    for kind, part in _tokens(text):
        if kind == "mark" and part in "[(":
            depth += 1
        elif kind == "mark" and part in "])":
            depth -= 1
            if not depth:
                statement.append(("blank", ""))
        elif depth:
            continue
        elif kind == "mark" and part == ".":
            _read_statement(statement, prefixes, drafts)
            statement = []
        else:
            statement.append((kind, part))
            if len(statement) == 3 and statement[0][1].lower() == "prefix" and kind == "iri":
                _read_statement(statement, prefixes, drafts)
                statement = []
    return (entry for draft in drafts.values() if (entry := draft.finish()))


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None or found.end() == place:
            line = text.count("\n", 0, place) + 1
            raise VocabularyFileError(f"line {line} is no Turtle: {text[place : place + 30]!r}")
        place = found.end()
        if found.lastgroup not in {None, "space"}:
            yield str(found.lastgroup), found[0]


def _read_statement(
    statement: list[tuple[str, str]], prefixes: dict[str, str], drafts: dict[str, DraftEntry]
) -> None:
    if not statement:
        return
    kind, first = statement[0]
    if first.lower() in {"@prefix", "prefix"} and len(statement) >= 3:
        prefixes[statement[1][1].removesuffix(":")] = statement[2][1].strip("<>")
        return
    if kind not in {"iri", "name"} or first.lower() in {"@base", "base"}:
        return
    subject = _expand(kind, first, prefixes)
    predicate = ""
    place = 1
    while place < len(statement):
        kind, token = statement[place]
        place += 1
        if (kind, token) == ("mark", ";"):
            predicate = ""
        elif (kind, token) == ("mark", ",") or kind in {"type", "language"}:
            continue
        elif not predicate:
            predicate = _property(_expand(kind, token, prefixes)) or "other"
        elif predicate == "broader" and kind in {"iri", "name"}:
            drafts.setdefault(subject, DraftEntry(subject)).broader.append(
                _expand(kind, token, prefixes)
            )
        elif predicate in {"label", "synonym"} and kind in {"text", "long"}:
            after = statement[place] if place < len(statement) else ("", "")
            language = after[1][1:] if after[0] == "language" else ""
            draft = drafts.setdefault(subject, DraftEntry(subject))
            _add_name(draft, predicate, _unescape(token, 3 if kind == "long" else 1), language)


def _expand(kind: str, token: str, prefixes: dict[str, str]) -> str:
    if kind == "iri":
        return token[1:-1]
    prefix, colon, rest = token.partition(":")
    return prefixes.get(prefix, f"{prefix}:") + rest if colon else token


def _property(name: str) -> str:
    for space in _SPACES:
        if name.startswith(space):
            return _NAMES.get(name.removeprefix(space), "")
    return ""


def _unescape(token: str, quotes: int) -> str:
    def replace(found: re.Match[str]) -> str:
        code = found[1]
        return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPES.get(code, code)

    return _ESCAPE.sub(replace, token[quotes:-quotes])


def _add_name(draft: DraftEntry, role: str, text: str, language: str) -> None:
    if role == "label":
        draft.add_label(text, language)
    else:
        draft.synonyms.append((language, text))


def read_json_ld(text: str) -> Iterator[VocabularyEntry]:
    """The concepts of a JSON-LD file with SKOS names, short or in full."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise VocabularyFileError(f"it is no JSON ({error})") from error
    nodes = told if isinstance(told, list) else told.get("@graph", [told])
    for node in nodes if isinstance(nodes, list) else [nodes]:
        if isinstance(node, dict) and (entry := _read_node(node)):
            yield entry


def _read_node(node: dict[str, Any]) -> VocabularyEntry | None:
    draft = DraftEntry(str(node.get("@id") or node.get("id") or node.get("uri") or ""))
    for key, value in node.items():
        short = re.split(r"[#/:]", key)[-1]
        role = _NAMES.get(short, "")
        for one in value if isinstance(value, list) else [value]:
            if role == "broader":
                above = one.get("@id") or one.get("id") if isinstance(one, dict) else one
                if isinstance(above, str):
                    draft.broader.append(above)
            elif role:
                _read_name(draft, role, one)
    return draft.finish()


def _read_name(draft: DraftEntry, role: str, told: Any) -> None:
    if isinstance(told, str):
        _add_name(draft, role, told, "")
    elif isinstance(told, dict) and isinstance(told.get("@value"), str):
        _add_name(draft, role, told["@value"], str(told.get("@language") or ""))
    elif isinstance(told, dict):
        for language, names in told.items():
            for name in names if isinstance(names, list) else [names]:
                if isinstance(name, str):
                    _add_name(draft, role, name, language)
