"""Duplicates, keys and files of the library in the console: each is shown before it is done."""

from __future__ import annotations

from carrel.core.answer import Blocks
from carrel.core.errors import CarrelError
from carrel.core.pages import (
    PageAnswer,
    PageFile,
    PageRedirect,
    PageRequest,
    PageView,
    local_address,
)
from carrel.rooms.references.attachment_models import Orphans
from carrel.rooms.references.duplicate_models import (
    MAX_MERGED,
    FoundDuplicates,
    FoundGroup,
    MergedReferences,
)
from carrel.rooms.references.file_blocks import file_of
from carrel.rooms.references.key_models import RenamedKeys
from carrel.rooms.references.pages.item_page import file_stem, item_address
from carrel.rooms.references.pages.labels import field_label
from carrel.rooms.references.pages.list_page import STYLES
from carrel.rooms.references.pages.record_view import describe_value
from carrel.rooms.references.pages.writers import require_writer

DUPLICATES_PATH = "/references/duplicates"
MERGE_PATH = "/references/merge"
KEYS_PATH = "/references/keys"
FILES_PATH = "/references/files"
HISTORY_PATH = "/references/history"
_GROUPS_PER_PAGE = 25
_KEYS_SHOWN = 200
# The whole of an abstract: two that differ near their ends are told apart by eye.
_VALUE_SHOWN = 4000


async def draw_duplicates(request: PageRequest) -> PageAnswer:
    page = request.query.integer("page", 1, least=1, most=100_000)
    found: FoundDuplicates = await request.ask("find_duplicates", page=page, limit=_GROUPS_PER_PAGE)
    total = found.certain_total + found.possible_total
    return PageView(
        "references/duplicates.html",
        request.translate("references.duplicates.title"),
        {
            "answer": found,
            "groups": [(group, _merge_address(group)) for group in found.groups],
            "may_write": request.offers("merge_references"),
            "previous": local_address(DUPLICATES_PATH, page=page - 1) if page > 1 else "",
            "next": local_address(DUPLICATES_PATH, page=page + 1)
            if page * _GROUPS_PER_PAGE < total
            else "",
        },
        styles=STYLES,
    )


def _merge_address(group: FoundGroup) -> str:
    ids = [each.id for each in group.references]
    kept = next((each.id for each in group.references if each.is_suggested), ids[0])
    return local_address(MERGE_PATH, keep=kept, other=[one for one in ids if one != kept])


async def draw_merge(request: PageRequest) -> PageAnswer:
    """What merging gives, field by field, with other values to choose."""
    require_writer(request)
    keep, others = request.query.text("keep"), request.query.texts("other")[:MAX_MERGED]
    if not keep or not others:
        return PageRedirect(DUPLICATES_PATH)
    merged: MergedReferences = await request.ask("merge_references", keep=keep, others=others)
    rows = [
        (
            each.field,
            field_label(request, each.field),
            each.taken_from,
            [(owner, describe_value(each.field, value)) for owner, value in each.values.items()],
        )
        for each in merged.fields
    ]
    return PageView(
        "references/merge.html",
        request.translate("references.merge.title"),
        {
            "keep": merged.id,
            "others": merged.merged,
            "rows": rows,
            "swaps": [
                (one, local_address(MERGE_PATH, keep=one, other=[keep, *_without(others, one)]))
                for one in others
            ],
            "value_shown": _VALUE_SHOWN,
            "item_address": item_address,
            "back": DUPLICATES_PATH,
        },
        styles=STYLES,
    )


def _without(ids: list[str], one: str) -> list[str]:
    return [each for each in ids if each != one]


async def merge(request: PageRequest) -> PageAnswer:
    form = request.form
    chosen = {
        name.removeprefix("field-"): form.text(name)
        for name in form.names()
        if name.startswith("field-")
    }
    keep = form.text("keep")
    merged: MergedReferences = await request.ask(
        "merge_references",
        keep=keep,
        others=form.texts("other"),
        fields=chosen,
        dry_run=False,
    )
    told = request.translate("references.merge.done", count=len(merged.merged), id=merged.id)
    return PageRedirect(HISTORY_PATH, told)


async def draw_keys(request: PageRequest) -> PageAnswer:
    """The keys that a pattern would give, before any is changed."""
    require_writer(request)
    pattern, query = request.query.text("pattern")[:200], request.query.text("q")[:500]
    answer: RenamedKeys | None = None
    problem = ""
    try:
        answer = await request.ask("rename_keys", pattern=pattern, query=query)
    except CarrelError as error:
        problem = f"{error.message}. {error.next_step}"
    return PageView(
        "references/keys.html",
        request.translate("references.keys.title"),
        {
            "answer": answer,
            "changes": [] if answer is None else answer.changes[:_KEYS_SHOWN],
            "pattern": pattern or ("" if answer is None else answer.pattern),
            "query": query,
            "problem": problem,
        },
        styles=STYLES,
    )


async def rename_keys(request: PageRequest) -> PageAnswer:
    form = request.form
    answer: RenamedKeys = await request.ask(
        "rename_keys", pattern=form.text("pattern"), query=form.text("q"), dry_run=False
    )
    told = request.translate("references.keys.done", count=answer.total)
    return PageRedirect(HISTORY_PATH, told)


async def draw_files(request: PageRequest) -> PageAnswer:
    """Files that no reference names, and files that are gone."""
    found: Orphans = await request.ask("find_orphans")
    return PageView(
        "references/files.html",
        request.translate("references.files.title"),
        {
            "answer": found,
            "missing": [(each, item_address(each.id)) for each in found.missing],
            "files_to_choose": [(each.file, each.file) for each in found.orphans],
            "path": FILES_PATH,
            "may_write": request.offers("remove_orphans"),
        },
        styles=STYLES,
    )


async def remove_files(request: PageRequest) -> PageAnswer:
    removed = await request.ask("remove_orphans", files=request.form.texts("file"), dry_run=False)
    told = request.translate("references.files.removed", count=len(removed.removed))
    return PageRedirect(FILES_PATH, told)


async def send_file(request: PageRequest) -> PageAnswer:
    """One attached file, to save: what strangers wrote is never shown in our pages."""
    reference_id, name = request.variables["id"], request.query.text("name")[:400]
    answer: Blocks = await request.ask("open_attached_file", id=reference_id, name=name)
    if file := file_of(answer):
        stem, dot, ending = name.rpartition(".")
        safe = f"{file_stem(stem or ending)}{dot}{file_stem(ending)}" if dot else "file"
        return PageFile(file.body, "application/octet-stream", safe)
    raise CarrelError("The attached file is empty", next_step="Attach it again.")
