"""One note as text: parsed into title, content and tags, and written back unchanged elsewhere."""

from __future__ import annotations

import re
from datetime import date
from pathlib import PurePosixPath
from typing import Any, Literal

import yaml

from carrel.libraries.text.front_matter import (
    FrontMatterError,
    NoNamedFieldsError,
    load_front_matter,
    split_front_matter,
)
from carrel.rooms.knowledge.folder_import import NoteFile
from carrel.rooms.knowledge.models import MAX_TAG_CHARACTERS, MAX_TAGS, MAX_TITLE_CHARACTERS

ContentFrom = Literal["body", "description", "front_matter"]

_HEADING = re.compile(r"^#[ \t]+(.+)$", re.MULTILINE)
_CODE = re.compile(
    r"^[ \t]*+(`{3,}+|~{3,}+)[^\n]*+\n.*?(?:^[ \t]*\1[^\n]*$|\Z)|`[^`\n]*`",
    re.DOTALL | re.MULTILINE,
)
_TAG = re.compile(r"(?:^|(?<=\s))#([\w/-]*[^\W\d][\w/-]*)", re.MULTILINE)
_DESCRIPTIONS = ("description", "summary", "abstract")
_TITLES = ("title", "name")
_LONGEST_TITLE_LINE = 120
_FOLDER_NOTES = {"readme", "index", "_index"}
# What YAML makes of a plain word, a number or a day.
_TAG_KINDS = (str, int, float, date)
_UNFINISHED_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n[ \t]*[\w-]+[ \t]*:(?:[ \t]|\r?\n)")
_UNFINISHED = "the front matter that begins in line 1 has no end (---); it was kept as text"
_REFUSED = "are allowed, so the file was not imported"


class EmptyNoteError(ValueError):
    """There is nothing in the file to keep."""


class NoteTooLargeError(ValueError):
    """The title, a tag or the number of tags exceeds the limit; nothing is cut."""


def parse_note(text: str, path: str) -> NoteFile:
    """Parses a note; front matter that is not valid YAML stays in the text, with a warning."""
    facts, block, body = _split(text)
    content_from: ContentFrom = "body"
    content = body
    front_matter = block
    if not body.strip():
        content = _first_text(facts, _DESCRIPTIONS)
        content_from, front_matter = "description", text
    if not content.strip():
        content = block.strip().strip("-").strip()
        content_from = "front_matter"
    if not content.strip():
        raise EmptyNoteError("the file has no text")
    title, tags = _title(facts, body, path), _tags(facts, body)
    return NoteFile(
        path,
        title,
        content,
        tags,
        front_matter,
        content_from,
        (*_front_matter_problems(text), *_tag_problems(facts)),
    )


def refuse_too_large(note: NoteFile) -> None:
    """Raises NoteTooLargeError for a note beyond the limits of a store."""
    title, tags = note.title, note.tags
    if len(title) > MAX_TITLE_CHARACTERS:
        raise NoteTooLargeError(
            f"the title has {len(title)} characters; at most {MAX_TITLE_CHARACTERS} {_REFUSED}"
        )
    if len(tags) > MAX_TAGS:
        raise NoteTooLargeError(f"there are {len(tags)} tags; at most {MAX_TAGS} {_REFUSED}")
    longest = max((len(tag) for tag in tags), default=0)
    if longest > MAX_TAG_CHARACTERS:
        raise NoteTooLargeError(
            f"a tag has {longest} characters; at most {MAX_TAG_CHARACTERS} {_REFUSED}"
        )


def _front_matter_problems(text: str) -> list[str]:
    """Why a block that resembles front matter was left in the text."""
    block = split_front_matter(text).block
    if block is None:
        return [_UNFINISHED] if _UNFINISHED_FRONT_MATTER.match(text) else []
    try:
        load_front_matter(block)
    except NoNamedFieldsError:
        return ["the front matter, line 2, has no names with values; it was kept as text"]
    except FrontMatterError as error:
        place = "line 2 or after" if error.line is None else f"line {error.line + 1}"
        return [f"the front matter is not valid YAML, {place}: {error}; it was kept as text"]
    return []


def _tag_problems(facts: dict[str, Any]) -> list[str]:
    given = facts.get("tags", facts.get("tag"))
    if given is None or isinstance(given, _TAG_KINDS):
        return []
    strange = given if isinstance(given, list) else [given]
    left_out = sum(not isinstance(tag, _TAG_KINDS) for tag in strange)
    return (
        [f"{left_out} of the tags in the front matter are no words, and are not tags here"]
        if left_out
        else []
    )


def write_note(
    title: str, content: str, tags: tuple[str, ...], path: str, front_matter: str = ""
) -> str:
    """A file that parses to this note; changes only `title` and `tags`, if necessary."""
    text = split_front_matter(front_matter).header
    if not text and content.startswith("---"):
        # A text that looks like front matter gets an empty one of its own, so that it stays a text.
        text = "---\n---\n"
    text = text if not text or text.endswith("\n") else text + "\n"
    if _title(*_parts(text + content), path) != title:
        text = _set_key(text, "title", title)
    if _tags(*_parts(text + content)) != tags:
        text = _set_key(text, "tags", list(tags) or None)
    return text + content


def _parts(text: str) -> tuple[dict[str, Any], str]:
    facts, _, body = _split(text)
    return facts, body


def _split(text: str) -> tuple[dict[str, Any], str, str]:
    parts = split_front_matter(text)
    facts = None if parts.block is None else _load_mapping(parts.block)
    return ({}, "", text) if facts is None else (facts, parts.header, parts.body)


def _load_mapping(block: str) -> dict[str, Any] | None:
    try:
        return load_front_matter(block)
    except FrontMatterError:
        return None


def _title(facts: dict[str, Any], body: str, path: str) -> str:
    given = _first_text(facts, _TITLES)
    if not given.strip() and path.lower().endswith(".txt"):
        given = _first_line(body)
    elif not given.strip():
        heading = _HEADING.search(_CODE.sub("", body))
        given = (
            (heading[1].rstrip(" \t").rstrip("#").rstrip(" \t") or heading[1][:1])
            if heading
            else ""
        )
    if not given.strip():
        place = PurePosixPath(path)
        is_folder_note = place.stem.lower() in _FOLDER_NOTES and place.parent.name
        given = place.parent.name if is_folder_note else place.stem
    return " ".join(given.split()) or "Untitled"


def _first_line(text: str) -> str:
    """The first line of plain text with letters in it; none where it is a whole paragraph."""
    lines = (" ".join(line.split()).strip("#=*- ") for line in text.splitlines())
    first = next((line for line in lines if line), "")
    return first if len(first) <= _LONGEST_TITLE_LINE else ""


def _tags(facts: dict[str, Any], body: str) -> tuple[str, ...]:
    given = facts.get("tags", facts.get("tag"))
    listed = (
        re.split(r"[,\s]+", given)
        if isinstance(given, str)
        else given
        if isinstance(given, list)
        else [given]
    )
    inline = _TAG.findall(_CODE.sub("", body))
    kept: dict[str, str] = {}
    for tag in (*(str(tag) for tag in listed if isinstance(tag, _TAG_KINDS)), *inline):
        plain = " ".join(tag.split()).lstrip("#").strip().strip("/").strip()
        if plain:
            kept.setdefault(plain.casefold(), plain)
    return tuple(kept.values())


def _first_text(facts: dict[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        value = facts.get(name)
        if (
            isinstance(value, str | int | float)
            and not isinstance(value, bool)
            and str(value).strip()
        ):
            return str(value)
    return ""


def _set_key(text: str, key: str, value: object) -> str:
    """The front matter with one key set and the others unchanged."""
    parts = split_front_matter(text)
    before = parts.block or ""
    facts = _load_mapping(before) or {}
    wanted = {name: known for name, known in facts.items() if name != key}
    line = "" if value is None else _dump_yaml({key: value})
    if value is not None:
        wanted[key] = value
    lines = re.sub(
        rf"^{re.escape(key)}[ \t]*:.*(?:\n(?:[ \t\-].*|[ \t]*$))*\n?",
        "",
        before,
        flags=re.MULTILINE,
    )
    lines = lines if not lines or lines.endswith("\n") else lines + "\n"
    block = lines + line
    if _load_mapping(block) != wanted:
        block = _dump_yaml(wanted)
    return f"---\n{block}---\n{parts.body}"


def _dump_yaml(facts: dict[str, Any]) -> str:
    if not facts:
        return ""
    return str(yaml.safe_dump(facts, allow_unicode=True, sort_keys=False, width=10_000))
