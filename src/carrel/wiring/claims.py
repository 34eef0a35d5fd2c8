"""What claim checking reads: passages of the corpus, notes and references of the desk."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from carrel.core.caller import Call
from carrel.core.catalogue import Catalogue
from carrel.core.errors import (
    CarrelError,
    InsufficientPermissionsError,
    NotConfiguredError,
    NotFoundError,
)
from carrel.core.operation import Operation
from carrel.libraries.identifiers import Doi, parse_or_none
from carrel.libraries.query.papers import parse_paper_query
from carrel.rooms.papers.passages import PaperPassages
from carrel.rooms.research.ports import FoundPassage, LibraryWork
from carrel.wiring.papers import OpenCorpus

_FULL_TEXT_CHARACTERS = 60_000
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_YEAR = re.compile(r"\d{4}")


@dataclass(frozen=True, slots=True)
class CorpusPassages:
    """Passages by the papers room's own search."""

    papers: OpenCorpus

    async def count_papers(self) -> int:
        return (await self.papers.service.statistics()).papers

    async def search_passages(
        self, words: str, within: Sequence[str], count: int
    ) -> list[FoundPassage]:
        query, store = parse_paper_query(words), self.papers.store
        if query.is_empty:
            return []
        found = await store.search_passages(query, within=within, first=0, count=count)
        if found is not None:
            return [
                FoundPassage(each.id, each.paper_id, each.section, each.page, each.text)
                for each in found
            ]
        hits = await self._passages().find(words, within, page=1, limit=count)
        return [
            FoundPassage(each.passage_id, each.paper_id, each.section, each.page, each.text)
            for each in hits
        ]

    async def first_passages(self, paper_id: str, count: int) -> list[FoundPassage]:
        try:
            hits = await self._passages().first(paper_id, count)
        except CarrelError:
            # The paper is gone or its text cannot be had: what else is known of it is read.
            return []
        return [
            FoundPassage(each.passage_id, each.paper_id, each.section, each.page, each.text)
            for each in hits
        ]

    def _passages(self) -> PaperPassages:
        return PaperPassages(self.papers.service, self.papers.store, self.papers.store)


class DeskReading:
    """Notes and references by the operations of their rooms, with the caller's own rights."""

    def __init__(self) -> None:
        self._catalogue: Catalogue | None = None

    def meet(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    async def note(self, note_id: str, call: Call) -> tuple[str, str]:
        operation = self._find("get_knowledge", call)
        if operation is None:
            raise NotConfiguredError(
                "The knowledge room is not open, so no note can be read.",
                next_step="Open it with --rooms or the setting rooms, or give the text itself.",
            )
        found = await operation.run(operation.question.model_validate({"id": note_id}), call)
        return found.title, found.content

    async def find_reference(self, name: str, call: Call) -> LibraryWork | None:
        item = await self._find_item(name, call)
        if item is None:
            return None
        text = _TAG.sub("", str(item.get("abstract") or ""))
        attached = await self._full_text(str(item["id"]), call)
        identifiers = [item.get("DOI"), (item.get("custom") or {}).get("paper_id")]
        arxiv = (item.get("custom") or {}).get("arxiv_id")
        year = _YEAR.search(str((item.get("issued") or {}).get("date-parts") or ""))
        return LibraryWork(
            key=str(item["id"]),
            title=str(item.get("title") or "untitled"),
            year=int(year[0]) if year else None,
            identifiers=tuple(
                str(each) for each in (*identifiers, f"arXiv:{arxiv}" if arxiv else None) if each
            ),
            text=f"{text}\n\n{attached}".strip(),
        )

    async def _find_item(self, name: str, call: Call) -> dict[str, Any] | None:
        operation = self._find("get_reference", call)
        if operation is None:
            return None
        try:
            question = operation.question.model_validate({"id": name})
            return dict((await operation.run(question, call)).reference)
        except NotFoundError:
            pass
        doi, search = parse_or_none(Doi, name), self._find("search_references", call)
        if not isinstance(doi, Doi) or search is None:
            return None
        asked = search.question.model_validate({"query": f'"{doi.value}"', "limit": 20})
        found = await search.run(asked, call)
        items = getattr(found, "references", None) or []
        return next((dict(item) for item in items if _is_same_doi(item, doi)), None)

    async def _full_text(self, key: str, call: Call) -> str:
        operation = self._find("get_fulltext", call)
        if operation is None:
            return ""
        asked = operation.question.model_validate({"id": key, "max_chars": _FULL_TEXT_CHARACTERS})
        try:
            return str((await operation.run(asked, call)).markdown)
        except CarrelError:
            # Nothing is attached, or it cannot be read: the abstract is read alone.
            return ""

    def _find(self, name: str, call: Call) -> Operation[Any] | None:
        """An operation of another room that the caller may use; None if the room is not open."""
        operation = self._catalogue and self._catalogue.operations.get(name)
        if not operation:
            return None
        if not operation.scopes <= call.caller.scopes:
            raise InsufficientPermissionsError(operation.scopes, call.caller.scopes)
        return operation


def _is_same_doi(item: Any, doi: Doi) -> bool:
    return parse_or_none(Doi, str(item.get("DOI") or "")) == doi
