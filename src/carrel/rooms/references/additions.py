"""Adds references: parses, validates and stores each element; a bad one never affects another."""

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
from carrel.core.parsing import parse_in_thread
from carrel.libraries import bibliography
from carrel.libraries.bibliography.citation_keys import distinct_key, make_key
from carrel.libraries.identifiers import Identifier
from carrel.rooms.references.errors import NotRecognisedError
from carrel.rooms.references.items import Item, KnownWorks, custom, first_family, text_of, year_of
from carrel.rooms.references.models import (
    Added,
    AddedReferences,
    NotAdded,
    SkippedAsDuplicate,
    Warned,
)
from carrel.rooms.references.ports import Library, PapersAtHand, Parsers
from carrel.rooms.references.validation import check_storable, conform_item, is_usable_key

log = logging.getLogger("carrel.references")

# More than this many are checked on a thread.
_CHECKED_AT_ONCE = 50
# Longer inputs are read in a process, which takes 0.25 s to start, shorter ones on a thread.
_THREAD_AT_MOST_BYTES = 50_000
_SOURCE_CHARS = 60
ReadFile = Callable[[str], Awaitable[bytes | None]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item to add; `has_own_key` if its input had a key."""

    item: Item
    source: str
    line: int | None = None
    has_own_key: bool = False


@dataclass(slots=True)
class ReadInput:
    """The parsed elements of an input; `answer` lists those that are unreadable."""

    candidates: list[Candidate] = field(default_factory=list)
    sources_by_identifier: dict[Identifier, list[str]] = field(default_factory=dict)
    answer: AddedReferences = field(default_factory=AddedReferences.empty)


class InputReader:
    """Parses elements of an input into candidates and identifiers to look up."""

    def __init__(
        self,
        papers: PapersAtHand,
        parsers: Parsers,
        titles: str = "as-written",
    ) -> None:
        """`titles` is the value of a TitleCase."""
        self._papers = papers
        self._titles = titles
        self._parsers = parsers

    async def read(self, elements: Sequence[object], read_file: ReadFile) -> ReadInput:
        """`read_file` returns the bytes of a file that an element names, or None."""
        found = ReadInput()
        for element in elements:
            source = describe_source(element)
            with _isolate_failure(found.answer, source, None, "element could not be read"):
                await self._read_element(_check_text(element), source, read_file, found)
        return found

    async def _read_element(
        self, element: str, source: str, read_file: ReadFile, found: ReadInput
    ) -> None:
        file = await read_file(element)
        if file is not None:
            await self._read_bibliography(file, Path(element).name, found)
        elif (identifier := bibliography.identifier_of(element)) is not None:
            found.sources_by_identifier.setdefault(identifier, []).append(source)
        elif bibliography.is_bibliography(element):
            await self._read_bibliography(element, source, found)
        elif (paper := await self._papers.find(element.strip())) is not None:
            found.candidates.append(Candidate(paper, source))
        else:
            raise NotRecognisedError

    async def _read_bibliography(self, content: str | bytes, source: str, found: ReadInput) -> None:
        if len(content) <= _THREAD_AT_MOST_BYTES:
            read = await parse_in_thread(bibliography.try_read_bibliography, content, self._titles)
        else:
            read = await self._parsers.run(
                bibliography.try_read_bibliography, content, self._titles, size=len(content)
            )
        if isinstance(read, str):
            raise InvalidInputError(read, next_step="Check the input.")
        found.candidates.extend(
            Candidate(entry.item, source, entry.line, has_own_key=bool(entry.item.get("id")))
            for entry in read.items
        )
        found.answer.failed.extend(
            NotAdded(source=source, line=failure.line, code="invalid_input", reason=failure.reason)
            for failure in read.failures
        )
        found.answer.warnings.extend(
            Warned(source=source, line=warning.line, message=warning.message)
            for warning in read.warnings
        )
        if not read.items and not read.failures:
            raise NotRecognisedError("It has the form of a bibliography and holds no entry")


async def add_to(
    library: Library, candidates: Sequence[Candidate], clock: Clock
) -> AddedReferences:
    """Store the candidates in one write; those reported as added are then on disk."""
    answer = AddedReferences.empty()
    valid = (
        await asyncio.to_thread(_keep_valid, candidates, answer)
        if len(candidates) > _CHECKED_AT_ONCE
        else _keep_valid(candidates, answer)
    )
    chosen = AddedReferences.empty()

    def choose(present: Sequence[Item]) -> list[Item]:
        # The library may call this again on a newer state.
        nonlocal chosen
        chosen = AddedReferences.empty()
        chooser = _Chooser(present, clock, chosen)
        return [item for candidate in valid if (item := chooser.choose(candidate)) is not None]

    if valid:
        await library.add(choose)
    answer.extend(chosen)
    return answer


def _keep_valid(candidates: Sequence[Candidate], answer: AddedReferences) -> list[Candidate]:
    """The candidates in CSL-JSON's shape; for one that cannot be, the answer names the field."""
    valid: list[Candidate] = []
    for candidate in candidates:
        with _isolate_failure(answer, candidate.source, candidate.line):
            check_storable(candidate.item)
            conformed = conform_item(candidate.item)
            if conformed.problems:
                reason = "; ".join(problem.sentence() for problem in conformed.problems)
                raise InvalidInputError(reason)
            valid.append(replace(candidate, item=conformed.item))
            answer.warnings.extend(
                Warned(source=candidate.source, line=candidate.line, message=notice)
                for notice in conformed.notices
            )
    return valid


class _Chooser:
    """Decides on one candidate after the other, each against the library and those before it."""

    def __init__(self, present: Sequence[Item], clock: Clock, answer: AddedReferences) -> None:
        self._works = KnownWorks(present)
        self._taken = {str(item.get("id", "")).lower() for item in present}
        self._clock = clock
        self._answer = answer

    def choose(self, candidate: Candidate) -> Item | None:
        """The item to add, or None if it is a duplicate or invalid."""
        with _isolate_failure(self._answer, candidate.source, candidate.line):
            title = text_of(candidate.item, "title") or None
            about = {"title": title, "source": candidate.source, "line": candidate.line}
            duplicate = self._works.find(candidate.item)
            if duplicate is not None:
                self._answer.skipped.append(
                    SkippedAsDuplicate(
                        duplicate_of=duplicate.reference_id, by=duplicate.by, **about
                    )
                )
                return None
            item = self._complete(candidate)
            self._taken.add(item["id"].lower())
            self._works.add(item)
            self._answer.added.append(Added(id=item["id"], **about))
            return item
        return None

    def _complete(self, candidate: Candidate) -> Item:
        """The item with a unique key, a type, and the fields that other tools expect."""
        item = candidate.item
        now = self._clock.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        own = dict(custom(item))
        own.setdefault("uuid", str(uuid.UUID(bytes=secrets.token_bytes(16), version=4)))
        own.setdefault("created_at", now)
        own.setdefault("timestamp", now)
        rest = {name: value for name, value in item.items() if name not in {"id", "type", "custom"}}
        return {
            "id": distinct_key(self._choose_key(candidate), self._taken),
            "type": item.get("type") or "document",
            **rest,
            "custom": own,
        }

    def _choose_key(self, candidate: Candidate) -> str:
        item = candidate.item
        own_key = str(item.get("id") or "") if candidate.has_own_key else ""
        if is_usable_key(own_key):
            return own_key
        if own_key:
            message = "Its key is too long or holds control characters; it was given another"
            self._answer.warnings.append(
                Warned(source=candidate.source, line=candidate.line, message=message)
            )
        return make_key(first_family(item), year_of(item), text_of(item, "title"))


@contextmanager
def _isolate_failure(
    answer: AddedReferences,
    source: str,
    line: int | None,
    event: str = "entry could not be added",
) -> Iterator[None]:
    """Whatever goes wrong inside is a failure of this source alone."""
    try:
        yield
    except CarrelError as error:
        answer.failed.append(not_added(source, error, line))
    except Exception:  # noqa: BLE001 - a fault with one entry must not cost the others
        answer.failed.append(not_added(source, unexpected_failure(event), line))


def not_added(source: str, error: CarrelError, line: int | None = None) -> NotAdded:
    reason = (
        f"{error.message.rstrip('.')}. {error.next_step}".strip()
        if error.next_step
        else error.message
    )
    return NotAdded(source=source, line=line, code=error.code, reason=reason)


def unexpected_failure(event: str) -> InternalError:
    """Log the exception being handled, and return the error for an internal fault."""
    error_id = secrets.token_hex(8)
    log.exception(event, extra={"error_id": error_id})
    return InternalError(error_id)


def describe_source(element: object) -> str:
    """An element as an answer names it: one line, cut, and always valid text."""
    text = element if isinstance(element, str) else f"({type(element).__name__})"
    line = " ".join(text[: 4 * _SOURCE_CHARS].split()).encode(errors="replace").decode()
    return line if len(line) <= _SOURCE_CHARS else f"{line[:_SOURCE_CHARS]}…"


def _check_text(element: object) -> str:
    if not isinstance(element, str):
        raise NotRecognisedError(f"An element must be a text, and is {type(element).__name__}")
    try:
        element.encode()
    except UnicodeEncodeError:
        raise NotRecognisedError("It holds a lone surrogate, which is no Unicode text") from None
    return element
