"""Adding to the desk: files by the tray, identifiers and lists of references by a form."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any

import orjson

from carrel.core.errors import InvalidInputError
from carrel.core.pages import PageAnswer, PageFile, PageRequest, PageView, RoomPages
from carrel.libraries.works.file_kinds import FileKind, is_paper_text, recognise_file

_PAPERS = frozenset({FileKind.PDF, FileKind.JATS, FileKind.JSON_RECORDS})
# Of a Markdown file as much is looked at as the command line does: papers end with references.
_MOST_LOOKED_AT_BYTES = 1024 * 1024
_MOST_IDENTIFIERS = 1000
# Stands in an address where the tray puts the id of what was added.
PLACE_OF_ID = "ADDED-ID"
_WORDS = (
    "title", "close", "again", "open", "stop", "waiting", "looking", "sending", "adding",
    "resuming", "offline", "added_paper", "known_paper", "added_papers", "added_references",
    "known_references", "failed_references", "added_note", "known_note", "as_note", "as_paper",
    "choose", "empty", "unreadable", "too_large_list", "not_allowed", "leave", "done", "running",
    "stopped",
)  # fmt: skip
_KIND_WORDS = frozenset(
    {FileKind.EMPTY, FileKind.ARCHIVE, FileKind.PICTURE, FileKind.TEX, FileKind.UNKNOWN}
)


class AddPages:
    """The page of adding, and what the tray for dropped files asks."""

    def __init__(self, rooms: Sequence[RoomPages]) -> None:
        self._finders = {room.name: room.find_path for room in rooms if room.find_path is not None}

    async def draw(self, request: PageRequest) -> PageAnswer:
        return _draw(request, {})

    async def add_typed(self, request: PageRequest) -> PageAnswer:
        """Adds identifiers, one a line, or a pasted list of references, to the library."""
        identifiers = [line.strip() for line in request.form.whole_text("identifiers").split("\n")]
        chosen: Any = [line for line in identifiers if line][:_MOST_IDENTIFIERS]
        pasted = request.form.whole_text("references").strip()
        if not chosen and not pasted:
            return _draw(request, {"is_empty": True})
        added = [
            await request.ask("add_references", input=given) for given in (chosen, pasted) if given
        ]
        failed = {str(one.source) for answer in added for one in answer.failed}
        kept = [line for line in chosen if line in failed]
        has_unread = bool(pasted) and bool(added[-1].failed)
        facts = {
            "added": added,
            "kept_identifiers": "\n".join(kept),
            "kept_references": pasted if has_unread else "",
        }
        return _draw(request, facts)

    async def tell_kind(self, request: PageRequest) -> PageAnswer:
        """Where a file belongs, by its name and first bytes, as `carrel add` sorts files."""
        name = request.form.text("name")[:500]
        try:
            head = base64.b64decode(request.form.text("head"), validate=True)
        except binascii.Error:
            raise InvalidInputError(
                "head must be base64", next_step="Load the page again."
            ) from None
        head = head[:_MOST_LOOKED_AT_BYTES]
        kind = recognise_file(name, head)
        reason = ""
        if kind in _KIND_WORDS:
            reason = request.translate(f"home.tray.kind.{kind.value}")
        body = orjson.dumps({"kind": kind.value, "target": _target(kind, head), "reason": reason})
        return PageFile(body, "application/json")

    async def send_words(self, request: PageRequest) -> PageAnswer:
        """The texts of the tray in the person's language, and what they may add."""
        words = {name: request.translate(f"home.tray.{name}", **_blanks(name)) for name in _WORDS}
        may = {
            "papers": request.offers("add_paper"),
            "references": request.offers("add_references"),
            "notes": request.offers("save_knowledge"),
        }
        paths = {
            kind: self._finders[room](kind, PLACE_OF_ID)
            for room, kind in (("papers", "paper"), ("knowledge", "note"))
            if room in self._finders
        }
        body = orjson.dumps({"words": words, "may": may, "paths": paths})
        return PageFile(body, "application/json")


def _blanks(name: str) -> dict[str, object]:
    """Places that the tray fills itself."""
    return {"name": "{name}", "number": "{number}", "percent": "{percent}"}


def _target(kind: FileKind, head: bytes) -> str:
    """The room that takes the file; `ask` where only the person knows, `none` if no room does."""
    if kind in _PAPERS:
        return "papers"
    if kind is FileKind.BIBLIOGRAPHY:
        return "references"
    if kind is FileKind.MARKDOWN:
        return "papers" if is_paper_text(head.decode("utf-8", "replace")) else "notes"
    return "ask" if kind is FileKind.TEXT else "none"


def _draw(request: PageRequest, facts: dict[str, Any]) -> PageView:
    return PageView(
        "home/add.html",
        request.translate("home.add.title"),
        {
            "added": [],
            "kept_identifiers": "",
            "kept_references": "",
            "is_empty": False,
            "may_add_papers": request.offers("add_paper"),
            "may_add_references": request.offers("add_references"),
            "may_write_notes": request.offers("save_knowledge"),
            **facts,
        },
        styles=("home/home.css",),
    )
