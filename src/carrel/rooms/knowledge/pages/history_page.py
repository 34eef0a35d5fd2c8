"""The versions of a note, and the differences between any two of them."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from carrel.core.pages import PageRequest, PageView, local_address
from carrel.libraries.text.differences import (
    DifferenceLine,
    SkippedLines,
    TextDifference,
    compare_texts,
)
from carrel.rooms.knowledge.models import MAX_LIMIT, FullNote, NoteVersion
from carrel.rooms.knowledge.pages.addresses import EDIT, HISTORY
from carrel.rooms.knowledge.pages.list_page import STYLES
from carrel.rooms.knowledge.pages.note_page import note_facts

# Lines of a difference that one page shows.
MAX_SHOWN_ROWS = 1_500


async def draw_history(request: PageRequest) -> PageView:
    """Without a choice, the newest change is shown."""
    note: FullNote = await request.ask("get_knowledge", id=request.variables["note_id"])
    versions: list[NoteVersion] = await request.ask(
        "get_knowledge_history", id=note.id, limit=MAX_LIMIT
    )
    after = _choose(versions, request.query.text("to"), 0)
    before = _choose(versions, request.query.text("from"), min(after + 1, len(versions) - 1))
    if versions and before < after:
        before, after = after, before
    facts: dict[str, object] = {"versions": versions, "before": None, "after": None}
    if versions:
        old, new = versions[before], versions[after]
        facts |= {
            "before": old,
            "after": new,
            "difference": await show_difference(old.content, new.content),
            "restore_path": local_address(EDIT, note.id, version=old.changed_at),
        }
    return PageView(
        "knowledge/history.html",
        request.translate("knowledge.history.title", title=note.title),
        {
            **note_facts(request, note),
            **facts,
            "before_at": before,
            "after_at": after,
            "change_paths": [
                local_address(
                    HISTORY, note.id, **{"from": older.changed_at, "to": newer.changed_at}
                )
                for newer, older in pairwise(versions)
            ],
            "is_cut": len(versions) == MAX_LIMIT,
        },
        styles=STYLES,
    )


def _choose(versions: list[NoteVersion], changed_at: str, otherwise: int) -> int:
    for place, version in enumerate(versions):
        if version.changed_at == changed_at:
            return place
    return max(otherwise, 0)


async def show_difference(before: str, after: str) -> dict[str, object]:
    """A difference as templates draw it, no longer than a page bears."""
    found: TextDifference = await asyncio.to_thread(compare_texts, before, after)
    return {
        "rows": [
            {"gap": row.count} if isinstance(row, SkippedLines) else _show_line(row)
            for row in found.rows[:MAX_SHOWN_ROWS]
        ],
        "added": found.added,
        "removed": found.removed,
        "is_empty": found.is_empty,
        "left_out": max(0, len(found.rows) - MAX_SHOWN_ROWS),
    }


def _show_line(line: DifferenceLine) -> dict[str, object]:
    return {
        "kind": line.kind,
        "before": line.before or "",
        "after": line.after or "",
        "pieces": line.pieces,
    }
