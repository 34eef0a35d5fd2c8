"""Organizes the references of the caller's library: many at a time, each change one write."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence

from carrel.core.caller import Call
from carrel.core.clock import Clock
from carrel.core.errors import InvalidInputError, NotFoundError
from carrel.rooms.references.errors import ReferencesNotFoundError
from carrel.rooms.references.items import Item
from carrel.rooms.references.nearest_ids import find_nearest_ids
from carrel.rooms.references.organizing import (
    GroupCounts,
    GroupKind,
    GroupRenaming,
    OrganizingChange,
    count_groups,
    is_within,
    read_group_name,
)
from carrel.rooms.references.organizing_models import (
    MAX_NAMED,
    ListReferenceGroups,
    OrganizedReferences,
    OrganizeReferences,
    ReferenceGroup,
    ReferenceGroups,
    RenameReferenceGroup,
)
from carrel.rooms.references.ports import Change, Libraries, Library, ManyChanges
from carrel.rooms.references.queries import parse_reference_query
from carrel.rooms.references.shared.members import library_key

_COUNTS_KEPT = 4
_WITH_FORCE = "Nothing was changed; call again with force: true to do it."
_WITHOUT_DRY_RUN = "Nothing was changed; call again without dry_run to do it."


class LibraryOrganizing:
    """Tags, collections and read state; counts are kept until the library changes."""

    def __init__(self, libraries: Libraries, clock: Clock) -> None:
        self._libraries = libraries
        self._clock = clock
        self._counts: OrderedDict[str, tuple[int, GroupCounts]] = OrderedDict()

    async def organize(self, question: OrganizeReferences, call: Call) -> OrganizedReferences:
        """Raises ReferencesNotFoundError where an id is unknown; then nothing is changed."""
        wanted = self._read_change(question)
        if bool(question.ids) == bool(question.query.strip()):
            raise InvalidInputError(
                "Give either ids or query", next_step="Leave one of them out and call again."
            )
        library = self._libraries.of(call.caller)
        ids = list(dict.fromkeys(question.ids))
        is_dry_run = not ids and not question.force
        if not ids:
            ids = list(await library.find_ids(parse_reference_query(question.query)))
        else:
            ids = await _resolve(library, ids)
        if len(ids) == 1 and not is_dry_run:
            changed = await _change_one(library, ids[0], wanted)
            return await self._answer(1, changed, "", call)
        meant = frozenset(ids)
        changed = await _change(
            library,
            lambda item: wanted.apply(item) if str(item.get("id")) in meant else None,
            is_dry_run=is_dry_run,
        )
        return await self._answer(len(ids), changed, _WITH_FORCE if is_dry_run else "", call)

    def _read_change(self, question: OrganizeReferences) -> OrganizingChange:
        wanted = OrganizingChange(
            add_tags=_read_names("tag", question.add_tags),
            remove_tags=tuple(question.remove_tags),
            add_collections=_read_names("collection", question.add_collections),
            remove_collections=_read_names("collection", question.remove_collections),
            read_state=question.read_state,
            at=self._clock.now().isoformat(timespec="seconds").replace("+00:00", "Z"),
        )
        if wanted.is_empty:
            raise InvalidInputError(
                "Nothing to do is named",
                next_step="Give add_tags, remove_tags, add_collections, remove_collections or "
                "read_state.",
            )
        return wanted

    async def rename(self, question: RenameReferenceGroup, call: Call) -> OrganizedReferences:
        """Raises NotFoundError where no reference has the name."""
        renaming = _read_renaming(question)
        library = self._libraries.of(call.caller)
        items = (await library.snapshot()).items
        matched = await asyncio.to_thread(
            lambda: sum(1 for item in items if renaming.concerns(item))
        )
        if not matched:
            raise NotFoundError(
                question.kind.capitalize(),
                question.group,
                next_step="List the names there are, and choose one.",
            )
        changed = await _change(library, renaming.apply, is_dry_run=question.dry_run)
        step = _WITHOUT_DRY_RUN if question.dry_run else ""
        return await self._answer(matched, changed, step, call)

    async def list_groups(self, question: ListReferenceGroups, call: Call) -> ReferenceGroups:
        counts = await self._count(call)
        rows = {
            "collections": counts.collections,
            "tags": counts.tags,
            "read_states": counts.read_states,
        }[question.kind]
        wanted = question.query.casefold()
        found = [row for row in rows if wanted in row.name.casefold()]
        first = (question.page - 1) * question.limit
        return await self._with_notices(
            ReferenceGroups(
                kind=question.kind,
                total=len(found),
                page=question.page,
                limit=question.limit,
                groups=[
                    ReferenceGroup(name=row.name, count=row.count, direct=row.direct)
                    for row in found[first : first + question.limit]
                ],
            ),
            call,
        )

    async def _count(self, call: Call) -> GroupCounts:
        snapshot = await self._libraries.of(call.caller).snapshot()
        owner = library_key(call.caller)
        known = self._counts.get(owner)
        if known is None or known[0] != snapshot.generation:
            counts = await asyncio.to_thread(count_groups, snapshot.items)
            known = self._counts[owner] = (snapshot.generation, counts)
        self._counts.move_to_end(owner)
        while len(self._counts) > _COUNTS_KEPT:
            self._counts.popitem(last=False)
        return known[1]

    async def _answer(
        self, matched: int, changed: Sequence[str], next_step: str, call: Call
    ) -> OrganizedReferences:
        """The answer; with a next step it is that of a dry run."""
        answer = OrganizedReferences(
            matched=matched,
            changed=len(changed),
            ids=list(changed[:MAX_NAMED]),
            is_dry_run=bool(next_step),
            next_step=next_step if changed else "",
        )
        notices = await self._libraries.of(call.caller).take_notices()
        return answer.model_copy(update={"notices": list(notices)}) if notices else answer

    async def _with_notices(self, answer: ReferenceGroups, call: Call) -> ReferenceGroups:
        notices = await self._libraries.of(call.caller).take_notices()
        return answer.model_copy(update={"notices": list(notices)}) if notices else answer


def _read_names(kind: GroupKind, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(read_group_name(kind, name) for name in names))


def _read_renaming(question: RenameReferenceGroup) -> GroupRenaming:
    if (question.new_name is None) is not question.is_removed:
        raise InvalidInputError(
            "Give either new_name or is_removed: true", next_step="Name one, and call again."
        )
    name = question.group
    if question.kind == "collection":
        name = read_group_name("collection", name)
    new_name = (
        None if question.new_name is None else read_group_name(question.kind, question.new_name)
    )
    is_moved = new_name is not None and question.kind == "collection" and new_name != name
    if is_moved and is_within(new_name or "", name):
        raise InvalidInputError(
            f"{name} cannot be moved into {new_name}, which lies in it",
            next_step="Choose a path outside of it.",
            details={"field": "new_name"},
        )
    return GroupRenaming(question.kind, name, new_name)


async def _resolve(library: Library, ids: Sequence[str]) -> list[str]:
    """The present keys of `ids`, once each, former keys followed; raises where one is unknown."""
    present = {str(item.get("id")) for item in await library.find_many(ids)}
    found, missing = dict[str, None](), list[str]()
    for one in ids:
        item = {"id": one} if one in present else await library.find(one)
        if item is None:
            missing.append(one)
        else:
            found[str(item.get("id"))] = None
    if missing:
        every = [str(item.get("id")) for item in (await library.snapshot()).items]
        near = await asyncio.to_thread(find_nearest_ids, missing, every)
        raise ReferencesNotFoundError(missing, near)
    return list(found)


async def _change_one(library: Library, reference_id: str, wanted: OrganizingChange) -> list[str]:
    """The id, if its reference was changed; the store need not look at any other."""
    present = await library.find(reference_id)
    if present is None or wanted.apply(present) is None:
        return []
    await library.change(reference_id, lambda item: wanted.apply(item) or Change({}))
    return [reference_id]


async def _change(
    library: Library, decide: Callable[[Item], Change | None], *, is_dry_run: bool
) -> list[str]:
    """The ids of the references that are changed, or would be."""
    changes: dict[str, Change] = {}

    def decide_all(items: Sequence[Item]) -> ManyChanges:
        changes.clear()
        for item in items:
            change = decide(item)
            if change is not None:
                changes[str(item.get("id"))] = change
        return ManyChanges(changes)

    if is_dry_run:
        items = (await library.snapshot()).items
        await asyncio.to_thread(decide_all, items)
    else:
        await library.change_many(decide_all)
    return list(changes)
