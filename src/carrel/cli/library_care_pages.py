"""Pages of tags, collections, read state, and the changes of a library."""

from __future__ import annotations

from collections.abc import Mapping

from carrel.cli.command_names import in_commands
from carrel.cli.page import Column, Line, MakePage, Note, Page, Part, Table
from carrel.cli.value_formats import count_things, format_count, format_time
from carrel.rooms.references.history_models import (
    LibraryChanges,
    ListedChange,
    UndoneLibraryChange,
)
from carrel.rooms.references.models import LibraryAnswer
from carrel.rooms.references.organizing_models import OrganizedReferences, ReferenceGroups

_NOTHING = {
    "collections": "No reference is in a collection.",
    "tags": "No reference has a tag.",
    "read_states": "There is no such state.",
}


def _notices(answer: LibraryAnswer) -> list[Part]:
    return [Note(notice) for notice in answer.notices]


def _organized(answer: OrganizedReferences) -> Page:
    meant = count_things(answer.matched, "reference")
    if answer.is_dry_run:
        line = f"{format_count(answer.changed)} of {meant} would be changed."
    else:
        line = f"{format_count(answer.changed)} of {meant} changed."
    parts = [*_notices(answer), Line((line,))]
    if answer.ids and answer.is_dry_run:
        parts.append(Table((Column("key", whole=True),), [(one,) for one in answer.ids]))
    undo = "carrel references undo-change takes it back." if answer.changed else ""
    return Page(tuple(parts), next_step=in_commands(answer.next_step) or undo)


def _groups(answer: ReferenceGroups) -> Page:
    if not answer.groups:
        return Page((*_notices(answer), Note(_NOTHING[answer.kind])), next_step="")
    name = {"collections": "collection", "tags": "tag", "read_states": "state"}[answer.kind]
    rows = [(row.name, format_count(row.count)) for row in answer.groups]
    head = (Column(name, whole=True), Column("references", align="right"))
    parts: list[Part] = [*_notices(answer), Table(head, rows)]
    end = (answer.page - 1) * answer.limit + len(rows)
    if end < answer.total:
        told = f"{format_count(len(rows))} of {format_count(answer.total)}"
        parts.append(Note(f"{told}; --page {answer.page + 1} shows the next"))
    field = {"collections": "collection", "tags": "tagged", "read_states": "read"}[answer.kind]
    step = f"carrel references search '{field}:\"{answer.groups[0].name}\"' finds the first."
    return Page(tuple(parts), next_step=step if "'" not in answer.groups[0].name else "")


def _changes(answer: LibraryChanges) -> Page:
    if not answer.changes:
        return Page((*_notices(answer), Note("No change is known.")), next_step="")
    rows = [
        (
            str(row.revision),
            format_time(row.at),
            row.origin,
            _describe_ids(row),
            "yes" if row.can_undo else "",
        )
        for row in answer.changes
    ]
    head = (Column("change", align="right"), "at", "by", "references", "can be undone")
    parts: list[Part] = [*_notices(answer), Table(head, rows)]
    end = (answer.page - 1) * answer.limit + len(rows)
    if end < answer.total:
        told = f"{format_count(len(rows))} of {count_things(answer.total, 'change')}"
        parts.append(Note(f"{told}; --page {answer.page + 1} shows earlier ones"))
    undoable = next((row.revision for row in answer.changes if row.can_undo), None)
    step = "" if undoable is None else f"carrel references undo-change {undoable} undoes one."
    return Page(tuple(parts), next_step=step)


def _describe_ids(change: ListedChange | UndoneLibraryChange) -> str:
    parts = []
    for word, ids, count in (
        ("wrote", change.written, change.written_count),
        ("removed", change.removed, change.removed_count),
    ):
        if count:
            more = f" and {count - 3} more" if count > 3 else ""
            parts.append(f"{word} {', '.join(ids[:3])}{more}")
    return "; ".join(parts)


def _undone(answer: UndoneLibraryChange) -> Page:
    line = Line((f"Undone: change {answer.revision}, which {_describe_ids(answer)}.",))
    parts: list[Part] = [*_notices(answer), line]
    if gone := answer.missing_files:
        named = ", ".join(f"{each.name} of {each.id}" for each in gone)
        parts.append(Line((f"Gone, and not brought back: {named}.",)))
    return Page(tuple(parts), next_step="carrel references undo-change brings it back.")


CARE_PAGES: Mapping[str, MakePage] = {
    "organize_references": _organized,
    "rename_reference_group": _organized,
    "list_reference_groups": _groups,
    "list_library_changes": _changes,
    "undo_library_change": _undone,
}
