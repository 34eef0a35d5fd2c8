"""Records of Europe PMC: every recorded result, and what the facts warn of."""

# Samples keep the lines that programs write.
# ruff: noqa: E501

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.europepmc import read_cited_work, read_work, split_names
from carrel.libraries.literature.records import WorkIds, WorkRecord
from carrel.services.literature.recordings import read_exchanges
from tests.libraries.literature.invariants import check_ids, check_record
from tests.libraries.literature.odd_json import damaged, odd_values
from tests.services.literature.recorded import SERVICES_DATA, needs_recordings

ARTICLE: dict[str, Any] = {
    "id": "1",
    "source": "MED",
    "pmid": "1",
    "pmcid": "PMC2",
    "doi": "10.1000/A",
    "title": "A <i>title</i>.",
    "authorString": "Doe J, van der Berg AB, The Group.",
    "authorList": {
        "author": [
            {
                "fullName": "Doe J",
                "firstName": "Jane",
                "lastName": "Doe",
                "initials": "J",
                "authorId": {"type": "ORCID", "value": "0000-0002-1825-0097"},
                "authorAffiliationDetailsList": {
                    "authorAffiliation": [
                        {"affiliation": "A Place. Electronic address: j@doe.org."}
                    ]
                },
            },
            {"collectiveName": "The Group"},
        ]
    },
    "journalInfo": {
        "issue": "2",
        "volume": "1",
        "dateOfPublication": "2020 Mar",
        "yearOfPublication": 2020,
        "monthOfPublication": 3,
        "journal": {"title": "Journal", "isoabbreviation": "J", "issn": "0140-6736"},
    },
    "pubYear": "2020",
    "electronicPublicationDate": "2020-03-07",
    "firstPublicationDate": "2020-03-07",
    "abstractText": "<h4>Background</h4>We <i>see</i>.<h4>Methods</h4>We look, p<.05.",
    "language": "eng",
    "pubTypeList": {"pubType": ["Journal Article", "Review"]},
    "keywordList": {"keyword": ["one", "two"]},
    "meshHeadingList": {"meshHeading": [{"descriptorName": "Humans"}]},
    "fullTextUrlList": {
        "fullTextUrl": [
            {"availabilityCode": "S", "documentStyle": "doi", "url": "https://doi.org/10.1000/A"},
            {
                "availabilityCode": "OA",
                "documentStyle": "pdf",
                "site": "Europe_PMC",
                "url": "https://europepmc.org/articles/PMC2?pdf=render",
            },
        ]
    },
    "commentCorrectionList": {
        "commentCorrection": [
            {
                "id": "9",
                "source": "MED",
                "reference": "J. 2021 Sep 28;4(1):1. doi: 10.1000/R.",
                "type": "Retraction in",
            },
            {"id": "PPR12", "source": "PPR", "type": "Preprint in"},
            {"id": "8", "source": "MED", "type": "Erratum for"},
        ]
    },
    "isOpenAccess": "Y",
    "inEPMC": "Y",
    "license": "cc by-nc-nd",
    "citedByCount": 4,
}


def read(**changes: Any) -> WorkRecord:
    record = read_work({**ARTICLE, **changes})
    check_record(record)
    return record.work


def recorded_results() -> Iterator[dict[str, Any]]:
    for _, exchange in read_exchanges(SERVICES_DATA / "europepmc"):
        if exchange.body.lstrip().startswith(b"{"):
            yield from json.loads(exchange.body).get("resultList", {}).get("result", [])


@needs_recordings
def test_every_recorded_result_is_read() -> None:
    records = [read_work(raw) for raw in recorded_results()]
    assert len(records) > 500
    for record in records:
        check_record(record)
    assert {record.work.kind for record in records} >= {"article-journal", "review", "preprint"}
    preprints = [record.work for record in records if record.work.kind == "preprint"]
    assert all(work.venue.name for work in preprints)
    assert sum(1 for record in records if record.work.authors) > 0.9 * len(records)
    assert not any(record.work.title.endswith("].") for record in records)


@needs_recordings
def test_every_recorded_citation_is_read() -> None:
    count = 0
    for _, exchange in read_exchanges(SERVICES_DATA / "europepmc"):
        if "/citations/" in exchange.url:
            for raw in json.loads(exchange.body)["citationList"]["citation"]:
                cited = read_cited_work(raw)
                check_ids(cited.ids)
                assert cited.ids.keys()
                assert cited.title
                assert cited.year
                assert not any(name.endswith(".") for name in cited.authors)
                count += 1
    assert count >= 50


def test_what_has_no_title_or_name_is_refused() -> None:
    for field in ("title", "id", "source"):
        with pytest.raises(UnreadableRecordError):
            read_work({**ARTICLE, field: None})


def test_an_article_is_read_whole() -> None:
    work = read()
    assert work.title == "A <i>title</i>"
    assert work.abstract == "Background: We <i>see</i>. Methods: We look, p<.05."
    assert work.ids == WorkIds(doi="10.1000/a", pmid="1", pmcid="PMC2", europepmc="MED/1")
    assert [author.family or author.literal for author in work.authors] == ["Doe", "The Group"]
    assert work.issued == "2020-03-07"
    assert work.kind == "review"
    assert work.institutions == ("A Place",)
    assert work.licence == "cc-by-nc-nd"
    assert [place.format for place in work.locations] == ["jats", "pdf"]
    assert work.locations[0].url.endswith("/PMC2/fullTextXML")
    assert [(n.kind, n.date, n.doi, n.pmid) for n in work.notices] == [
        ("retraction", "2021-09-28", "10.1000/r", "9")
    ]
    assert [(v.relation, v.ids.europepmc) for v in work.versions] == [("preprint_of", "PPR/PPR12")]


@pytest.mark.parametrize("field", ["inEPMC", "isOpenAccess", "pmcid"])
def test_full_text_is_named_only_where_it_is_held_and_open(field: str) -> None:
    closed = read(**{field: "N" if field != "pmcid" else None})
    assert all(place.format != "jats" for place in closed.locations)


def test_names_are_read_from_the_line_where_there_is_no_list() -> None:
    work = read(authorList=None)
    assert [(a.family, a.given, a.literal) for a in work.authors] == [
        ("Doe", "J", ""),
        ("van der Berg", "AB", ""),
        ("", "", "The Group"),
    ]
    assert list(split_names("King ML, Jr, Doe J.")) == ["King ML, Jr", "Doe J"]


@pytest.mark.parametrize(
    ("changes", "issued"),
    [
        ({"electronicPublicationDate": "2019-12-30"}, "2020-03"),
        ({"journalInfo": None, "electronicPublicationDate": None}, "2020-03-07"),
        ({"journalInfo": None, "electronicPublicationDate": None, "firstPublicationDate": "2020-01-01"}, "2020"),
        ({"journalInfo": None, "electronicPublicationDate": None, "firstPublicationDate": "2019-12-30"}, "2020"),
        ({"journalInfo": {"yearOfPublication": "2018"}}, "2018"),
        ({"journalInfo": None, "electronicPublicationDate": None, "firstPublicationDate": None}, "2020"),
    ],
)  # fmt: skip
def test_dates_are_those_of_the_issue_and_never_more_precise_than_known(
    changes: dict[str, Any], issued: str
) -> None:
    assert read(**changes).issued == issued


def test_a_preprint_has_its_server_and_points_to_its_article() -> None:
    work = read(
        id="PPR5",
        source="PPR",
        pmid=None,
        pmcid=None,
        doi="10.48550/arXiv.2101.00001",
        journalInfo=None,
        electronicPublicationDate=None,
        firstPublicationDate="2020-01-01",
        bookOrReportDetails={"publisher": "arXiv", "yearOfPublication": 2020},
        commentCorrectionList={
            "commentCorrection": [{"id": "7", "source": "MED", "type": "Preprint of"}]
        },
        pubTypeList={"pubType": ["Preprint"]},
    )
    assert work.kind == "preprint"
    assert work.venue.name == "arXiv"
    assert work.ids.arxiv == "2101.00001"
    assert work.issued == "2020-01-01"
    assert [(each.relation, each.ids.pmid) for each in work.versions] == [("published_as", "7")]
    assert {place.version for place in work.locations} <= {"submitted"}


def test_a_retracted_article_without_a_link_is_retracted() -> None:
    work = read(commentCorrectionList=None, pubTypeList={"pubType": ["Retracted Publication"]})
    assert work.is_retracted


@settings(max_examples=300, deadline=None)
@given(damaged(ARTICLE))
def test_no_damage_breaks_the_reader(raw: Any) -> None:
    try:
        check_record(read_work(raw), may_have_tags=True)
    except UnreadableRecordError:
        return


@given(
    st.dictionaries(
        st.sampled_from(["id", "source", "title", "authorString", "pubYear"]), odd_values
    )
)
def test_no_citation_breaks_the_reader(raw: dict[str, Any]) -> None:
    check_ids(read_cited_work(raw).ids)
