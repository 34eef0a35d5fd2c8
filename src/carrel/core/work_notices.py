"""Retractions, corrections and concerns about works: what rooms show, and whom they ask."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Protocol

from pydantic import Field

from carrel.core.errors import UnavailableError
from carrel.core.operation import Answer
from carrel.libraries.identifiers import ArxivId, Doi, Pmid, identifier_keys, parse_or_none
from carrel.libraries.literature.records import NoticeKind

log = logging.getLogger(__name__)

# A work with one of these should not be relied on.
GONE: frozenset[NoticeKind] = frozenset({"retraction", "withdrawal", "removal"})
_KIND_WORDS: dict[NoticeKind, str] = {
    "retraction": "retracted",
    "withdrawal": "withdrawn",
    "removal": "removed",
    "expression_of_concern": "under an expression of concern",
    "correction": "corrected",
}
# The gravest first.
_ORDER: tuple[NoticeKind, ...] = tuple(_KIND_WORDS)
_REASONS_SAID = 3


class WorkNotice(Answer):
    """A notice about a work: its kind, ISO date, and where it was published; `service` says so."""

    kind: NoticeKind
    date: str | None = Field(default=None, exclude_if=lambda value: value is None)
    doi: str | None = Field(default=None, exclude_if=lambda value: value is None)
    pmid: str | None = Field(default=None, exclude_if=lambda value: value is None)
    reasons: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)
    service: str


class NoticesAbout(Protocol):
    """Finds notices about works, of what is stored here; nothing is asked outside."""

    async def find(self, works: Sequence[Sequence[str]]) -> list[tuple[WorkNotice, ...]]:
        """The notices about each work, named by its keys such as `doi:10.1/x` and `pmid:123`."""
        ...


class NoNotices:
    """No notices are stored here."""

    async def find(self, works: Sequence[Sequence[str]]) -> list[tuple[WorkNotice, ...]]:
        return [()] * len(works)


async def find_notices(
    notices: NoticesAbout, works: Sequence[Sequence[str]]
) -> list[tuple[WorkNotice, ...]]:
    """Notices for an answer about works, which does without where their store does not answer."""
    try:
        return await notices.find(works)
    except UnavailableError as error:
        log.warning("notices about works left out", extra={"code": error.code})
        return [()] * len(works)


def work_keys(
    doi: str | None = None, pmid: str | None = None, arxiv: str | None = None
) -> tuple[str, ...]:
    """The keys of a work by identifiers in any spelling; what is none is left out."""
    found = (parse_or_none(Doi, doi), parse_or_none(ArxivId, arxiv), parse_or_none(Pmid, pmid))
    keys = [key for each in found if each is not None for key in identifier_keys(each)]
    return tuple(dict.fromkeys(keys))


def sort_notices(notices: Iterable[WorkNotice]) -> tuple[WorkNotice, ...]:
    """The gravest first, then the newest."""
    newest = sorted(notices, key=lambda each: each.date or "", reverse=True)
    return tuple(sorted(newest, key=lambda each: _ORDER.index(each.kind)))


def describe_notice(notice: WorkNotice) -> str:
    """A notice in words: `retracted on 2023-07-12 (notice 10.1155/2023/9756480: Paper Mill)`."""
    said = _KIND_WORDS[notice.kind] + (f" on {notice.date}" if notice.date else "")
    where = notice.doi or (f"PMID {notice.pmid}" if notice.pmid else "")
    reasons = "; ".join(notice.reasons[:_REASONS_SAID])
    more = ": ".join(part for part in (f"notice {where}" if where else "", reasons) if part)
    return f"{said} ({more})" if more else said
