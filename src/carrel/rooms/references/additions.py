"""Adding: what is at hand is kept at once, and only what neither the library nor the papers know is
looked up.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import uuid
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, InternalError, InvalidInputError
from carrel.libraries.bibliography.citation_keys import distinct_key, make_key
from carrel.rooms.references.errors import NotRecognisedError
from carrel.rooms.references.items import (
    Item,
    KnownWorks,
    custom,
    first_family,
    text_of,
    year_of,
)
from carrel.rooms.references.models import (
    Added,
    NotAdded,
    SkippedAsDuplicate,
    Warned,
)
from carrel.rooms.references.ports import Formats, Identifier, Library, Lookup
from carrel.rooms.references.validation import check_storable, conform_item, is_usable_key

log = logging.getLogger("carrel.references")

_SHOWN_CHARS = 60
ReadFile = Callable[[str], Awaitable[bytes | None]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item that wants to be in the library. `has_own_key` says whether its input named it."""

    item: Item
    source: str
    line: int | None
    has_own_key: bool


@dataclass(frozen=True, slots=True)
class WantedWork:
    """A work to be looked up, and every element of the input that named it."""

    identifier: Identifier
    sources: tuple[str, ...]


@dataclass(slots=True)
class ReadInput:
    """What the elements of an input hold."""

    candidates: list[Candidate] = field(default_factory=list)
    sources_by_identifier: dict[Identifier, list[str]] = field(default_factory=dict)
    failed: list[NotAdded] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)

    @property
    def wanted(self) -> list[WantedWork]:
        return [
            WantedWork(identifier, tuple(sources))
            for identifier, sources in self.sources_by_identifier.items()
        ]


class InputReader:
    """Turns elements of an input into candidates and identifiers to be looked up."""

    def __init__(self, formats: Formats, lookup: Lookup) -> None:
        self._formats = formats
        self._lookup = lookup

    async def read(self, elements: Sequence[object], read_file: ReadFile) -> ReadInput:
        """`read_file` gives the bytes of a file that an element names, or None where it names
        none.
        """
        found = ReadInput()
        for element in elements:
            source = show_source(element)
            try:
                await self._read_element(_text(element), source, read_file, found)
            except CarrelError as error:
                found.failed.append(not_added(source, error))
            except Exception:  # noqa: BLE001 - a fault in one reader must not cost the other elements
                found.failed.append(
                    not_added(source, unexpected_failure("element could not be read"))
                )
        return found

    async def _read_element(
        self, element: str, source: str, read_file: ReadFile, found: ReadInput
    ) -> None:
        file = await read_file(element)
        if file is not None:
            await self._read_bibliography(file, Path(element).name, found)
            return
        identifier = self._formats.identifier(element)
        if identifier is not None:
            found.sources_by_identifier.setdefault(identifier, []).append(source)
        elif self._formats.is_bibliography(element):
            await self._read_bibliography(element, source, found)
        else:
            paper = await self._lookup.paper(element.strip())
            if paper is None:
                raise NotRecognisedError
            found.candidates.append(Candidate(paper, source, None, has_own_key=False))

    async def _read_bibliography(self, content: str | bytes, source: str, found: ReadInput) -> None:
        read = await self._formats.read(content)
        found.candidates.extend(
            Candidate(entry.item, source, entry.line, has_own_key=bool(entry.item.get("id")))
            for entry in read.entries
        )
        found.failed.extend(
            NotAdded(source=source, line=problem.line, code="invalid_input", reason=problem.message)
            for problem in read.failures
        )
        found.warnings.extend(
            Warned(source=source, line=problem.line, message=problem.message)
            for problem in read.warnings
        )
        if not read.entries and not read.failures:
            raise NotRecognisedError("It has the form of a bibliography and holds no entry")


def not_added(source: str, error: CarrelError, line: int | None = None) -> NotAdded:
    reason = (
        f"{error.message.rstrip('.')}. {error.next_step}".strip()
        if error.next_step
        else error.message
    )
    return NotAdded(source=source, line=line, code=error.code, reason=reason)


def unexpected_failure(event: str) -> InternalError:
    """What is told of a fault of ours; the log has the rest. Called while the exception is
    handled.
    """
    error_id = secrets.token_hex(8)
    log.exception(event, extra={"error_id": error_id})
    return InternalError(error_id)


def show_source(element: object) -> str:
    """An element as an answer names it: one line, cut, and always valid text."""
    text = element if isinstance(element, str) else f"({type(element).__name__})"
    line = " ".join(text[: 4 * _SHOWN_CHARS].split()).encode(errors="replace").decode()
    return line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]}…"


def _text(element: object) -> str:
    if not isinstance(element, str):
        raise NotRecognisedError(f"An element must be a text, and is {type(element).__name__}")
    try:
        element.encode()
    except UnicodeEncodeError:
        raise NotRecognisedError("It holds a lone surrogate, which is no Unicode text") from None
    return element


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
