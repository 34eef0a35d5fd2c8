"""The files that an entry of a bibliography names: JabRef, Zotero, Mendeley, EndNote or a path."""

from __future__ import annotations

import plistlib
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

MAX_LINKS = 20
_MAX_CHARACTERS = 4_000
_MAX_BIBDESK_CHARACTERS = 100_000
_DRIVE = re.compile(r"^[A-Za-z]$")
_KIND = re.compile(r"^(?:[a-z]+/[\w.+-]+|[A-Z][\w ]{0,30}|[a-z]{2,5})$")
_SCHEME = re.compile(r"^([a-z][a-z0-9+.-]+)://", re.IGNORECASE)
_LOCAL_SCHEMES = frozenset({"file"})
# Where formats keep the names of attached files; BibDesk and others number their fields.
_FILE_FIELD = re.compile(r"^(?:file(?:-?\d{1,3})?|pdf|local-url|attachments|l[1-4])$")


def read_file_links(value: str) -> tuple[str, ...]:
    r"""The paths in a field `file`: `a.pdf`, `:a.pdf:PDF`, `Title:a.pdf:application/pdf;…`.

    A separator behind a backslash is part of a path. Addresses of the web are left out.
    """
    found: dict[str, None] = {}
    for entry in _split(value[:_MAX_CHARACTERS], ";"):
        path = _path_of(entry.strip())
        if path:
            found[path] = None
        if len(found) == MAX_LINKS:
            break
    return tuple(found)


def item_file_links(item: Mapping[str, Any]) -> tuple[str, ...]:
    """The paths of the files that an imported item names, in any field that holds such names."""
    own = item.get("custom")
    fields = own.get("fields") if isinstance(own, dict) else None
    if not isinstance(fields, dict):
        return ()
    found = dict.fromkeys(
        link
        for name, value in fields.items()
        if _FILE_FIELD.match(name) and isinstance(value, str)
        for link in read_file_links(value)
    )
    return tuple(found)[:MAX_LINKS]


def bibdesk_path(value: str) -> str:
    """The path in BibDesk's `bdsk-file-1`, a property list in base64, as an entry of `file`."""
    try:
        content = b64decode("".join(value[:_MAX_BIBDESK_CHARACTERS].split()), validate=True)
        found = plistlib.loads(content)
    except (ValueError, OSError, TypeError, plistlib.InvalidFileException, OverflowError):
        return ""
    except (RecursionError, KeyError, IndexError, MemoryError, AttributeError):
        return ""
    path = found.get("relativePath") if isinstance(found, dict) else None
    if not isinstance(path, str):
        return ""
    return re.sub(r"([\\:;])", r"\\\1", " ".join(path.split()))


def _path_of(entry: str) -> str | None:
    if scheme := _SCHEME.match(entry):
        if scheme.group(1).lower() not in _LOCAL_SCHEMES:
            return None
        return unquote(entry[scheme.end() :].removeprefix("localhost"))
    parts = list(_split(entry, ":"))
    if len(parts) >= 3 and _KIND.match(parts[-1].strip()):
        middle = parts[1:-1]
        if len(middle) == 2 and _DRIVE.match(middle[0]):
            middle = [":".join(middle)]
        path = ":".join(middle)
    elif len(parts) == 2 and _DRIVE.match(parts[0]):
        path = ":".join(parts)
    else:
        path = parts[-1] if len(parts) == 2 and not parts[0] else ":".join(parts)
    return path.strip().strip("{}") or None


def _split(text: str, separator: str) -> Iterator[str]:
    """Parts of a text; a backslash takes the meaning of a separator or backslash behind it."""
    part: list[str] = []
    at = 0
    while at < len(text):
        letter = text[at]
        follows = text[at + 1 : at + 2]
        if letter == "\\" and follows == separator:
            part.append(separator if separator == ":" else "\\;")
            at += 2
            continue
        if letter == "\\" and follows == "\\" and separator == ":":
            part.append("\\")
            at += 2
            continue
        if letter == "\\" and follows in {";", "_", "&", "{", "}"} and separator == ":":
            part.append(follows)
            at += 2
            continue
        if letter == separator:
            yield "".join(part)
            part = []
        else:
            part.append(letter)
        at += 1
    yield "".join(part)
