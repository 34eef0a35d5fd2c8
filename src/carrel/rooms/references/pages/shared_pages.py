"""Shared libraries in the console: those of a person, and one with its members and references."""

from __future__ import annotations

from carrel.core.pages import PageAnswer, PageRedirect, PageRequest, PageView, local_address
from carrel.rooms.references.browsing_models import BrowsedReferences
from carrel.rooms.references.history_models import LibraryChanges
from carrel.rooms.references.models import AddedReferences
from carrel.rooms.references.pages.import_page import read_elements
from carrel.rooms.references.pages.list_page import STYLES
from carrel.rooms.references.shared.members import ROLES, may
from carrel.rooms.references.shared.models import (
    Libraries,
    LibraryMembers,
    SharedLibrary,
)

LIBRARIES_PATH = "/references/libraries"
_ROWS_PER_PAGE = 50
_REMARKS_SHOWN = 20


def library_address(library_id: str, **query: object) -> str:
    return local_address(LIBRARIES_PATH, library_id, **query)


async def draw_libraries(request: PageRequest) -> PageAnswer:
    found: Libraries = await request.ask("list_libraries")
    return PageView(
        "references/libraries.html",
        request.translate("references.libraries.title"),
        {
            "rows": [(each, library_address(each.id)) for each in found.libraries],
            "may_write": request.offers("create_library"),
        },
        styles=STYLES,
    )


async def create_library(request: PageRequest) -> PageAnswer:
    made: SharedLibrary = await request.ask("create_library", name=request.form.text("name"))
    return PageRedirect(library_address(made.id), request.translate("references.libraries.created"))


async def draw_library_members(request: PageRequest) -> PageAnswer:
    return await _draw_library(request)


async def _draw_library(request: PageRequest, report: AddedReferences | None = None) -> PageView:
    """A shared library: what is in it, who may use it, and what an owner can do with it.

    After an import that did not go smoothly, why, and what was typed if nothing was added.
    """
    library_id = request.variables["id"]
    found: LibraryMembers = await request.ask("list_library_members", library=library_id)
    words = request.query.text("q")[:500]
    position = request.query.integer("at", 0, most=10**7)
    rows: BrowsedReferences = await request.ask(
        "browse_references",
        query=words,
        sort="relevance" if words else "author",
        position=position,
        limit=_ROWS_PER_PAGE,
        shared_library=found.library.id,
    )
    changes: LibraryChanges = await request.ask(
        "list_library_changes", limit=1, shared_library=found.library.id
    )
    path, follows = library_address(found.library.id), position + len(rows.rows)
    asked = {"q": words or None}
    may_act = request.offers("set_library_member")
    return PageView(
        "references/shared_library.html",
        found.library.name,
        {
            "library": found.library,
            "members": found.members,
            "own_name": request.caller.user_id,
            "answer": rows,
            "words": words,
            "path": path,
            "roles": [(role, request.translate(f"references.roles.{role}")) for role in ROLES],
            "is_owner": may_act and may(found.library.role, "owner"),
            "is_writer": may_act and may(found.library.role, "writer"),
            "may_leave": may_act,
            "is_last_owner": may(found.library.role, "owner")
            and sum(may(each.role, "owner") for each in found.members) == 1,
            "has_changes": changes.total > 0,
            "report": report,
            "remarks": _remarks(report) if report else [],
            "remarks_shown": _REMARKS_SHOWN,
            "typed": request.form.whole_text("input") if report and not report.added else "",
            "libraries_path": LIBRARIES_PATH,
            "previous": local_address(path, at=max(0, position - _ROWS_PER_PAGE) or None, **asked)
            if position
            else "",
            "next": local_address(path, at=follows, **asked) if follows < rows.total else "",
        },
        styles=STYLES,
    )


def _remarks(report: AddedReferences) -> list[tuple[str, str, int | None]]:
    """Why something was not added, then what is odd about what was; with its source and line."""
    failed = [(each.reason, each.source, each.line) for each in report.failed]
    return failed + [(each.message, each.source, each.line) for each in report.warnings]


async def add_to_library(request: PageRequest) -> PageAnswer:
    """Identifiers or a bibliography that was pasted into the form."""
    library_id = request.variables["id"]
    answer: AddedReferences = await request.ask(
        "add_references", input=read_elements(request), shared_library=library_id
    )
    if answer.failed or answer.pending or answer.warnings:
        return await _draw_library(request, answer)
    told = request.translate(
        "references.libraries.added",
        added=len(answer.added),
        skipped=len(answer.skipped),
        failed=len(answer.failed),
    )
    return PageRedirect(library_address(library_id), told)
