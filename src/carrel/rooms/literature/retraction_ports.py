"""What checks for retractions need: stored notices, and the works of corpus and library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from carrel.core.caller import Caller
from carrel.libraries.literature.records import Notice


@dataclass(frozen=True, slots=True)
class NoticeRow:
    """A notice about the work of one key (`doi:10.1/x`); `record` is its name at its service."""

    key: str
    record: str
    notice: Notice


@dataclass(frozen=True, slots=True)
class LoadedTable:
    """A table of notices as it was loaded; `mark` changes with the file."""

    name: str
    place: str
    mark: str
    loaded_at: str
    row_count: int
    skipped_count: int


@dataclass(frozen=True, slots=True)
class TableContent:
    """The rows of a table by key, how many records they are, and what was passed over and why."""

    rows: Sequence[NoticeRow]
    record_count: int
    skipped: Mapping[str, int]


class UnreadableTableError(Exception):
    """The file is not there or is no such table; the message says which."""


class NoticeTable(Protocol):
    """A table of notices outside the store, such as a file."""

    @property
    def name(self) -> str:
        """As the service of its notices: `retraction_watch`."""
        ...

    @property
    def place(self) -> str: ...

    def mark(self) -> str | None:
        """Changes with the content, and is cheap to ask for; None where there is no table."""
        ...

    def read(self) -> TableContent:
        """Blocks while it reads. Raises UnreadableTableError."""
        ...


class NoticeStore(Protocol):
    """Notices about works; methods raise UnavailableError."""

    async def replace_table(self, table: LoadedTable, rows: Sequence[NoticeRow]) -> None:
        """Puts the rows in the place of all that the table had before, or changes nothing."""
        ...

    async def table(self, name: str) -> LoadedTable | None:
        """What was loaded last under this name."""
        ...

    async def replace_said(
        self, service: str, keys: Sequence[str], rows: Sequence[NoticeRow]
    ) -> None:
        """Puts what a service says of the works of these keys in the place of what it said."""
        ...

    async def find(self, keys: Sequence[str]) -> dict[str, list[Notice]]:
        """The notices of each key that has some."""
        ...

    async def list_keys(self, after: str, count: int) -> list[str]:
        """`count` keys of works with notices that come after one, in their order."""
        ...


@dataclass(frozen=True, slots=True)
class DeskWork:
    """A work of the desk: `name` is its paper_id or the id of the reference."""

    name: str
    title: str
    keys: tuple[str, ...]


class CorpusWorks(Protocol):
    """The papers of the corpus by keys."""

    async def find_by_keys(self, keys: Sequence[str]) -> dict[str, str]:
        """Paper ids by keys such as `doi:10.1000/x`; unknown keys are left out."""
        ...

    async def find(self, paper_id: str) -> DeskWork | None:
        """The paper with all its keys."""
        ...

    async def count(self) -> tuple[int, int]:
        """How many papers there are, and how many of them have a DOI."""
        ...

    async def list_works(self, first: int, count: int) -> list[DeskWork]:
        """`count` papers after the `first`, newest first."""
        ...


class LibraryReferences(Protocol):
    """The references of a caller's library."""

    async def list_works(self, caller: Caller) -> list[DeskWork]:
        """Every reference with its keys; raises NotConfiguredError where no library is open."""
        ...
