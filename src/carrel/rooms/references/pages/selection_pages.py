"""What is done with several references: cite, export, remove, and bring back."""

from __future__ import annotations

import json
from typing import Any

from carrel.core.answer import Text
from carrel.core.errors import InvalidInputError
from carrel.core.pages import (
    FieldValues,
    PageAnswer,
    PageFile,
    PageRedirect,
    PageRequest,
    PageView,
    local_address,
)
from carrel.rooms.references.browsing_models import MAX_SELECTED, RemovedReferences
from carrel.rooms.references.items import Item, text_of
from carrel.rooms.references.pages.citation_styles import (
    LOCALES,
    USUAL_STYLES,
    StyledCitations,
    cite_in_style,
)
from carrel.rooms.references.pages.item_page import item_address
from carrel.rooms.references.pages.library_filters import LIBRARY_PATH, LibraryFilters
from carrel.rooms.references.pages.list_page import STYLES
from carrel.rooms.references.pages.writers import require_writer

# Format, suffix and media type of what can be written.
FORMATS = {
    "bibtex": ("bib", "application/x-bibtex"),
    "biblatex": ("bib", "application/x-bibtex"),
    "ris": ("ris", "application/x-research-info-systems"),
    "csl-json": ("json", "application/vnd.citationstyles.csl+json"),
}


def read_ids(fields: FieldValues) -> list[str]:
    """The ids that were chosen; raises InvalidInputError for too many."""
    ids = list(dict.fromkeys(fields.texts("id")))
    if len(ids) > MAX_SELECTED:
        raise InvalidInputError(
            f"At most {MAX_SELECTED} references can be chosen at once",
            next_step="Choose fewer, or export by filters.",
        )
    return ids


async def draw_citations(request: PageRequest) -> PageAnswer:
    """A bibliography, or an in-text citation, of what was chosen."""
    ids = read_ids(request.query)
    kind = "in_text" if request.query.text("kind") == "in_text" else "bibliography"
    citations = StyledCitations("", "") if not ids else await cite_in_style(request, ids, kind)
    return PageView(
        "references/cite.html",
        request.translate("references.cite.title"),
        {
            "ids": ids,
            "kind": kind,
            "citations": citations,
            "hidden_fields": [
                *(("id", reference_id) for reference_id in ids),
                *([("kind", kind)] if kind == "in_text" else []),
            ],
            "usual_styles": USUAL_STYLES,
            "locales": LOCALES,
        },
        modules=("references/style_picker.js", "references/cite.js"),
        styles=STYLES,
    )


async def draw_export(request: PageRequest) -> PageAnswer:
    """The choice of a format, or the file where one is chosen."""
    ids = read_ids(request.query)
    filters = LibraryFilters.read(request.query)
    form = request.query.text("format")
    if form in FORMATS:
        return await _export(request, form, ids, filters)
    total = 0
    if not ids:
        browsed = await request.ask("browse_references", **filters.question(), limit=1)
        total = browsed.total
    return PageView(
        "references/export.html",
        request.translate("references.export.title"),
        {
            "ids": ids,
            "filters": filters,
            "total": total,
            "formats": [
                (
                    name,
                    local_address("/references/export", format=name, id=ids)
                    if ids
                    else filters.address("/references/export", format=name),
                )
                for name in FORMATS
            ],
        },
        styles=STYLES,
    )


async def _export(
    request: PageRequest, form: str, ids: list[str], filters: LibraryFilters
) -> PageFile:
    chosen: dict[str, Any] = {}
    if ids:
        chosen["ids"] = ids
    elif query := filters.query_text():
        chosen["query"] = query
    answer: Text = await request.ask("export_references", format=form, **chosen)
    suffix, media_type = FORMATS[form]
    return PageFile(answer.body.encode(), media_type, f"references.{suffix}")


async def draw_removal(request: PageRequest) -> PageAnswer:
    """Asks before anything is removed."""
    require_writer(request)
    ids = read_ids(request.query)
    if not ids:
        return PageRedirect(LIBRARY_PATH)
    told: Text = await request.ask("export_references", format="csl-json", ids=ids)
    items: list[Item] = json.loads(told.body)
    return PageView(
        "references/remove.html",
        request.translate("references.remove.title"),
        {
            "rows": [
                (str(item.get("id")), text_of(item, "title"), item_address(str(item.get("id"))))
                for item in items
            ],
            "back": item_address(ids[0]) if len(ids) == 1 else LIBRARY_PATH,
        },
        styles=STYLES,
    )


async def remove_selected(request: PageRequest) -> PageAnswer:
    ids = read_ids(request.form)
    if not ids:
        return PageRedirect(LIBRARY_PATH)
    answer: RemovedReferences = await request.ask("remove_references", ids=ids, force=True)
    return PageRedirect(local_address(LIBRARY_PATH, removed=answer.removed))


async def restore_removed(request: PageRequest) -> PageAnswer:
    """Brings back what was removed, or a version of one reference."""
    ids = read_ids(request.form)
    if not ids:
        return PageRedirect(LIBRARY_PATH)
    revision = request.form.optional_integer("revision")
    await request.ask("restore_references", ids=ids, revision=revision)
    notice = request.translate("references.restored", count=len(ids))
    return PageRedirect(item_address(ids[0]) if len(ids) == 1 else LIBRARY_PATH, notice)
