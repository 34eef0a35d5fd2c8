"""The files that an entry of a bibliography names: JabRef, Zotero, Mendeley, EndNote or a path."""

from __future__ import annotations

import plistlib
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

# Of one entry: bounds for hostile input, beyond what programs write.
MAX_LINKS = 1_000
_MAX_CHARACTERS = 50_000
_MAX_BIBDESK_CHARACTERS = 100_000
_DRIVE = re.compile(r"^[A-Za-z]$")
_KIND = re.compile(r"^(?:[a-z]+/[\w.+-]+|[A-Z][\w ]{0,30}|[a-z]{2,5})$")
_SCHEME = re.compile(r"^([a-z][a-z0-9+.-]+)://", re.IGNORECASE)
# EndNote's addresses of files in the folder `PDF` of a library's `.Data`.
_ENDNOTE_SCHEME = "internal-pdf"
_DRIVE_PATH = re.compile(r"^/[A-Za-z]:")
_ENDING = re.compile(r"\.\w{1,5}\s*$")
_IS_SOURCE = re.compile(r"^$|^https?\\?:", re.IGNORECASE)
_BRACED_SIGN = re.compile(r"\{(\\[_&%#$~])\}")
_LONE_BACKSLASH = re.compile(r"(?<!\\)\\(?:\\\\)*(?:[^\W_]|\.)")
_ESCAPED_SEPARATOR = re.compile(r"\\([:;])")
_ESCAPED = re.compile(r"\\([^\w\s]|_)")
_FILE_DIRECTORY = re.compile(rb"jabref-meta:\s*fileDirectory[^:\r\n]{0,200}:([^;{}\r\n]{1,1000});")
_ENDNOTE_LIBRARY = re.compile(rb"<database\s[^<>]{0,2000}\bname=\"([^\"<>/\\]{1,200})\.enlx?\"")
_MAX_META_BYTES = 2_000_000
_MAX_FOLDERS = 5
# Where formats keep the names of attached files; BibDesk and others number their fields.
_FILE_FIELD = re.compile(r"^(?:file(?:-?\d{1,3})?|pdf|local-url|attachments|l[1-4])$")


def read_file_links(value: str) -> tuple[str, ...]:
    r"""The paths in a field `file`: `a.pdf`, `:a.pdf:PDF`, `Title:a.pdf:application/pdf;…`.

    A separator behind a backslash is part of a path. Addresses of the web are left out.
    """
    found: dict[str, None] = {}
    for entry in _entries(_plain_value(value[:_MAX_CHARACTERS])):
        path = _path_of(entry.strip())
        if path:
            found[path] = None
        if len(found) == MAX_LINKS:
            break
    return tuple(found)


def _plain_value(value: str) -> str:
    r"""The list without TeX's braces: `{\_}` and Mendeley's `C$\backslash$:`."""
    value = _BRACED_SIGN.sub(r"\1", value.replace("$\\backslash$", "\\").strip())
    if value.startswith("{") and value.endswith("}") and "}" not in value[:-1]:
        value = value[1:-1]
    return value


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


def declared_folders(content: bytes) -> tuple[str, ...]:
    """The folders for linked files that JabRef's comments or EndNote's name of a library say."""
    found = dict.fromkeys(
        folder
        for match in _FILE_DIRECTORY.finditer(content[-_MAX_META_BYTES:])
        if (folder := _unescape(match.group(1).decode("utf-8", errors="replace")).strip())
    )
    library = _ENDNOTE_LIBRARY.search(content[:_MAX_META_BYTES])
    if library is not None:
        found[f"{library.group(1).decode('utf-8', errors='replace')}.Data"] = None
    return tuple(found)[:_MAX_FOLDERS]


def _entries(value: str) -> Iterator[str]:
    """The entries of a list of files; a `;` in a description parts nothing."""
    pieces = list(_split(value, ";"))
    has_triples = any(_is_triple(piece) for piece in pieces)
    waiting = ""
    for piece in pieces:
        if has_triples and piece.strip() and not _is_triple(piece) and not _ENDING.search(piece):
            waiting += f"{piece};"
            continue
        yield waiting + piece
        waiting = ""
    if waiting:
        yield waiting.removesuffix(";")


def _is_triple(piece: str) -> bool:
    parts = list(_split(piece.strip(), ":"))
    return len(parts) >= 3 and bool(_KIND.match(parts[-1].strip()) or not parts[-1].strip())


def _path_of(entry: str) -> str | None:
    if scheme := _SCHEME.match(entry):
        return _local_path(scheme.group(1), entry[scheme.end() :])
    parts = list(_split(entry, ":"))
    # JabRef may write where a file came from behind its kind.
    if len(parts) >= 4 and _KIND.match(parts[-2].strip()) and _IS_SOURCE.match(parts[-1].strip()):
        parts.pop()
    if len(parts) >= 3 and _KIND.match(parts[-1].strip()):
        parts.pop()
        if not (len(parts) == 2 and _DRIVE.match(parts[0]) and parts[1][:1] in {"/", "\\"}):
            parts.pop(0)
    elif len(parts) == 2 and not parts[0]:
        parts.pop(0)
    elif len(parts) == 2 and _ENDING.search(parts[0]) and _KIND.match(parts[1].strip()):
        parts.pop()
    path = _unescape(":".join(parts)).strip().strip("{}")
    if scheme := _SCHEME.match(path):
        return _local_path(scheme.group(1), path[scheme.end() :])
    return path or None


def _local_path(scheme: str, rest: str) -> str | None:
    """The path of an address on this machine."""
    if scheme.lower() == _ENDNOTE_SCHEME:
        name = unquote(rest.lstrip("/"))
        return f"PDF/{name}" if name else None
    if scheme.lower() != "file":
        return None
    path = unquote(rest.removeprefix("localhost"))
    return (path[1:] if _DRIVE_PATH.match(path) else path) or None


def _unescape(path: str) -> str:
    """Undo backslashes before signs; a path of Windows may be written without any."""
    if _LONE_BACKSLASH.search(path):
        return _ESCAPED_SEPARATOR.sub(r"\1", path)
    return _ESCAPED.sub(r"\1", path)


def _split(text: str, separator: str) -> Iterator[str]:
    """Parts of a text as written; a separator behind a backslash parts nothing."""
    start = at = 0
    while at < len(text):
        if text[at] == "\\" and text[at + 1 : at + 2] in {"\\", ":", ";"}:
            at += 2
            continue
        if text[at] == separator:
            yield text[start:at]
            start = at + 1
        at += 1
    yield text[start:]
