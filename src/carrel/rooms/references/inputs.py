"""What an input to add holds: each element is recognised on its own, and one that cannot be read
never costs another.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from carrel.core.errors import CarrelError, InternalError
from carrel.rooms.references.errors import NotRecognisedError
from carrel.rooms.references.models import NotAdded, Warned
from carrel.rooms.references.ports import Formats, Identifier, Lookup
from carrel.rooms.references.records import Item

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
