"""Records of corpus and library whose gaps services may fill, and how they are changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from carrel.core.caller import Call, Caller
from carrel.core.errors import (
    CarrelError,
    ConflictError,
    InsufficientPermissionsError,
    InvalidInputError,
)
from carrel.libraries.identifiers import ArxivId, Doi, Identifier, Pmcid, Pmid, parse_or_none
from carrel.libraries.literature.csl_items import csl_gaps
from carrel.rooms.literature.completion_ports import RecordToComplete
from carrel.rooms.papers.errors import PaperNotFoundError
from carrel.rooms.references.errors import ReferenceNotFoundError

if TYPE_CHECKING:
    from carrel.rooms.papers.corrections import PaperCorrections
    from carrel.rooms.references.completion import LibraryCompletion
    from carrel.wiring.papers import OpenCorpus

_WRITE_PAPERS = frozenset({"papers:write"})
_WRITE_REFERENCES = frozenset({"references:write"})
# Papers that one call looks at for gaps.
_MOST_LOOKED_AT = 20_000
_PAGE = 500
# Variables of CSL by the names of a paper's fields.
_PAPER_FIELDS = {
    "title": "title",
    "container-title": "venue",
    "volume": "volume",
    "issue": "issue",
    "page": "pages",
    "publisher": "publisher",
    "DOI": "doi",
    "PMID": "pmid",
    "PMCID": "pmcid",
    "ISBN": "isbn",
    "URL": "url",
    "abstract": "abstract",
    "language": "language",
    "license": "license",
    "arxiv_id": "arxiv_id",
}


def _need(scopes: frozenset[str], call: Call) -> None:
    if not scopes <= call.caller.scopes:
        raise InsufficientPermissionsError(scopes, call.caller.scopes)


def _identifiers(item: Mapping[str, Any]) -> tuple[Identifier, ...]:
    own = item.get("custom")
    arxiv = own.get("arxiv_id") if isinstance(own, Mapping) else None
    texts = (
        (Doi, item.get("DOI")),
        (Pmid, item.get("PMID")),
        (Pmcid, item.get("PMCID")),
        (ArxivId, arxiv),
    )
    found = (parse_or_none(kind, str(text)) for kind, text in texts if text)
    return tuple(each for each in found if each is not None)


@dataclass(frozen=True, slots=True)
class PapersToComplete:
    """The papers of the corpus; changed by corrections, which builds keep and history tells."""

    corpus: OpenCorpus
    corrections: PaperCorrections
    # Makes the error that whoever changes a paper is told, where the corpus would not last.
    refuse: Callable[[], CarrelError] | None = None
    target: Literal["paper"] = "paper"

    async def list_gaps(
        self, ids: Sequence[str], skipped: Collection[str], limit: int, call: Call
    ) -> list[RecordToComplete]:
        _need(_WRITE_PAPERS, call)
        found: list[RecordToComplete] = []
        if ids:
            for name in ids:
                paper = await self.corpus.service.stored_metadata(name)
                record = await self.find(paper.paper_id, call.caller.user_id)
                if record is not None and record.gaps:
                    found.append(record)
            return found
        if not self.corpus.place.exists():
            return []
        for first in range(0, _MOST_LOOKED_AT, _PAGE):
            page = await self.corpus.store.list_ids(first=first, count=_PAGE)
            for paper_id in page:
                if paper_id in skipped:
                    continue
                record = await self.find(paper_id, call.caller.user_id)
                if record is not None and record.gaps:
                    found.append(record)
                if len(found) >= limit:
                    return found
            if len(page) < _PAGE:
                break
        return found

    async def find(self, record_id: str, owner: str) -> RecordToComplete | None:
        from carrel.rooms.papers.service import paper_as_csl

        try:
            paper = await self.corpus.service.stored_metadata(record_id)
            item = await paper_as_csl(self.corpus.service, paper.paper_id)
        except PaperNotFoundError:
            return None
        gaps = csl_gaps(item)
        if "abstract" in gaps and await self._has_text(paper.paper_id, paper.title):
            # The text has it; nobody needs it twice.
            gaps = tuple(each for each in gaps if each != "abstract")
            item["abstract"] = "(in the text)"
        return RecordToComplete(paper.paper_id, paper.title, item, gaps, _identifiers(item))

    async def _has_text(self, paper_id: str, title: str) -> bool:
        paper = await self.corpus.service.find_paper(paper_id)
        if paper.source_hash is not None:
            return True
        text = await self.corpus.store.abstract(paper_id) or ""
        return len(text.strip()) > len(title) + 40

    async def fill(self, record_id: str, fields: Mapping[str, Any], owner: str) -> str:
        current = await self.find(record_id, owner)
        if current is None:
            raise PaperNotFoundError(record_id)
        missing = {name: value for name, value in fields.items() if not current.item.get(name)}
        changes = _as_correction(missing)
        if not changes:
            raise ConflictError(
                f"{record_id}: the fields were filled in since", next_step="Look for gaps again."
            )
        done = await self._correct({"action": "edit", "paper_id": record_id, **changes}, owner)
        return json.dumps({"decision": done})

    async def take_back(self, record_id: str, receipt: str, owner: str) -> None:
        number = json.loads(receipt or "{}").get("decision")
        if number is None:
            raise ConflictError(f"{record_id}: nothing was changed", next_step="")
        await self._correct({"action": "undo", "number": number}, owner)

    async def _correct(self, asked: Mapping[str, Any], owner: str) -> int | None:
        from pydantic import ValidationError

        from carrel.core.caller import Visit
        from carrel.rooms.papers.correction_models import EditPaper

        if self.refuse is not None:
            raise self.refuse()
        try:
            question = EditPaper.model_validate(dict(asked))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(each) for each in first["loc"])
            raise InvalidInputError(
                f"{where}: {first['msg']}", next_step="Correct the paper by hand."
            ) from error
        call = Call(Caller(owner, _WRITE_PAPERS), Visit("literature", "completion"))
        return (await self.corrections.edit_paper(question, call)).decision


def _as_correction(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Variables of CSL as the fields that a correction sets."""
    changes: dict[str, Any] = {}
    for name, value in fields.items():
        if name in _PAPER_FIELDS:
            changes[_PAPER_FIELDS[name]] = str(value)
    if people := fields.get("author"):
        names = [_name(each) for each in people if isinstance(each, Mapping)]
        changes["authors"] = [each for each in names if each]
    if issn := fields.get("ISSN"):
        changes["issn"] = str(issn).split(",")[0].split()[0]
    if words := fields.get("keyword"):
        parts = words if isinstance(words, list) else str(words).replace(",", ";").split(";")
        changes["keywords"] = [each.strip() for each in parts if each.strip()]
    if issued := fields.get("issued"):
        dates = issued.get("date-parts") if isinstance(issued, Mapping) else None
        if dates and dates[0]:
            numbers = [int(each) for each in dates[0]]
            changes["date"] = "-".join([f"{numbers[0]:04d}", *(f"{n:02d}" for n in numbers[1:])])
    return {name: value for name, value in changes.items() if value}


def _name(person: Mapping[str, Any]) -> str:
    if person.get("literal"):
        return str(person["literal"])
    parts = ("given", "dropping-particle", "non-dropping-particle", "family", "suffix")
    return " ".join(str(person[part]) for part in parts if person.get(part))


@dataclass(frozen=True, slots=True)
class ReferencesToComplete:
    """The references of a caller's library; its journal keeps what they said before."""

    corpus: OpenCorpus
    target: Literal["reference"] = "reference"

    @property
    def _library(self) -> LibraryCompletion:
        return self.corpus.links.libraries.works.completion

    async def list_gaps(
        self, ids: Sequence[str], skipped: Collection[str], limit: int, call: Call
    ) -> list[RecordToComplete]:
        _need(_WRITE_REFERENCES, call)
        items = await self._library.list_items(call.caller)
        known = {str(item.get("id", "")) for item in items}
        for name in ids:
            if name not in known:
                raise ReferenceNotFoundError(name)
        chosen = (
            item
            for item in items
            if (str(item.get("id")) in ids if ids else str(item.get("id")) not in skipped)
        )
        records = (_as_record(item) for item in chosen)
        return [each for each in records if each.gaps][:limit]

    async def find(self, record_id: str, owner: str) -> RecordToComplete | None:
        item = await self._library.find(record_id, _owner(owner))
        return None if item is None else _as_record(item)

    async def fill(self, record_id: str, fields: Mapping[str, Any], owner: str) -> str:
        return await self._library.fill(record_id, fields, _owner(owner))

    async def take_back(self, record_id: str, receipt: str, owner: str) -> None:
        await self._library.take_back(record_id, receipt, _owner(owner))


def _as_record(item: Mapping[str, Any]) -> RecordToComplete:
    gaps = csl_gaps(dict(item))
    return RecordToComplete(
        str(item.get("id", "")), str(item.get("title") or ""), dict(item), gaps, _identifiers(item)
    )


def _owner(user_id: str) -> Caller:
    return Caller(user_id, _WRITE_REFERENCES)
