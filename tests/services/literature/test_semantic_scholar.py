"""Semantic Scholar end to end: both searches, batches with null, lists of citations."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from carrel.libraries.identifiers import ArxivId, Doi, Identifier, Pmcid, Pmid
from carrel.rooms.literature.ports import (
    CitationService,
    LocationService,
    LookupAnswer,
    OwnRecordService,
    RecordService,
    SearchService,
    ServiceSearchAnswer,
    ServiceSearchRequest,
)
from carrel.services.literature.errors import WorkLookupError
from carrel.services.literature.recordings import Exchange
from carrel.services.literature.semantic_scholar import SemanticScholar
from tests.services.literature.adapters import AnsweringServer, body_of, exchange_of, make_request
from tests.services.literature.recorded import needs_recordings

FIELDS = (
    "title,abstract,authors,externalIds,year,publicationDate,venue,publicationVenue,journal,"
    "publicationTypes,citationCount,openAccessPdf,fieldsOfStudy,s2FieldsOfStudy"
)
CITED = "title,authors,externalIds,year,venue"
BASE = "/graph/v1/paper"
KEY = "secret-key-of-a-user"


def as_ports(
    one: SemanticScholar,
) -> tuple[SearchService, RecordService, OwnRecordService, CitationService, LocationService]:
    """The type checker sees here that the adapter is all of these."""
    return one, one, one, one, one


def paper(number: int, **fields: Any) -> dict[str, Any]:
    ids = {"DOI": f"10.1000/{number}"}
    return {"paperId": f"{number:040x}", "externalIds": ids, "title": f"Paper {number}", **fields}


def ranked(query: str, size: int, offset: int = 0) -> dict[str, str]:
    return {"query": query, "fields": FIELDS, "offset": str(offset), "limit": str(size)}


def bulk(query: str, sort: str = "citationCount:desc", **more: str) -> dict[str, str]:
    return {"query": query, "fields": FIELDS, "sort": sort, **more}


def search(server: AnsweringServer, request: ServiceSearchRequest) -> ServiceSearchAnswer:
    return server.run(lambda client, url: SemanticScholar(client, url, api_key=KEY).search(request))


def look_up(server: AnsweringServer, *identifiers: Identifier) -> LookupAnswer:
    return server.run(lambda client, url: SemanticScholar(client, url).look_up(identifiers))


def put_batch(
    server: AnsweringServer, ids: list[str], body: bytes | str, status: int = 200
) -> None:
    server.server.add(
        "semantic_scholar",
        Exchange(
            "POST",
            f"https://host.example{BASE}/batch?{urlencode({'fields': FIELDS})}",
            status,
            {"content-type": "application/json"},
            body if isinstance(body, bytes) else body.encode(),
            json.dumps({"ids": ids}),
        ),
    )


@pytest.mark.parametrize(
    ("status", "body", "failure"),
    [
        (429, '{"message":"Too Many Requests","code":"429"}', "rate_limited"),
        (403, '{"message":"Forbidden"}', "key_refused"),
        (400, '{"error":"Unrecognized fields"}', "failed"),
        (404, '{"error":"Not found"}', "failed"),
        (500, '{"message":"Internal"}', "failed"),
        (200, "", "unreadable"),
        (200, "<html></html>", "unreadable"),
        (200, '{"total": 1, "data": [{"paperI', "unreadable"),
        (200, '{"total": 1, "data": "x"}', "unreadable"),
    ],
)
def test_what_is_no_list_is_a_failure(status: int, body: str, failure: str) -> None:
    server = AnsweringServer("semantic_scholar")
    server.put(f"{BASE}/search", ranked("cats", 25), body, status)
    with pytest.raises(WorkLookupError) as caught:
        search(server, make_request("cats"))
    assert caught.value.failure == failure
    assert KEY not in str(caught.value)


@needs_recordings
def test_recorded_searches_are_read_and_none_found_has_no_list() -> None:
    server = AnsweringServer("semantic_scholar")
    server.put(f"{BASE}/search", ranked("turing", 25), body_of("semanticscholar", "087"))
    server.put(f"{BASE}/search", ranked("n0", 25), body_of("semanticscholar", "037"))
    found = search(server, make_request("turing"))
    assert found.total == 77
    assert len(found.records) == 25
    empty = search(AnsweringServer("semantic_scholar", server.server), make_request("n0"))
    assert (empty.records, empty.total, empty.is_complete) == ((), 0, True)
    assert server.server.asked[0].headers["x-api-key"] == KEY


def test_pages_by_relevance_follow_the_next_offset() -> None:
    server = AnsweringServer("semantic_scholar")
    first = {"total": 150, "offset": 0, "next": 100, "data": [paper(at) for at in range(1, 101)]}
    last = {"total": 150, "offset": 100, "data": [paper(at) for at in range(101, 151)]}
    server.put(f"{BASE}/search", ranked("cats", 100), json.dumps(first))
    server.put(f"{BASE}/search", ranked("cats", 100, 100), json.dumps(last))
    found = search(server, make_request("cats", limit=200))
    assert len(found.records) == 150
    assert found.records[-1].rank == 150
    assert found.is_complete


def test_a_search_by_relevance_that_ends_early_is_not_complete() -> None:
    server = AnsweringServer("semantic_scholar")
    for offset in range(0, 1000, 100):
        data = [paper(at) for at in range(offset + 1, offset + 101)]
        page = {"total": 5000, "offset": offset, "next": offset + 100, "data": data}
        server.put(f"{BASE}/search", ranked("cats", 100, offset), json.dumps(page))
    found = search(server, make_request("cats", limit=2000))
    assert len(found.records) == 1000
    assert not found.is_complete
    assert server.server.missing == []


@needs_recordings
def test_operators_go_to_the_bulk_search_and_its_pages_follow_a_token() -> None:
    server = AnsweringServer("semantic_scholar")
    first = json.loads(body_of("semanticscholar", "079"))
    server.put(f"{BASE}/search/bulk", bulk("kubernetes -cats"), json.dumps(first))
    server.put(
        f"{BASE}/search/bulk",
        bulk("kubernetes -cats", token=first["token"]),
        body_of("semanticscholar", "081"),
    )
    found = search(server, make_request("kubernetes -cats", limit=5_000))
    assert len(found.records) > 1_000
    assert found.is_complete
    assert len(found.sent) == 2


def test_an_identifier_is_looked_up_because_no_search_takes_one() -> None:
    server = AnsweringServer("semantic_scholar")
    server.put(f"{BASE}/DOI:10.1000/1", {"fields": FIELDS}, json.dumps(paper(1)))
    found = search(server, make_request("doi:10.1000/1"))
    assert [(each.rank, each.work.ids.doi) for each in found.records] == [(1, "10.1000/1")]
    unknown = AnsweringServer("semantic_scholar")
    unknown.put(f"{BASE}/DOI:10.1000/2", {"fields": FIELDS}, '{"error":"not found"}', 404)
    assert search(unknown, make_request("10.1000/2")).total == 0


@needs_recordings
def test_unknown_papers_are_null_in_a_batch() -> None:
    recorded = exchange_of("semanticscholar", "068")
    papers = json.loads(recorded.body)
    assert None in papers
    ids: list[Identifier] = [Doi(f"10.1000/{at}") for at in range(len(papers))]
    server = AnsweringServer("semantic_scholar")
    put_batch(server, [f"DOI:{each}" for each in ids], recorded.body)
    found = look_up(server, *ids)
    assert [each for each, _ in found.found] == [
        each for each, raw in zip(ids, papers, strict=True) if raw is not None
    ]


def test_identifiers_are_written_as_the_service_knows_them() -> None:
    ids = ["DOI:10.1000/1", "PMID:2", "PMCID:3", "ARXIV:1706.03762", "ARXIV:1706.03763"]
    server = AnsweringServer("semantic_scholar")
    put_batch(server, ids, json.dumps([paper(at) for at in range(5)]))
    found = look_up(
        server,
        Doi("10.1000/1"),
        Pmid("2"),
        Pmcid("PMC3"),
        ArxivId("1706.03762", 3),
        Doi("10.48550/arxiv.1706.03763"),
    )
    assert len(found.found) == 5


@pytest.mark.parametrize(
    ("status", "body", "failure"),
    [
        (400, '{"error":"No valid paper ids given"}', None),
        (400, '{"error":"Unrecognized or unsupported fields"}', "failed"),
        (200, "[]", "unreadable"),
        (200, "{}", "unreadable"),
    ],
)
def test_a_batch_of_unknown_papers_is_no_failure_and_a_short_one_is(
    status: int, body: str, failure: str | None
) -> None:
    server = AnsweringServer("semantic_scholar")
    put_batch(server, ["DOI:10.1000/1", "DOI:10.1000/2"], body, status)
    if failure is None:
        assert look_up(server, Doi("10.1000/1"), Doi("10.1000/2")).found == ()
        return
    with pytest.raises(WorkLookupError) as caught:
        look_up(server, Doi("10.1000/1"), Doi("10.1000/2"))
    assert caught.value.failure == failure


@needs_recordings
def test_recorded_citations_are_read_page_by_page() -> None:
    server = AnsweringServer("semantic_scholar")
    path = f"{BASE}/DOI:10.1000/1/citations"
    asked = {"fields": CITED, "offset": "0", "limit": "200"}
    first = json.loads(body_of("semanticscholar", "046"))
    assert first["next"] == 100
    server.put(path, asked, json.dumps(first))
    rest = {"fields": CITED, "offset": "100", "limit": str(200 - len(first["data"]))}
    server.put(path, rest, body_of("semanticscholar", "047"))
    edges = server.run(
        lambda client, url: SemanticScholar(client, url).citations(Doi("10.1000/1"), "in", 200)
    )
    assert edges.works is not None
    assert len(edges.works) == 200
    assert not edges.is_complete
    assert edges.total is None


@pytest.mark.parametrize(
    ("status", "body", "count"),
    [
        (200, '{"offset":0,"data":[{"citedPaper":null},null,{"citedPaper":{"title":"A"}}]}', 1),
        (200, '{"offset":0,"data":[]}', 0),
        (200, '{"data":null}', None),
        (404, '{"error":"Paper with id X not found"}', None),
    ],
)
def test_null_entries_and_withheld_lists(status: int, body: str, count: int | None) -> None:
    server = AnsweringServer("semantic_scholar")
    asked = {"fields": CITED, "offset": "0", "limit": "10"}
    server.put(f"{BASE}/DOI:10.1000/1/references", asked, body, status)
    edges = server.run(
        lambda client, url: SemanticScholar(client, url).citations(Doi("10.1000/1"), "out", 10)
    )
    assert (None if edges.works is None else len(edges.works)) == count
    assert edges.is_complete == (count is not None)


def test_open_copies() -> None:
    server = AnsweringServer("semantic_scholar")
    raw = paper(1, openAccessPdf={"url": "https://a.example/1.pdf", "status": "GREEN"})
    asked = {"fields": "title,externalIds,openAccessPdf"}
    server.put(f"{BASE}/DOI:10.1000/1", asked, json.dumps(raw))
    places, _ = server.run(
        lambda client, url: SemanticScholar(client, url).locate(Doi("10.1000/1"))
    )
    assert [(each.format, each.host) for each in places] == [("pdf", "repository")]
