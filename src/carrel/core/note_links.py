"""Notes that point at something: what other rooms show, and whom they ask."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from carrel.core.caller import Caller
from carrel.core.errors import UnavailableError
from carrel.core.operation import Answer

log = logging.getLogger(__name__)

# The most notes that a paper, a reference, a hypothesis or a note shows as pointing at it.
MAX_NOTES_ABOUT = 20


class NoteLink(Answer):
    """A note that points at what is shown; get_knowledge reads it."""

    id: str
    title: str


class NotesAbout(Protocol):
    """Finds the notes that point at a thing."""

    async def find(self, targets: Sequence[str], caller: Caller) -> list[NoteLink]:
        """The notes that point at any of the targets and that the caller may see, newest first.

        A target is written as in a note's link, `paper:ID`, `doi:10.1/x`, `arxiv:2101.00001`,
        `ref:KEY`, `passage:ID`, `hypothesis:ID` or `note:ID`. Whoever may not read notes, and a
        desk without notes, gets none; at most MAX_NOTES_ABOUT.
        """
        ...


async def find_notes(
    notes: NotesAbout, targets: Sequence[str], caller: Caller
) -> tuple[NoteLink, ...]:
    """What points at a thing, for an answer about the thing, which does without if need be."""
    try:
        return tuple(await notes.find(targets, caller))
    except UnavailableError as error:
        log.warning("notes about a thing left out", extra={"code": error.code})
        return ()


class NoNotes:
    """There are no notes here."""

    async def find(self, targets: Sequence[str], caller: Caller) -> list[NoteLink]:
        return []
