"""What the references room needs from outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from carrel.core.caller import Caller
from carrel.libraries.identifiers import ArxivId, Doi, Isbn, Pmcid, Pmid
from carrel.rooms.references.items import Item

Identifier = Doi | Pmid | Pmcid | ArxivId | Isbn
ExportFormat = Literal["csl-json", "bibtex", "biblatex", "ris"]
Output = Literal["text", "html"]


@dataclass(frozen=True, slots=True)
class Shelf:
    """The library at one moment. `generation` grows whenever it changes."""

    generation: int
    items: Sequence[Item]


@dataclass(frozen=True, slots=True)
class Change:
    """Fields of an item that get a new value, and those that go."""

    values: Mapping[str, object]
    removed: tuple[str, ...] = ()


class Library(Protocol):
    """One person's library. Functions handed in are run on the newest state while nobody else of
    ours can write.
    """

    @property
    def folder(self) -> Path: ...

    async def shelf(self) -> Shelf: ...

    async def find(self, reference_id: str) -> Item | None: ...

    async def add(self, choose: Callable[[Sequence[Item]], Sequence[Item]]) -> Sequence[Item]: ...

    async def change(self, reference_id: str, decide: Callable[[Item], Change]) -> Item | None:
        """The changed item, or None where there is none of that id."""
        ...

    async def remove(self, reference_id: str) -> Item | None: ...

    async def take_notices(self) -> Sequence[str]:
        """What the next answer has to say about merges with other programs' saves. Each is handed
        out once.
        """
        ...


class Libraries(Protocol):
    """Whose library a caller uses."""

    def of(self, caller: Caller) -> Library: ...


@dataclass(frozen=True, slots=True)
class ReadEntry:
    """An item found in an input, with the line it begins at."""

    item: Item
    line: int


@dataclass(frozen=True, slots=True)
class ReadProblem:
    """Something that was recovered or lost, with its line."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class ReadBibliography:
    """What an input held."""

    entries: Sequence[ReadEntry]
    warnings: Sequence[ReadProblem]
    failures: Sequence[ReadProblem]


class Formats(Protocol):
    """Bibliography formats, told by their shape."""

    def identifier(self, text: str) -> Identifier | None: ...

    def is_bibliography(self, text: str) -> bool: ...

    async def read(self, content: str | bytes) -> ReadBibliography: ...

    async def write(
        self, items: Sequence[Item], form: ExportFormat, *, lossless: bool = False
    ) -> str:
        """What other programs expect; lossless also carries what the format has no fields for, in
        one of our own.
        """
        ...

    def date(self, text: str) -> dict[str, object] | None:
        """The CSL date of an EDTF text such as 2020-05; None where it is none."""
        ...


class Lookup(Protocol):
    """Works that are not in the library: from the papers at hand, and from the services that know
    them.
    """

    async def at_hand(self, identifiers: Sequence[Identifier]) -> Mapping[Identifier, Item]:
        """Those that are among the papers at hand; nothing is asked of the network. Raises where
        the papers cannot be read.
        """
        ...

    async def find(self, identifier: Identifier) -> Item:
        """The work, from a service. Raises WorkUnknownError or LookupUnavailableError."""
        ...

    async def paper(self, paper_id: str) -> Item | None:
        """The paper at hand of that id, or None where there is none. Raises where the papers cannot
        be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class StyleFacts:
    """A citation style in a list."""

    name: str
    title: str
    parent: str | None = None


class Styles(Protocol):
    """Citation styles."""

    async def bibliography(
        self, items: Sequence[Item], style: str, output: Output, locale: str | None
    ) -> list[tuple[str, str]]:
        """An entry for each id, in the order of the style."""
        ...

    async def in_text(
        self, items: Sequence[Item], style: str, output: Output, locale: str | None
    ) -> str: ...

    async def search(self, words: str, first: int, count: int) -> tuple[int, list[StyleFacts]]: ...


class Files(Protocol):
    """Files that are attached: copied in whole or not at all, and never deleted where we did not
    put them.
    """

    async def read_text(self, path: Path) -> str: ...

    async def read_bytes(self, path: Path, max_bytes: int) -> bytes: ...

    async def copy_in(self, source: Path, target: Path) -> None: ...

    async def remove(self, path: Path) -> None: ...

    async def exists(self, path: Path) -> bool: ...

    def resolved(self, path: Path) -> Path: ...
