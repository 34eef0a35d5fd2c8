"""Records of Crossref: every recorded work, its dump, and what the facts warn of."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given, settings

from carrel.libraries.literature.crossref import is_part, read_work
from carrel.libraries.literature.crossref_links import read_updates_of
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.records import (
    Author,
    CitedWorkRecord,
    Notice,
    VersionPointer,
    WorkIds,
)
from tests.libraries.literature.invariants import check_damaged, check_record
from tests.libraries.literature.odd_json import damaged, odd_values
from tests.libraries.literature.recorded_works import recorded_objects
from tests.services.literature.recorded import SERVICES_DATA, needs_recordings

ARTICLE: dict[str, Any] = {
    "DOI": "10.1000/ABC",
    "type": "journal-article",
    "title": ["A  study of <i>cats</i>"],
    "subtitle": ["A beginning"],
    "container-title": ["Journal of Cats &amp; Dogs"],
    "short-container-title": ["J. Cats"],
    "publisher": "Publisher",
    "ISSN": ["0028-0836"],
    "volume": "1",
    "issue": "2",
    "page": "3-4",
    "language": "en",
    "issued": {"date-parts": [[2020, 3]]},
    "published-online": {"date-parts": [[2019, 12, 31]]},
    "published-print": {"date-parts": [[None]]},
    "author": [
        {
            "given": "Jane",
            "family": "Doe",
            "ORCID": "http://orcid.org/0000-0002-1825-0097",
            "affiliation": [{"name": " "}, {"name": "A Place"}],
        },
        {"name": "A Consortium", "affiliation": []},
        {"family": "Plato"},
        {"affiliation": [{"name": "Nobody"}]},
    ],
    "abstract": "<jats:title>Abstract</jats:title><jats:p>We &amp;amp; they see.</jats:p>",
    "is-referenced-by-count": 7,
    "license": [
        {"URL": "http://www.publisher.example/tdm/1.0/", "content-version": "tdm"},
        {"URL": "https://creativecommons.org/licenses/by/4.0/", "content-version": "vor"},
    ],
    "link": [
        {
            "URL": "https://publisher.example/1.pdf",
            "content-type": "application/pdf",
            "content-version": "vor",
        },
        {"URL": "https://publisher.example/1.xml", "content-type": "text/xml"},
    ],
    "relation": {
        "has-preprint": [{"id-type": "doi", "id": "10.1101/2019.01.01.1", "asserted-by": "object"}],
        "is-supplemented-by": [{"id-type": "doi", "id": "10.1000/other"}],
    },
    "updated-by": [
        {"DOI": "10.1000/NEW", "type": "new_version"},
        {"DOI": "10.1000/C", "type": "correction", "updated": {"date-parts": [[2021, 1, 2]]}},
        {
            "DOI": "10.1000/R",
            "type": "retraction",
            "source": "retraction-watch",
            "updated": {"date-parts": [[2022]]},
        },
    ],
    "reference": [
        {"key": "1", "DOI": "10.1000/REF", "doi-asserted-by": "crossref"},
        {"key": "2", "unstructured": "Doe, J. &lt;i&gt;A book&lt;/i&gt;. 1999."},
        {"key": "3", "article-title": "A title", "author": "Roe", "year": "2001a"},
        {"key": "4"},
    ],
}


def recorded_works() -> list[Mapping[str, Any]]:
    return recorded_objects("crossref", lambda each: "DOI" in each and "URL" in each)


def dump_works() -> Iterator[Mapping[str, Any]]:
    for path in sorted((SERVICES_DATA / "dumps" / "crossref-2020").glob("*.json.gz")):
        yield from json.loads(gzip.decompress(path.read_bytes()))["items"]


@needs_recordings
def test_every_recorded_work_with_a_title_is_read() -> None:
    works = recorded_works()
    assert len(works) > 200
    titled = 0
    for raw in works:
        record = read_work(raw)
        assert record.work.ids.doi == record.service_id
        if record.work.title:
            check_record(record)
            titled += 1
        if raw.get("title"):
            assert record.work.title, raw["DOI"]
        if raw.get("abstract"):
            assert record.work.abstract
            assert not record.work.abstract.lower().startswith("abstract")
    assert titled > 0.9 * len(works)


@needs_recordings
def test_every_work_of_the_dump_is_read() -> None:
    for raw in dump_works():
        record = read_work(raw)
        if record.work.title:
            check_record(record)
        assert record.work.issued is None or record.work.year is not None


def test_a_work_without_title_and_doi_is_refused() -> None:
    raws: tuple[dict[str, Any], ...] = (
        {},
        {"title": []},
        {"title": [""], "DOI": "no doi"},
        {"title": None},
    )
    for raw in raws:
        with pytest.raises(UnreadableRecordError):
            read_work(raw)
    assert read_work({"DOI": "10.1000/x", "title": []}).work.title == ""


def test_an_article_is_read_field_by_field() -> None:
    record = read_work(ARTICLE)
    work = record.work
    assert record.service_id == "10.1000/abc"
    assert record.citation_count == 7
    assert work.title == "A study of <i>cats</i>: A beginning"
    assert work.abstract == "We & they see."
    assert work.authors == (
        Author("Doe", "Jane", orcid="0000-0002-1825-0097"),
        Author(literal="A Consortium"),
        Author("Plato"),
    )
    assert work.institutions == ("A Place", "Nobody")
    assert work.issued == "2019-12-31"
    assert work.kind == "article-journal"
    assert work.venue.name == "Journal of Cats & Dogs"
    assert work.licence == "cc-by"
    assert [place.url for place in work.locations] == ["https://publisher.example/1.pdf"]
    assert work.locations[0].version == "published"


def test_all_of_the_updates_are_scanned_and_new_versions_are_no_notices() -> None:
    assert read_work(ARTICLE).work.notices == (
        Notice("correction", "2021-01-02", "10.1000/c", service="crossref"),
        Notice(
            "retraction",
            "2022",
            "10.1000/r",
            reasons=("told by Retraction Watch",),
            service="crossref",
        ),
    )
    assert read_work(ARTICLE).work.is_retracted


def test_a_notice_is_of_its_kind_and_tells_of_the_work_it_updates() -> None:
    raw = {
        "DOI": "10.1000/r",
        "title": ["Retraction: A study"],
        "type": "journal-article",
        "update-to": [
            {"DOI": "10.1000/ABC", "type": "retraction", "updated": {"date-parts": [[2022]]}},
            {"DOI": "10.1000/else", "type": "correction"},
        ],
    }
    assert read_work(raw).work.kind == "retraction"
    assert read_work(raw).work.notices == ()
    (notice,) = read_updates_of(raw, "10.1000/abc")
    assert (notice.kind, notice.doi, notice.date) == ("retraction", "10.1000/r", "2022")
    in_place = {
        **ARTICLE,
        "updated-by": None,
        "update-to": [{"DOI": "10.1000/abc", "type": "withdrawal"}],
    }
    assert [each.kind for each in read_work(in_place).work.notices] == ["withdrawal"]
    assert read_work(in_place).work.kind == "article-journal"


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("RETRACTED: A study", "retraction"),
        ("RETRACTED ARTICLE: A study", "retraction"),
        ("[Retracted] A study", "retraction"),
        ("WITHDRAWN: A study", "withdrawal"),
        ("Retracted potentials in plants", None),
        ("Retraction of a study", None),
    ],
)
def test_a_title_that_says_retracted_is_a_hint_with_its_reason(
    title: str, kind: str | None
) -> None:
    notices = read_work({"DOI": "10.1000/x", "title": [title]}).work.notices
    assert [each.kind for each in notices] == ([kind] if kind else [])
    assert all(each.reasons == ("the title says so",) for each in notices)


def test_versions_are_told_by_what_the_other_work_is() -> None:
    preprint = WorkIds(doi="10.1101/2019.01.01.1")
    assert read_work(ARTICLE).work.versions == (
        VersionPointer("preprint_of", preprint, "crossref"),
    )
    posted = {
        "DOI": "10.1101/1",
        "type": "posted-content",
        "subtype": "preprint",
        "title": ["A"],
        "institution": [{"name": "bioRxiv"}],
        "posted": {"date-parts": [[2019, 1, 1]]},
        "relation": {
            "is-preprint-of": [{"id-type": "doi", "id": "10.1000/abc"}],
            "is-version-of": [{"id-type": "arxiv", "id": "arXiv:1706.03762v1"}],
        },
    }
    work = read_work(posted).work
    assert (work.kind, work.issued, work.venue.name) == ("preprint", "2019-01-01", "bioRxiv")
    assert work.versions == (
        VersionPointer("published_as", WorkIds(doi="10.1000/abc"), "crossref"),
        VersionPointer("version_of", WorkIds(arxiv="1706.03762"), "crossref"),
    )


def test_references_are_kept_as_far_as_they_say_something() -> None:
    assert read_work(ARTICLE).work.references == (
        CitedWorkRecord(WorkIds(doi="10.1000/ref")),
        CitedWorkRecord(unstructured="Doe, J. A book. 1999."),
        CitedWorkRecord(title="A title", authors=("Roe",), year=2001),
    )
    assert read_work({**ARTICLE, "reference": []}).work.references is None
    del (bare := dict(ARTICLE))["reference"]
    assert read_work(bare).work.references is None


def test_chapters_of_one_book_do_not_share_its_isbn() -> None:
    raw = {
        "DOI": "10.1000/x",
        "title": ["A"],
        "ISBN": ["http://id.crossref.org/isbn/9780306406157"],
    }
    assert read_work({**raw, "type": "book-chapter"}).work.ids.isbn is None
    assert read_work({**raw, "type": "book"}).work.ids.isbn == "9780306406157"


def test_links_of_closed_works_are_no_open_places() -> None:
    assert read_work({**ARTICLE, "license": []}).work.locations == ()


@pytest.mark.parametrize(
    "written", ["component", "peer-review", "grant", "journal-issue", "dataset"]
)
def test_parts_of_works_are_told_apart(written: str) -> None:
    assert is_part({"type": written})
    assert not is_part({"type": "journal-article"})


@settings(max_examples=300, deadline=None)
@given(damaged(ARTICLE))
def test_damaged_works_are_read_or_refused(raw: Any) -> None:
    check_damaged(read_work, raw)


@given(odd_values)
def test_anything_else_is_read_or_refused(raw: Any) -> None:
    try:
        read_work(raw)
    except UnreadableRecordError:
        return
