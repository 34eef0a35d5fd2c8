"""The history of each element in the ledger: its versions and who must have seen them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from carrel.stores.csl_json.element_keys import (
    ElementKey,
    as_mapping,
    content_digest,
    digest_without_id,
    field_digests,
    uuid_of,
)
from carrel.stores.csl_json.ledger import OldContent, Revision
from carrel.stores.csl_json.library_entry import LibraryEntry

NOTHING_SEEN = -1
# An item that still says half of what it said was edited; one that says less was made anew.
_HALF = 0.5


class ElementContent:
    """The content of an element at some time; digests are computed lazily."""

    def __init__(self, source: LibraryEntry | OldContent | str) -> None:
        self._source = source

    @cached_property
    def value(self) -> Any:
        """The JSON value, or None where only digests are left."""
        match self._source:
            case LibraryEntry():
                return self._source.value
            case str():
                return json.loads(self._source)
            case OldContent():
                return None

    @property
    def raw(self) -> str | None:
        """The text, or None where only digests are left."""
        match self._source:
            case LibraryEntry():
                return self._source.raw
            case str():
                return self._source
            case OldContent():
                return None

    @cached_property
    def digest(self) -> str:
        return (
            self._source.digest
            if isinstance(self._source, OldContent)
            else content_digest(self.value)
        )

    @cached_property
    def fields(self) -> Mapping[str, str]:
        return (
            self._source.fields
            if isinstance(self._source, OldContent)
            else field_digests(self.value)
        )

    @property
    def uuid(self) -> str | None:
        return uuid_of(self.value)

    @property
    def digest_without_id(self) -> str | None:
        return digest_without_id(self.value)


@dataclass(frozen=True, slots=True)
class ElementVersion:
    """An element from a revision on; `content` is None where it was absent."""

    revision: int
    seen: int
    content: ElementContent | None


class ElementHistory:
    """The past of one library, ending with the state `ours`."""

    def __init__(
        self, revisions: Sequence[Revision], ours: Mapping[ElementKey, LibraryEntry]
    ) -> None:
        self._revisions = revisions
        self._ours = ours
        self.floor = max(
            (revision.number for revision in revisions if revision.is_floor), default=0
        )
        self.newest = revisions[-1].number if revisions else 0
        self._versions: dict[ElementKey, list[ElementVersion]] = {}
        self._steps: list[tuple[int, dict[ElementKey, ElementContent | None]]] = []
        self._collect()

    def _collect(self) -> None:
        pending: dict[ElementKey, tuple[int, int]] = {}
        for revision in self._revisions:
            before: dict[ElementKey, ElementContent | None] = {}
            for key in (*revision.written, *revision.removed):
                old = revision.before.get(key)
                before[key] = None if old is None else ElementContent(old)
                since, seen = pending.pop(key, (0, 0))
                self._versions.setdefault(key, []).append(ElementVersion(since, seen, before[key]))
                pending[key] = (revision.number, revision.written.get(key, revision.number))
            self._steps.append((revision.number, before))
        for key, (since, seen) in pending.items():
            entry = self._ours.get(key)
            self._versions[key].append(
                ElementVersion(since, seen, None if entry is None else ElementContent(entry))
            )

    def versions(self, key: ElementKey) -> Sequence[ElementVersion]:
        """Every version of an element, oldest first, ending with the present one."""
        found = self._versions.get(key)
        if found is not None:
            return found
        entry = self._ours.get(key)
        return () if entry is None else (ElementVersion(0, 0, ElementContent(entry)),)

    def keys(self) -> Iterator[ElementKey]:
        """Every element that ever changed."""
        return iter(self._versions)

    def last_written(self, key: ElementKey) -> int:
        """The newest revision that the present version of an element can come from."""
        found = self._versions.get(key)
        return max(self.floor, 0 if found is None else found[-1].revision)

    def created(self, key: ElementKey) -> int:
        """The revision in which the present element of a key first appeared."""
        since = 0
        for version in reversed(self.versions(key)):
            if version.content is None:
                break
            since = version.revision
        return since

    def may_be_edit(self, key: ElementKey, content: ElementContent) -> bool:
        """Whether a content can have been made by editing a version of an element."""
        return any(
            _shares_identity(content, version.content)
            or _share_of_fields(content, version.content) >= _HALF
            for version in self.versions(key)
            if version.content is not None
        )

    def is_known(self, key: ElementKey, content: ElementContent) -> bool:
        """Whether an element ever had exactly this content."""
        return any(
            version.content is not None and version.content.digest == content.digest
            for version in self.versions(key)
        )

    def newest_seen(self, key: ElementKey, content: ElementContent) -> int:
        """The newest revision that the writer of this content must have seen; in doubt earlier."""
        versions = [version for version in self.versions(key) if version.content is not None]
        exact = [
            version.seen
            for version in versions
            if version.content and version.content.digest == content.digest
        ]
        if exact:
            return min(exact)
        alike = [
            version.seen
            for version in versions
            if version.content and _is_edit_of(content, version)
        ]
        return min(alike, default=NOTHING_SEEN)

    def is_outdated(self, key: ElementKey, name: str, digest: str | None, seen: int) -> bool:
        """Whether a value is from before our change, which its writer need not have seen."""
        values = [
            (version.revision, version.content.fields.get(name))
            for version in self.versions(key)
            if version.content is not None
        ]
        present = values[-1][1] if values else None
        changed_at = 0
        for revision, value in reversed(values):
            if value != present:
                break
            changed_at = revision
        return (
            changed_at > seen and digest != present and any(value == digest for _, value in values)
        )

    def walk_back(self) -> Iterator[tuple[int, Mapping[ElementKey, ElementContent | None]]]:
        """Revisions from the newest: number, and the former contents of what each one changed."""
        return reversed(self._steps)


def _is_edit_of(content: ElementContent, version: ElementVersion) -> bool:
    """Whether an unknown content is an edit of a version, not another work under the same id."""
    old = version.content
    if old is None:
        return False
    if content.uuid is not None or old.uuid is not None:
        return content.uuid == old.uuid
    if version.seen == 0 and version.revision == 0:
        return True
    return _share_of_fields(content, old) >= _HALF


def _shares_identity(one: ElementContent, other: ElementContent) -> bool:
    """Whether two contents of one id have the same identity, or none but the id."""
    return one.uuid == other.uuid


def _share_of_fields(content: ElementContent, old: ElementContent) -> float:
    """The share of an old version's fields, besides id and type, that are unchanged."""
    names = [name for name in old.fields if name not in {"id", "type"}]
    return (
        sum(content.fields.get(name) == old.fields[name] for name in names) / len(names)
        if names
        else 0.0
    )


def title_of(value: object) -> str:
    return " ".join(str(as_mapping(value).get("title") or "").casefold().split())
