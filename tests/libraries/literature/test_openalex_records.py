"""Records of OpenAlex: every recorded work, its snapshot, and what the facts warn of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.openalex import (
    read_cited_work,
    read_work,
    read_work_id,
    rebuild_abstract,
)
from carrel.libraries.literature.records import (
    Author,
    CitedWorkRecord,
    Notice,
    VersionPointer,
    WorkIds,
)
from tests.libraries.literature.invariants import check_damaged, check_record
from tests.libraries.literature.odd_json import damaged, odd_values
from tests.libraries.literature.recorded_works import dump_lines, recorded_objects
from tests.services.literature.recorded import needs_recordings

WORK: dict[str, Any] = {
    "id": "https://openalex.org/W123",
    "doi": "https://doi.org/10.1000/ABC",
    "title": "A study of <i>cats</i>",
    "publication_year": 2019,
    "publication_date": "2019-05-17",
    "ids": {
        "openalex": "https://openalex.org/W123",
        "doi": "https://doi.org/10.1000/abc",
        "pmid": "https://pubmed.ncbi.nlm.nih.gov/29456894",
        "pmcid": "https://www.ncbi.nlm.nih.gov/pmc/articles/5815332",
        "mag": "2741809807",
    },
    "language": "en",
    "type": "article",
    "primary_location": {
        "is_oa": True,
        "landing_page_url": "https://doi.org/10.1000/abc",
        "pdf_url": None,
        "license": "cc-by",
        "version": "publishedVersion",
        "source": {
            "display_name": "Journal of Cats",
            "issn_l": "0028-0836",
            "issn": ["0028-0836", "1476-4687"],
            "type": "journal",
            "host_organization_name": "Publisher",
        },
    },
    "locations": [
        {
            "is_oa": True,
            "landing_page_url": "http://arxiv.org/abs/1706.03762v3",
            "pdf_url": "http://arxiv.org/pdf/1706.03762",
            "version": "submittedVersion",
            "source": {"type": "repository"},
        },
        {"is_oa": False, "landing_page_url": "https://closed.example/1"},
    ],
    "open_access": {"is_oa": True, "oa_status": "hybrid"},
    "authorships": [
        {
            "author": {
                "display_name": "Jane Doe",
                "orcid": "https://orcid.org/0000-0002-1825-0097",
            },
            "raw_author_name": "J. Doe",
            "institutions": [{"display_name": "A Place"}],
        },
        {"author": {"display_name": "Somebody Else"}, "raw_author_name": "Ndiaye, Matar"},
    ],
    "is_authors_truncated": True,
    "biblio": {"volume": "6", "issue": None, "first_page": "3", "last_page": "4"},
    "is_retracted": True,
    "cited_by_count": 9,
    "keywords": [{"display_name": "Cats"}],
    "topics": [{"display_name": "Zoology"}],
    "referenced_works": ["https://openalex.org/W7", "nothing"],
    "abstract_inverted_index": {"Abstract": [0], "The": [1], "cat": [2, 5], "sees": [3]},
}


def recorded_works() -> list[Mapping[str, Any]]:
    return recorded_objects("openalex", lambda each: "/W" in str(each.get("id")) and "ids" in each)


@needs_recordings
def test_every_recorded_work_and_line_of_the_snapshot_is_read() -> None:
    works = [*recorded_works(), *dump_lines("openalex/works/*/*.gz")]
    assert len(works) > 300
    for raw in works:
        record = read_work(raw)
        assert record.service_id.startswith("W")
        assert bool(record.work.title) == bool(raw.get("title") or raw.get("display_name"))
        if record.work.title:
            # A keyword of OpenAlex is `Fish <Actinopterygii>`.
            check_record(replace(record, work=replace(record.work, keywords=())))
        if raw.get("abstract_inverted_index"):
            assert record.work.abstract
            assert not record.work.abstract.startswith(("Abstract ", "<jats"))


def test_a_work_without_title_and_id_is_refused() -> None:
    raws: tuple[dict[str, Any], ...] = (
        {},
        {"title": None},
        {"id": "https://openalex.org/A1"},
        {"meta": {}},
    )
    for raw in raws:
        with pytest.raises(UnreadableRecordError):
            read_work(raw)
    untitled = read_work({"id": "https://openalex.org/W1", "title": None, "display_name": None})
    assert untitled.work.title == ""


def test_a_work_is_read_field_by_field() -> None:
    record = read_work(WORK)
    work = record.work
    assert record.service_id == "W123"
    assert record.citation_count == 9
    assert work.ids == WorkIds(
        doi="10.1000/abc",
        pmid="29456894",
        pmcid="PMC5815332",
        openalex="W123",
        mag="2741809807",
    )
    assert work.abstract == "The cat sees cat"
    assert work.is_authors_cut
    assert (work.volume, work.issue, work.pages) == ("6", "", "3-4")
    assert work.venue.issn == ("0028-0836", "1476-4687")
    assert work.notices == (Notice("retraction", service="openalex"),)
    assert work.references == (CitedWorkRecord(WorkIds(openalex="W7")),)
    assert [place.url for place in work.locations] == [
        "https://doi.org/10.1000/abc",
        "http://arxiv.org/pdf/1706.03762",
    ]
    assert [place.host for place in work.locations] == ["publisher", "repository"]
    assert [place.format for place in work.locations] == ["landing_page", "pdf"]


def test_the_printed_name_counts_where_the_profile_is_somebody_elses() -> None:
    assert read_work(WORK).work.authors == (
        Author("Doe", "Jane", orcid="0000-0002-1825-0097"),
        Author("Ndiaye", "Matar"),
    )


def test_a_preprint_among_the_places_of_an_article_is_linked_and_not_melted() -> None:
    pointer = VersionPointer("preprint_of", WorkIds(arxiv="1706.03762"), "openalex")
    assert read_work(WORK).work.versions == (pointer,)
    preprint = read_work({**WORK, "doi": "https://doi.org/10.48550/arxiv.1706.03762", "ids": {}})
    assert preprint.work.ids.arxiv == "1706.03762"
    assert preprint.work.versions == ()


def test_an_empty_list_of_references_says_nothing() -> None:
    assert read_work({**WORK, "referenced_works": []}).work.references is None


@pytest.mark.parametrize(
    ("written", "issued"),
    [
        ("2019-01-01", "2019"),
        ("2019-05-01", "2019-05"),
        ("2019-05-17", "2019-05-17"),
        (None, "2019"),
    ],
)
def test_first_days_are_not_taken_for_known_days(written: str | None, issued: str) -> None:
    assert read_work({**WORK, "publication_date": written}).work.issued == issued


@pytest.mark.parametrize(
    ("index", "text"),
    [
        (None, ""),
        ({}, ""),
        ({"b": [4], "a": [0], "c": [7]}, "a b c"),
        ({"<p>a": [0], "b</p>": [1]}, "<p>a b</p>"),
        ({"a": [0, "1", None, True, -1, 2.5]}, "a"),
        ({"a": 0, "b": None, "c": [1]}, "c"),
        ({"a": [10**12], "b": [0]}, "b a"),
    ],
)
def test_an_inverted_abstract_keeps_the_order_of_its_words(index: Any, text: str) -> None:
    assert rebuild_abstract(index) == text


@given(st.lists(st.text("abcdef.,", min_size=1, max_size=5), max_size=30), st.data())
def test_words_come_back_in_their_order_whatever_is_missing(
    words: list[str], data: st.DataObject
) -> None:
    gaps = data.draw(st.sets(st.integers(0, max(0, len(words) - 1)), max_size=3))
    index: dict[str, list[int]] = {}
    for at, word in enumerate(words):
        if at not in gaps:
            index.setdefault(word, []).append(at)
    kept = [word for at, word in enumerate(words) if at not in gaps]
    assert rebuild_abstract(index) == " ".join(kept)


def test_ids_come_as_addresses_or_bare() -> None:
    assert read_work_id("https://openalex.org/w12") == "W12"
    assert read_work_id("W12") == "W12"
    assert read_work_id("https://openalex.org/A12") is None


def test_a_cited_work_has_what_a_list_shows() -> None:
    cited = read_cited_work(WORK)
    assert cited.ids.doi == "10.1000/abc"
    assert (cited.year, cited.venue) == (2019, "Journal of Cats")
    assert cited.authors == ("Jane Doe", "Matar Ndiaye")


@settings(max_examples=300, deadline=None)
@given(damaged(WORK))
def test_damaged_works_are_read_or_refused(raw: Any) -> None:
    check_damaged(read_work, raw)


@given(odd_values)
def test_anything_else_is_read_or_refused(raw: Any) -> None:
    try:
        read_work(raw)
    except UnreadableRecordError:
        return
