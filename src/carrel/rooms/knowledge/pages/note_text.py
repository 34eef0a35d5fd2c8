"""A note's text as Markdown that a browser can follow: [[links]] become links of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable

from carrel.core.pages import local_address
from carrel.rooms.knowledge.links import LinkTarget, replace_links
from carrel.rooms.knowledge.models import Link
from carrel.rooms.knowledge.pages.addresses import thing_path

# More is not drawn while somebody types.
MAX_PREVIEW_CHARACTERS = 20_000
# A longer note is read part by part: drawing Markdown takes about 5 ms for 1,000 characters.
PART_CHARACTERS = 20_000
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]", re.MULTILINE)
_HASH = re.compile(r"[0-9a-f]{16,}")
_MARKDOWN_SIGN = re.compile(r"([\\`*_{}\[\]()<>#!|~$])")


def link_note_text(content: str, links: Iterable[Link], missing: str) -> str:
    """Links lead to what they were found to mean; `missing` says that there is nothing yet."""
    known = {(link.kind, link.target): link for link in links}

    def show(target: LinkTarget, label: str) -> str:
        link = known.get((target.kind, target.written))
        if link is None:
            return _write_link(
                label or _shorten_key(target.written), local_address("/find", q=target.written)
            )
        text = label or link.title or target.written
        if link.id is None:
            return _write_link(text, thing_path(link.kind, None, target.written), missing)
        return _write_link(text, thing_path(link.kind, link.id))

    return replace_links(content, show)


def link_preview_text(content: str) -> str:
    """The same before it is saved: links lead to a search for what they name."""
    return link_note_text(content[:MAX_PREVIEW_CHARACTERS], (), "")


def split_parts(content: str, size: int = PART_CHARACTERS) -> list[str]:
    """The text in parts of about this size, cut at empty lines outside of code."""
    parts: list[str] = []
    lines: list[str] = []
    length, fence = 0, ""
    for line in content.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if mark is not None and not fence:
            fence = mark[1]
        elif mark is not None and mark[1].startswith(fence):
            fence = ""
        lines.append(line)
        length += len(line)
        is_end = not line.strip() and not fence
        if (length >= size and is_end) or length >= 2 * size:
            parts.append("".join(lines))
            lines, length = [], 0
    if lines or not parts:
        parts.append("".join(lines))
    return parts


def without_title_line(title: str, content: str) -> str:
    """The text without a first heading that only repeats the title."""
    first, _, rest = content.lstrip().partition("\n")
    is_repeated = first.startswith("#") and first.lstrip("# ").strip() == title.strip()
    return rest if is_repeated else content


def heading_level(text: str, wanted: int) -> int:
    """The level of a `#` for which the highest heading of the text is drawn at the wanted one."""
    highest = min((len(found[1]) for found in _HEADING.finditer(text)), default=1)
    return wanted + 1 - highest


def _shorten_key(written: str) -> str:
    """A link to a hash is read by its beginning."""
    kind, colon, key = written.partition(":")
    return f"{kind} {key[:8]}…" if colon and _HASH.fullmatch(key) else written


def _write_link(label: str, path: str, title: str = "") -> str:
    shown = _MARKDOWN_SIGN.sub(r"\\\1", " ".join(label.split()))
    address = path.replace("(", "%28").replace(")", "%29").replace("<", "%3C").replace(">", "%3E")
    note = ' "{}"'.format(title.replace("\\", "").replace('"', "'")) if title else ""
    return f"[{shown}]({address}{note})"
