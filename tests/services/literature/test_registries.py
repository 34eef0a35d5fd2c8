"""DataCite, OpenCitations and Unpaywall end to end."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Literal

import pytest

from carrel.libraries.identifiers import ArxivId, Doi, Identifier, Pmid
from carrel.libraries.literature.queries.datacite import translate
from carrel.libraries.literature.records import TextLocation
from carrel.libraries.query.papers import parse_paper_query
from carrel.rooms.literature.ports import (
    CitationEdges,
    CitationService,
    LocationService,
    LookupAnswer,
    RecordService,
    SearchService,
    SentRequest,
)
from carrel.services.literature.datacite import DataCite
from carrel.services.literature.errors import WorkLookupError
from carrel.services.literature.opencitations import OpenCitations
from carrel.services.literature.recordings import read_exchanges
from carrel.services.literature.service_client import ServiceClient
from carrel.services.literature.unpaywall import Unpaywall
from tests.services.literature.adapters import CONTACT, AnsweringServer, body_of, make_request
from tests.services.literature.recorded import SERVICES_DATA, RecordedServices, needs_recordings

Direction = Literal["in", "out"]
DIRECTIONS: tuple[Direction, Direction] = ("in", "out")


def as_ports(
    one: DataCite, other: OpenCitations, third: Unpaywall
) -> tuple[SearchService, RecordService, CitationService, LocationService]:
    """The type checker sees here which ports the adapters are."""
    _: tuple[RecordService, CitationService] = (other, other)
    __: tuple[RecordService, LocationService] = (third, third)
    return one, one, one, one


def look_up_in_datacite(server: AnsweringServer, doi: Doi) -> LookupAnswer:
    return server.run(lambda client, url: DataCite(client, url).look_up([doi]))


def cite_in_datacite(server: AnsweringServer, direction: Direction) -> CitationEdges:
    doi = Doi("10.5000/1")
    return server.run(lambda client, url: DataCite(client, url).citations(doi, direction, 10))


def cite_in_opencitations(
    server: AnsweringServer, doi: Doi, direction: Direction, limit: int
) -> CitationEdges:
    return server.run(
        lambda client, url: OpenCitations(client, url).citations(doi, direction, limit)
    )


def locate_in_unpaywall(
    server: AnsweringServer, doi: Doi
) -> tuple[tuple[TextLocation, ...], tuple[SentRequest, ...]]:
    return server.run(lambda client, url: Unpaywall(client, url).locate(doi))


def record(number: int, **attributes: Any) -> dict[str, Any]:
    doi = f"10.5000/{number}"
    titles = [{"title": f"Record {number}"}]
    return {"id": doi, "type": "dois", "attributes": {"doi": doi, "titles": titles, **attributes}}


def page(*records: dict[str, Any], total: int, cursor: str = "") -> str:
    link = f"https://api.datacite.org/dois?page%5Bcursor%5D={cursor}&page%5Bsize%5D=2"
    links = {"self": "x", **({"next": link} if cursor else {})}
    return json.dumps({"data": list(records), "meta": {"total": total}, "links": links})


def asked(text: str, size: int, cursor: str = "1") -> dict[str, str]:
    params = translate(parse_paper_query(text)).parameters
    return {**params, "page[size]": str(size), "page[cursor]": cursor}


@pytest.mark.parametrize(
    ("status", "body", "failure"),
    [
        (400, '{"errors":[{"title":"bad"}]}', "failed"),
        (404, '{"errors":[{"status":"404"}]}', "failed"),
        (429, "", "rate_limited"),
        (200, "", "unreadable"),
        (200, "<html></html>", "unreadable"),
        (200, '{"data":{}}', "unreadable"),
    ],
)
def test_what_is_no_list_of_datacite_is_a_failure(status: int, body: str, failure: str) -> None:
    server = AnsweringServer("datacite")
    server.put("/dois", asked("cats", 25), body, status)
    with pytest.raises(WorkLookupError) as caught:
        server.run(lambda client, url: DataCite(client, url).search(make_request("cats")))
    assert caught.value.failure == failure


def test_pages_of_datacite_follow_the_cursor_of_the_next_link() -> None:
    server = AnsweringServer("datacite")
    first = [record(at) for at in range(1, 101)]
    server.put("/dois", asked("cats", 100), page(*first, total=101, cursor="MTIz,abc"))
    server.put("/dois", asked("cats", 100, "MTIz,abc"), page(record(101), total=101))
    found = server.run(lambda client, url: DataCite(client, url).search(make_request("cats", 150)))
    assert len(found.records) == 101
    assert found.is_complete
    assert found.total == 101


@needs_recordings
def test_every_recorded_record_of_datacite_comes_by_its_doi() -> None:
    count = 0
    for _, exchange in read_exchanges(SERVICES_DATA / "datacite"):
        if "/dois/" not in exchange.url:
            continue
        doi = Doi.parse(exchange.url.split("/dois/")[1].split("?")[0])
        server = AnsweringServer("datacite")
        server.put(f"/dois/{doi}", None, exchange.body, exchange.status)
        found = look_up_in_datacite(server, doi)
        assert [str(each) for each, _ in found.found] == (
            [str(doi)] if exchange.status == 200 else []
        )
        count += 1
    assert count > 10


def test_several_dois_of_datacite_are_one_question_and_arxiv_is_among_them() -> None:
    server = AnsweringServer("datacite")
    preprint = record(1, doi="10.48550/ARXIV.1706.03762")
    params = {
        "query": 'doi:("10.5000/2" OR "10.48550/arxiv.1706.03762" OR "10.5000/3")',
        "page[size]": "100",
    }
    server.put("/dois", params, page(preprint, record(2), total=2))
    wanted: list[Identifier] = [
        Doi("10.5000/2"),
        ArxivId("1706.03762", 2),
        Doi("10.5000/3"),
        Pmid("1"),
    ]
    found = server.run(lambda client, url: DataCite(client, url).look_up(wanted))
    assert [str(each) for each, _ in found.found] == ["10.5000/2", "1706.03762v2"]


def test_citations_that_datacite_knows() -> None:
    linked = {"citations": {"data": [{"id": "10.1000/7", "type": "dois"}]}}
    cites = {
        "relationType": "Cites",
        "relatedIdentifier": "10.1000/8",
        "relatedIdentifierType": "DOI",
    }
    raw = {**record(1, relatedIdentifiers=[cites]), "relationships": linked}
    for direction, doi in zip(DIRECTIONS, ("10.1000/7", "10.1000/8"), strict=True):
        server = AnsweringServer("datacite")
        server.put("/dois/10.5000/1", None, json.dumps({"data": raw}))
        edges = cite_in_datacite(server, direction)
        assert edges.works is not None
        assert [each.ids.doi for each in edges.works] == [doi]
    unknown = AnsweringServer("datacite")
    unknown.put("/dois/10.5000/1", None, "{}", 404)
    edges = cite_in_datacite(unknown, "in")
    assert edges.works is None


@needs_recordings
def test_recorded_citations_of_the_older_index_are_read_by_the_newer_path() -> None:
    doi = Doi("10.1108/jd-12-2013-0166")
    names = (("citations", "003"), ("references", "007"))
    for direction, (name, number) in zip(DIRECTIONS, names, strict=True):
        server = AnsweringServer("opencitations")
        server.put(f"/index/v2/{name}/doi:{doi}", None, body_of("opencitations", number))
        edges = cite_in_opencitations(server, doi, direction, 5)
        assert edges.works is not None
        assert len(edges.works) == 5
        assert edges.total and edges.total > 5
        assert not edges.is_complete
        assert all(each.ids.doi != doi.value for each in edges.works)


def test_the_newer_index_names_works_by_several_identifiers() -> None:
    server = AnsweringServer("opencitations")
    rows = [
        {
            "citing": "omid:br/1 doi:10.1000/7 pmid:5",
            "cited": "omid:br/2 pmid:6",
            "creation": "2018-06",
        },
        {
            "citing": "omid:br/1 doi:10.1000/7 pmid:5",
            "cited": "omid:br/2 pmid:6",
            "creation": "2018-06",
        },
        {"citing": "omid:br/9", "cited": "omid:br/2 pmid:6"},
    ]
    server.put("/index/v2/citations/pmid:6", None, json.dumps(rows))
    edges = server.run(
        lambda client, url: OpenCitations(client, url, api_key="token-1").citations(
            Pmid("6"), "in", 10
        )
    )
    assert edges.works is not None
    assert [(each.ids.doi, each.ids.pmid, each.year) for each in edges.works] == [
        ("10.1000/7", "5", 2018)
    ]
    assert server.server.asked[0].headers["authorization"] == "token-1"


@pytest.mark.parametrize(("status", "body"), [(200, "[]"), (404, "")])
def test_an_empty_list_of_opencitations_is_no_list(status: int, body: str) -> None:
    server = AnsweringServer("opencitations")
    server.put("/index/v2/references/doi:10.1000/1", None, body, status)
    edges = cite_in_opencitations(server, Doi("10.1000/1"), "out", 10)
    assert (edges.works, edges.total, edges.is_complete) == (None, None, False)


def test_an_answer_of_opencitations_that_is_no_list_is_a_failure() -> None:
    server = AnsweringServer("opencitations")
    server.put("/index/v2/references/doi:10.1000/1", None, '{"error":"x"}')
    with pytest.raises(WorkLookupError) as caught:
        cite_in_opencitations(server, Doi("10.1000/1"), "out", 10)
    assert caught.value.failure == "unreadable"


@needs_recordings
def test_a_recorded_record_of_meta_comes_by_its_doi() -> None:
    server = AnsweringServer("opencitations", RecordedServices(services=["opencitations"]))
    doi = Doi("10.1371/journal.pone.0000308")
    found = server.run(lambda client, url: OpenCitations(client, url).look_up([doi]))
    ((identifier, one),) = found.found
    assert (identifier, one.work.ids.pmid) == (doi, "17375194")


@needs_recordings
def test_every_recorded_doi_of_unpaywall_is_located_or_unknown() -> None:
    located = 0
    for _, exchange in read_exchanges(SERVICES_DATA / "unpaywall"):
        if "/v2/10." not in exchange.url:
            continue
        name = exchange.url.split("/v2/")[1].split("?")[0]
        if name == "10.000/nodata":
            continue
        doi = Doi.parse(name)
        server = AnsweringServer("unpaywall")
        server.put(f"/v2/{doi}", None, exchange.body, exchange.status)
        places, sent = locate_in_unpaywall(server, doi)
        assert server.server.missing == []
        assert all(CONTACT not in each.url for each in sent)
        located += bool(places)
    assert located > 2


def test_unpaywall_is_asked_with_an_address_alone() -> None:
    async def ask() -> None:
        async with ServiceClient("") as client:
            await Unpaywall(client, "http://127.0.0.1:9").locate(Doi("10.1000/1"))

    with pytest.raises(WorkLookupError, match="contact address") as caught:
        asyncio.run(ask())
    assert caught.value.failure == "key_refused"


@pytest.mark.parametrize(
    ("status", "body", "failure"),
    [
        (422, '{"error":true,"message":"Please use your own email"}', "key_refused"),
        (500, "", "failed"),
        (200, "", "unreadable"),
        (200, "<html></html>", "unreadable"),
    ],
)
def test_refusals_of_unpaywall(status: int, body: str, failure: str) -> None:
    server = AnsweringServer("unpaywall")
    server.put("/v2/10.1000/1", None, body, status)
    with pytest.raises(WorkLookupError) as caught:
        locate_in_unpaywall(server, Doi("10.1000/1"))
    assert caught.value.failure == failure
    assert CONTACT not in str(caught.value)


def test_an_unknown_doi_of_unpaywall_has_no_places() -> None:
    server = AnsweringServer("unpaywall")
    server.put("/v2/10.1000/1", None, '{"error":true,"message":"not in Unpaywall"}', 404)
    assert locate_in_unpaywall(server, Doi("10.1000/1"))[0] == ()
