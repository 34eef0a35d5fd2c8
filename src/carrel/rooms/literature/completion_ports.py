"""What completion needs: the queue, and the records of corpus and library with their gaps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from carrel.core.caller import Call
from carrel.libraries.identifiers import Identifier

Target = Literal["paper", "reference"]
# `waiting` was asked for and not answered yet; `complete` had nothing to fill.
CompletionState = Literal["waiting", "proposed", "complete", "applied", "undone"]


@dataclass(frozen=True, slots=True)
class QueuedCompletion:
    """One record whose gaps somebody wants filled; `body` holds the proposal as JSON."""

    id: str
    owner: str
    target: Target
    record_id: str
    state: CompletionState
    body: str
    asked_at: str
    updated_at: str


class CompletionStore(Protocol):
    """The queue and its proposals; methods raise UnavailableError."""

    async def ask(self, rows: Sequence[QueuedCompletion]) -> int:
        """Queues records; how many wait now that did not. One that waits or is proposed stays."""
        ...

    async def list_entries(
        self,
        owner: str | None,
        target: Target,
        states: Sequence[CompletionState],
        limit: int,
    ) -> list[QueuedCompletion]:
        """Entries of one owner, or of everybody, the longest waiting first."""
        ...

    async def count(self, owner: str, target: Target) -> dict[CompletionState, int]: ...

    async def save(
        self, entry: QueuedCompletion, state: CompletionState, body: str, at: str
    ) -> bool:
        """Moves an entry on; False where it is no longer as it was read."""
        ...


@dataclass(frozen=True, slots=True)
class RecordToComplete:
    """A record as CSL, what it lacks, and the identifiers to ask by."""

    record_id: str
    title: str
    item: Mapping[str, Any]
    gaps: tuple[str, ...]
    identifiers: tuple[Identifier, ...]


class RecordsToComplete(Protocol):
    """Records of the corpus, or of a caller's library."""

    @property
    def target(self) -> Target: ...

    async def list_gaps(
        self, ids: Sequence[str], skipped: Collection[str], limit: int, call: Call
    ) -> list[RecordToComplete]:
        """At most `limit` records with gaps: those of the ids, or all but the skipped ones.

        Raises NotFoundError for an id that is unknown, InsufficientPermissionsError.
        """
        ...

    async def find(self, record_id: str, owner: str) -> RecordToComplete | None:
        """One record as it is now, whether it has gaps or not."""
        ...

    async def fill(self, record_id: str, fields: Mapping[str, Any], owner: str) -> str:
        """Sets fields that are still empty; what `take_back` needs to undo it."""
        ...

    async def take_back(self, record_id: str, receipt: str, owner: str) -> None:
        """Undoes one filling; raises ConflictError where a field was changed since."""
        ...
