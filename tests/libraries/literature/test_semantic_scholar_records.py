"""Records of Semantic Scholar: every recorded paper, and what the facts warn of."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.records import CitedWorkRecord, TextLocation, WorkIds
from carrel.libraries.literature.semantic_scholar import read_cited_work, read_work
from tests.libraries.literature.invariants import check_damaged, check_record
from tests.libraries.literature.odd_json import damaged, odd_values
from tests.libraries.literature.recorded_works import recorded_objects
from tests.services.literature.recorded import needs_recordings

PAPER: dict[str, Any] = {
    "paperId": "204e3073870fae3d05bcbc2f6a8e263d9b72e776",
    "corpusId": 13756489,
    "externalIds": {
        "DOI": "10.1023/A:1007154515475",
        "ArXiv": "1706.03762",
        "PubMed": "11330823",
        "PubMedCentral": "11116106",
        "MAG": "2963403868",
        "DBLP": "conf/nips/VaswaniSPUJGKP17",
        "ACL": "N18-2074",
        "CorpusId": 13756489,
    },
    "title": "Attention is All you Need",
    "abstract": None,
    "authors": [
        {"authorId": "1", "name": "Ashish Vaswani"},
        {"authorId": None, "name": "N. Shazeer"},
    ],
    "year": 2017,
    "publicationDate": "2017-06-12",
    "venue": "NIPS",
    "publicationVenue": {"name": "Neural Information Processing Systems", "issn": "1049-5258"},
    "journal": {"name": "ArXiv", "volume": "abs/1706.03762", "pages": "\n          5998-\n 6008 "},
    "publicationTypes": ["JournalArticle", "Conference"],
    "citationCount": 100000,
    "openAccessPdf": {
        "url": "https://arxiv.org/pdf/1706.03762.pdf",
        "status": "GREEN",
        "license": "CCBYNC",
    },
    "fieldsOfStudy": ["Computer Science"],
    "s2FieldsOfStudy": [{"category": "Computer Science"}, {"category": "Mathematics"}],
}


@needs_recordings
def test_every_recorded_paper_is_read() -> None:
    papers = recorded_objects("semanticscholar", lambda each: bool(each.get("paperId")))
    assert len(papers) > 5_000
    for raw in papers:
        record = read_work(raw)
        assert record.work.ids.semantic_scholar == record.service_id
        assert bool(record.work.title) == bool(raw.get("title"))
        if record.work.title:
            check_record(record)


def test_a_paper_without_title_and_identifier_is_refused() -> None:
    for raw in ({}, {"title": None}, {"paperId": None}, {"paperId": "x"}):
        with pytest.raises(UnreadableRecordError):
            read_work(raw)


def test_a_paper_is_read_field_by_field() -> None:
    record = read_work(PAPER)
    work = record.work
    assert record.service_id == PAPER["paperId"]
    assert record.citation_count == 100_000
    assert work.ids == WorkIds(
        doi="10.1023/a:1007154515475",
        pmid="11330823",
        pmcid="PMC11116106",
        arxiv="1706.03762",
        semantic_scholar=PAPER["paperId"],
        corpus_id="13756489",
        dblp="conf/nips/VaswaniSPUJGKP17",
        mag="2963403868",
        acl="N18-2074",
    )
    assert work.issued == "2017-06-12"
    assert work.kind == "paper-conference"
    assert work.venue.name == "Neural Information Processing Systems"
    assert (work.volume, work.pages) == ("", "5998-6008")
    assert work.licence == "cc-by-nc"
    assert work.subjects == ("Computer Science", "Mathematics")


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("https://arxiv.org/pdf/1706.03762", "pdf"),
        ("https://journal.example/article/1.pdf?download=true", "pdf"),
        ("https://doi.org/10.1000/1", "landing_page"),
        ("https://journal.example/article/1", "landing_page"),
    ],
)
def test_an_open_address_may_be_that_of_a_page(url: str, form: str) -> None:
    raw = {**PAPER, "openAccessPdf": {"url": url, "status": "HYBRID"}}
    (place,) = read_work(raw).work.locations
    assert isinstance(place, TextLocation)
    assert place.format == form


@pytest.mark.parametrize("opened", [None, {"url": ""}, {"url": None}, {"url": "ftp://x"}, "x"])
def test_an_empty_open_address_is_none(opened: Any) -> None:
    assert read_work({**PAPER, "openAccessPdf": opened}).work.locations == ()


@pytest.mark.parametrize(
    ("year", "day", "issued"),
    [
        (2017, "2017-06-12", "2017-06-12"),
        (2018, "2017-06-12", "2018"),
        (2017, "2017-01-01", "2017"),
        (2017, None, "2017"),
        (None, "2017-06-12", "2017-06-12"),
        (None, None, None),
    ],
)
def test_the_year_counts_where_the_day_contradicts_it(
    year: int | None, day: str | None, issued: str | None
) -> None:
    assert read_work({**PAPER, "year": year, "publicationDate": day}).work.issued == issued


def test_entries_of_citations_may_be_null() -> None:
    assert read_cited_work(None, "citingPaper") is None
    assert read_cited_work({"citingPaper": None}, "citingPaper") is None
    assert read_cited_work({"citedPaper": {"paperId": None, "title": None}}, "citedPaper") is None
    titled = read_cited_work({"citedPaper": {"paperId": None, "title": "A"}}, "citedPaper")
    assert titled == CitedWorkRecord(title="A")


@settings(max_examples=300, deadline=None)
@given(damaged(PAPER))
def test_damaged_papers_are_read_or_refused(raw: Any) -> None:
    check_damaged(read_work, raw)


@given(odd_values)
def test_anything_else_is_read_or_refused(raw: Any) -> None:
    read_cited_work(raw, "citedPaper")
    try:
        read_work(raw)
    except UnreadableRecordError:
        return
