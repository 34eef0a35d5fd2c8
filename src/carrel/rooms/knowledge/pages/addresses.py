"""Addresses of notes, and of what notes point at in other rooms."""

from __future__ import annotations

from carrel.core.pages import local_address

LIST = "/knowledge"
NOTE = "/knowledge/note"
EDIT = "/knowledge/edit"
NEW = "/knowledge/new"
HISTORY = "/knowledge/history"
PROPOSALS = "/knowledge/proposals"
NODES = "/knowledge/nodes"

_PAPER = "/papers/paper"
# By the kind of a link, and of a hit of the search over the desk.
_THINGS = {
    "note": NOTE,
    "paper": _PAPER,
    "doi": _PAPER,
    "arxiv": _PAPER,
    "passage": _PAPER,
    "ref": "/references/item",
    "reference": "/references/item",
    "hypothesis": "/research/hypothesis",
}


def note_path(note_id: str, **query: object) -> str:
    return local_address(NOTE, note_id, **query)


def thing_path(kind: str, thing_id: str | None, title: str = "") -> str:
    """The page of what a link leads to; where it leads to nothing, where that can be made."""
    if thing_id is not None and kind in _THINGS:
        return local_address(_THINGS[kind], thing_id)
    return local_address(NEW, title=title) if kind == "note" else local_address("/find", q=title)


def find_path(kind: str, thing_id: str) -> str:
    """The page of a note that the search over the desk found."""
    return note_path(thing_id) if kind == "note" else ""
