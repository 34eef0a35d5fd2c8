"""Finds and merges references of one work in the caller's library."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from carrel.core.caller import Call
from carrel.core.errors import InvalidInputError
from carrel.rooms.references.attachments import Attachments, list_named_files
from carrel.rooms.references.duplicate_models import (
    DuplicateMember,
    DuplicateReason,
    FindDuplicates,
    FoundDuplicates,
    FoundGroup,
    MergedField,
    MergedReferences,
    MergeReferences,
)
from carrel.rooms.references.duplicates import DuplicateGroup, find_duplicate_groups
from carrel.rooms.references.errors import ReferenceChangedError, ReferenceNotFoundError
from carrel.rooms.references.former_ids import ForwardingLibraries, ForwardingLibrary
from carrel.rooms.references.item_versions import item_version
from carrel.rooms.references.items import Item, doi_of, identifiers_of, text_of
from carrel.rooms.references.library_rows import describe_row
from carrel.rooms.references.merging import MergePlan, plan_merge
from carrel.rooms.references.ports import Change, Files, ManyChanges
from carrel.rooms.references.shared.members import library_key
from carrel.rooms.references.validation import check_storable

# The groups of the libraries that were asked last.
_KEPT_LIBRARIES = 4


class DuplicateMerging:
    """The service behind find_duplicates and merge_references."""

    def __init__(self, libraries: ForwardingLibraries, files: Files) -> None:
        self._libraries = libraries
        self._attachments = Attachments(files)
        self._found: dict[str, tuple[int, list[DuplicateGroup]]] = {}

    async def find(self, question: FindDuplicates, call: Call) -> FoundDuplicates:
        library = self._libraries.of(call.caller)
        snapshot = await library.snapshot()
        items = snapshot.items
        owner = library_key(call.caller)
        generation, groups = self._found.get(owner, (-1, []))
        if generation != snapshot.generation:
            groups = await asyncio.to_thread(find_duplicate_groups, items)
            self._found.pop(owner, None)
            self._found[owner] = (snapshot.generation, groups)
            while len(self._found) > _KEPT_LIBRARIES:
                self._found.pop(next(iter(self._found)))
        wanted = set(question.ids)
        if wanted:
            groups = [
                group
                for group in groups
                if any(text_of(items[at], "id") in wanted for at in group.members)
            ]
        certain = sum(group.certainty == "certain" for group in groups)
        asked = [group for group in groups if question.certainty in ("all", group.certainty)]
        first = (question.page - 1) * question.limit
        return FoundDuplicates(
            certain_total=certain,
            possible_total=len(groups) - certain,
            page=question.page,
            limit=question.limit,
            groups=[
                _describe_group(items, group) for group in asked[first : first + question.limit]
            ],
            notices=list(await library.take_notices()),
        )

    async def merge(self, question: MergeReferences, call: Call) -> MergedReferences:
        """Raises ReferenceChangedError where a reference changed while its files were copied."""
        library = self._libraries.of(call.caller)
        kept = await _find(library, question.keep)
        others = [await _find(library, name) for name in dict.fromkeys(question.others)]
        ids = [text_of(item, "id") for item in (kept, *others)]
        if len(set(ids)) < len(ids):
            raise InvalidInputError(
                "A reference cannot be merged with itself",
                next_step="Name the one to keep once, and each other once.",
            )
        plan = plan_merge(kept, others, question.fields)
        if not question.dry_run:
            plan = await self._write(library, kept, others, plan)
        return MergedReferences(
            dry_run=question.dry_run,
            id=ids[0],
            merged=ids[1:],
            fields=[
                MergedField(field=each.field, taken_from=each.taken_from, values=dict(each.values))
                for each in plan.choices
            ],
            reference=plan.item,
            undo_ids=ids,
            notices=list(await library.take_notices()),
        )

    async def _write(
        self, library: ForwardingLibrary, kept: Item, others: Sequence[Item], plan: MergePlan
    ) -> MergePlan:
        merged, copies = plan.item, list[Path]()
        try:
            for other in others:
                merged, made = await self._attachments.copy_files(library, merged, other)
                copies += made
            check_storable(merged)
        except BaseException:
            await self._attachments.discard(library, copies)
            raise
        try:
            await _replace(library, kept, others, merged)
        except (ReferenceChangedError, ReferenceNotFoundError):
            await self._attachments.discard(library, copies)
            raise
        # After any other failure, or a cancelled call, the references may be merged all the same:
        # files that nothing names are listed as orphans, and those that something names must stay.
        return MergePlan(merged, plan.choices)


async def _replace(
    library: ForwardingLibrary, kept: Item, others: Sequence[Item], merged: Item
) -> None:
    """Write the merged item and take the others out, if all are still what was merged."""
    kept_id = text_of(kept, "id")
    versions = {text_of(item, "id"): item_version(item) for item in (kept, *others)}
    values = {name: value for name, value in merged.items() if kept.get(name) != value}

    def decide(present: Sequence[Item]) -> ManyChanges:
        now = {text_of(item, "id"): item for item in present if text_of(item, "id") in versions}
        for reference_id, version in versions.items():
            if reference_id not in now:
                raise ReferenceNotFoundError(reference_id)
            found = item_version(now[reference_id])
            if found != version:
                raise ReferenceChangedError(reference_id, found)
        return ManyChanges(
            {kept_id: Change(values)}, tuple(name for name in versions if name != kept_id)
        )

    await library.change_many(decide)


async def _find(library: ForwardingLibrary, reference_id: str) -> Item:
    item = await library.find(reference_id)
    if item is None:
        raise ReferenceNotFoundError(reference_id)
    return item


def _describe_group(items: Sequence[Item], group: DuplicateGroup) -> FoundGroup:
    members = [items[at] for at in group.members]
    suggested = suggest_kept(members)
    return FoundGroup(
        certainty=group.certainty,
        references=[_describe_member(item, is_suggested=item is suggested) for item in members],
        reasons=[
            DuplicateReason(
                one=text_of(items[each.one], "id"),
                other=text_of(items[each.other], "id"),
                reason=each.reason,
                relation=each.relation,
            )
            for each in group.evidence
        ],
    )


def suggest_kept(members: Sequence[Item]) -> Item:
    """The reference that says most: identifiers, files, then fields; the first of equals."""
    return max(
        members,
        key=lambda item: (len(identifiers_of(item)), len(list_named_files(item)), len(item)),
    )


def _describe_member(item: Item, *, is_suggested: bool) -> DuplicateMember:
    row = describe_row(item)
    return DuplicateMember(
        id=row.id,
        title=row.title,
        authors=row.authors,
        year=row.year,
        type=row.type,
        venue=row.venue,
        doi=doi_of(item),
        file_count=len(list_named_files(item)),
        is_suggested=is_suggested,
    )
