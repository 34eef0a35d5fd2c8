"""Records of dblp, DOAJ and bioRxiv: every recorded one, and what the facts warn of."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from carrel.libraries.literature import biorxiv, dblp, doaj
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.licences import read_licence
from carrel.libraries.literature.records import WorkIds
from carrel.services.literature.recordings import read_exchanges
from tests.libraries.literature.invariants import check_record
from tests.libraries.literature.odd_json import damaged
from tests.services.literature.recorded import SERVICES_DATA, needs_recordings

HIT: dict[str, Any] = {
    "@score": "9",
    "info": {
        "authors": {"author": {"@pid": "1/2", "text": "Xiaopeng Zhang 0009"}},
        "title": "Caf&eacute;s &amp; C++: A Study.",
        "venue": ["DAC", "LNCS"],
        "pages": "169-174",
        "year": "2021",
        "type": "Conference and Workshop Papers",
        "access": "open",
        "key": "conf/dac/ZhangYY21",
        "ee": ["https://doi.org/10.1109/DAC.1", "https://example.org/p.pdf"],
    },
}
ARTICLE: dict[str, Any] = {
    "id": "0005e11ec616453f854070069385e057",
    "bibjson": {
        "title": "Where in the brain",
        "year": "2008",
        "month": "4",
        "journal": {
            "volume": "2",
            "number": "1",
            "publisher": "Frontiers",
            "title": "Frontiers in X",
            "language": ["EN"],
            "issns": ["1662-5196"],
            "license": [{"type": "CC BY"}],
        },
        "identifier": [{"type": "doi", "id": "10.3389/X.1"}, {"type": "eissn", "id": "1662-5196"}],
        "link": [{"type": "fulltext", "url": "http://x.org/p", "content_type": "application/pdf"}],
        "author": [{"name": "Trygve B Leergaard", "orcid_id": "0000-0002-1825-0097"}],
        "abstract": "Abstract Background We look.",
        "start_page": "1",
        "end_page": "6",
    },
}
PREPRINT: dict[str, Any] = {
    "doi": "10.1101/2020.01.01.123456",
    "title": "A preprint",
    "authors": "Smith, J.; van Doe, A. B.; The X Consortium",
    "author_corresponding_institution": "A Place",
    "date": "2020-02-03",
    "version": "2",
    "type": "new results",
    "license": "cc_by_nc_nd",
    "category": "neuroscience",
    "jatsxml": "https://www.biorxiv.org/content/early/2020/02/03/2020.01.01.123456.source.xml",
    "abstract": "We look.",
    "published": "NA",
    "server": "bioRxiv",
}


def hit(**changes: Any) -> dict[str, Any]:
    return {**HIT, "info": {**HIT["info"], **changes}}


@needs_recordings
def test_every_recorded_hit_of_dblp_is_read() -> None:
    count = 0
    for _, exchange in read_exchanges(SERVICES_DATA / "dblp"):
        for raw in json.loads(exchange.body)["result"]["hits"]["hit"]:
            record = dblp.read_work(raw)
            check_record(record)
            assert not record.work.title.endswith(".")
            assert record.work.authors
            assert not any(
                character.isdigit() for a in record.work.authors for character in a.family
            )
            assert record.work.kind != "other"
            count += 1
    assert count >= 31


def test_a_hit_of_dblp_loses_homonym_number_entities_and_stop() -> None:
    record = dblp.read_work(HIT)
    check_record(record)
    assert record.work.title == "Cafés & C++: A Study"
    assert [(a.given, a.family) for a in record.work.authors] == [("Xiaopeng", "Zhang")]
    assert record.work.ids == WorkIds(doi="10.1109/dac.1", dblp="conf/dac/ZhangYY21")
    assert [place.format for place in record.work.locations] == ["landing_page", "pdf"]
    older = dblp.read_work(hit(authors={"author": ["A. One", {"text": "B. Two"}]}))
    assert [author.family for author in older.work.authors] == ["One", "Two"]
    assert dblp.read_work(hit(authors=None)).work.authors == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"venue": "CoRR", "volume": "abs/1706.03762", "doi": None, "ee": None},
        {"venue": "CoRR", "ee": "https://arxiv.org/abs/1706.03762", "doi": None},
        {"doi": "10.48550/ARXIV.1706.03762"},
    ],
)
def test_a_preprint_at_dblp_has_its_arxiv_id(changes: dict[str, Any]) -> None:
    record = dblp.read_work(hit(type="Informal and Other Publications", **changes))
    check_record(record)
    assert record.work.kind == "preprint"
    assert record.work.ids.arxiv == "1706.03762"


@needs_recordings
def test_every_recorded_article_of_doaj_is_read_and_journals_are_refused() -> None:
    count = 0
    for _, exchange in read_exchanges(SERVICES_DATA / "doaj"):
        answer = json.loads(exchange.body)
        for raw in answer.get("results", [answer]):
            if "/journals" in exchange.url:
                with pytest.raises(UnreadableRecordError):
                    doaj.read_work(raw)
                continue
            record = doaj.read_work(raw)
            check_record(record)
            assert record.work.venue.name
            assert record.work.issued
            count += 1
    assert count > 30


def test_an_article_of_doaj_is_read_whole() -> None:
    record = doaj.read_work(ARTICLE)
    check_record(record)
    work = record.work
    assert work.issued == "2008-04"
    assert work.licence == "cc-by"
    assert work.language == "en"
    assert work.pages == "1-6"
    assert work.authors[0].orcid == "0000-0002-1825-0097"
    assert [place.format for place in work.locations] == ["pdf"]
    assert not work.abstract.startswith("Abstract")


def test_na_is_nothing_and_the_published_article_is_another_work() -> None:
    record = biorxiv.read_work(PREPRINT)
    check_record(record)
    assert record.work.versions == ()
    assert record.work.venue.name == "bioRxiv"
    assert [a.family or a.literal for a in record.work.authors] == [
        "Smith",
        "van Doe",
        "The X Consortium",
    ]
    assert [place.format for place in record.work.locations] == ["jats", "pdf"]
    assert record.work.locations[1].url.endswith("10.1101/2020.01.01.123456v2.full.pdf")
    published = biorxiv.read_work({**PREPRINT, "published": "10.1038/S1"})
    assert [(v.relation, v.ids.doi) for v in published.work.versions] == [
        ("published_as", "10.1038/s1")
    ]
    gone = biorxiv.read_work({**PREPRINT, "type": "withdrawn"})
    assert gone.work.is_retracted
    with pytest.raises(UnreadableRecordError):
        biorxiv.read_work({**PREPRINT, "doi": "NA"})


def test_a_new_prefix_is_a_preprint_as_well() -> None:
    record = biorxiv.read_work(
        {**PREPRINT, "doi": "10.64898/2026.01.02.700001", "server": "medrxiv"}
    )
    assert record.work.kind == "preprint"
    assert record.work.venue.name == "medRxiv"


@pytest.mark.parametrize(
    ("written", "licence"),
    [
        ("cc by-nc-nd", "cc-by-nc-nd"),
        ("cc_by_nc", "cc-by-nc"),
        ("CC BY", "cc-by"),
        ("CC-BY 4.0", "cc-by"),
        ("CC0 1.0", "cc0"),
        ("http://creativecommons.org/licenses/by-sa/4.0/", "cc-by-sa"),
        ("https://creativecommons.org/publicdomain/zero/1.0/", "cc0"),
        ("NA", None),
        (None, None),
        ("Publisher's own license", "publisher's own license"),
    ],
)
def test_licences_have_one_spelling(written: object, licence: str | None) -> None:
    assert read_licence(written) == licence


@settings(max_examples=150, deadline=None)
@given(damaged(HIT))
def test_no_damage_breaks_the_reader_of_dblp(raw: Any) -> None:
    try:
        check_record(dblp.read_work(raw), may_have_tags=True)
    except UnreadableRecordError:
        return


@settings(max_examples=150, deadline=None)
@given(damaged(ARTICLE))
def test_no_damage_breaks_the_reader_of_doaj(raw: Any) -> None:
    try:
        check_record(doaj.read_work(raw), may_have_tags=True)
    except UnreadableRecordError:
        return


@settings(max_examples=150, deadline=None)
@given(damaged(PREPRINT))
def test_no_damage_breaks_the_reader_of_biorxiv(raw: Any) -> None:
    try:
        check_record(biorxiv.read_work(raw), may_have_tags=True)
    except UnreadableRecordError:
        return
