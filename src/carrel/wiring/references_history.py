"""The past of the local user's library, or of another user's, for the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from carrel.core.caller import LOCAL_USER, library_name
from carrel.core.errors import NotFoundError
from carrel.rooms.references.errors import LibraryHalfChangedError, LibraryUnreadableError
from carrel.settings import Settings
from carrel.stores.csl_json import library_history
from carrel.stores.csl_json.document import UnreadableLibraryError
from carrel.stores.csl_json.library_file import LibraryFile
from carrel.stores.csl_json.library_history import KeptVersion, PastChange, PastText
from carrel.wiring.references import LIBRARY_NAME, library_path, users_folder


class LibraryPast:
    """What there was in one library, and the ways back."""

    def __init__(self, settings: Settings, user_id: str | None) -> None:
        self.path = _path_of(settings, user_id)
        self._library = LibraryFile(self.path)

    def changes(self, reference_id: str | None) -> list[PastChange]:
        with self._explained():
            self._library.read()
            return library_history.list_changes(self._library, reference_id)

    def versions(self) -> list[KeptVersion]:
        with self._explained():
            return library_history.list_versions(self._library)

    def texts(self, reference_id: str) -> list[PastText]:
        with self._explained():
            return library_history.list_texts(self._library, reference_id)

    def restore_version(self, number: int) -> int:
        """Goes back to a kept version; returns how many references there are now."""
        with self._explained():
            return len(library_history.restore_version(self._library, number).items())

    def restore_reference(self, reference_id: str, revision: int | None) -> None:
        with self._explained():
            library_history.restore_reference(self._library, reference_id, revision)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except library_history.NothingToRestoreError as error:
            raise NotFoundError(
                "Version", str(error), next_step="carrel references history lists what is kept."
            ) from None
        except UnreadableLibraryError as error:
            raise LibraryUnreadableError(str(error)) from error
        except OSError as error:
            reason = error.strerror or str(error)
            raise (LibraryHalfChangedError if self._library.is_touched else LibraryUnreadableError)(
                reason
            ) from error


def _path_of(settings: Settings, user_id: str | None) -> Path:
    if user_id is None or user_id == LOCAL_USER:
        return library_path(settings)
    path = users_folder(settings) / library_name(user_id) / LIBRARY_NAME
    if not path.parent.is_dir():
        raise NotFoundError(
            "Library", user_id, next_step="carrel users list names the users there are."
        )
    return path
