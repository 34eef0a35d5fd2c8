"""Adding: each element of the input is recognised on its own, and what became of it is said."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from carrel.core.citation_keys import distinct_key, make_key
from carrel.core.clock import Clock
from carrel.core.errors import CarrelError
from carrel.rooms.references.conforming import conform_item
from carrel.rooms.references.duplicates import KnownWorks
from carrel.rooms.references.models import Added, AddedReferences, NotAdded, SkippedAsDuplicate, Warned
from carrel.rooms.references.ports import Formats, Library, Lookup
from carrel.rooms.references.records import Item, custom, first_family, text_of, year_of

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item that wants to be in the library. `has_own_key` says whether its input named it."""

    item: Item
    source: str
    line: int | None
    has_own_key: bool


@dataclass(slots=True)
class Gathered:
    """What the input held, before the library is asked."""

    candidates: list[Candidate] = field(default_factory=list)
    failed: list[NotAdded] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)


class Gatherer:
    """Turns elements of an input into candidates. Elements that name files come with their bytes, or why they have none."""

    def __init__(self, formats: Formats, lookup: Lookup) -> None:
        self._formats = formats
        self._lookup = lookup

    async def gather(self, elements: Sequence[str], files: Mapping[str, bytes | CarrelError]) -> Gathered:
        gathered = Gathered()
        for element in elements:
            await self._one(element, files, gathered)
        return gathered

    async def _one(self, element: str, files: Mapping[str, bytes | CarrelError], gathered: Gathered) -> None:
        source = _shown(element)
        file = files.get(element)
        if isinstance(file, CarrelError):
            gathered.failed.append(_failed(source, file))
            return
        if file is not None:
            await self._bibliography(file, Path(element).name, gathered)
            return
        identifier = self._formats.identifier(element)
        try:
            if identifier is not None:
                gathered.candidates.append(Candidate(await self._lookup.find(identifier), source, None, has_own_key=False))
            elif self._formats.is_bibliography(element):
                await self._bibliography(element, source, gathered)
            else:
                paper = await self._lookup.paper(element.strip())
                if paper is None:
                    reason = "not an identifier, a bibliography, a paper_id or a file that can be read here"
                    gathered.failed.append(NotAdded(source=source, reason=reason))
                else:
                    gathered.candidates.append(Candidate(paper, source, None, has_own_key=False))
        except CarrelError as error:
            gathered.failed.append(_failed(source, error))

    async def _bibliography(self, content: str | bytes, source: str, gathered: Gathered) -> None:
        try:
            read = await self._formats.read(content)
        except CarrelError as error:
            gathered.failed.append(NotAdded(source=source, reason=error.message))
            return
        gathered.candidates.extend(
            Candidate(entry.item, source, entry.line, has_own_key=bool(entry.item.get("id"))) for entry in read.entries
        )
        gathered.failed.extend(NotAdded(source=source, line=problem.line, reason=problem.message) for problem in read.failures)
        gathered.warnings.extend(Warned(source=source, line=problem.line, message=problem.message) for problem in read.warnings)


def keep_valid(gathered: Gathered) -> Gathered:
    """The same, with every candidate in CSL-JSON's shape; those that cannot be are failures that name the field."""
    kept = Gathered(failed=list(gathered.failed), warnings=list(gathered.warnings))
    for candidate in gathered.candidates:
        conformed = conform_item(candidate.item)
        if conformed.problems:
            reason = "; ".join(problem.sentence() for problem in conformed.problems)
            kept.failed.append(NotAdded(source=candidate.source, line=candidate.line, reason=reason))
            continue
        kept.candidates.append(replace(candidate, item=conformed.item))
        kept.warnings.extend(
            Warned(source=candidate.source, line=candidate.line or 1, message=notice) for notice in conformed.notices
        )
    return kept


async def add_to(library: Library, gathered: Gathered, clock: Clock) -> AddedReferences:
    """Puts the candidates in, except those that are there already. One bad entry never stops the rest."""
    gathered = keep_valid(gathered)
    added: list[Added] = []
    skipped: list[SkippedAsDuplicate] = []

    def choose(present: Sequence[Item]) -> list[Item]:
        added.clear()
        skipped.clear()
        works = KnownWorks(present)
        taken = {str(item.get("id", "")).lower() for item in present}
        chosen: list[Item] = []
        for candidate in gathered.candidates:
            duplicate = works.find(candidate.item)
            title = text_of(candidate.item, "title") or None
            if duplicate is not None:
                skipped.append(
                    SkippedAsDuplicate(
                        title=title,
                        duplicate_of=duplicate.reference_id,
                        by=duplicate.by,
                        source=candidate.source,
                        line=candidate.line,
                    )
                )
                continue
            item = _finished(candidate, taken, clock)
            taken.add(item["id"].lower())
            works.add(item)
            chosen.append(item)
            added.append(Added(id=item["id"], title=title, source=candidate.source, line=candidate.line))
        return chosen

    if gathered.candidates:
        await library.add(choose)
    return AddedReferences(added=added, skipped=skipped, failed=gathered.failed, warnings=gathered.warnings)


def _finished(candidate: Candidate, taken: set[str], clock: Clock) -> Item:
    """The item as it is kept: with a key of its own, a type, and the marks that other tools look for."""
    item = dict(candidate.item)
    wanted = str(item.get("id") or "") if candidate.has_own_key else ""
    key = wanted or make_key(first_family(item), year_of(item), text_of(item, "title"))
    now = clock.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
    own = dict(custom(item))
    own.setdefault("uuid", str(uuid.UUID(bytes=secrets.token_bytes(16), version=4)))
    own.setdefault("created_at", now)
    own.setdefault("timestamp", now)
    return {
        "id": distinct_key(key, taken),
        "type": item.get("type") or "document",
        **_without(item, "id", "type", "custom"),
        "custom": own,
    }


def _failed(source: str, error: CarrelError) -> NotAdded:
    return NotAdded(source=source, reason=f"{error.message}. {error.next_step}".strip())


def _without(item: Item, *names: str) -> Item:
    return {name: value for name, value in item.items() if name not in names}


def _shown(element: str) -> str:
    first = " ".join(element.split())
    return first if len(first) <= _SHOWN else f"{first[:_SHOWN]}…"
