"""What the map needs from outside: the papers' texts, and where the map is kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from carrel.core.progress import Progress
from carrel.rooms.papers.map_models import MapPaper, MapReport, PaperMap

if TYPE_CHECKING:
    # Who searches papers neither draws the map nor looks for connections.
    from carrel.libraries.discovery.records import Paper
    from carrel.libraries.map_layout import MapModel


@dataclass(frozen=True, slots=True)
class PlacedPaper:
    """A paper with its place; its number stays its own as long as the map is not drawn anew."""

    number: int
    paper_id: str
    title: str
    year: int | None
    region: int
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class StoredMap:
    """A whole map; `laid_out` counts the papers when it was last drawn anew."""

    model: MapModel
    papers: tuple[PlacedPaper, ...]
    laid_out: int
    not_placed: int
    # Of the corpus when the map was last brought up to date.
    corpus_state: str
    drawn_at: str


class MapTexts(Protocol):
    """The papers of a corpus."""

    def state(self) -> str:
        """A text that changes when the corpus does."""
        ...

    def everything(self) -> Iterator[tuple[Paper, str]]:
        """Every paper, with a fingerprint. Raises SnapshotUnavailableError."""
        ...


class MapFile(Protocol):
    """Keeps one map; whoever reads sees the old one or the new one, whole."""

    def load(self) -> StoredMap | None:
        """The map, or None where there is none or it is of an earlier form."""
        ...

    def save(self, drawn: StoredMap) -> None: ...


class MapReader(Protocol):
    """Answers questions about the stored map; each answer is of one whole map."""

    async def overview(self) -> PaperMap | None: ...

    async def corpus_state(self) -> str | None:
        """The state of the corpus that the map shows."""
        ...

    async def tile(self, name: str) -> bytes | None: ...

    async def points(self, numbers: Sequence[int]) -> list[MapPaper]: ...

    async def locate(self, paper_ids: Sequence[str]) -> list[MapPaper]: ...

    async def within(
        self, outline: Sequence[tuple[float, float]], limit: int
    ) -> tuple[int, list[MapPaper]]:
        """How many papers are within an outline, and the first of them."""
        ...


DrawMap = Callable[[bool, Progress], Awaitable[MapReport]]
"""Brings the map up to date, or draws it anew. Raises NotFoundError for a corpus without papers,
ConflictError where another process draws it, and UnavailableError where the work was ended.
"""
