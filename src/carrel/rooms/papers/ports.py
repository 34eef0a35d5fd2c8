"""What the papers room needs from outside: a store of papers, and the static files with their texts."""

from __future__ import annotations

from typing import Protocol

from carrel.rooms.papers.models import FacetCategory, FacetCount, Paper, PaperHit
from carrel.rooms.papers.query_language import Query


class PaperStore(Protocol):
    """A corpus that can be searched and read. Raises SnapshotUnavailableError where it cannot be opened."""

    async def search(self, query: Query, *, first: int, count: int) -> list[PaperHit]:
        """`count` papers after the `first` best ones, best first."""
        ...

    async def search_by_keyword(self, keyword: str, *, first: int, count: int) -> list[PaperHit]:
        """Papers with exactly this keyword or tag, then those with one that contains its words; newest first."""
        ...

    async def find(self, paper_id: str) -> Paper | None: ...

    async def bibtex(self, paper_id: str) -> str | None: ...

    async def top_facets(self, category: FacetCategory, count: int) -> list[FacetCount]: ...


class Assets(Protocol):
    """Static files by their relative name, such as `md/<hash>.md`."""

    async def read(self, name: str) -> bytes:
        """The whole file. FileNotFoundError where it is absent, TimeoutError when late, OSError for any other trouble."""
        ...
