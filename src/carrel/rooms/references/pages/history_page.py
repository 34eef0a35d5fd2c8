"""The changes of the library, newest first, each with what can be undone."""

from __future__ import annotations

from carrel.core.pages import PageAnswer, PageRedirect, PageRequest, PageView, local_address
from carrel.rooms.references.history_models import LibraryChanges, UndoneLibraryChange
from carrel.rooms.references.pages.list_page import STYLES

HISTORY_PATH = "/references/history"
_CHANGES_PER_PAGE = 50


async def draw_history(request: PageRequest) -> PageAnswer:
    page = request.query.integer("page", 1, least=1, most=100_000)
    answer: LibraryChanges = await request.ask(
        "list_library_changes", page=page, limit=_CHANGES_PER_PAGE
    )
    has_next = page * answer.limit < answer.total
    return PageView(
        "references/history.html",
        request.translate("references.history.title"),
        {
            "answer": answer,
            "previous": local_address(HISTORY_PATH, page=page - 1 if page > 2 else None)
            if page > 1
            else "",
            "next": local_address(HISTORY_PATH, page=page + 1) if has_next else "",
            "may_write": request.offers("undo_library_change"),
        },
        styles=STYLES,
    )


async def undo_change(request: PageRequest) -> PageAnswer:
    revision = request.form.optional_integer("revision")
    answer: UndoneLibraryChange = await request.ask("undo_library_change", revision=revision)
    count = answer.written_count + answer.removed_count
    return PageRedirect(HISTORY_PATH, request.translate("references.history.undone", count=count))
