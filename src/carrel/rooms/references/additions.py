"""Adding: what is at hand is kept at once, and only what neither the library nor the papers know is
looked up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from carrel.core.caller import Call
from carrel.core.clock import Clock
from carrel.core.errors import CarrelError
from carrel.core.jobs import Job
from carrel.rooms.references.adding import Outcome, add_to
from carrel.rooms.references.duplicates import KnownIdentifiers
from carrel.rooms.references.inputs import (
    Candidate,
    InputReader,
    ReadFile,
    ReadInput,
    WantedWork,
    not_added,
)
from carrel.rooms.references.lookup_job import LookupJobs, answer_of, show_job
from carrel.rooms.references.models import AddedReferences, SkippedAsDuplicate, Warned
from carrel.rooms.references.ports import Formats, Libraries, Library, Lookup


@dataclass(frozen=True, slots=True)
class LookupWaits:
    """How long a call waits for look-ups before the rest goes on as a job: anybody's, and one that
    can follow a task.
    """

    seconds: float = 20.0
    follower_seconds: float = 1.0


@dataclass(slots=True)
class _KnownAt:
    """The identifiers of one library at one generation."""

    generation: int
    identifiers: KnownIdentifiers


class Additions:
    """Adds to whoever's library it is."""

    def __init__(
        self,
        libraries: Libraries,
        formats: Formats,
        lookup: Lookup,
        jobs: LookupJobs,
        clock: Clock,
        waits: LookupWaits,
    ) -> None:
        self._libraries = libraries
        self._lookup = lookup
        self._clock = clock
        self._waits = waits
        self._reader = InputReader(formats, lookup)
        self._known: dict[int, _KnownAt] = {}
        self.jobs = jobs

    async def add(
        self, elements: Sequence[object], read_file: ReadFile, call: Call
    ) -> AddedReferences | Job:
        """What became of every element; where work goes on, with what is pending, or as a job where
        the caller can follow it.
        """
        read = await self._reader.read(elements, read_file)
        library = self._libraries.of(call.caller)
        answer = _answer(read, await add_to(library, read.candidates, self._clock))
        wanted = await self._skip_known(library, read.wanted, answer)
        wanted = await self._keep_at_hand(library, wanted, answer)
        return await self._look_up(wanted, answer, call) if wanted else answer

    async def _skip_known(
        self, library: Library, wanted: Sequence[WantedWork], answer: AddedReferences
    ) -> list[WantedWork]:
        """Those that the library does not have."""
        if not wanted:
            return []
        known = await self._known_identifiers(library)
        left = []
        for work in wanted:
            duplicate = known.find(work.identifier)
            if duplicate is None:
                left.append(work)
                continue
            answer.skipped.extend(
                SkippedAsDuplicate(
                    duplicate_of=duplicate.reference_id, by=duplicate.by, source=source
                )
                for source in work.sources
            )
        return left

    async def _known_identifiers(self, library: Library) -> KnownIdentifiers:
        shelf = await library.shelf()
        known = self._known.get(id(library))
        if known is None or known.generation != shelf.generation:
            known = _KnownAt(
                shelf.generation, await asyncio.to_thread(KnownIdentifiers, shelf.items)
            )
            self._known[id(library)] = known
        return known.identifiers

    async def _keep_at_hand(
        self, library: Library, wanted: Sequence[WantedWork], answer: AddedReferences
    ) -> list[WantedWork]:
        """Those that are not among the papers at hand; the others are kept."""
        if not wanted:
            return []
        try:
            at_hand = await self._lookup.at_hand([work.identifier for work in wanted])
        except CarrelError as error:
            message = (
                f"The papers at hand could not be asked, so the works are looked up "
                f"elsewhere: {error.message}"
            )
            answer.warnings.append(Warned(source="papers", message=message))
            return list(wanted)
        found = [work for work in wanted if work.identifier in at_hand]
        candidates = [
            Candidate(at_hand[work.identifier], source, None, False)
            for work in found
            for source in work.sources
        ]
        _extend(answer, await add_to(library, candidates, self._clock))
        return [work for work in wanted if work.identifier not in at_hand]

    async def _look_up(
        self, wanted: Sequence[WantedWork], answer: AddedReferences, call: Call
    ) -> AddedReferences | Job:
        wait = (
            min(self._waits.seconds, self._waits.follower_seconds)
            if call.can_follow
            else self._waits.seconds
        )
        try:
            record = await self.jobs.add(wanted, answer, call, wait)
        except CarrelError as error:
            # What was kept before stays acknowledged.
            answer.failed.extend(
                not_added(source, error) for work in wanted for source in work.sources
            )
            return answer
        return show_job(record) if call.can_follow and not record.has_ended else answer_of(record)


def _answer(read: ReadInput, outcome: Outcome) -> AddedReferences:
    answer = AddedReferences(
        added=[], skipped=[], failed=list(read.failed), warnings=list(read.warnings)
    )
    _extend(answer, outcome)
    return answer


def _extend(answer: AddedReferences, outcome: Outcome) -> None:
    answer.added.extend(outcome.added)
    answer.skipped.extend(outcome.skipped)
    answer.failed.extend(outcome.failed)
    answer.warnings.extend(outcome.warnings)
