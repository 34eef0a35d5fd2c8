"""Merging the records of a paper: each field from the best origin, and what others say kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.rooms.papers.building.merging import ORIGINS_BY_TRUST, merge_records, says_the_same
from carrel.rooms.papers.building.paper_records import (
    FieldOrigin,
    OtherValue,
    PaperRecord,
    is_guess,
    mark_guesses,
)
from carrel.stores.corpus.records import read_record, record_facts

pytestmark = pytest.mark.promise("P14")


def test_the_best_origin_wins_whatever_its_place_and_others_fill_gaps() -> None:
    page = PaperRecord("A printd title", ("Ann Ash",), volume="7", origin="layout", confidence=0.9)
    listed = PaperRecord("A listed title", venue="J. Tests", origin="list")
    publisher = PaperRecord("A printed title", ("Ann Ash",), doi="10.1/x", origin="publisher")
    person = PaperRecord("", volume="8", origin="person")
    merged = merge_records([page, listed, publisher, person])
    assert (merged.title, merged.venue, merged.doi) == ("A printed title", "J. Tests", "10.1/x")
    assert merged.volume == "8"
    assert merged.origin_of("title") == FieldOrigin("title", "publisher", 1.0)
    assert merged.origin_of("venue").origin == "list"
    assert merged.origin_of("volume").origin == "person"
    assert merged.other_values == (
        OtherValue("title", "A listed title", "list", 1.0),
        OtherValue("title", "A printd title", "layout", 0.9),
    )


def test_a_guess_never_wins_over_what_is_stated() -> None:
    guess = PaperRecord("scan 0001", origin="publisher", origins=mark_guesses("title"))
    page = PaperRecord("The title", origin="layout", confidence=0.6)
    merged = merge_records([guess, page])
    assert merged.title == "The title"
    assert merged.inferred == ()
    assert merged.other_values == ()


def test_a_value_of_the_page_below_the_limit_counts_as_a_guess() -> None:
    unsure = FieldOrigin("authors", "layout", 0.4)
    page = PaperRecord("T", ("Bo", "Lee"), origin="layout", confidence=0.9, origins=(unsure,))
    assert page.inferred == ("authors",)
    listed = PaperRecord("T", ("Bo Lee",), origins=mark_guesses("authors", confidence=0.9))
    assert merge_records([page, listed]).inferred == ("authors",)
    whole = PaperRecord("T", ("Bo",), origin="guess")
    assert set(whole.inferred) == {"title", "authors"}


def test_a_month_is_added_by_who_states_it_and_not_by_a_guess() -> None:
    year = PaperRecord("T", publication_date="2017")
    month = PaperRecord("T", publication_date="2017-06")
    guess = PaperRecord("T", publication_date="2017-01", origins=mark_guesses("publication_date"))
    assert merge_records([year, month]).publication_date == "2017-06"
    assert merge_records([year, guess]).publication_date == "2017"


@pytest.mark.parametrize(
    ("name", "one", "other", "is_same"),
    [
        ("title", "Über das “Ding”: I", "Uber das Ding I", True),
        ("title", "Part I", "Part II", False),
        ("authors", ("Ada Lovelace", "Bo Lee"), ("Lovelace, A.",), True),
        ("authors", ("Ada Lovelace",), ("Ada Lovelace", "Bo Lee"), False),
        ("venue", "Phys. Rev. Lett.", "Physical Review Letters", True),
        ("venue", "JMLR", "Journal of Machine Learning Research", True),
        ("venue", "Nature", "Science", False),
        ("pages", "12-19", "12--9", True),
        ("pages", "12-19", "13", False),
        ("publication_date", "2017-06", "June 2017", True),
        ("doi", "10.1/A", "10.1/a", True),
    ],
)
def test_what_differs_in_spelling_only_is_the_same(
    name: str, one: str | tuple[str, ...], other: str | tuple[str, ...], is_same: bool
) -> None:
    assert says_the_same(name, one, other) is is_same


_ORIGIN = st.sampled_from(ORIGINS_BY_TRUST)
_RECORD = st.builds(
    PaperRecord,
    title=st.sampled_from(["", "A title", "Another"]),
    authors=st.sampled_from([(), ("Ann Ash",), ("Bo Lee", "Cy Roe")]),
    volume=st.sampled_from([None, "1", "2"]),
    pages=st.sampled_from([None, "1-2", "5"]),
    doi=st.sampled_from([None, "10.1/a", "10.1/b"]),
    origin=_ORIGIN,
    confidence=st.floats(0, 1),
    origins=st.lists(
        st.builds(FieldOrigin, st.sampled_from(["title", "doi"]), _ORIGIN, st.floats(0, 1)),
        max_size=2,
        unique_by=lambda each: each.field,
    ).map(tuple),
)


@given(st.lists(_RECORD, min_size=1, max_size=5))
def test_no_better_value_is_passed_over_and_none_is_lost(records: list[PaperRecord]) -> None:
    merged = merge_records(records)
    for name in ("title", "authors", "volume", "pages", "doi"):
        said = [(getattr(each, name), each.origin_of(name)) for each in records]
        stated = [(value, origin) for value, origin in said if value]
        if not stated:
            assert not getattr(merged, name)
            continue
        origin = merged.origin_of(name)
        assert (getattr(merged, name), origin) in stated
        ranks = [(is_guess(each), ORIGINS_BY_TRUST.index(each.origin)) for _, each in stated]
        assert (is_guess(origin), ORIGINS_BY_TRUST.index(origin.origin)) == min(ranks)
    assert read_record(record_facts(merged)) == merged
