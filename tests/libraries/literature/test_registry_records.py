"""Records of DataCite, OpenCitations and Unpaywall: every recording, and what the facts warn of."""

# Samples keep the lines that programs write.
# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.libraries.literature import datacite, opencitations, unpaywall
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.records import (
    Author,
    CitedWorkRecord,
    ServiceRecord,
    VersionPointer,
    WorkIds,
)
from tests.libraries.literature.invariants import check_damaged, check_record
from tests.libraries.literature.odd_json import damaged, odd_values
from tests.libraries.literature.recorded_works import dump_lines, recorded_json, recorded_objects
from tests.services.literature.recorded import needs_recordings

DATACITE: dict[str, Any] = {
    "id": "10.48550/arxiv.1706.03762",
    "type": "dois",
    "attributes": {
        "doi": "10.48550/ARXIV.1706.03762",
        "identifiers": [{"identifier": "1706.03762", "identifierType": "arXiv"}],
        "creators": [
            {
                "name": "Vaswani, Ashish",
                "nameType": "Personal",
                "givenName": "Ashish",
                "familyName": "Vaswani",
                "affiliation": ["Google", {"name": "Brain"}],
                "nameIdentifiers": [
                    {
                        "nameIdentifier": "https://orcid.org/0000-0002-1825-0097",
                        "nameIdentifierScheme": "ORCID",
                    }
                ],
            },
            {"name": "The Team", "nameType": "Organizational"},
            {"name": "Shazeer, Noam"},
        ],
        "titles": [
            {"title": "Attention", "lang": "en"},
            {"title": "Again", "titleType": "Subtitle"},
        ],
        "publisher": {"name": "arXiv"},
        "container": {
            "title": "Journal",
            "identifier": "0028-0836",
            "identifierType": "ISSN",
            "firstPage": "Seoul",
        },
        "publicationYear": 2017,
        "subjects": [{"subject": "FOS: Computer"}],
        "dates": [
            {"date": "2017-06-12T17:57:34Z", "dateType": "Submitted"},
            {"date": "2017-06", "dateType": "Issued"},
        ],
        "language": "eng",
        "types": {"resourceTypeGeneral": "Preprint", "citeproc": "article"},
        "relatedIdentifiers": [
            {
                "relationType": "IsVersionOf",
                "relatedIdentifier": "10.1000/abc",
                "relatedIdentifierType": "DOI",
            },
            {
                "relationType": "Cites",
                "relatedIdentifier": "10.1000/ref",
                "relatedIdentifierType": "DOI",
            },
            {
                "relationType": "Cites",
                "relatedIdentifier": "https://x.example",
                "relatedIdentifierType": "URL",
            },
        ],
        "rightsList": [
            {"rights": "CC", "rightsUri": "https://creativecommons.org/licenses/by/4.0/legalcode"}
        ],
        "descriptions": [
            {"description": "Other", "descriptionType": "Other"},
            {"description": "<p>We see.</p>", "descriptionType": "Abstract"},
        ],
        "url": "https://arxiv.org/abs/1706.03762",
        "contentUrl": None,
        "citationCount": 3,
    },
}
META: dict[str, Any] = {
    "id": "doi:10.1371/journal.pone.0000308 openalex:W2046766973 pmid:17375194 omid:br/062601549659",
    "title": "Sharing Data",
    "author": "Piwowar, Heather [orcid:0000-0003-1613-5981 omid:ra/063]; Day, Roger S. [omid:ra/062]",
    "pub_date": "2007-03-21",
    "issue": "3",
    "volume": "2",
    "venue": "Plos One [issn:1932-6203 openalex:S202381698 omid:br/068038897]",
    "type": "journal article",
    "page": "e308",
    "publisher": "Public Library Of Science (PLoS) [crossref:340 omid:ra/0620115911]",
    "editor": "Ioannidis, John [omid:ra/062604605186]",
}
UNPAYWALL: dict[str, Any] = {
    "doi": "10.1000/ABC",
    "title": "A study",
    "genre": "journal-article",
    "published_date": "2014-10-27",
    "year": 2014,
    "journal_name": "Journal",
    "journal_issns": "0027-8424,1091-6490",
    "publisher": "Publisher",
    "is_oa": True,
    "oa_status": "bronze",
    "best_oa_location": {
        "url": "https://a.example/1.pdf",
        "url_for_pdf": "https://a.example/1.pdf",
        "version": "publishedVersion",
        "host_type": "publisher",
        "license": None,
    },
    "oa_locations": [
        {
            "url": "https://a.example/1.pdf",
            "url_for_pdf": "https://a.example/1.pdf",
            "version": "publishedVersion",
            "host_type": "publisher",
        },
        {
            "url": "https://r.example/1",
            "url_for_pdf": None,
            "url_for_landing_page": "https://r.example/1",
            "version": "acceptedVersion",
            "host_type": "repository",
            "license": "cc-by-nc",
        },
    ],
    "z_authors": [
        {"given": "Jane", "family": "Doe"},
        {"raw_author_name": "Roe, Richard"},
        {"name": "A Group"},
    ],
}
READERS: dict[str, tuple[Callable[[Mapping[str, Any]], ServiceRecord], dict[str, Any]]] = {
    "datacite": (datacite.read_work, DATACITE),
    "opencitations": (opencitations.read_work, META),
    "unpaywall": (unpaywall.read_work, UNPAYWALL),
}


@needs_recordings
@pytest.mark.parametrize(
    ("name", "has", "least"),
    [
        ("datacite", {"attributes", "relationships"}, 20),
        ("opencitations", {"title", "author"}, 3),
        ("unpaywall", {"doi", "oa_locations"}, 50),
    ],
)
def test_every_recorded_work_is_read(name: str, has: set[str], least: int) -> None:
    works = recorded_objects(
        name, lambda each: has <= set(each) and each.get("type") not in ("clients", "providers")
    )
    works = [each for each in works if each.get("type", "dois") != "activities"]
    if name == "datacite":
        works = [each for each in works if each.get("type") == "dois"]
    assert len(works) > least
    for raw in works:
        record = READERS[name][0](raw)
        assert record.work.ids.doi
        check_record(record)


@needs_recordings
@pytest.mark.parametrize(
    ("name", "pattern"), [("datacite", "datacite/*.gz"), ("unpaywall", "unpaywall/*.gz")]
)
def test_every_line_of_a_dump_is_read(name: str, pattern: str) -> None:
    for raw in dump_lines(pattern):
        record = READERS[name][0](raw)
        assert record.work.ids.doi
        if record.work.title:
            check_record(record)


@needs_recordings
def test_recorded_errors_are_refused() -> None:
    for name in READERS:
        for _, status, found in recorded_json(name):
            if status == 404:
                with pytest.raises(UnreadableRecordError):
                    READERS[name][0](found)


@pytest.mark.parametrize("name", sorted(READERS))
def test_a_record_without_title_and_identifier_is_refused(name: str) -> None:
    raws: tuple[dict[str, Any], ...] = (
        {},
        {"title": ""},
        {"data": None},
        {"attributes": {}},
        {"error": True},
    )
    for raw in raws:
        with pytest.raises(UnreadableRecordError):
            READERS[name][0](raw)


def test_a_preprint_of_datacite_is_read_field_by_field() -> None:
    record = datacite.read_work(DATACITE)
    work = record.work
    assert record.service_id == "10.48550/arxiv.1706.03762"
    assert work.ids.arxiv == "1706.03762"
    assert work.title == "Attention: Again"
    assert work.abstract == "We see."
    assert work.authors == (
        Author("Vaswani", "Ashish", orcid="0000-0002-1825-0097"),
        Author(literal="The Team"),
        Author("Shazeer", "Noam"),
    )
    assert work.institutions == ("Google", "Brain")
    assert (work.issued, work.kind, work.language) == ("2017-06", "preprint", "en")
    assert work.venue.publisher == "arXiv"
    assert work.pages == ""
    assert work.licence == "cc-by"
    assert work.locations[0].url == "https://arxiv.org/abs/1706.03762"
    assert work.references == (CitedWorkRecord(WorkIds(doi="10.1000/ref")),)
    assert work.versions == (
        VersionPointer("published_as", WorkIds(doi="10.1000/abc"), "datacite"),
    )


def test_datacite_records_come_in_an_envelope_or_bare() -> None:
    bare = datacite.read_work(DATACITE["attributes"])
    assert datacite.read_work({"data": DATACITE}) == datacite.read_work(DATACITE) == bare


def test_a_record_of_meta_is_read_field_by_field() -> None:
    record = opencitations.read_work(META)
    work = record.work
    assert record.service_id == "br/062601549659"
    assert work.ids == WorkIds(
        doi="10.1371/journal.pone.0000308", pmid="17375194", openalex="W2046766973"
    )
    assert work.authors == (
        Author("Piwowar", "Heather", orcid="0000-0003-1613-5981"),
        Author("Day", "Roger S."),
    )
    assert work.venue.name == "Plos One"
    assert work.venue.issn == ("1932-6203",)
    assert work.venue.publisher == "Public Library Of Science (PLoS)"
    assert (work.issued, work.kind) == ("2007-03-21", "article-journal")


@pytest.mark.parametrize(
    ("written", "ids"),
    [
        ("omid:br/1 doi:10.1000/ABC pmid:5", WorkIds(doi="10.1000/abc", pmid="5")),
        ("10.1000/ABC", WorkIds(doi="10.1000/abc")),
        (
            "10.1002/(sici)1097-4571(198909)40:5<342::aid-asi7>3.0.co;2-u",
            WorkIds(doi="10.1002/(sici)1097-4571(198909)40:5<342::aid-asi7>3.0.co;2-u"),
        ),
        ("doi:10.1000/a:b omid:br/2", WorkIds(doi="10.1000/a:b")),
        ("", WorkIds()),
        ("omid:br/1", WorkIds()),
        (None, WorkIds()),
    ],
)
def test_identifiers_of_both_versions_of_the_index(written: object, ids: WorkIds) -> None:
    assert opencitations.read_ids(written) == ids


@pytest.mark.parametrize(
    ("creation", "year"), [("2018", 2018), ("2018-06", 2018), ("2018-06-01", 2018), ("", None)]
)
def test_a_citing_work_has_a_year_and_a_cited_one_has_not(creation: str, year: int | None) -> None:
    row = {
        "citing": "10.1000/a",
        "cited": "omid:br/1 doi:10.1000/b",
        "creation": creation,
        "timespan": "-P1Y",
    }
    citing = opencitations.read_edge(row, "citing")
    assert citing == CitedWorkRecord(WorkIds(doi="10.1000/a"), year=year)
    assert opencitations.read_edge(row, "cited") == CitedWorkRecord(WorkIds(doi="10.1000/b"))
    assert opencitations.read_edge(None, "cited") is None


def test_open_copies_keep_version_licence_and_host() -> None:
    work = unpaywall.read_work(UNPAYWALL).work
    assert [
        (place.format, place.version, place.licence, place.host) for place in work.locations
    ] == [
        ("pdf", "published", None, "publisher"),
        ("landing_page", "accepted", "cc-by-nc", "repository"),
    ]
    assert work.open_access == "bronze"
    assert work.authors == (
        Author("Doe", "Jane"),
        Author("Roe", "Richard"),
        Author(literal="A Group"),
    )
    assert unpaywall.read_work({"response": UNPAYWALL, "score": 1}).work == work


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(READERS)), st.data())
def test_damaged_records_are_read_or_refused(name: str, data: st.DataObject) -> None:
    read, sample = READERS[name]
    check_damaged(read, data.draw(damaged(sample)))


@given(st.sampled_from(sorted(READERS)), odd_values)
def test_anything_else_is_read_or_refused(name: str, raw: Any) -> None:
    opencitations.read_edge(raw, "citing")
    unpaywall.read_locations(raw)
    try:
        READERS[name][0](raw)
    except UnreadableRecordError:
        return
