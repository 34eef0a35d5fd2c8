"""Adds references: parses, validates and stores each element; a bad one never affects another."""

from __future__ import annotations

import asyncio
import logging
import secrets
import uuid
from collections.abc import Awaitable, Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, InternalError, InvalidInputError
from carrel.core.parsing import parse_in_thread
from carrel.libraries import bibliography
from carrel.libraries.bibliography.citation_keys import MAX_KEY_LENGTH, distinct_key
from carrel.libraries.identifiers import Identifier
from carrel.rooms.references.errors import NotRecognisedError
from carrel.rooms.references.identifier_lists import ListedPart, split_identifiers
from carrel.rooms.references.items import (
    Item,
    custom,
    former_ids,
    former_key,
    lookup_keys,
    text_of,
)
from carrel.rooms.references.key_patterns import MakeKey, default_key
from carrel.rooms.references.known_works import KnownWorks
from carrel.rooms.references.models import (
    Added,
    AddedReferences,
    NotAdded,
    SkippedAsDuplicate,
    Warned,
)
from carrel.rooms.references.organizing import take_groups
from carrel.rooms.references.ports import KnownReferences, Library, PapersAtHand, Parsers
from carrel.rooms.references.validation import check_storable, conform_item, is_usable_key

log = logging.getLogger("carrel.references")

# More than this many are checked on a thread.
_CHECKED_AT_ONCE = 50
# Longer inputs are read in a process, which takes 0.25 s to start, shorter ones on a thread.
_THREAD_AT_MOST_BYTES = 50_000
_SOURCE_CHARS = 60
_LOOKED_AT_FOR_TEXT = 4096
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
        content = element if file is None else file
        if listed := await parse_in_thread(_split_identifiers, content):
            _take_listed(listed, source if file is None else Path(element).name, found)
        elif file is not None:
            await self._read_bibliography(file, Path(element).name, found)
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
            raise _explain_unreadable(content) or InvalidInputError(
                read, next_step="Check the input."
            )
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


def _split_identifiers(content: str | bytes) -> list[ListedPart]:
    try:
        text = content.decode() if isinstance(content, bytes) else content
    except UnicodeDecodeError:
        return []
    return split_identifiers(text)


def _take_listed(listed: Sequence[ListedPart], source: str, found: ReadInput) -> None:
    """Identifiers are looked up; what else stands between them is a failure of its own."""
    for part in listed:
        identifier = bibliography.identifier_of(part.text)
        if identifier is not None:
            found.sources_by_identifier.setdefault(identifier, []).append(part.text)
            continue
        shown = describe_source(part.text)
        error = NotRecognisedError(f"{shown} is no identifier, and stands in a list of them")
        found.answer.failed.append(not_added(source, error, part.line))


def _explain_unreadable(content: str | bytes) -> CarrelError | None:
    """What an input is that is no bibliography, where that can be told; else None."""
    if not content.strip():
        return InvalidInputError("It is empty", next_step="Check the input.")
    if not isinstance(content, bytes):
        return None
    if content.lstrip().startswith(b"%PDF-"):
        return InvalidInputError(
            "It is a PDF, not a list of references",
            next_step="Add it to the papers, or attach it to a reference.",
        )
    if b"\0" in content[:_LOOKED_AT_FOR_TEXT]:
        return NotRecognisedError("It is not text, nor a bibliography format that is known")
    return None


async def add_to(
    library: Library,
    candidates: Sequence[Candidate],
    clock: Clock,
    make_key: MakeKey = default_key,
) -> AddedReferences:
    """Store the candidates in one write; those reported as added are then on disk."""
    answer = AddedReferences.empty()
    valid = (
        await asyncio.to_thread(_keep_valid, candidates, answer)
        if len(candidates) > _CHECKED_AT_ONCE
        else _keep_valid(candidates, answer)
    )
    chosen = AddedReferences.empty()

    def choose(present: KnownReferences) -> list[Item]:
        # The library may call this again on a newer state.
        nonlocal chosen
        chosen = AddedReferences.empty()
        chooser = _Chooser(present, clock, chosen, make_key)
        return [item for candidate in valid if (item := chooser.choose(candidate)) is not None]

    if valid:
        keys = {key for each in valid for key in lookup_keys(each.item)}
        keys |= {former_key(_find_key(each, make_key)) for each in valid}
        await library.add(keys, choose)
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


def _find_key(candidate: Candidate, make_key: MakeKey) -> str:
    """The key that a candidate gets where nobody has it."""
    own_key = str(candidate.item.get("id") or "") if candidate.has_own_key else ""
    return own_key if is_usable_key(own_key) else make_key(candidate.item)


class _TakenIds:
    """Ids in lower case that the library has, and those that are about to be added."""

    def __init__(self, present: Container[str]) -> None:
        self._present = present
        self._added: set[str] = set()

    def add(self, reference_id: str) -> None:
        self._added.add(reference_id)

    def __contains__(self, reference_id: object) -> bool:
        return reference_id in self._added or reference_id in self._present


class _Chooser:
    """Decides on one candidate after the other, each against the library and those before it."""

    def __init__(
        self, present: KnownReferences, clock: Clock, answer: AddedReferences, make_key: MakeKey
    ) -> None:
        self._works = KnownWorks(present.items)
        self._make_key = make_key
        self._taken = _TakenIds(present.taken_ids)
        # A key that a reference had before still leads to it.
        for item in present.items:
            for key in former_ids(item):
                self._taken.add(key.lower())
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
        item = take_groups(candidate.item)
        now = self._clock.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        own = dict(custom(item))
        own.setdefault("uuid", str(uuid.UUID(bytes=secrets.token_bytes(16), version=4)))
        own.setdefault("created_at", now)
        own.setdefault("timestamp", now)
        rest = {name: value for name, value in item.items() if name not in {"id", "type", "custom"}}
        key = self._choose_key(candidate)
        return {
            "id": distinct_key(key, self._taken, max(len(key), MAX_KEY_LENGTH)),
            "type": item.get("type") or "document",
            **rest,
            "custom": own,
        }

    def _choose_key(self, candidate: Candidate) -> str:
        item = candidate.item
        own_key = str(item.get("id") or "") if candidate.has_own_key else ""
        if own_key and not is_usable_key(own_key):
            message = "Its key is too long or holds control characters; it was given another"
            self._answer.warnings.append(
                Warned(source=candidate.source, line=candidate.line, message=message)
            )
        return _find_key(candidate, self._make_key)


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
