"""One reference: its record, citation, full text and past."""

from __future__ import annotations

from typing import Any

from carrel.core.answer import Blocks, Text
from carrel.core.errors import CarrelError
from carrel.core.pages import PageAnswer, PageFile, PageRequest, PageView, local_address
from carrel.rooms.references.attachment_models import AttachmentList, AttachmentRow
from carrel.rooms.references.browsing_models import ReferenceVersions
from carrel.rooms.references.file_blocks import file_of
from carrel.rooms.references.fulltext import named_attachments
from carrel.rooms.references.items import (
    Item,
    collections_of,
    custom,
    keywords,
    read_state_of,
    tags,
    text_of,
    year_of,
)
from carrel.rooms.references.library_rows import added_at, short_names
from carrel.rooms.references.models import Fulltext, OneReference
from carrel.rooms.references.pages.citation_styles import (
    LOCALES,
    USUAL_STYLES,
    cite_in_style,
)
from carrel.rooms.references.pages.labels import field_label, type_label
from carrel.rooms.references.pages.library_filters import READ_STATES
from carrel.rooms.references.pages.list_page import STYLES
from carrel.rooms.references.pages.record_view import (
    describe_record,
    describe_value,
    paper_id_of,
)

ITEM_PATH = "/references/item"
ATTACHED_PATH = "/references/attached"
_CHARACTERS_PER_PAGE = 40_000
# What of `custom` people set, with the name of its label.
_GROUP_FIELDS = (("tags", "tags"), ("collections", "collections"), ("read_state", "state"))


def item_address(reference_id: str, **query: object) -> str:
    return local_address(ITEM_PATH, reference_id, **query)


async def draw_item(request: PageRequest) -> PageAnswer:
    reference_id = request.variables["id"]
    found: OneReference = await request.ask("get_reference", id=reference_id)
    item = found.reference
    bibtex: Text = await request.ask("export_references", format="bibtex", ids=[reference_id])
    byline = [short_names(item), str(year_of(item) or ""), text_of(item, "container-title")]
    return PageView(
        "references/item.html",
        text_of(item, "title") or reference_id,
        {
            "item": item,
            "id": reference_id,
            "title": text_of(item, "title"),
            "type_label": type_label(request, text_of(item, "type") or "document"),
            "byline": " · ".join(part for part in byline if part),
            "added": added_at(item),
            "bibtex": bibtex.body,
            "lines": describe_record(request, item),
            "abstract": text_of(item, "abstract"),
            "own_note": text_of(item, "note"),
            "subjects": keywords(item),
            "tags": tags(item),
            "collections": collections_of(item),
            "read_state": read_state_of(item),
            "read_states": READ_STATES,
            "may_organize": request.offers("organize_references"),
            "attachments": named_attachments(item),
            "files": await _list_files(request, reference_id),
            "paper_path": _paper_path(request, item),
            "notes": found.notes,
            "work_notices": found.work_notices.get(reference_id, ()),
            "notices": found.notices,
            "citations": await cite_in_style(request, [reference_id]),
            "usual_styles": USUAL_STYLES,
            "locales": LOCALES,
            "may_write": request.offers("save_reference"),
        },
        modules=("references/style_picker.js", "references/attach_file.js"),
        styles=STYLES,
    )


async def _list_files(request: PageRequest, reference_id: str) -> list[tuple[AttachmentRow, str]]:
    """Every attached file with the address under which it is saved."""
    found: AttachmentList = await request.ask("list_attachments", id=reference_id)
    return [(file, local_address(ATTACHED_PATH, found.id, name=file.name)) for file in found.files]


def _paper_path(request: PageRequest, item: Item) -> str:
    paper_id = paper_id_of(item)
    if not paper_id or not request.offers("get_paper_metadata"):
        return ""
    return local_address("/papers/paper", paper_id)


async def draw_fulltext(request: PageRequest) -> PageAnswer:
    """The attached text, or that of the same work in the corpus, piece by piece."""
    reference_id = request.variables["id"]
    offset = request.query.integer("offset", 0)
    found: OneReference = await request.ask("get_reference", id=reference_id)
    answer: Fulltext = await request.ask("get_fulltext", id=reference_id)
    text = answer.markdown or ""
    end = offset + _CHARACTERS_PER_PAGE
    path = local_address("/references/text", reference_id)
    return PageView(
        "references/fulltext.html",
        text_of(found.reference, "title") or reference_id,
        {
            "id": reference_id,
            "title": text_of(found.reference, "title") or reference_id,
            "answer": answer,
            "text": text[offset:end],
            "next": local_address(path, offset=end) if end < len(text) else "",
            "previous": local_address(path, offset=max(0, offset - _CHARACTERS_PER_PAGE) or None)
            if offset
            else "",
        },
        styles=STYLES,
    )


async def send_attachment(request: PageRequest) -> PageAnswer:
    reference_id = request.variables["id"]
    answer: Blocks = await request.ask("open_attachment", id=reference_id)
    if file := file_of(answer):
        return PageFile(file.body, file.media_type, f"{file_stem(reference_id)}.pdf")
    raise CarrelError("The attached file is empty", next_step="Attach it again.")


def file_stem(name: str) -> str:
    """A name that every system takes for a file."""
    kept = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)
    return kept.strip("-")[:80] or "reference"


async def draw_versions(request: PageRequest) -> PageAnswer:
    """What the reference said before, each version with what it changed."""
    reference_id = request.variables["id"]
    answer: ReferenceVersions = await request.ask("list_reference_versions", id=reference_id)
    versions = answer.versions
    present = versions[0].item if versions and versions[0].state == "kept" else None
    return PageView(
        "references/versions.html",
        request.translate("references.versions.title"),
        {
            "id": reference_id,
            "is_present": present is not None,
            "title": text_of(present or {}, "title") or reference_id,
            "versions": [
                {
                    "version": version,
                    "has_before": at + 1 < len(versions) and versions[at + 1].item is not None,
                    "changes": _describe_changes(
                        request, versions[at + 1].item if at + 1 < len(versions) else None, version
                    ),
                }
                for at, version in enumerate(versions)
            ],
            "may_write": request.offers("restore_references"),
        },
        styles=STYLES,
    )


def _describe_changes(request: PageRequest, before: Item | None, version: Any) -> list[Any]:
    """The fields that differ from the version before, as (label, before, after)."""
    after = version.item
    if before is None or after is None:
        return []
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    groups = [
        (
            request.translate(f"references.organize.{label}"),
            describe_value("", custom(before).get(name)),
            describe_value("", custom(after).get(name)),
        )
        for name, label in _GROUP_FIELDS
        if custom(before).get(name) != custom(after).get(name)
    ]
    return groups + [
        (
            field_label(request, name),
            describe_value(name, before.get(name)),
            describe_value(name, after.get(name)),
        )
        for name in names
        if name != "custom"
    ]
