"""Pages of the history of a library, and of what was restored from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any

import orjson

from carrel.cli.page import Column, Heading, Line, MakePage, Note, Page, Part, Table, Verbatim
from carrel.cli.reference_values import readable_fields
from carrel.cli.value_formats import count_things, format_count, format_time, is_for_people
from carrel.rooms.references.local_operations import (
    LibraryChange,
    LibraryVersion,
    ReferenceText,
    RestoredLibrary,
    ShownHistory,
)

_SHOWN_IDS = 8
_NUMBER = Column("revision", align="right")


def _history(answer: ShownHistory) -> Page:
    if not (answer.changes or answer.texts or answer.versions):
        whose = f"of {answer.id} " if answer.id else ""
        return Page((Note(f"No change {whose}is known."),), next_step="")
    parts: list[Part] = []
    if answer.changes:
        parts.append(_changes(answer.changes))
    if answer.earlier_changes:
        earlier = count_things(answer.earlier_changes, "earlier change")
        parts.append(Note(f"… and {earlier} (--limit)"))
    if answer.versions:
        parts += [Heading("Versions of the whole library"), _versions(answer.versions)]
    before: dict[str, Any] | None = None
    for text in answer.texts:
        item = _item(text)
        if is_for_people() and item is not None and before is not None:
            parts += [_heading(text), *_changed_fields(before, item)]
        else:
            parts += [_heading(text), _text(text)]
        before = item
    return Page(tuple(parts), next_step=_step(answer))


def _step(answer: ShownHistory) -> str:
    if answer.id:
        return (
            f"carrel references restore {quote(answer.id)} --revision NUMBER goes back to one."
            if any(text.state == "kept" for text in answer.texts)
            else ""
        )
    if len(answer.versions) < 2:
        return ""
    return (
        f"carrel references restore --version {answer.versions[1].number} makes the library what "
        "it was before the last change; carrel references restore KEY one reference."
    )


def _changes(changes: Sequence[LibraryChange]) -> Table:
    rows = [
        (str(change.revision), format_time(change.at), change.origin, _describe_change(change))
        for change in changes
    ]
    return Table((_NUMBER, "when", "by", "what"), rows)


def _describe_change(change: LibraryChange) -> str:
    verbs = (("wrote", change.written), ("removed", change.removed), ("kept", change.kept))
    return "; ".join(f"{verb} {_some(ids)}" for verb, ids in verbs if ids)


def _some(ids: Sequence[str]) -> str:
    more = f" and {format_count(len(ids) - _SHOWN_IDS)} more" if len(ids) > _SHOWN_IDS else ""
    return ", ".join(ids[:_SHOWN_IDS]) + more


def _versions(versions: Sequence[LibraryVersion]) -> Table:
    """Paths are for programs; a terminal shows when it was."""
    columns = (
        Column("version", align="right"),
        Column("when"),
        Column("saved by"),
        Column("bytes", align="right"),
    )
    rows = [
        [
            str(version.number),
            format_time(version.at) if version.at else "",
            version.saved_by,
            format_count(version.size_bytes),
        ]
        for version in versions
    ]
    if is_for_people():
        return Table(columns, rows)
    paths = [[*row, version.path] for row, version in zip(rows, versions, strict=True)]
    return Table((*columns, Column("path")), paths)


def _heading(text: ReferenceText) -> Heading:
    return Heading(f"From revision {text.revision}")


def _text(text: ReferenceText) -> Part:
    if text.text is None:
        return Line("a text that is not kept" if text.state == "not kept" else "absent")
    return Verbatim(text.text)


def _item(text: ReferenceText) -> dict[str, Any] | None:
    """The reference, where its text is kept and can be read."""
    try:
        found = orjson.loads(text.text or "")
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _changed_fields(before: dict[str, Any], item: dict[str, Any]) -> list[Part]:
    """What differs from the revision before; for people, who know the rest from there."""
    was, now = readable_fields(before), readable_fields(item)
    names = [name for name in {**was, **now} if was.get(name) != now.get(name)]
    lines = [
        Line(f"{name}: {was.get(name) or 'nothing'} → {now.get(name) or 'nothing'}")
        for name in names
    ]
    return [*lines] or [Line("the same")]


def _restored(answer: RestoredLibrary) -> Page:
    if answer.version is None:
        return Page((Line(f"{answer.id} is restored."),))
    count = count_things(answer.references or 0, "reference")
    return Page((Line(f"The library is version {answer.version} again: {count}."),))


HISTORY_PAGES: Mapping[str, MakePage] = {
    "show_library_history": _history,
    "restore_library": _restored,
}
