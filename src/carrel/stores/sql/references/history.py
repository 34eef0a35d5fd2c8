"""The history of one library among the rows: versions, changes, restoring and undoing."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from carrel.core.errors import NotFoundError
from carrel.rooms.references.errors import ChangeNotUndoableError
from carrel.rooms.references.items import (
    Item,
    former_key,
    is_renamed,
    under_present_key,
)
from carrel.rooms.references.ports import PastChange, PastVersion
from carrel.stores.sql.references.statements import (
    ItemWrites,
    LibraryName,
    Steps,
    parse_item,
    read_ids,
    read_works,
)

_HISTORY = "carrel references history lists what is kept."


def read_past(library: LibraryName, reference_id: str) -> Steps[list[PastVersion]]:
    """Every version of one reference, newest first."""
    rows = yield (
        """SELECT v.revision, c.changed_at, c.origin, v.is_present, v.item
        FROM reference_versions v JOIN reference_changes c
          ON c.library = v.library AND c.revision = v.revision
        WHERE v.library = :library AND v.id = :id ORDER BY v.revision DESC""",
        {"library": library.key, "id": reference_id},
    )
    return [
        PastVersion(
            int(row[0]),
            row[1],
            row[2],
            bool(row[3]),
            None if row[4] is None else parse_item(row[4]),
        )
        for row in rows
    ]


def read_changes(
    library: LibraryName, reference_id: str | None, revision: int | None = None
) -> Steps[list[PastChange]]:
    """The changes of a library, newest first: those of one reference, or one by its number."""
    rows = yield (
        """SELECT c.revision, c.changed_at, c.origin, v.id, v.is_present
        FROM reference_changes c JOIN reference_versions v
          ON v.library = c.library AND v.revision = c.revision
        WHERE c.library = :library AND (:number = 0 OR c.revision = :number)
          AND (:id = '' OR EXISTS (SELECT 1 FROM reference_versions w
            WHERE w.library = c.library AND w.revision = c.revision AND w.id = :id))
        ORDER BY c.revision DESC, v.id""",
        {"library": library.key, "id": reference_id or "", "number": revision or 0},
    )
    found: dict[int, PastChange] = {}
    for number, at, origin, changed, is_present in rows:
        change = found.setdefault(int(number), PastChange(int(number), at, origin, [], [], []))
        names = change.written if is_present else change.removed
        assert isinstance(names, list)
        names.append(str(changed))
    return list(found.values())


def read_changed_since(
    library: LibraryName, revisions: Collection[int]
) -> Steps[dict[int, list[str]]]:
    """The references of each of these changes that say something else by now; only where any does.

    One that was changed later and says the same again, as after an undo, is as the change left it.
    """
    found: dict[int, list[str]] = {}
    for revision in revisions:
        rows = yield (
            """SELECT v.id FROM reference_versions v JOIN reference_versions n
              ON n.library = v.library AND n.id = v.id AND n.revision =
                (SELECT max(w.revision) FROM reference_versions w
                 WHERE w.library = v.library AND w.id = v.id)
            WHERE v.library = :library AND v.revision = :revision AND n.revision > v.revision
              AND (n.is_present <> v.is_present
                OR v.is_present = 1 AND (v.item IS NULL OR n.item <> v.item))
            ORDER BY v.id""",
            {"library": library.key, "revision": revision},
        )
        if rows:
            found[revision] = [str(row[0]) for row in rows]
    return found


def plan_restore(
    library: LibraryName, reference_id: str, revision: int | None
) -> Steps[ItemWrites]:
    """The write that gives a reference what it said; raises NotFoundError.

    One that has another key since keeps that key.
    """
    past = yield from read_past(library, reference_id)
    if revision is not None:
        newest = (yield from _read_newest_change(library)) or 0
        if revision > newest:
            raise NotFoundError(
                "Version", f"the last change of the library is {newest}", next_step=_HISTORY
            )
        earlier = [version for version in past if version.revision <= revision]
        item = earlier[0].item if earlier else None
    else:
        item = next((version.item for version in past[1:] if version.item is not None), None)
    if item is None:
        raise NotFoundError(
            "Version", f"no earlier text of {reference_id} is kept", next_step=_HISTORY
        )
    if reference_id not in (yield from read_ids(library, [reference_id])):
        for holder in (yield from read_works(library, [former_key(reference_id)])):
            if is_renamed(reference_id, item, holder.item):
                renamed = under_present_key(item, holder.item)
                return (yield from _place_items(library, {holder.id: renamed}, ()))
    return (yield from _place_items(library, {reference_id: item}, ()))


def _read_newest_change(library: LibraryName) -> Steps[int | None]:
    rows = yield (
        "SELECT max(revision) FROM reference_changes WHERE library = :library",
        {"library": library.key},
    )
    newest = rows[0][0]
    return None if newest is None else int(newest)


def plan_undo(library: LibraryName, revision: int | None) -> Steps[tuple[PastChange, ItemWrites]]:
    """The change, and the write that undoes it; NotFoundError or ChangeNotUndoableError."""
    number = revision
    if number is None:
        number = yield from _read_newest_change(library)
    changes = (yield from read_changes(library, None, number)) if number else []
    if not changes:
        raise NotFoundError(
            "Change", str(revision) if revision is not None else "none", next_step=_HISTORY
        )
    change = changes[0]
    changed = yield from read_changed_since(library, [change.revision])
    if changed:
        later = changed[change.revision]
        raise ChangeNotUndoableError(change.revision, later, "were changed again since")
    before: dict[str, Item] = {}
    absent: list[str] = []
    lost: list[str] = []
    for reference_id in [*change.written, *change.removed]:
        past = yield from read_past(library, reference_id)
        version = next((each for each in past if each.revision < change.revision), None)
        if version is None or not version.is_present:
            absent.append(reference_id)
        elif version.item is None:
            lost.append(reference_id)
        else:
            before[reference_id] = version.item
    if lost:
        reason = "said something that is no longer kept"
        raise ChangeNotUndoableError(change.revision, lost, reason)
    return change, (yield from _place_items(library, before, absent))


def _place_items(
    library: LibraryName, items: dict[str, Item], removed: Sequence[str]
) -> Steps[ItemWrites]:
    """Items at the places where their ids are now, else at the end."""
    present = yield from read_ids(library, [*items, *removed])
    written = {
        name: (item, present[name].place if name in present else None)
        for name, item in items.items()
    }
    return ItemWrites(written, [name for name in removed if name in present])
