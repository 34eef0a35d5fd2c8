"""Libraries of references as the documents of a search index, each for its owner alone."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from carrel.core.caller import LOCAL_USER, library_name
from carrel.rooms.knowledge.documents import (
    DiffedDocuments,
    Document,
    DocumentSource,
    FieldKind,
    library_reader,
)
from carrel.rooms.references import items
from carrel.rooms.references.items import Item
from carrel.stores.csl_json.library import CslJsonLibrary
from carrel.stores.csl_json.library_places import LIBRARY_NAME

REFERENCE_FIELDS: Mapping[str, FieldKind] = {
    "reference_id": "keyword",
    "type": "keyword",
    "title": "text",
    "abstract": "text",
    "authors": "text",
    "editors": "text",
    "venue": "text",
    "publisher": "text",
    "year": "number",
    "keywords": "keyword",
    "tags": "keyword",
    "doi": "keyword",
    "isbn": "keyword",
    "arxiv_id": "keyword",
    "url": "keyword",
    "note": "text",
}
_INDEX = "references"
_PREFIX = library_reader("")
# Elasticsearch takes ids of 512 bytes.
_MAX_ID_BYTES = 400
_MAX_YEAR = 100_000


class LibraryDocuments:
    """The references of one library, readable by its owner."""

    def __init__(self, name: str, path: Path) -> None:
        self._name = name
        self._library = CslJsonLibrary(path)
        self._state: tuple[int, str] = (0, "")

    async def state(self) -> str:
        snapshot = await self._library.snapshot()
        if self._state[0] != snapshot.generation:
            self._state = (snapshot.generation, await asyncio.to_thread(_digest, snapshot.items))
        return self._state[1]

    async def everything(self) -> AsyncIterator[Document]:
        for item in (await self._library.snapshot()).items:
            yield reference_document(item, self._name)

    async def close(self) -> None:
        await self._library.close()


class PersonalReferences:
    """The index `references`: everybody's own, the local user's file and those of other users."""

    index = _INDEX

    def __init__(self, local: Path, users: Path) -> None:
        self._local = local
        self._users = users
        self._open: dict[str, tuple[LibraryDocuments, DiffedDocuments]] = {}

    def of(self, readers: frozenset[str]) -> DocumentSource | None:
        mine = [reader.removeprefix(_PREFIX) for reader in readers if reader.startswith(_PREFIX)]
        if len(mine) != 1:
            return None
        (name,) = mine
        if name not in self._open:
            library = LibraryDocuments(name, self._path_of(name))
            self._open[name] = (
                library,
                DiffedDocuments(f"{_INDEX}/{name}", REFERENCE_FIELDS, library),
            )
        return self._open[name][1]

    def _path_of(self, name: str) -> Path:
        is_local = name == library_name(LOCAL_USER)
        return self._local if is_local else self._users / name / LIBRARY_NAME

    async def close(self) -> None:
        for library, _ in self._open.values():
            await library.close()


class AllReferences:
    """Every library as one index, for a cluster that filters by reader."""

    def __init__(self, local: Path, users: Path) -> None:
        self._users = users
        name = library_name(LOCAL_USER)
        self._libraries = {name: LibraryDocuments(name, local)}

    @property
    def source(self) -> DocumentSource:
        """The index `references`; keep the object, it tracks the changes it reported."""
        return DiffedDocuments(_INDEX, REFERENCE_FIELDS, self)

    async def state(self) -> str:
        await asyncio.to_thread(self._find_libraries)
        states = [f"{name}:{await library.state()}" for name, library in self._in_order()]
        return hashlib.sha256("\n".join(states).encode()).hexdigest()[:32]

    async def everything(self) -> AsyncIterator[Document]:
        for name, library in self._in_order():
            async for document in library.everything():
                # Two people may well call two works alike.
                yield Document(f"{name}/{document.id}", document.fields, document.readers)

    def _find_libraries(self) -> None:
        """Takes up libraries made since the last look; one whose file is gone is empty."""
        for file in self._users.glob(f"*/{LIBRARY_NAME}"):
            name = file.parent.name
            if name not in self._libraries:
                self._libraries[name] = LibraryDocuments(name, file)

    def _in_order(self) -> list[tuple[str, LibraryDocuments]]:
        return sorted(self._libraries.items())

    async def close(self) -> None:
        for library in self._libraries.values():
            await library.close()


def reference_document(item: Item, library: str) -> Document:
    """A reference as a document that the owner of the library may read."""
    reference_id = str(_clean_value(str(item["id"])))
    fields: dict[str, object] = {
        "reference_id": reference_id,
        "type": items.text_of(item, "type"),
        "title": items.text_of(item, "title"),
        "abstract": items.text_of(item, "abstract"),
        "authors": _names(item, "author"),
        "editors": _names(item, "editor"),
        "venue": items.text_of(item, "container-title"),
        "publisher": items.text_of(item, "publisher"),
        "year": _year(item),
        "keywords": items.keywords(item),
        "tags": items.tags(item),
        "doi": items.doi_of(item),
        "isbn": items.isbns_of(item),
        "arxiv_id": items.arxiv_of(item),
        "url": items.text_of(item, "URL"),
        "note": items.text_of(item, "note"),
    }
    kept = {
        name: _clean_value(value) for name, value in fields.items() if value not in (None, "", [])
    }
    return Document(_document_id(reference_id), kept, (library_reader(library),))


def reference_document_id(library: str, reference_id: str) -> str:
    """The id of a reference's document in an index of all libraries."""
    return f"{library}/{_document_id(str(_clean_value(reference_id)))}"


def _names(item: Item, field: str) -> list[str]:
    names = (
        " ".join(dict.fromkeys((str(one.get("given") or ""), items.family(one))))
        for one in items.people(item, field)
    )
    return [name.strip() for name in names if name.strip()]


def _year(item: Item) -> int | None:
    year = items.year_of(item)
    return year if year is not None and abs(year) <= _MAX_YEAR else None


def _clean_value(value: object) -> object:
    """The value with lone surrogates replaced, which JSON allows and no index accepts."""
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case list():
            return [_clean_value(one) for one in value]
        case _:
            return value


def _document_id(reference_id: str) -> str:
    is_short = len(reference_id.encode()) <= _MAX_ID_BYTES
    return reference_id if is_short else hashlib.sha256(reference_id.encode()).hexdigest()


def _digest(items: Sequence[Item]) -> str:
    return hashlib.sha256(json.dumps(list(items), sort_keys=True).encode()).hexdigest()[:32]
