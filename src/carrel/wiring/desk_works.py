"""Corpus and libraries of the desk, as the literature room uses them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from carrel.core.caller import Caller
from carrel.core.errors import NotConfiguredError
from carrel.libraries.works.work import Work
from carrel.rooms.literature.desk_ports import AddedToDesk, NamedWork
from carrel.rooms.literature.retraction_ports import DeskWork

if TYPE_CHECKING:
    from carrel.rooms.papers.models import PaperHit
    from carrel.rooms.references.library_works import LibraryWorks
    from carrel.wiring.papers import OpenCorpus

_CANDIDATES = 3
_NO_WORDS = re.compile(r"[^\w\s]+")


@dataclass(frozen=True, slots=True)
class CorpusAtHand:
    """The corpus, searched for works that it may already have."""

    corpus: OpenCorpus

    async def find_by_keys(self, keys: Sequence[str]) -> Mapping[str, str]:
        if not self.corpus.place.exists():
            return {}
        return await self.corpus.service.ids_by_keys(keys)

    async def find_like(self, title: str) -> Sequence[NamedWork]:
        # In small letters, since a title may hold AND, OR or NOT.
        words = " ".join(_NO_WORDS.sub(" ", title.lower()).split())
        if not words or not self.corpus.place.exists():
            return []
        hits = await self.corpus.service.search(words[:400], page=1, limit=_CANDIDATES)
        return [NamedWork(hit.paper_id, _as_work(hit)) for hit in hits]


def _as_work(hit: PaperHit) -> Work:
    year: int | None = None
    with suppress(ValueError):
        year = int(hit.year[:4])
    return Work(
        title=hit.title, people=hit.authors, year=year, doi=hit.doi, venue=hit.venue or None
    )


@dataclass(frozen=True, slots=True)
class AdditionsAtHand:
    """Adds to the corpus by the papers room, where that room is open."""

    corpus: OpenCorpus

    async def add_content(self, content: bytes, suffix: str, owner: str) -> AddedToDesk:
        added = await self.corpus.links.papers.adder.add_content(content, suffix, owner)
        return AddedToDesk(added.paper_id, added.is_new, tuple(added.notes))


@dataclass(slots=True)
class LibrariesAtHand:
    """The references room's libraries; none until that room is open."""

    _works: LibraryWorks | None = field(default=None)

    def bind(self, works: LibraryWorks) -> None:
        self._works = works

    async def find_known(
        self, items: Sequence[Mapping[str, Any]], caller: Caller
    ) -> Sequence[str | None]:
        if self._works is None:
            return [None] * len(items)
        return await self._works.find_known(items, caller)

    @property
    def works(self) -> LibraryWorks:
        """Raises NotConfiguredError where the references room is not open."""
        if self._works is None:
            raise NotConfiguredError(
                "The references room is not open, so there is no library.",
                next_step="Open it with --rooms or the setting rooms.",
            )
        return self._works

    async def list_works(self, caller: Caller) -> list[DeskWork]:
        """Every reference of the caller's library, with the keys of its work."""
        return [DeskWork(*each) for each in await self.works.list_works(caller)]

    async def add_item(self, item: Mapping[str, Any], source: str, caller: Caller) -> AddedToDesk:
        if self._works is None:
            raise NotConfiguredError(
                "The references room is not open, so nothing can be added to a library.",
                next_step="Open it with --rooms or the setting rooms.",
            )
        reference_id, is_new, notes = await self._works.add_item(item, source, caller)
        return AddedToDesk(reference_id, is_new, notes)
