"""Search of one library file through the index beside it, which is brought up to date first."""

from __future__ import annotations

import errno
import logging
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from carrel.core.errors import describe_error
from carrel.libraries.query.empty_answers import AskedTerm, EmptyAnswer, FilterEffect, explain_empty
from carrel.libraries.query.language import YearRange
from carrel.libraries.text.passages import cut_passages, passage_ids
from carrel.rooms.references.fulltext import named_attachments
from carrel.rooms.references.items import Item, names_text, text_of, year_of
from carrel.rooms.references.ports import AttachedPassage, FoundReferences
from carrel.rooms.references.queries import (
    AllTerms,
    AnyTerm,
    NotTerm,
    ReferenceNode,
    ReferenceQuery,
    ReferenceTerm,
)
from carrel.stores.csl_json.library_file import FileState, LibraryFile
from carrel.stores.csl_json.library_places import search_folder
from carrel.stores.csl_json.search.index import IndexClosedError, LibraryIndex, Signature
from carrel.stores.csl_json.search.known_rows import LibraryText, LibraryTexts
from carrel.stores.csl_json.search.ranking import ReferenceRanking
from carrel.stores.search.errors import UnusablePartError, translate_panics

log = logging.getLogger("carrel.cache")

_FIRST_REFERENCE = "add_references adds the first."

# Attached texts are indexed up to this size; a book has about a million characters.
MAX_BODY_BYTES = 8 * 1024 * 1024
_NEAREST = 3
_DAMAGE = (sqlite3.Error, UnusablePartError, ValueError, OSError)

ResultT = TypeVar("ResultT")


class SearchedDocument(Protocol):
    """The references of a library, an item the same object as long as its text is the same."""

    @property
    def entries(self) -> Sequence[object]:
        """Empty where there is no reference."""
        ...

    @property
    def item_count(self) -> int: ...

    def items(self) -> Sequence[Item]: ...

    def elements(self) -> Sequence[object] | None:
        """One object for each item, the same as long as the item is; None where that is unsure."""
        ...

    def text_at(self, number: int) -> tuple[str, Item]:
        """A text that changes whenever the item of this number does, and the item."""
        ...


@dataclass(frozen=True, slots=True)
class SearchedState:
    """A library at one moment; two states with the same signature are the same."""

    signature: Signature
    document: SearchedDocument


class SearchedLibrary(Protocol):
    """The library that an index follows."""

    def signature(self) -> Signature: ...

    def read(self) -> SearchedState | FileState: ...


class _DocumentTexts:
    """The references of a state, as an index reads them."""

    def __init__(self, document: SearchedDocument, attached_mark: Callable[[Item], str]) -> None:
        self._document = document
        self._attached_mark = attached_mark

    def __len__(self) -> int:
        return self._document.item_count

    def elements(self) -> Sequence[object] | None:
        return self._document.elements()

    def text_at(self, number: int) -> LibraryText:
        raw, item = self._document.text_at(number)
        return LibraryText(raw, item, self._attached_mark(item))


class LibrarySearch:
    """Answers queries about one library; every method blocks and runs on a thread.

    Methods raise UnreadableLibraryError or OSError where the library cannot be read.
    """

    def __init__(self, file: SearchedLibrary, attachments: Path) -> None:
        self._file = file
        self._attachments = attachments
        self._own_folder: Path | None = None
        self._indexes: dict[Path, LibraryIndex] = {}

    def search(self, query: ReferenceQuery, first: int, count: int) -> FoundReferences:
        """One page of the references that match, best first."""

        def answer(index: LibraryIndex) -> FoundReferences:
            ranking = ReferenceRanking(index)
            found = ranking.search(query, first, count)
            is_partial = not found.total
            if is_partial:
                found = ranking.search_most(query, first, count)
            items = index.records.items(list(found.rows))
            return FoundReferences(
                found.total,
                [items[row] for row in found.rows if row in items],
                is_partial=is_partial and found.total > 0,
                passages=_read_passages(index, ranking.best_passages(query, found.rows)),
            )

        return self._ask(answer, FoundReferences(0, ()))

    def find_all(self, query: ReferenceQuery) -> Sequence[Item]:
        """Every reference that matches, in the order of the library."""

        def answer(index: LibraryIndex) -> Sequence[Item]:
            rows = ReferenceRanking(index).find_all(query)
            items = index.records.items(list(rows))
            return [items[row] for row in rows if row in items]

        return self._ask(answer, ())

    def find_ids(self, query: ReferenceQuery) -> Sequence[str]:
        """The ids of every reference that matches, without reading the references themselves."""

        def answer(index: LibraryIndex) -> Sequence[str]:
            rows = ReferenceRanking(index).find_all(query)
            state = self._file.read()
            items = state.document.items()
            places = index.places()
            if not index.is_fresh(state.signature) or len(places) != len(items):
                # The file was saved a moment ago: what the index has stored is right by itself.
                found = index.records.items(list(rows))
                return [text_of(item, "id") for item in found.values()]
            # Places are in the order of the file.
            numbers = {row: at for at, row in enumerate(sorted(places, key=places.__getitem__))}
            return [text_of(items[numbers[row]], "id") for row in rows]

        return self._ask(answer, ())

    def explain(self, query: ReferenceQuery) -> EmptyAnswer:
        """Why a query finds nothing."""
        notices = [unknown.message for unknown in query.unknown_fields]

        def answer(index: LibraryIndex) -> EmptyAnswer:
            ranking = ReferenceRanking(index)
            near = ranking.nearest(query.ranking_text, _NEAREST)
            items = index.records.items(list(near))
            return explain_empty(
                "references",
                index.records.count(),
                words=_asked_terms(ranking, query),
                filters=_filter_effects(ranking, query),
                known_words=ranking.suggest,
                nearest=[_one_line(items[row]) for row in near if row in items],
                notices=notices,
            )

        return self._ask(
            answer, explain_empty("references", 0, notices=notices, next_step=_FIRST_REFERENCE)
        )

    def follow(self, state: FileState) -> None:
        """Bring an index that there is to a state that has just been written."""
        try:
            index = self._index()
            if index.is_made():
                index.update(state.signature, self._texts(state))
        except (*_DAMAGE, IndexClosedError) as error:
            # The change itself is safe in the file; the next search brings the index up to date.
            log.warning("index of references not updated", extra={"cause": describe_error(error)})

    def close(self) -> None:
        for index in self._indexes.values():
            index.stop()
        if self._own_folder is not None:
            shutil.rmtree(self._own_folder, ignore_errors=True)

    def _ask(self, answer: Callable[[LibraryIndex], ResultT], nothing: ResultT) -> ResultT:
        index = self._index()
        try:
            return self._ask_index(index, answer, nothing)
        except OSError as error:
            if error.errno != errno.ENOSPC or index is self._own_index():
                raise
            log.warning("index of references is made elsewhere: the disk is full")
        return self._ask_index(self._own_index(), answer, nothing)

    def _ask_index(
        self, index: LibraryIndex, answer: Callable[[LibraryIndex], ResultT], nothing: ResultT
    ) -> ResultT:
        signature = self._file.signature()
        state: SearchedState | FileState | None = None
        if not signature or not index.is_fresh(signature):
            state = self._file.read()
            if not state.document.entries:
                return nothing
            index.update(state.signature, self._texts(state))
        try:
            with translate_panics():
                return answer(index)
        except _DAMAGE as error:
            log.warning("index of references is damaged", extra={"cause": describe_error(error)})
        state = state or self._file.read()
        index.rebuild(state.signature, self._texts(state))
        return answer(index)

    def _index(self) -> LibraryIndex:
        """The index in its folder, or one of this process where that cannot be written."""
        target = self._find_folder()
        present = next((each for each in target.parents if each.is_dir()), target)
        if not os.access(present, os.W_OK):
            return self._own_index()
        return self._index_in(target)

    def _own_index(self) -> LibraryIndex:
        if self._own_folder is None:
            self._own_folder = Path(tempfile.mkdtemp(prefix="carrel-references-"))
        return self._index_in(self._own_folder)

    def _index_in(self, target: Path) -> LibraryIndex:
        if target not in self._indexes:
            self._indexes[target] = LibraryIndex(target, self._read_body)
        return self._indexes[target]

    def _find_folder(self) -> Path:
        if not isinstance(self._file, LibraryFile):
            raise TypeError("only a library file has its index beside it")
        return search_folder(self._file.path)

    def _texts(self, state: SearchedState | FileState) -> LibraryTexts:
        return _DocumentTexts(state.document, self._attached_mark)

    def _attached_mark(self, item: Item) -> str:
        if "custom" not in item:
            return ""
        file = self._attached_file(item)
        if file is None:
            return ""
        try:
            found = file.stat()
        except OSError:
            return ""
        return f"{file.name} {found.st_size} {found.st_mtime_ns}"

    def _attached_file(self, item: Item) -> Path | None:
        """The attached Markdown; a name that leads out of the folder of attachments is ignored."""
        for role, directory, name in named_attachments(item):
            if role == "markdown":
                root = Path(os.path.realpath(self._attachments))
                path = Path(os.path.realpath(root / directory / name))
                return path if path.is_relative_to(root) else None
        return None

    def _read_body(self, item: Item) -> str:
        file = self._attached_file(item)
        if file is None:
            return ""
        try:
            with file.open("rb") as opened:
                return opened.read(MAX_BODY_BYTES).decode("utf-8", "replace")
        except OSError:
            return ""


def _read_passages(index: LibraryIndex, numbers: Mapping[int, int]) -> list[AttachedPassage]:
    """The passages of these numbers in the attached texts of these rows."""
    found: list[AttachedPassage] = []
    for stored in index.records.read_references(list(numbers)):
        passages = cut_passages(stored.body)
        wanted = numbers[stored.row] - 1
        if wanted < len(passages):
            passage, name = passages[wanted], text_of(stored.item, "id")
            found.append(
                AttachedPassage(
                    passage_ids(name, stored.body, passages)[wanted],
                    name,
                    passage.section,
                    passage.page,
                    stored.body[passage.start : passage.end],
                )
            )
    return found


def _parts(query: ReferenceQuery) -> tuple[ReferenceNode, ...]:
    match query.node:
        case None:
            return ()
        case AllTerms(parts):
            return parts
        case node:
            return (node,)


def _is_word(node: ReferenceNode) -> bool:
    return isinstance(node, ReferenceTerm) and node.field is None


def _asked_terms(ranking: ReferenceRanking, query: ReferenceQuery) -> list[AskedTerm]:
    return [AskedTerm(term.text, ranking.count(term)) for term in query.terms if term.field is None]


def _filter_effects(ranking: ReferenceRanking, query: ReferenceQuery) -> list[FilterEffect]:
    parts = _parts(query)
    effects = []
    for at, part in enumerate(parts):
        if _is_word(part):
            continue
        others = parts[:at] + parts[at + 1 :]
        rest = ranking.count(AllTerms(others)) if others else 0
        effects.append(FilterEffect(_as_typed(part), ranking.count(part), rest))
    return effects


def _as_typed(node: ReferenceNode) -> str:
    match node:
        case ReferenceTerm(text, field, is_quoted=is_quoted):
            shown = f'"{text}"' if is_quoted else text
            return shown if field is None else f"{field}:{shown}"
        case YearRange(first, last):
            return f"year:{first or ''}..{last or ''}"
        case NotTerm(part):
            return f"-{_as_typed(part)}"
        case AllTerms(parts):
            return " AND ".join(map(_as_typed, parts))
        case AnyTerm(parts):
            return " OR ".join(map(_as_typed, parts))


def _one_line(item: Item) -> str:
    people = names_text(item).partition(";")[0]
    year = year_of(item)
    where = ", ".join(part for part in (people, str(year or "")) if part)
    title = text_of(item, "title") or text_of(item, "id")
    return f"{title} ({where})" if where else title
