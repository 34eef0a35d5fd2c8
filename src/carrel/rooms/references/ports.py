"""What the references room needs from outside."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from carrel.core.caller import Caller
from carrel.libraries.identifiers import Identifier
from carrel.libraries.query.empty_answers import EmptyAnswer
from carrel.rooms.references.items import Item, WorkKey
from carrel.rooms.references.queries import ReferenceQuery

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class LibrarySnapshot:
    """The library at one moment. `generation` grows whenever it changes."""

    generation: int
    items: Sequence[Item]


@dataclass(frozen=True, slots=True)
class AttachedPassage:
    """A passage of a reference's attached text, with its place there."""

    id: str
    reference_id: str
    section: str
    page: int | None
    text: str


@dataclass(frozen=True, slots=True)
class FoundReferences:
    """One page of the references that match a query, best first, and how many match in all.

    With `is_partial` none has all the words of a longer query; these have most of them.
    """

    total: int
    items: Sequence[Item]
    is_partial: bool = False
    # The best passage of each item whose attached text has words of the query.
    passages: Sequence[AttachedPassage] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """The fields of an item to set and to remove."""

    values: Mapping[str, object]
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ManyChanges:
    """Changes by the ids of references, and the ids to remove; a changed `id` renames."""

    changes: Mapping[str, Change]
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownReferences:
    """What a library has of the works that an addition asks about, in its order.

    `taken_ids` answers for any id in lower case.
    """

    items: Sequence[Item]
    taken_ids: Container[str]


@dataclass(frozen=True, slots=True)
class PastVersion:
    """One reference from a revision on; `item` is None if it was absent or is no longer stored.

    `at` and `origin` are empty where the change that made it is no longer known.
    """

    revision: int
    at: str
    origin: str
    is_present: bool
    item: Item | None


@dataclass(frozen=True, slots=True)
class PastChange:
    """One accepted change: its origin and the references it wrote, removed, or kept."""

    revision: int
    at: str
    origin: str
    written: Sequence[str]
    removed: Sequence[str]
    kept: Sequence[str]


class Library(Protocol):
    """One person's library; functions handed in run on the newest state under the write lock.

    Every method raises LibraryUnreadableError; those that write raise LibraryHalfChangedError where
    the file had begun to change.
    """

    @property
    def folder(self) -> Path:
        """The folder of attached files."""
        ...

    @property
    def attached_files(self) -> Files | None:
        """How paths in `folder` are read and written; None where they are files of this machine."""
        ...

    async def snapshot(self) -> LibrarySnapshot:
        """The current library, or its last good state while the file is unreadable."""
        ...

    async def find(self, reference_id: str) -> Item | None:
        """A copy of the item, or None if the id is unknown."""
        ...

    async def search(self, query: ReferenceQuery, first: int, count: int) -> FoundReferences:
        """`count` references after the `first` best, also those added a moment ago."""
        ...

    async def find_all(self, query: ReferenceQuery) -> Sequence[Item]:
        """Every reference that matches, in the order of the library."""
        ...

    async def find_ids(self, query: ReferenceQuery) -> Sequence[str]:
        """The ids of every reference that matches, in the order of the library."""
        ...

    async def explain_empty(self, query: ReferenceQuery) -> EmptyAnswer:
        """Why a query finds nothing, and what comes near."""
        ...

    async def find_many(self, reference_ids: Sequence[str]) -> Sequence[Item]:
        """Copies of the items of these ids, in this order; unknown ids are passed over."""
        ...

    async def find_works(self, keys: Collection[WorkKey]) -> Sequence[Item]:
        """The items that have one of these keys at least, in the order of the library."""
        ...

    async def list_items(self, first: int, count: int) -> tuple[int, Sequence[Item]]:
        """How many references there are, and `count` of them after the `first`."""
        ...

    async def add(
        self, keys: Collection[WorkKey], choose: Callable[[KnownReferences], Sequence[Item]]
    ) -> Sequence[Item]:
        """Add what `choose` returns; returns it once it is stored for good.

        `choose` gets the present items that have one of the keys. It may be called again.
        """
        ...

    async def change(self, reference_id: str, decide: Callable[[Item], Change]) -> Item | None:
        """The changed item, or None if the id is unknown."""
        ...

    async def change_many(self, decide: Callable[[Sequence[Item]], ManyChanges]) -> None:
        """Change, rename and remove references in one write, as `decide` says of the present items.

        Ids that are not there are passed over.
        """
        ...

    async def remove(self, reference_id: str) -> Item | None:
        """The removed item, or None if the id is unknown."""
        ...

    async def remove_many(self, reference_ids: Sequence[str]) -> Sequence[str]:
        """The ids that were there and were removed, in one write."""
        ...

    async def list_past(self, reference_id: str) -> Sequence[PastVersion]:
        """Every version of one reference, newest first; none for an unknown id."""
        ...

    async def restore(self, reference_id: str, revision: int | None) -> None:
        """Restore a revision, or the state before the last change; raises NotFoundError."""
        ...

    async def list_changes(self, reference_id: str | None = None) -> Sequence[PastChange]:
        """Every change that is known, newest first; those of one reference if named."""
        ...

    async def find_overtaken(self, revisions: Collection[int]) -> Collection[int]:
        """Those of these changes of which a reference says something else by now."""
        ...

    async def undo(self, revision: int | None) -> PastChange:
        """Undo one change in one write, the last without a number; returns what was undone.

        Raises NotFoundError for an unknown change, ChangeNotUndoableError where a reference of it
        says something else by now or what it said before is no longer stored.
        """
        ...

    async def take_notices(self) -> Sequence[str]:
        """Messages about merges with other programs' saves; each is returned once."""
        ...


class Libraries(Protocol):
    """Finds the library of a caller."""

    def of(self, caller: Caller) -> Library: ...


class PapersAtHand(Protocol):
    """The papers of the open corpus as CSL items without a key. Nothing is asked of the network."""

    async def find_many(self, identifiers: Sequence[Identifier]) -> Mapping[Identifier, Item]:
        """The works that the corpus has; raises CarrelError if it is unreadable."""
        ...

    async def find(self, paper_id: str) -> Item | None:
        """The paper of that id, or None; raises CarrelError if the corpus is unreadable."""
        ...


class CitedPaper(Protocol):
    """A paper of the corpus as a CSL item, and the page of the passage that was named."""

    @property
    def paper_id(self) -> str: ...
    @property
    def item(self) -> Item: ...
    @property
    def page(self) -> int | None: ...


class PaperText(Protocol):
    """The full text of a paper of the corpus."""

    @property
    def paper_id(self) -> str: ...
    @property
    def markdown(self) -> str: ...


class CorpusPapers(Protocol):
    """Papers of the open corpus that references and citations lead to."""

    async def cite(self, name: str) -> CitedPaper | None:
        """The paper of an id, a DOI, an arXiv id or a passage id; CarrelError where unreadable."""
        ...

    async def read(
        self, identifiers: Sequence[Identifier], paper_id: str | None
    ) -> PaperText | None:
        """The text of the paper that the id or an identifier names; None where there is none."""
        ...


class Literature(Protocol):
    """The services that know works by their identifiers."""

    async def find(self, identifier: Identifier) -> Item:
        """The work as a CSL item without a key; raises NotFoundError or UnavailableError."""
        ...


class Parsers(Protocol):
    """Child processes that parse long foreign input within limits of time and memory."""

    async def run(self, function: Callable[..., ResultT], *arguments: Any, size: int) -> ResultT:
        """The function's result; raises CostlyInputError if it exceeds its budget."""
        ...


class Files(Protocol):
    """Files that are attached: copied in completely or not at all."""

    async def read_text(self, path: Path) -> str: ...

    async def read_bytes(self, path: Path, max_bytes: int) -> bytes:
        """The file's bytes; raises OSError if there are more than `max_bytes`."""
        ...

    async def copy_in(self, source: Path, target: Path) -> None:
        """Raises FileExistsError where there is a file of that name, also by another writer."""
        ...

    async def write_in(self, content: bytes, target: Path) -> None:
        """The same for bytes."""
        ...

    async def size(self, path: Path) -> int | None:
        """The bytes of a file, or None where there is none."""
        ...

    async def digest(self, path: Path) -> str:
        """The SHA-256 of a file's bytes; empty where there is none."""
        ...

    async def list_files(self, folder: Path) -> list[tuple[str, int]]:
        """Every file below a folder, as path and bytes; not hidden ones, nor through links."""
        ...

    async def remove(self, path: Path) -> None:
        """Remove the file, and its folder if that is then empty."""
        ...

    async def exists(self, path: Path) -> bool:
        """Raises InvalidInputError for an impossible path, UnavailableError if access is denied."""
        ...

    def resolved(self, path: Path) -> Path: ...

    async def local_path(self, path: Path) -> Path:
        """The path under which other programs of this machine find the file."""
        ...


@dataclass(frozen=True, slots=True)
class KeptVersion:
    """A complete version of the library. `was_replaced` marks one that another program saved."""

    number: int
    path: Path
    was_replaced: bool
    size_bytes: int


@dataclass(frozen=True, slots=True)
class PastText:
    """One reference from a revision on; `text` is None if absent or no longer stored."""

    revision: int
    text: str | None
    is_present: bool


class LibraryPast(Protocol):
    """The history of one library; every method raises LibraryUnreadableError."""

    def list_changes(self, reference_id: str | None = None) -> list[PastChange]:
        """Every change that is known, newest first; those of one reference if named."""
        ...

    def list_versions(self) -> list[KeptVersion]:
        """Complete stored versions, newest first."""
        ...

    def list_texts(self, reference_id: str) -> list[PastText]:
        """Every version of one reference, oldest first."""
        ...

    def restore_version(self, number: int) -> int:
        """The number of references after restoring; raises NotFoundError for an unknown version."""
        ...

    def restore_reference(self, reference_id: str, revision: int | None = None) -> None:
        """Restore a revision, or the state before the last change; raises NotFoundError."""
        ...
