"""What is handed in to a copy of a published corpus: stored before anybody is told that it came.

A long addition goes on as a job, and another server may take that job up. So the bytes are in the
object store under the same name that the workshop has them under later.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

from carrel.core.process_name import process_name
from carrel.libraries.works.given_names import name_file
from carrel.stores.corpus.published.catalogue import FILES, damaged_object
from carrel.stores.corpus.published.workshop import file_pieces
from carrel.stores.objects.store import MissingObjectError, ObjectStore, read_whole
from carrel.stores.static_folder import PaperInboxFolder, write_whole

_LONGEST_NAME_BYTES = 4_000


class PublishedInbox:
    """The inbox of one copy, with everything in it in the object store as well."""

    def __init__(self, folder: PaperInboxFolder, store: ObjectStore) -> None:
        self._folder = folder
        self._store = store

    def put(self, content: bytes, suffix: str) -> Path:
        path = self._folder.put(content, suffix)
        self._keep(path)
        return path

    def put_file(self, file: Path, sha256: str, suffix: str, name: str = "") -> Path:
        path = self._folder.put_file(file, sha256, suffix, name)
        self._keep(path)
        if name:
            self._store.write(_name_key(path), name.encode("utf-8", "replace"))
        return path

    def remove(self, path: Path) -> None:
        # The objects are swept: another server may be adding the same file.
        self._folder.remove(path)

    def find(self, path: Path) -> Path:
        """The file of this name here, fetched where another server took it in.

        Raises FileNotFoundError where nobody has it, ObjectStoreError.
        """
        here = self._folder.folder / path.name
        if here.exists():
            return here
        stem = path.name.partition(".")[0]
        key = f"{FILES}/{stem}"
        here.parent.mkdir(parents=True, exist_ok=True)
        aside = here.with_name(f".{here.name}.{process_name()}")
        digest = hashlib.sha256()
        try:
            with aside.open("wb") as file:
                for piece in self._store.read(key):
                    digest.update(piece)
                    file.write(piece)
            if not digest.hexdigest().startswith(stem):
                raise damaged_object(self._store, key)
            with suppress(MissingObjectError):
                name = read_whole(self._store, _name_key(path), _LONGEST_NAME_BYTES)
                write_whole(name_file(here), name)
            aside.replace(here)
        except MissingObjectError as error:
            raise FileNotFoundError(path.name) from error
        finally:
            aside.unlink(missing_ok=True)
        return here

    def _keep(self, path: Path) -> None:
        self._store.write_pieces(f"{FILES}/{path.name.partition('.')[0]}", file_pieces(path))


def _name_key(path: Path) -> str:
    return f"{FILES}/{path.name.partition('.')[0]}.name"
