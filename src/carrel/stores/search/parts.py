"""Parts of an index: folders that one writer at a time fills and any number of views read."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import tantivy

from carrel.core.process_name import process_name
from carrel.stores.search.errors import UnusablePartError
from carrel.stores.search.schema import (
    INDEX_FORMAT,
    IndexedDocument,
    index_schema,
    make_entry,
    register_tokenizers,
)

# Below this tantivy refuses to write; above it a part of thousands of documents has one segment.
SMALL_HEAP_BYTES = 15_000_000
BUILD_HEAP_BYTES = 256 * 1024 * 1024
_FORMAT_FILE = "format.json"
_META_FILE = "meta.json"


class PartWriter:
    """Adds documents to a part and removes them; nothing is seen before `commit` or `finish`.

    The folder is made where it is missing, and written anew where it is of another format. A second
    writer on the same folder is refused with UnusablePartError until the first has finished.
    """

    def __init__(
        self, folder: Path, *, heap_bytes: int = SMALL_HEAP_BYTES, threads: int = 1
    ) -> None:
        self.folder = folder
        self.count = 0
        self._writer: tantivy.IndexWriter | None = None
        try:
            _clear_other_format(folder)
            folder.mkdir(parents=True, exist_ok=True)
            is_unfinished = not has_part(folder)
            index = tantivy.Index(index_schema(), path=str(folder))
            register_tokenizers(index)
            self._writer = index.writer(heap_bytes * threads, threads)
        except (OSError, ValueError) as error:
            raise UnusablePartError(f"cannot write the index part {folder.name}") from error
        if is_unfinished:
            self._writer.delete_all_documents()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.finish()
        else:
            self.abandon()

    def add(self, document: IndexedDocument) -> None:
        self._open_writer().add_document(make_entry(document))
        self.count += 1

    def remove_key(self, key: str) -> None:
        """Remove all documents of earlier commits and this one that have this key."""
        self._open_writer().delete_documents_by_term("key", key)

    def commit(self) -> None:
        """Make what was added and removed visible to views opened from now on."""
        self._open_writer().commit()
        mark_finished(self.folder)

    def finish(self) -> None:
        """Commit, wait for merges and let go of the folder."""
        self.commit()
        writer, self._writer = self._open_writer(), None
        writer.wait_merging_threads()

    def abandon(self) -> None:
        """Forget what was not committed and let go of the folder."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.rollback()
            writer.wait_merging_threads()

    def _open_writer(self) -> tantivy.IndexWriter:
        if self._writer is None:
            raise UnusablePartError(f"the writer of {self.folder.name} has finished")
        return self._writer


def read_part(folder: Path) -> dict[str, Any]:
    """The list of segments of a finished part, as tantivy wrote it."""
    try:
        made = json.loads((folder / _FORMAT_FILE).read_bytes())
        meta = json.loads((folder / _META_FILE).read_bytes())
        if made["format"] == INDEX_FORMAT and isinstance(meta["segments"], list):
            return dict(meta)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnusablePartError(f"cannot read the index part {folder.name}") from error
    raise UnusablePartError(f"the index part {folder.name} is of another format")


def has_part(folder: Path) -> bool:
    """Whether the folder holds a finished part of today's format."""
    try:
        read_part(folder)
    except UnusablePartError:
        return False
    return True


def _clear_other_format(folder: Path) -> None:
    try:
        made = json.loads((folder / _FORMAT_FILE).read_bytes())
        is_other = not isinstance(made, dict) or made.get("format") != INDEX_FORMAT
    except OSError:
        return
    except ValueError:
        is_other = True
    if is_other:
        shutil.rmtree(folder)


def mark_finished(folder: Path) -> None:
    target = folder / _FORMAT_FILE
    if target.exists():
        return
    fresh = folder / f"{_FORMAT_FILE}.{process_name()}.part"
    with fresh.open("w", encoding="utf-8") as file:
        json.dump({"format": INDEX_FORMAT}, file)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(target)
