"""Pages of duplicates, keys and files of references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote

from carrel.cli.page import Column, Heading, Line, MakePage, Note, Page, Part, Table
from carrel.cli.reference_values import readable_value
from carrel.cli.value_formats import count_things, format_count
from carrel.rooms.references.attachment_models import (
    AttachedOne,
    AttachmentList,
    DetachedOne,
    Orphans,
    RemovedOrphans,
)
from carrel.rooms.references.duplicate_models import (
    FoundDuplicates,
    FoundGroup,
    MergedField,
    MergedReferences,
)
from carrel.rooms.references.key_models import RenamedKeys, RenamedReference
from carrel.rooms.references.models import LibraryAnswer

_SHOWN_CHARACTERS = 60


def _notices(answer: LibraryAnswer) -> list[Part]:
    return [Note(told) for told in answer.notices]


def _duplicates(answer: FoundDuplicates) -> Page:
    parts: list[Part] = []
    for group in answer.groups:
        parts += _group(group)
    counts = (
        f"{count_things(answer.certain_total, 'certain group')}, {answer.possible_total} to look at"
    )
    step = ""
    if answer.groups:
        first = answer.groups[0].references
        kept = next(each.id for each in first if each.is_suggested)
        others = " ".join(quote(each.id) for each in first if not each.is_suggested)
        step = f"carrel references merge {quote(kept)} {others} shows what merging would give."
    return Page((*parts, Note(counts), *_notices(answer)), next_step=step)


def _group(group: FoundGroup) -> list[Part]:
    said = "One work" if group.certainty == "certain" else "Perhaps one work"
    rows = [
        [each.id, each.authors, str(each.year or ""), each.title, each.doi or ""]
        for each in group.references
    ]
    reasons = [Line(f"{each.one}, {each.other}: {each.reason}") for each in group.reasons]
    return [Heading(said), Table(("key", "authors", "year", "title", "DOI"), rows), *reasons]


def _merged(answer: MergedReferences) -> Page:
    names = " ".join(map(quote, (answer.id, *answer.merged)))
    others = ", ".join(answer.merged)
    if answer.dry_run:
        told = f"{others} would become part of {answer.id}. Nothing was changed."
        step = (
            f"carrel references merge {names} --no-dry-run does it; --fields FIELD=KEY takes a "
            "field from another."
        )
    else:
        told = f"{others} became part of {answer.id}, which the old keys still find."
        step = f"carrel references restore-many {names} brings all back."
    parts: list[Part] = [Line(told)]
    if answer.fields:
        parts.append(_field_table(answer.fields, (answer.id, *answer.merged)))
    return Page((*parts, *_notices(answer)), next_step=step)


def _field_table(fields: Sequence[MergedField], ids: Sequence[str]) -> Table:
    rows = [
        [field.field, field.taken_from, *(_cut(field.values.get(each)) for each in ids)]
        for field in fields
    ]
    return Table(("field", "taken from", *ids), rows)


def _cut(value: object) -> str:
    text = readable_value(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


def _renamed(answer: RenamedReference) -> Page:
    former = ", ".join(answer.former_ids)
    verb = "finds" if len(answer.former_ids) == 1 else "find"
    found = f" {former} still {verb} it." if former else ""
    return Page((Line(f"The reference is called {answer.id}.{found}"), *_notices(answer)))


def _renamed_keys(answer: RenamedKeys) -> Page:
    verb = "would change" if answer.dry_run else "changed"
    told = (
        f"{count_things(answer.total, 'key')} {verb} by {answer.pattern}, {answer.unchanged} stay"
    )
    rows = [[each.id, each.new_id] for each in answer.changes]
    parts: list[Part] = [Table(("key", "new key"), rows)] if rows else []
    if answer.total > len(rows):
        parts.append(Note(f"… and {format_count(answer.total - len(rows))} more"))
    step = "Add --no-dry-run to do it; old keys still find their references."
    return Page(
        (*parts, Note(told), *_notices(answer)),
        next_step=step if answer.dry_run and answer.total else "",
    )


def _attachments(answer: AttachmentList) -> Page:
    rows = [
        [
            each.name,
            each.role,
            each.label,
            "gone" if each.is_missing else format_count(each.size_bytes or 0),
        ]
        for each in answer.files
    ]
    if not rows:
        return Page((Note(f"{answer.id} has no files."), *_notices(answer)))
    columns = ("file", "role", "label", Column("bytes", align="right"))
    return Page((Table(columns, rows), *_notices(answer)))


def _attached(answer: AttachedOne) -> Page:
    told = f"{answer.file.name} is attached to {answer.id} as {answer.file.role}."
    return Page((Line(told), *_notices(answer)))


def _detached(answer: DetachedOne) -> Page:
    deleted = (
        "and deleted; undo-change does not bring it back"
        if answer.was_deleted
        else "its file stays where it is"
    )
    return Page((Line(f"{answer.name} is off {answer.id}, {deleted}."), *_notices(answer)))


def _orphans(answer: Orphans) -> Page:
    parts: list[Part] = []
    if answer.orphans:
        rows = [[each.file, format_count(each.size_bytes)] for each in answer.orphans]
        bytes_column = Column("bytes", align="right")
        parts += [Heading("Files that no reference names"), Table(("file", bytes_column), rows)]
    if answer.missing:
        gone = [[each.id, each.name] for each in answer.missing]
        parts += [Heading("Files that are gone"), Table(("key", "file"), gone)]
    told = (
        f"{count_things(answer.orphan_total, 'file')} without a reference "
        f"({format_count(answer.orphan_bytes)} bytes), {answer.missing_total} gone, in "
        f"{answer.folder}"
    )
    step = "carrel references adopt-file FILE KEY attaches one, prune-files FILE… deletes."
    return Page((*parts, Note(told), *_notices(answer)), next_step=step if answer.orphans else "")


def _removed_orphans(answer: RemovedOrphans) -> Page:
    verb = "would be deleted" if answer.dry_run else "deleted"
    parts: list[Part] = [Line(f"{name} {verb}") for name in answer.removed]
    parts += [Line(f"{name} stays: {reason}") for name, reason in answer.kept.items()]
    parts.append(Note(f"{format_count(answer.freed_bytes)} bytes"))
    step = "Add --no-dry-run to do it." if answer.dry_run and answer.removed else ""
    return Page((*parts, *_notices(answer)), next_step=step)


UPKEEP_PAGES: Mapping[str, MakePage] = {
    "find_duplicates": _duplicates,
    "merge_references": _merged,
    "rename_reference": _renamed,
    "rename_keys": _renamed_keys,
    "list_attachments": _attachments,
    "attach_file": _attached,
    "adopt_orphan": _attached,
    "detach_file": _detached,
    "find_orphans": _orphans,
    "remove_orphans": _removed_orphans,
}
