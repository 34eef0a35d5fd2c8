"""A record without an identifier is completed only where title, author and year name one work."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from carrel.rooms.literature.completion import make_proposal
from carrel.rooms.literature.completion_ports import RecordToComplete
from carrel.rooms.literature.completion_search import CompletionSearch, FoundForRecord
from carrel.rooms.literature.search import LiteratureSearch
from carrel.rooms.literature.service_choice import SearchPolicy
from tests.rooms.literature.news import FewServices, NewsService

TITLE = "Sleep spindles of whales and other mammals of the sea"


def record(title: str = TITLE, year: int = 2026, family: str = "Moor") -> RecordToComplete:
    item: dict[str, Any] = {
        "type": "article-journal",
        "title": title,
        "author": [{"family": family, "given": "A."}],
        "issued": {"date-parts": [[year]]},
    }
    return RecordToComplete("r", title, item, ("DOI",), ())


def guess(wanted: RecordToComplete, *titles: str) -> FoundForRecord:
    service = NewsService("crossref")
    for number, title in enumerate(titles):
        service.add("2026-03-01", title, doi=f"10.5555/w.{number}")
    services = FewServices({"crossref": service})
    policy = SearchPolicy(services=("crossref",))
    search = CompletionSearch(services, LiteratureSearch(services, policy), policy)
    return asyncio.run(search.guess(wanted))


@pytest.mark.parametrize(
    ("wanted", "titles"),
    [
        (record(year=2020), [TITLE]),
        (record(family="Other"), [TITLE]),
        (record("Editorial"), ["Editorial"]),
        (record("Sleep of whales"), ["Sleep of whales"]),
        (record(), [f"{TITLE}, part II"]),
        (record(), ["Sleep spindles of whales and other mammals of the land"]),
        (record(), []),
    ],
)
def test_what_is_not_certain_is_not_proposed(wanted: RecordToComplete, titles: list[str]) -> None:
    assert guess(wanted, *titles).work is None


def test_a_certain_match_is_proposed_as_a_guess() -> None:
    found = guess(record(), TITLE)
    assert found.work is not None
    proposal = make_proposal(record(), found)
    assert proposal.is_guess
    assert {each.field: each.value for each in proposal.values}["DOI"] == "10.5555/w.0"
