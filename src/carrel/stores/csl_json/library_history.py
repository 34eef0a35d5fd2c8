"""Looking at the past of a library, and going back to some of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from carrel.rooms.references.errors import LibraryUnreadableError
from carrel.stores.csl_json.document import Document, Entry, Key, UnreadableLibraryError
from carrel.stores.csl_json.element_history import History
from carrel.stores.csl_json.ledger import Revision
from carrel.stores.csl_json.library_file import LibraryFile
from carrel.stores.csl_json.working_folder import CURRENT


class NothingToRestoreError(LookupError):
    """No such version is kept."""


@dataclass(frozen=True, slots=True)
class PastChange:
    """One accepted change, newest facts first: who made it and which references it wrote, removed,
    or kept against a save.
    """

    revision: int
    at: str
    origin: str
    written: Sequence[str]
    removed: Sequence[str]
    kept: Sequence[str]


@dataclass(frozen=True, slots=True)
class KeptVersion:
    """A whole version of the library that is still kept. `was_replaced` marks what another program
    had saved, before it was merged.
    """

    number: int
    path: Path
    was_replaced: bool
    size_bytes: int


@dataclass(frozen=True, slots=True)
class PastText:
    """What one reference said from some revision on; None where it was absent, or only digests of
    it are left.
    """

    revision: int
    text: str | None
    is_present: bool


def list_changes(library: LibraryFile, reference_id: str | None = None) -> list[PastChange]:
    """Every change that the ledger knows, newest first; those of one reference where it is
    named.
    """
    found = (_as_change(revision) for revision in reversed(library.revisions()))
    wanted = (change for change in found if change.written or change.removed or change.kept)
    return [
        change
        for change in wanted
        if reference_id is None or reference_id in {*change.written, *change.removed, *change.kept}
    ]


def list_versions(library: LibraryFile) -> list[KeptVersion]:
    """Whole versions that are still kept, newest first."""
    listed = reversed(library.kept_versions())
    return [
        KeptVersion(number, path, kind != CURRENT, path.stat().st_size)
        for number, kind, path in listed
    ]


def list_texts(library: LibraryFile, reference_id: str) -> list[PastText]:
    """Every version of one reference, oldest first."""
    return list(_texts(library, (f"id:{reference_id}", 0)))


def restore_version(library: LibraryFile, number: int) -> Document:
    """Makes the library hold a kept version, and nothing else. What is replaced stays among the
    versions.
    """
    paths = {version.number: version.path for version in list_versions(library)}
    if number not in paths:
        raise NothingToRestoreError(f"no version {number} is kept")
    try:
        wanted = Document.parse(paths[number].read_bytes())
    except UnreadableLibraryError as error:
        raise LibraryUnreadableError(str(error)) from error
    return library.change(wanted.reusing).document


def restore_reference(
    library: LibraryFile, reference_id: str, revision: int | None = None
) -> Document:
    """Gives one reference back what it said at a revision, or before its last change; a removed one
    is there again.
    """
    texts = list_texts(library, reference_id)
    if revision is not None:
        candidates = [text for text in texts if text.revision <= revision]
        chosen = candidates[-1].text if candidates else None
    else:
        chosen = next((text.text for text in reversed(texts[:-1]) if text.text is not None), None)
    if chosen is None:
        raise NothingToRestoreError(f"no earlier text of {reference_id} is kept")
    raw = chosen

    def edit(present: Document) -> Document:
        entry = present.get(reference_id)
        if entry is not None:
            return present.with_entry(reference_id, replace(entry, raw=raw))
        tail = present.tail if present.entries else "\n" + present.tail.lstrip()
        return Document((*present.entries, Entry("\n  ", raw)), present.head, tail)

    return library.change(edit).document


def _texts(library: LibraryFile, key: Key) -> Iterator[PastText]:
    state = library.read()
    entry = state.document.get(key[0].removeprefix("id:"))
    history = History(library.revisions(), {} if entry is None else {key: entry})
    for version in history.versions(key):
        content = version.content
        yield PastText(
            version.revision, None if content is None else content.raw, content is not None
        )


def _as_change(revision: Revision) -> PastChange:
    return PastChange(
        revision.number,
        revision.at,
        revision.origin,
        [_shown(key) for key in revision.written],
        [_shown(key) for key in revision.removed],
        list(revision.kept),
    )


def _shown(key: Key) -> str:
    return key[0].partition(":")[2]
