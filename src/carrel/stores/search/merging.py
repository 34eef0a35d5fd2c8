"""Merges parts into one by tantivy's own merge, which analyses no word again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import tantivy

from carrel.stores.search.errors import translate_writer_errors
from carrel.stores.search.parts import SMALL_HEAP_BYTES, mark_finished, read_part
from carrel.stores.search.schema import index_schema, register_tokenizers
from carrel.stores.search.views import link_files

# tantivy merges by itself from this many segments on, if each has fewer documents than the second.
FEWEST_PARTS = 8
_MOST_DOCUMENTS = 10_000
_LOCKS = (".tantivy-writer.lock", ".tantivy-meta.lock")


def can_merge(parts: Sequence[Path]) -> bool:
    """Whether tantivy's merge makes one segment of these parts."""
    segments = [segment for part in parts for segment in read_part(part)["segments"]]
    is_small = all(int(segment["max_doc"]) < _MOST_DOCUMENTS for segment in segments)
    return len(segments) >= FEWEST_PARTS and is_small


def merge_parts(parts: Sequence[Path], folder: Path, without_rows: Iterable[int]) -> None:
    """Write one part with the documents of all but these rows; the parts stay as they are."""
    folder.mkdir(parents=True)
    segments: list[dict[str, Any]] = []
    for part in parts:
        own = read_part(part)["segments"]
        link_files(part, folder, own)
        segments += own
    meta = {**read_part(parts[0]), "segments": segments, "opstamp": 0, "payload": None}
    (folder / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    names = sorted(file.name for file in folder.iterdir())
    (folder / ".managed.json").write_text(json.dumps(names), encoding="utf-8")
    with translate_writer_errors(folder):
        index = tantivy.Index.open(str(folder))
        register_tokenizers(index)
        writer = index.writer(SMALL_HEAP_BYTES, 1)
        for row in without_rows:
            # By a query: a term of a number deletes nothing.
            query = tantivy.Query.term_query(index_schema(), "row", row)
            writer.delete_documents_by_query(query)
        writer.commit()
        writer.wait_merging_threads()
    mark_finished(folder)
    remove_locks(folder)


def remove_locks(folder: Path) -> None:
    """Remove the empty lock files of a part that nobody will write again."""
    for name in _LOCKS:
        with suppress(OSError):
            (folder / name).unlink()
