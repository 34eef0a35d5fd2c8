"""The past of one library file: its changes, its kept versions, and the ways back to them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from carrel.core.errors import NotFoundError
from carrel.rooms.references.ports import KeptVersion, PastChange, PastText
from carrel.stores.csl_json.document import Document, Entry, element_label
from carrel.stores.csl_json.element_history import History
from carrel.stores.csl_json.ledger import Revision
from carrel.stores.csl_json.library import translate_file_errors
from carrel.stores.csl_json.library_file import LibraryFile
from carrel.stores.csl_json.working_folder import CURRENT


class NothingToRestoreError(NotFoundError):
    """No such version is kept."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            "Version", reason, next_step="carrel references history lists what is kept."
        )


class LibraryHistory:
    """Every method raises LibraryUnreadableError where the library cannot be used."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._library = LibraryFile(path)

    def list_changes(self, reference_id: str | None = None) -> list[PastChange]:
        """Every change that the ledger knows, newest first; those of one reference if named."""
        with translate_file_errors(self._library):
            self._library.read()
            found = [_as_change(revision) for revision in reversed(self._library.revisions())]
        return [
            change
            for change in found
            if (ids := {*change.written, *change.removed, *change.kept})
            and (reference_id is None or reference_id in ids)
        ]

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
            history = History(self._library.revisions(), {} if entry is None else {key: entry})
        return [
            PastText(
                version.revision,
                None if version.content is None else version.content.raw,
                version.content is not None,
            )
            for version in history.versions(key)
        ]

    def restore_version(self, number: int) -> int:
        """Makes the library hold a kept version and nothing else; returns how many references.

        What is replaced stays among the versions. NothingToRestoreError where it is not kept.
        """
        paths = {version.number: version.path for version in self.list_versions()}
        if number not in paths:
            raise NothingToRestoreError(f"no version {number} is kept")
        with translate_file_errors(self._library):
            restored = Document.parse(paths[number].read_bytes())
            return len(self._library.change(restored.reusing).document.items())

    def restore_reference(self, reference_id: str, revision: int | None = None) -> None:
        """Gives one reference the text of a revision, or of before its last change.

        A removed one is there again. NothingToRestoreError where no earlier text is kept.
        """
        texts = self.list_texts(reference_id)
        if revision is not None:
            candidates = [text for text in texts if text.revision <= revision]
            raw = candidates[-1].text if candidates else None
        else:
            raw = next((text.text for text in reversed(texts[:-1]) if text.text is not None), None)
        if raw is None:
            raise NothingToRestoreError(f"no earlier text of {reference_id} is kept")

        def edit(present: Document) -> Document:
            entry = present.get(reference_id)
            if entry is not None:
                return present.with_entry(reference_id, replace(entry, raw=raw))
            tail = present.tail if present.entries else "\n" + present.tail.lstrip()
            return Document((*present.entries, Entry("\n  ", raw)), present.head, tail)

        with translate_file_errors(self._library):
            self._library.change(edit)


def _as_change(revision: Revision) -> PastChange:
    return PastChange(
        revision.number,
        revision.at,
        revision.origin,
        [element_label(key) for key in revision.written],
        [element_label(key) for key in revision.removed],
        list(revision.kept),
    )
