"""What finding a text needs from outside: a downloader that reads, a shelf, and the corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from carrel.core.caller import Call
from carrel.libraries.literature.records import TextFormat, TextLocation, TextVersion

# What became of one place.
PlaceOutcome = Literal[
    "had", "absent", "blocked", "refused", "failed", "unreadable", "no_link", "not_tried"
]


class TextNotHadError(Exception):
    """A place gave no text; `reason` is one sentence for people.

    `absent`: there is nothing (404). `blocked`: it wants a login or keeps programs out. `refused`:
    the address or what came is not safe or not allowed. `failed`: it did not answer. `unreadable`:
    what came is no text of a paper. `no_link`: a page that names no file.
    """

    def __init__(self, outcome: PlaceOutcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason


@dataclass(frozen=True, slots=True)
class FetchedText:
    """The text of a paper as Markdown, and the file that it was read from.

    `url` is where the file finally came from; `file` lies on the shelf, named for its content.
    """

    markdown: str
    title: str
    format: TextFormat
    url: str
    sha256: str
    size_bytes: int
    retrieved_at: str
    file: Path
    version: TextVersion | None = None
    licence: str | None = None
    # Who named the place.
    service: str = ""
    # As the file itself states it.
    doi: str | None = None
    # What is to be said of the reading, such as pages that could not be read.
    remarks: tuple[str, ...] = ()


class TextFetcher(Protocol):
    """Downloads a place safely and reads what comes."""

    async def fetch(self, place: TextLocation) -> FetchedText:
        """Raises TextNotHadError."""
        ...

    async def find_link(self, page_url: str) -> str:
        """The address of the file that a landing page names. Raises TextNotHadError."""
        ...


@dataclass(frozen=True, slots=True)
class ShelvedText:
    """A text that was fetched before, with the record of its work and the places tried then."""

    text: FetchedText
    # The work as a CSL item.
    item: dict[str, Any]
    places: tuple[dict[str, Any], ...]


class TextShelf(Protocol):
    """Keeps fetched texts for a while, so that reading on costs no second download."""

    async def find(self, key: str) -> ShelvedText | None: ...

    async def put(self, key: str, shelved: ShelvedText) -> None: ...


@dataclass(frozen=True, slots=True)
class AddedText:
    """The paper that a text became; while `job_id` is at work, `paper_id` is empty."""

    paper_id: str
    is_new: bool
    notes: Sequence[str] = ()
    job_id: str | None = None


class TextAdditions(Protocol):
    """Adds a fetched text with its record to the corpus, by the papers room's own inbox."""

    async def add(self, text: FetchedText, item: dict[str, Any], call: Call) -> AddedText:
        """`item` is the work as CSL. Raises CarrelError."""
        ...
