"""Citations of a paper as services outside know them: what is shown, and who is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from pydantic import Field

from carrel.core.caller import Call
from carrel.core.operation import Answer
from carrel.libraries.identifiers import Identifier

LITERATURE_SCOPE = "literature:read"
OneWay = Literal["in", "out"]


def _is_nothing(value: object) -> bool:
    return value is None or value in ("", [], {}, ())


class OutsideWork(Answer):
    """A work at the other end of a citation.

    `said_by` names the services that list the citation, each with the versions of the paper whose
    lists have it. `in_corpus` is its paper_id, `in_library` its reference id, where they have it.
    """

    title: str = Field(default="", exclude_if=_is_nothing)
    text: str = Field(default="", exclude_if=_is_nothing, description="As printed, if untitled")
    authors: list[str] = Field(default_factory=list, exclude_if=_is_nothing)
    year: int | None = Field(default=None, exclude_if=_is_nothing)
    venue: str = Field(default="", exclude_if=_is_nothing)
    ids: dict[str, str] = Field(default_factory=dict, exclude_if=_is_nothing)
    said_by: dict[str, list[str]]
    in_corpus: str | None = Field(default=None, exclude_if=_is_nothing)
    in_library: str | None = Field(default=None, exclude_if=_is_nothing)


class OutsideList(Answer):
    """A page of the works of one direction, those that most services list first.

    `count` is of the merged works, `counts` what each service says there are; they differ, and
    none is the truth. `is_complete` only where every service gave its whole list.
    """

    count: int
    counts: dict[str, int]
    is_complete: bool
    works: list[OutsideWork]


class OutsideService(Answer):
    """What became of the question at one service; `sent` are the addresses asked."""

    service: str
    state: Literal["answered", "failed", "not_asked"]
    failure: str | None = Field(default=None, exclude_if=_is_nothing)
    reason: str = Field(default="", exclude_if=_is_nothing)
    listed: int | None = Field(default=None, exclude_if=lambda value: value is None)
    is_complete: bool = Field(default=False, exclude_if=lambda value: not value)
    cost_usd: float | None = Field(default=None, exclude_if=lambda value: value is None)
    remarks: list[str] = Field(default_factory=list, exclude_if=_is_nothing)
    sent: list[str] = Field(default_factory=list, exclude_if=_is_nothing)


class OutsideCitationAnswer(Answer):
    """Citations outside the corpus, asked for every one of `versions`.

    A list is null where it was not asked for, or no service that answered has one.
    """

    message: str
    title: str = Field(default="", exclude_if=_is_nothing)
    versions: list[str]
    references: OutsideList | None = None
    cited_by: OutsideList | None = None
    coverage: list[OutsideService]
    remarks: list[str] = Field(default_factory=list, exclude_if=_is_nothing)


class OutsideCitationSource(Protocol):
    """Services outside that know citations."""

    async def find(
        self,
        identifiers: Sequence[Identifier],
        directions: Sequence[OneWay],
        first: int,
        limit: int,
        call: Call,
    ) -> OutsideCitationAnswer:
        """A page of the citations of a work by its identifiers, the best one first.

        Raises CarrelError: NetworkForbiddenError, LiteratureUnavailableError, NotFoundError.
        """
        ...
