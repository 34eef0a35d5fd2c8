"""Merging an outside save: its writer's changes are taken over, what they cannot have seen is kept.

The save itself shows what its writer had seen: some revision wrote the newest thing in it. From
that revision on, the state that explains the save with the fewest edits is taken for the one that
was loaded. An element missing from the save was deleted only if its present version is no newer
than what the writer had seen. In doubt it is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from carrel.stores.csl_json.chunked_list import ChunkedList
from carrel.stores.csl_json.document import LibraryDocument
from carrel.stores.csl_json.element_history import (
    NOTHING_SEEN,
    ElementContent,
    ElementHistory,
    title_of,
)
from carrel.stores.csl_json.element_keys import (
    ElementKey,
    as_mapping,
    element_label,
    entries_by_key,
)
from carrel.stores.csl_json.library_entry import LibraryEntry, object_fields, object_text

_MAX_NAMES = 10


@dataclass(slots=True)
class MergeResult:
    """The merged library, and where the merge deviates from the saved file.

    `seen` is the newest revision that the writer must have seen. `made_here` has the `id()` of each
    entry combined from both sides, which nobody can hold without the result.
    """

    document: LibraryDocument
    seen: int
    made_here: set[int] = field(default_factory=set)
    kept: list[str] = field(default_factory=list)
    still_removed: list[str] = field(default_factory=list)
    brought_back: list[str] = field(default_factory=list)
    conflicts: list[tuple[str, str]] = field(default_factory=list)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)


def merge_save(
    history: ElementHistory,
    ours: LibraryDocument,
    theirs: LibraryDocument,
    loaded: int | None = None,
) -> MergeResult:
    """Merges an outside save into our state.

    `history` ends with `ours`; `loaded` is the revision that the save was made from, if known.
    """
    return _Merge(history, ours, theirs, loaded).run()


class _Merge:
    def __init__(
        self,
        history: ElementHistory,
        ours: LibraryDocument,
        theirs: LibraryDocument,
        loaded: int | None,
    ) -> None:
        self._history = history
        self._ours = entries_by_key(ours.entries)
        self._theirs_document = theirs
        self._theirs = _with_old_keys(history, self._ours, entries_by_key(theirs.entries), loaded)
        self._contents = {key: ElementContent(entry) for key, entry in self._theirs.items()}
        seen = loaded
        if seen is None:
            seen = max((self._seen_by_writer_of(key) for key in self._theirs), default=NOTHING_SEEN)
        self._seen = seen
        self._base = self._state_before(self._likely_loaded() if loaded is None else loaded)
        self._taken = {
            entry.item_id for entry in (*ours.entries, *theirs.entries) if entry.item_id is not None
        }
        self._result = MergeResult(theirs, seen)

    def run(self) -> MergeResult:
        merged = [
            entry
            for key, entry in self._theirs.items()
            for entry in self._merge_present(key, entry)
        ]
        for key, entry in self._ours.items():
            if key not in self._theirs and self._is_kept(key):
                merged.append(entry)
        self._result.document = self._as_document(merged)
        return self._result

    def _as_document(self, merged: list[LibraryEntry]) -> LibraryDocument:
        theirs = self._theirs_document
        if theirs.entries == tuple(merged):
            return theirs
        tail = theirs.tail if theirs.entries or not merged else "\n" + theirs.tail.lstrip()
        return LibraryDocument(ChunkedList(merged), theirs.head, tail)

    def _seen_by_writer_of(self, key: ElementKey) -> int:
        ours = self._ours.get(key)
        if ours is not None and ours.raw == self._theirs[key].raw:
            versions = self._history.versions(key)
            if len(versions) == 1:
                return versions[0].seen
        return self._history.newest_seen(key, self._contents[key])

    def _likely_loaded(self) -> int:
        """The revision that the writer most likely loaded: the one that differs least.

        Of equals the present one, else the oldest, so that a change made here counts as unseen.
        """
        state: dict[ElementKey, ElementContent | None] = {}
        items = fields = 0
        least, likely = (0, 0), self._history.newest
        for number, before in self._history.walk_back():
            if number <= max(self._seen, self._history.floor):
                break
            for key, old in before.items():
                was, now = (
                    self._difference(key, self._state_of(key, state)),
                    self._difference(key, old),
                )
                items, fields = items + now[0] - was[0], fields + now[1] - was[1]
                state[key] = old
            is_stale = least < (0, 0)
            if (items, fields) < least or (is_stale and (items, fields) == least):
                least, likely = (items, fields), number - 1
        return likely

    def _state_before(self, loaded: int) -> dict[ElementKey, ElementContent | None]:
        """The former contents of the elements that changed since a revision."""
        state: dict[ElementKey, ElementContent | None] = {}
        for number, before in self._history.walk_back():
            if number <= loaded:
                break
            state.update(before)
        return state

    def _state_of(
        self, key: ElementKey, state: Mapping[ElementKey, ElementContent | None]
    ) -> ElementContent | None:
        if key in state:
            return state[key]
        ours = self._ours.get(key)
        return None if ours is None else ElementContent(ours)

    def _difference(self, key: ElementKey, content: ElementContent | None) -> tuple[int, int]:
        """How many elements (0 or 1) and fields differ between the save and another content."""
        theirs = self._contents.get(key)
        if content is None or theirs is None:
            present = content or theirs
            return (0, 0) if present is None else (1, len(present.fields))
        if content.digest == theirs.digest:
            return 0, 0
        names = {*content.fields, *theirs.fields}
        return 1, sum(content.fields.get(name) != theirs.fields.get(name) for name in names)

    def _base_of(self, key: ElementKey) -> ElementContent | None:
        return self._state_of(key, self._base)

    def _is_kept(self, key: ElementKey) -> bool:
        if self._history.last_written(key) <= self._seen:
            self._result.deleted.append(element_label(key))
            return False
        self._result.kept.append(element_label(key))
        return True

    def _merge_present(self, key: ElementKey, theirs: LibraryEntry) -> list[LibraryEntry]:
        ours, base, content = self._ours.get(key), self._base_of(key), self._contents[key]
        if ours is None:
            return self._merge_removed(key, theirs, base)
        if ours.raw == theirs.raw or ElementContent(ours).digest == content.digest:
            return [theirs]
        if base is not None and not self._is_independent(key, content):
            return [self._merge_fields(key, base, ours, theirs)]
        if self._history.is_known(key, content):
            return [ours]
        if _is_same_work(ours, theirs):
            return [self._merge_fields(key, None, ours, theirs)]
        return [ours, self._under_another_id(key, theirs)]

    def _is_independent(self, key: ElementKey, content: ElementContent) -> bool:
        """Whether the writer gave an id that we had given meanwhile, and did not edit our item."""
        return self._history.created(key) > self._seen and not self._history.may_be_edit(
            key, content
        )

    def _merge_removed(
        self, key: ElementKey, theirs: LibraryEntry, base: ElementContent | None
    ) -> list[LibraryEntry]:
        if self._history.last_written(key) > self._seen and self._history.is_known(
            key, self._contents[key]
        ):
            self._result.still_removed.append(element_label(key))
            return []
        if base is not None:
            self._result.brought_back.append(element_label(key))
        return [theirs]

    def _merge_fields(
        self, key: ElementKey, base: ElementContent | None, ours: LibraryEntry, theirs: LibraryEntry
    ) -> LibraryEntry:
        # Both are objects: an element that is none goes by its content, so both sides say the same.
        before = {} if base is None else base.fields
        our_digests, their_digests = ElementContent(ours).fields, self._contents[key].fields
        our_fields, their_fields = object_fields(ours.raw), object_fields(theirs.raw)
        fields: dict[str, str] = {}
        kept_names = set()
        for name in (*their_fields, *(name for name in our_fields if name not in their_fields)):
            was, our, their = before.get(name), our_digests.get(name), their_digests.get(name)
            is_outdated = our != their and self._history.is_outdated(key, name, their, self._seen)
            is_ours = our != their and (our != was or is_outdated)
            if is_ours:
                kept_names.add(name)
            if is_ours and their != was and not is_outdated:
                self._result.conflicts.append((element_label(key), name))
            text = our_fields.get(name) if is_ours else their_fields.get(name)
            if text is not None:
                fields[name] = text
        if not kept_names:
            return theirs
        if all(
            our_digests.get(name) == their_digests.get(name)
            for name in {*our_fields, *their_fields} - kept_names
        ):
            return ours
        merged = LibraryEntry(theirs.lead, object_text(fields, "    ", "  "))
        self._result.made_here.add(id(merged))
        return merged

    def _under_another_id(self, key: ElementKey, theirs: LibraryEntry) -> LibraryEntry:
        """Keep two works that got the same id independently, one under another id."""
        item_id = str(theirs.item_id)
        number = 2
        while f"{item_id}-{number}" in self._taken:
            number += 1
        free = f"{item_id}-{number}"
        self._taken.add(free)
        self._result.renamed.append((item_id, free))
        return theirs.with_changes({"id": free})


def _with_old_keys(
    history: ElementHistory,
    ours: Mapping[ElementKey, LibraryEntry],
    theirs: Mapping[ElementKey, LibraryEntry],
    loaded: int | None,
) -> dict[ElementKey, LibraryEntry]:
    """The saved elements, an item whose id was changed under the key that it has with us."""
    # Nobody renames what was added after they had loaded the file: that is a second item.
    missing = [
        key
        for key in ours
        if key not in theirs and (loaded is None or history.created(key) <= loaded)
    ]
    unknown = {
        key: ElementContent(entry)
        for key, entry in theirs.items()
        if key not in ours and not history.versions(key)
    }
    unknown |= {
        key: ElementContent(theirs[key])
        for key in theirs
        if key in ours and _is_another_work(ours[key], theirs[key])
    }
    if not missing or not unknown:
        return dict(theirs)
    by_uuid, by_rest = _present_identities(history, missing)
    found: dict[ElementKey, LibraryEntry] = {}
    taken: set[ElementKey] = set()
    for key, entry in theirs.items():
        content = unknown.get(key)
        old = (
            None
            if content is None
            else by_uuid.get(content.uuid or "") or by_rest.get(content.digest_without_id or "")
        )
        if old is None or old in taken:
            found[key] = entry
            continue
        taken.add(old)
        # Where our item of that id is another work, this one was given a free id when it was first
        # saved.
        found[old] = entry.with_changes({"id": element_label(old)}) if key in ours else entry
    return found


def _present_identities(
    history: ElementHistory, keys: list[ElementKey]
) -> tuple[dict[str, ElementKey], dict[str, ElementKey]]:
    by_uuid: dict[str, ElementKey] = {}
    by_rest: dict[str, ElementKey] = {}
    for key in keys:
        for version in history.versions(key):
            if version.content is not None:
                by_uuid.setdefault(version.content.uuid or "", key)
                by_rest.setdefault(version.content.digest_without_id or "", key)
    by_uuid.pop("", None)
    by_rest.pop("", None)
    return by_uuid, by_rest


def _is_another_work(ours: LibraryEntry, theirs: LibraryEntry) -> bool:
    return ours.raw != theirs.raw and not _is_same_work(ours, theirs)


def _is_same_work(ours: LibraryEntry, theirs: LibraryEntry) -> bool:
    """Whether two items of one id, neither made from the other, are one work."""
    one, other = as_mapping(ours.value), as_mapping(theirs.value)
    mine, yours = ElementContent(ours), ElementContent(theirs)
    if mine.uuid is not None and mine.uuid == yours.uuid:
        return True
    for name in ("DOI", "PMID", "ISBN"):
        if one.get(name) and other.get(name):
            return str(one[name]).casefold() == str(other[name]).casefold()
    if title_of(one) and title_of(other):
        return title_of(one) == title_of(other)
    return True


def describe_merge(found: MergeResult) -> str | None:
    """Describes where a merge deviates from the saved file; None where it does not."""
    sentences = []
    if found.kept:
        sentences.append(
            f"{_count(found.kept)} kept ({_list(found.kept)}): the saved file lacks them and does "
            f"not show that its writer had "
            "seen them. Remove them here if they should go; `carrel references restore` goes back "
            "to an earlier state."
        )
    if found.still_removed:
        sentences.append(
            f"{_count(found.still_removed)} not brought back ({_list(found.still_removed)}): "
            f"removed here, and unchanged in the "
            "saved file. `carrel references restore` brings them back."
        )
    if found.brought_back:
        sentences.append(
            f"{_count(found.brought_back)} brought back ({_list(found.brought_back)}): removed "
            f"here, and edited in the saved file."
        )
    if found.conflicts:
        fields = [f"{item} ({name})" for item, name in found.conflicts]
        sentences.append(
            f"Both sides changed {_list(fields)}: the value from here stays, the other is in the "
            f"kept versions."
        )
    for item, free in found.renamed:
        sentences.append(
            f"Another work was saved under the id {item}, which was given here meanwhile: it is "
            f"now {free}."
        )
    return "Another program saved the library. " + " ".join(sentences) if sentences else None


def _count(ids: Sequence[str]) -> str:
    return "1 reference was" if len(ids) == 1 else f"{len(ids)} references were"


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(names[:_MAX_NAMES]) + more
