"""Search of one library of rows, through an index in the cache that follows by revision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from carrel.rooms.references.fulltext import named_attachments
from carrel.rooms.references.items import Item
from carrel.stores.csl_json.search.library_search import (
    MAX_BODY_BYTES,
    LibrarySearch,
    SearchedState,
)
from carrel.stores.sql.references.attached_files import DatabaseFiles
from carrel.stores.sql.references.snapshots import RowState


class RowDocument:
    """The references of a state, as the search reads them."""

    def __init__(self, state: RowState) -> None:
        self._state = state

    @property
    def entries(self) -> list[object]:
        return list(self._state.stored[:1])

    @property
    def item_count(self) -> int:
        return len(self._state.stored)

    def items(self) -> Sequence[Item]:
        return self._state.items

    def elements(self) -> Sequence[object]:
        return self._state.stored

    def text_at(self, number: int) -> tuple[str, Item]:
        """A text that changes with the row of an item, and the item."""
        stored = self._state.stored[number]
        return f"{self._state.head.epoch}:{stored.revision}", stored.item


class RowSource:
    """The library that is searched, as of the state that was read last."""

    def __init__(self, read_state: Callable[[], RowState]) -> None:
        self._read_state = read_state

    def signature(self) -> tuple[int, ...]:
        return self._read_state().signature

    def read(self) -> SearchedState:
        state = self._read_state()
        return SearchedState(state.signature, RowDocument(state))


class RowLibrarySearch(LibrarySearch):
    """Answers queries about one library; every method blocks and runs on a thread."""

    def __init__(
        self, read_state: Callable[[], RowState], files: DatabaseFiles, folder: Path
    ) -> None:
        super().__init__(RowSource(read_state), files.folder)
        self._files = files
        self._folder = folder

    def _find_folder(self) -> Path:
        return self._folder

    def _attached_mark(self, item: Item) -> str:
        name = _markdown_name(item)
        return self._files.mark(name) if name else ""

    def _read_body(self, item: Item) -> str:
        name = _markdown_name(item)
        if not name or not self._files.mark(name):
            return ""
        try:
            return self._files.read_beginning(name, MAX_BODY_BYTES).decode("utf-8", "replace")
        except OSError:
            return ""


def _markdown_name(item: Item) -> str:
    if "custom" not in item:
        return ""
    for role, directory, name in named_attachments(item):
        if role == "markdown":
            return str(PurePosixPath(directory) / name)
    return ""
