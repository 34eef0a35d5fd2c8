"""Puts items into the library, except those that are there already; one bad item never stops the
rest.
"""

from __future__ import annotations

import asyncio
import secrets
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, InvalidInputError
from carrel.libraries.bibliography.citation_keys import distinct_key, make_key
from carrel.rooms.references.conforming import conform_item
from carrel.rooms.references.duplicates import KnownWorks
from carrel.rooms.references.inputs import Candidate, not_added, unexpected_failure
from carrel.rooms.references.models import Added, NotAdded, SkippedAsDuplicate, Warned
from carrel.rooms.references.ports import Library
from carrel.rooms.references.records import Item, custom, first_family, text_of, year_of
from carrel.rooms.references.storable import check_storable, is_usable_key

# More than this many are checked on a thread.
_FEW = 50


@dataclass(slots=True)
class Outcome:
    """What became of candidates."""

    added: list[Added] = field(default_factory=list)
    skipped: list[SkippedAsDuplicate] = field(default_factory=list)
    failed: list[NotAdded] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)

    def extend(self, other: Outcome) -> None:
        self.added.extend(other.added)
        self.skipped.extend(other.skipped)
        self.failed.extend(other.failed)
        self.warnings.extend(other.warnings)


async def add_to(library: Library, candidates: Sequence[Candidate], clock: Clock) -> Outcome:
    """Keeps the candidates in one write of the library. When this returns, what it calls added is
    on disk.
    """
    whole = Outcome()
    valid = (
        await asyncio.to_thread(_keep_valid, candidates, whole)
        if len(candidates) > _FEW
        else _keep_valid(candidates, whole)
    )
    outcome = Outcome()

    def choose(present: Sequence[Item]) -> list[Item]:
        # The library may call this again on a newer state.
        nonlocal outcome
        outcome = Outcome()
        chooser = _Chooser(present, clock, outcome)
        return [item for candidate in valid if (item := chooser.choose(candidate)) is not None]

    if valid:
        await library.add(choose)
    whole.extend(outcome)
    return whole


def _keep_valid(candidates: Sequence[Candidate], outcome: Outcome) -> list[Candidate]:
    """Every candidate in CSL-JSON's shape; those that cannot be are failures that name the
    field.
    """
    valid: list[Candidate] = []
    for candidate in candidates:
        with _alone(candidate, outcome):
            check_storable(candidate.item)
            conformed = conform_item(candidate.item)
            if conformed.problems:
                reason = "; ".join(problem.sentence() for problem in conformed.problems)
                raise InvalidInputError(reason)
            valid.append(replace(candidate, item=conformed.item))
            outcome.warnings.extend(
                Warned(source=candidate.source, line=candidate.line, message=notice)
                for notice in conformed.notices
            )
    return valid


@contextmanager
def _alone(candidate: Candidate, outcome: Outcome) -> Iterator[None]:
    """Whatever goes wrong with a candidate inside is told of it alone."""
    try:
        yield
    except CarrelError as error:
        outcome.failed.append(not_added(candidate.source, error, candidate.line))
    except Exception:  # noqa: BLE001 - a fault with one entry must not cost the others
        outcome.failed.append(
            not_added(
                candidate.source, unexpected_failure("entry could not be added"), candidate.line
            )
        )


class _Chooser:
    """Decides on one candidate after the other, each against the library and those before it."""

    def __init__(self, present: Sequence[Item], clock: Clock, outcome: Outcome) -> None:
        self._works = KnownWorks(present)
        self._taken = {str(item.get("id", "")).lower() for item in present}
        self._clock = clock
        self._outcome = outcome

    def choose(self, candidate: Candidate) -> Item | None:
        """The item to keep, or None where it is a duplicate or cannot be kept; the outcome says
        which.
        """
        with _alone(candidate, self._outcome):
            return self._choose(candidate)
        return None

    def _choose(self, candidate: Candidate) -> Item | None:
        title = text_of(candidate.item, "title") or None
        about = {"title": title, "source": candidate.source, "line": candidate.line}
        duplicate = self._works.find(candidate.item)
        if duplicate is not None:
            skipped = SkippedAsDuplicate(
                duplicate_of=duplicate.reference_id, by=duplicate.by, **about
            )
            self._outcome.skipped.append(skipped)
            return None
        item = self._finish(candidate)
        self._taken.add(item["id"].lower())
        self._works.add(item)
        self._outcome.added.append(Added(id=item["id"], **about))
        return item

    def _finish(self, candidate: Candidate) -> Item:
        """The item as it is kept: with a key of its own, a type, and the marks that other tools
        look for.
        """
        item = dict(candidate.item)
        now = self._clock.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        own = dict(custom(item))
        own.setdefault("uuid", str(uuid.UUID(bytes=secrets.token_bytes(16), version=4)))
        own.setdefault("created_at", now)
        own.setdefault("timestamp", now)
        rest = {name: value for name, value in item.items() if name not in {"id", "type", "custom"}}
        return {
            "id": distinct_key(self._wanted_key(candidate), self._taken),
            "type": item.get("type") or "document",
            **rest,
            "custom": own,
        }

    def _wanted_key(self, candidate: Candidate) -> str:
        item = candidate.item
        wanted = str(item.get("id") or "") if candidate.has_own_key else ""
        if is_usable_key(wanted):
            return wanted
        if wanted:
            message = "Its key is too long or holds control characters; it was given another"
            self._outcome.warnings.append(
                Warned(source=candidate.source, line=candidate.line, message=message)
            )
        return make_key(first_family(item), year_of(item), text_of(item, "title"))
