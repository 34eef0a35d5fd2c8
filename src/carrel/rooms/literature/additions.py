"""Brings works from outside into the desk: looked up, merged, then added to corpus or library."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from carrel.core.caller import Call, Caller
from carrel.core.errors import CarrelError, InsufficientPermissionsError, InternalError
from carrel.libraries.bibliography.imports import ORIGIN_MARK
from carrel.libraries.literature.csl_items import work_as_csl
from carrel.libraries.literature.records import MergedWork, WorkIds, WorkRecord
from carrel.libraries.literature.work_names import OwnName, WorkName
from carrel.rooms.literature.addition_models import AddedWork, Target
from carrel.rooms.literature.desk_ports import CorpusAdditions, DeskCorpus, DeskLibraries
from carrel.rooms.literature.desk_works import list_keys
from carrel.rooms.literature.lookup import read_name
from carrel.rooms.literature.models import ServiceCoverage
from carrel.rooms.literature.service import Literature, MergedLookup

log = logging.getLogger("carrel.literature")

WRITE_PAPERS = "papers:write"
WRITE_REFERENCES = "references:write"


class WorkTexts(Protocol):
    """Fetches open texts into the corpus."""

    async def add_text(self, identifier: str, call: Call) -> tuple[str | None, str]:
        """The paper that the text became, or None, and a sentence. Raises CarrelError."""
        ...


class NoTexts:
    """No texts are fetched here."""

    async def add_text(self, identifier: str, call: Call) -> tuple[str | None, str]:
        return None, "Full texts are not fetched here"


@dataclass(frozen=True, slots=True)
class SettledWork:
    """The outcome of one work, and what was asked for it."""

    added: AddedWork
    coverage: Sequence[ServiceCoverage] = ()


def check_scopes(into: Target, with_fulltext: bool, caller: Caller) -> None:
    """Raises InsufficientPermissionsError where the caller may not add there."""
    needed = set[str]()
    if into in ("papers", "both") or with_fulltext:
        needed.add(WRITE_PAPERS)
    if into in ("library", "both"):
        needed.add(WRITE_REFERENCES)
    if not needed <= caller.scopes:
        raise InsufficientPermissionsError(frozenset(needed), caller.scopes)


class DeskAdditions:
    """Adds one work after the other. Scopes are checked before."""

    def __init__(
        self,
        literature: Literature,
        corpus: DeskCorpus,
        papers: CorpusAdditions,
        libraries: DeskLibraries,
        texts: WorkTexts,
    ) -> None:
        self._literature = literature
        self._corpus = corpus
        self._papers = papers
        self._libraries = libraries
        self._texts = texts

    async def add(self, text: str, into: Target, with_fulltext: bool, call: Call) -> SettledWork:
        """What became of one work; a failure is an outcome, and costs no other work."""
        try:
            return await self._add(text, into, with_fulltext, call)
        except CarrelError as error:
            return SettledWork(_failed(text, error), _coverage_of(error))
        except Exception:
            # A fault with one work must not cost the others.
            error_id = secrets.token_hex(8)
            log.exception("a work could not be added", extra={"error_id": error_id})
            return SettledWork(_failed(text, InternalError(error_id)))

    async def _add(self, text: str, into: Target, with_fulltext: bool, call: Call) -> SettledWork:
        name = read_name(text)
        known = await self._find_known(name, into, call.caller)
        if known is not None and not with_fulltext:
            return SettledWork(known.model_copy(update={"identifier": text}))
        found = await self._literature.look_up(text)
        added = await self._add_record(text, found, into, call)
        if with_fulltext:
            added = await self._add_text(added, found.work, call)
        notes = _notes_of(found)
        added = added.model_copy(update={"notes": [*added.notes, *notes]})
        return SettledWork(added, found.coverage)

    async def _find_known(self, name: WorkName, into: Target, caller: Caller) -> AddedWork | None:
        """The work where the desk has it in every place asked for; nothing is asked outside."""
        if isinstance(name, OwnName):
            return None
        ids = WorkIds(**{_KINDS[type(name).__name__]: name.value})
        paper_id = reference_id = None
        if into in ("papers", "both"):
            keys = list_keys(ids)
            papers = await self._corpus.find_by_keys(keys) if keys else {}
            paper_id = next(iter(papers.values()), None)
            if paper_id is None:
                return None
        if into in ("library", "both"):
            item = work_as_csl(WorkRecord(ids=ids))
            (reference_id,) = await self._libraries.find_known([item], caller)
            if reference_id is None:
                return None
        return AddedWork(
            identifier=str(name), outcome="known", paper_id=paper_id, reference_id=reference_id
        )

    async def _add_record(
        self, text: str, found: MergedLookup, into: Target, call: Call
    ) -> AddedWork:
        item = work_as_csl(found.work)
        paper_id = reference_id = None
        is_new, notes = False, list[str]()
        if into in ("papers", "both"):
            content = csl_document(item)
            paper = await self._papers.add_content(content, ".json", call.caller.user_id)
            paper_id, is_new = paper.id, paper.is_new
            notes += paper.notes
        if into in ("library", "both"):
            reference = await self._libraries.add_item(item, text, call.caller)
            reference_id, is_new = reference.id, is_new or reference.is_new
            notes += reference.notes
        return AddedWork(
            identifier=text,
            outcome="added" if is_new else "known",
            title=found.work.work.title,
            paper_id=paper_id,
            reference_id=reference_id,
            notes=notes,
        )

    async def _add_text(self, added: AddedWork, work: MergedWork, call: Call) -> AddedWork:
        """The work with its text; that none was had takes nothing from what was added."""
        ids = work.work.ids
        name = ids.doi or ids.pmcid or ids.arxiv or ids.pmid
        if name is None:
            return added.model_copy(update={"text": "It has no identifier to find a text by"})
        try:
            paper_id, said = await self._texts.add_text(name, call)
        except CarrelError as error:
            return added.model_copy(update={"text": error.message})
        update: dict[str, object] = {"text": said}
        if paper_id is not None:
            update["paper_id"] = paper_id
        return added.model_copy(update=update)


_KINDS = {"Doi": "doi", "Pmid": "pmid", "Pmcid": "pmcid", "ArxivId": "arxiv", "Isbn": "isbn"}


def csl_document(*items: Mapping[str, Any]) -> bytes:
    """The items as a file of CSL-JSON that says whose word it is."""
    return orjson.dumps(
        [
            {**item, "custom": {**(item.get("custom") or {}), ORIGIN_MARK: "publisher"}}
            for item in items
        ]
    )


def _notes_of(found: MergedLookup) -> list[str]:
    """What whoever keeps the work should know of it."""
    notes = list(found.work.conflicts)
    if found.work.work.is_retracted:
        notes.append("It has been retracted")
    if found.work.copy_of is not None:
        notes.append("It looks like a false copy of another work")
    return notes


def _failed(text: str, error: CarrelError) -> AddedWork:
    reason = error.message
    if error.next_step:
        reason = f"{reason.rstrip('.')}. {error.next_step}"
    return AddedWork(identifier=text, outcome="failed", code=error.code, reason=reason)


def _coverage_of(error: CarrelError) -> list[ServiceCoverage]:
    lines = error.details.get("coverage")
    return (
        [ServiceCoverage.model_validate(line) for line in lines] if isinstance(lines, list) else []
    )
