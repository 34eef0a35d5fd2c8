"""The history of a library file: what was changed, and what can be restored or undone."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from pathlib import Path

from carrel.core.errors import NotFoundError
from carrel.rooms.references.items import Item
from carrel.rooms.references.ports import KeptVersion, PastChange, PastText, PastVersion
from carrel.stores.csl_json.document import LibraryDocument
from carrel.stores.csl_json.element_history import ElementHistory
from carrel.stores.csl_json.element_labels import ElementLabels
from carrel.stores.csl_json.ledger import Revision
from carrel.stores.csl_json.library_errors import translate_file_errors
from carrel.stores.csl_json.library_file import Edit, FileState, LibraryFile
from carrel.stores.csl_json.undo import (
    find_changed_since,
    find_revision,
    restore_text,
    undo_revision,
)
from carrel.stores.csl_json.working_folder import CURRENT


class NothingToRestoreError(NotFoundError):
    """No such version is kept."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            "Version", reason, next_step="carrel references history lists what is kept."
        )


class LibraryHistory:
    """Every method raises LibraryUnreadableError where the library cannot be used."""

    def __init__(
        self,
        path: Path,
        file: LibraryFile | None = None,
        change: Callable[[Edit], FileState] | None = None,
    ) -> None:
        self.path = path
        self._library = file or LibraryFile(path)
        self._change = change or self._library.change

    def list_changes(self, reference_id: str | None = None) -> list[PastChange]:
        """Every change that the ledger knows, newest first; those of one reference if named."""
        with translate_file_errors(self._library):
            present = self._library.read().document
            revisions = self._library.revisions()
            names = ElementLabels(present, revisions)
            found = [_as_change(revision, names) for revision in reversed(revisions)]
        return [
            change
            for change in found
            if (ids := {*change.written, *change.removed, *change.kept})
            and (reference_id is None or reference_id in ids)
        ]

    def find_overtaken(self, numbers: Collection[int]) -> set[int]:
        """Those of these changes of which a reference says something else by now."""
        with translate_file_errors(self._library):
            present = self._library.read().document
            return {*find_changed_since(present, self._library.revisions(), numbers)}

    def list_versions(self) -> list[KeptVersion]:
        """Complete versions that are still kept, newest first."""
        with translate_file_errors(self._library):
            return [
                KeptVersion(number, path, kind != CURRENT, path.stat().st_size)
                for number, kind, path in reversed(self._library.kept_versions())
            ]

    def list_texts(self, reference_id: str) -> list[PastText]:
        """Every version of one reference, oldest first."""
        with translate_file_errors(self._library):
            entry = self._library.read().document.get(reference_id)
            key = (f"id:{reference_id}", 0)
            history = ElementHistory(
                self._library.revisions(), {} if entry is None else {key: entry}
            )
        return [
            PastText(
                version.revision,
                None if version.content is None else version.content.raw,
                version.content is not None,
            )
            for version in history.versions(key)
        ]

    def list_past(self, reference_id: str) -> list[PastVersion]:
        """Every version of one reference with the change that made it, newest first."""
        texts = self.list_texts(reference_id)
        with translate_file_errors(self._library):
            changes = {revision.number: revision for revision in self._library.revisions()}
        return [
            PastVersion(
                text.revision,
                changes[text.revision].at if text.revision in changes else "",
                changes[text.revision].origin if text.revision in changes else "",
                text.is_present,
                None if text.text is None else _read_item(text.text),
            )
            for text in reversed(texts)
        ]

    def restore_version(self, number: int) -> int:
        """Restore a kept version of the whole library; returns the number of references.

        The present version is kept too. Raises NothingToRestoreError for an unknown version.
        """
        paths = {version.number: version.path for version in self.list_versions()}
        if number not in paths:
            raise NothingToRestoreError(f"no version {number} is kept")
        with translate_file_errors(self._library):
            restored = LibraryDocument.parse(paths[number].read_bytes())
            if self._library.is_damaged():
                self._library.replace_damaged()
            return len(self._library.change(restored.reuse_entries).document.items())

    def find_damage(self) -> int | None:
        """The version that can replace a library file that is damaged, or None."""
        newest = self._library.newest_good_version() if self._library.is_damaged() else None
        return None if newest is None else newest[0]

    def restore_reference(self, reference_id: str, revision: int | None = None) -> None:
        """Restore one reference as of a revision, or as before its last change, even if removed.

        One that has another key since keeps that key.
        Raises NothingToRestoreError where no earlier text is kept.
        """
        texts = self.list_texts(reference_id)
        if revision is not None:
            newest = max((each.number for each in self._library.revisions()), default=0)
            if revision > newest:
                raise NothingToRestoreError(f"the last change of the library is {newest}")
            candidates = [text for text in texts if text.revision <= revision]
            raw = candidates[-1].text if candidates else None
        else:
            raw = next((text.text for text in reversed(texts[:-1]) if text.text is not None), None)
        if raw is None:
            raise NothingToRestoreError(f"no earlier text of {reference_id} is kept")

        def edit(present: LibraryDocument) -> LibraryDocument:
            return restore_text(present, reference_id, raw)

        with translate_file_errors(self._library):
            self._change(edit)

    def undo_change(self, number: int | None = None) -> PastChange:
        """Undo one change, the last without a number; returns what was undone.

        Raises NothingToRestoreError for an unknown change, or ChangeNotUndoableError.
        """
        undone: list[PastChange] = []

        def edit(present: LibraryDocument) -> LibraryDocument:
            revisions = self._library.revisions()
            found = find_revision(revisions, number)
            if found is None:
                raise NothingToRestoreError(
                    "no change is known" if number is None else f"no change {number} is known"
                )
            undone[:] = [_as_change(found, ElementLabels(present, revisions))]
            return undo_revision(present, revisions, found)

        with translate_file_errors(self._library):
            self._change(edit)
        return undone[0]


def _read_item(text: str) -> Item | None:
    found = json.loads(text)
    return found if isinstance(found, dict) else None


def _as_change(revision: Revision, names: ElementLabels) -> PastChange:
    written = dict.fromkeys(names.label(key) for key in revision.written)
    return PastChange(
        revision.number,
        revision.at,
        revision.origin,
        list(written),
        # An item that was given its id, or changed without one, was removed in the file alone.
        [label for key in revision.removed if (label := names.label(key)) not in written],
        list(revision.kept),
    )
