"""OpenAlex end to end: pages, prices, batches, refusals, citations in both directions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from carrel.libraries.identifiers import ArxivId, Doi, Identifier, Isbn, Pmid
from carrel.libraries.query.papers import parse_paper_query
from carrel.rooms.literature.ports import (
    CitationService,
    LocationService,
    LookupAnswer,
    NoticeService,
    OwnRecordService,
    RecordService,
    SearchService,
    ServiceSearchAnswer,
    ServiceSearchRequest,
)
from carrel.services.literature.errors import WorkLookupError
from carrel.services.literature.openalex import OpenAlex
from tests.services.literature.adapters import (
    CONTACT,
    AnsweringServer,
    body_of,
    exchange_of,
    make_request,
)
from tests.services.literature.recorded import needs_recordings

KEY = "secret-key-of-a-user"
FIELDS = (
    "id,doi,title,display_name,publication_year,publication_date,ids,language,primary_location,"
    "type,type_crossref,open_access,authorships,is_authors_truncated,cited_by_count,biblio,"
    "is_retracted,topics,keywords,best_oa_location,locations,abstract_inverted_index"
)
CITED = "id,doi,ids,title,publication_year,publication_date,authorships,primary_location"


def as_ports(
    one: OpenAlex,
) -> tuple[SearchService, RecordService, OwnRecordService, CitationService, LocationService]:
    """The type checker sees here that the adapter is all of these."""
    _: NoticeService = one
    return one, one, one, one, one


def work(number: int, **fields: Any) -> dict[str, Any]:
    doi = f"https://doi.org/10.1000/{number}"
    return {
        "id": f"https://openalex.org/W{number}",
        "doi": doi,
        "title": f"Work {number}",
        **fields,
    }


def page(*works: dict[str, Any], count: int | None = None, cursor: str | None = None) -> str:
    meta = {
        "count": len(works) if count is None else count,
        "next_cursor": cursor,
        "cost_usd": 0.001,
    }
    return json.dumps({"meta": meta, "results": list(works)})


def listed(text: str, size: int, cursor: str = "*", **more: str) -> dict[str, str]:
    return {"filter": text, "select": FIELDS, "per_page": str(size), "cursor": cursor, **more}


def search(server: AnsweringServer, request: ServiceSearchRequest) -> ServiceSearchAnswer:
    return server.run(lambda client, url: OpenAlex(client, url, api_key=KEY).search(request))


def look_up(server: AnsweringServer, *identifiers: Identifier) -> LookupAnswer:
    return server.run(lambda client, url: OpenAlex(client, url).look_up(identifiers))


@pytest.mark.parametrize(
    ("status", "body", "failure"),
    [
        (400, '{"error":"Invalid query parameters error.","message":"X is not valid."}', "failed"),
        (
            401,
            '{"error":"Invalid or missing API key","message":"API key not found"}',
            "key_refused",
        ),
        (403, '{"error":"Too many requests"}', "rate_limited"),
        (429, '{"error":"Budget exceeded"}', "budget_spent"),
        (404, "<!doctype html><title>404 Not Found</title>", "failed"),
        (500, "", "failed"),
        (200, "", "unreadable"),
        (200, "<html><body>maintenance</body></html>", "unreadable"),
        (200, '{"meta":{"count":1},"resul', "unreadable"),
        (200, '{"meta":{"count":1}}', "unreadable"),
        (200, "[]", "unreadable"),
    ],
)
def test_what_is_no_list_is_a_failure_and_never_nothing_found(
    status: int, body: str, failure: str
) -> None:
    server = AnsweringServer("openalex")
    server.put("/works", listed("title_and_abstract.search:cats", 25), body, status)
    with pytest.raises(WorkLookupError) as caught:
        search(server, make_request("cats"))
    assert caught.value.failure == failure
    assert KEY not in str(caught.value)


def test_a_refused_question_is_told_in_the_services_words() -> None:
    server = AnsweringServer("openalex")
    server.put(
        "/works", listed("title_and_abstract.search:cats", 25), '{"message":"X is not valid."}', 400
    )
    with pytest.raises(WorkLookupError, match="X is not valid"):
        search(server, make_request("cats"))


def test_a_query_that_cannot_be_asked_is_not_sent() -> None:
    server = AnsweringServer("openalex")
    with pytest.raises(WorkLookupError, match="venue:nature"):
        search(server, make_request("venue:nature"))
    assert server.paths == []


def test_pages_are_asked_by_cursor_until_there_are_enough() -> None:
    server = AnsweringServer("openalex")
    name = "title_and_abstract.search:cats"
    first = [work(number) for number in range(1, 101)]
    server.put("/works", listed(name, 100), page(*first, count=500, cursor="abc"))
    second = [work(101, title=None), *(work(number) for number in range(102, 201))]
    server.put("/works", listed(name, 100, "abc"), page(*second, count=500, cursor="def"))
    found = search(server, make_request("cats", limit=150))
    assert len(found.records) == 150
    assert [each.rank for each in found.records] == [*range(1, 101), *range(102, 152)]
    assert (found.total, found.is_complete) == (500, False)
    assert found.remarks == ("1 entry without a title",)
    assert found.cost.cost_usd == pytest.approx(0.002)
    assert len(found.sent) == 2
    assert all(KEY not in each.url and CONTACT not in each.url for each in found.sent)
    assert all(f"api_key={KEY}" in path for path in server.paths)


def test_the_last_page_makes_an_answer_complete_and_no_hits_are_an_answer() -> None:
    server = AnsweringServer("openalex")
    server.put("/works", listed("title_and_abstract.search:cats", 25), page(work(1), work(2)))
    server.put("/works", listed("title_and_abstract.search:dogs", 25), page())
    found = search(server, make_request("cats"))
    assert found.is_complete
    nothing = AnsweringServer("openalex", server.server)
    empty = search(nothing, make_request("dogs"))
    assert (empty.records, empty.total, empty.is_complete) == ((), 0, True)


def test_alerts_and_order_reach_the_service() -> None:
    server = AnsweringServer("openalex")
    name = "title_and_abstract.search:cats,from_publication_date:2026-01-02,type:!preprint"
    server.put("/works", listed(name, 25, sort="publication_date:desc"), page(work(1)))
    request = ServiceSearchRequest(
        parse_paper_query("cats"), order="newest", since=date(2026, 1, 2), includes_preprints=False
    )
    found = search(server, request)
    assert len(found.records) == 1
    assert any("later" in each for each in found.translated.not_expressed)


@needs_recordings
def test_recorded_pages_are_read_with_their_price() -> None:
    server = AnsweringServer("openalex")
    name = "title_and_abstract.search:cats"
    server.put("/works", listed(name, 2), body_of("openalex", "014"))
    found = search(server, make_request("cats", limit=2))
    assert len(found.records) == 2
    assert found.total and found.total > 10_000_000
    assert not found.is_complete
    assert found.cost.cost_usd == 0.0001
    recorded = exchange_of("openalex", "028")
    metered = AnsweringServer("openalex")
    metered.server.first.append((200, dict(recorded.headers), body_of("openalex", "038")))
    answer = search(metered, make_request("cats", limit=100))
    assert (answer.cost.cost_usd, answer.cost.budget_left_usd) == (0.0001, 199.8078)
    assert len(answer.records) == 50
    assert answer.is_complete


@needs_recordings
def test_a_recorded_work_comes_by_its_doi_and_an_unknown_one_is_absent() -> None:
    server = AnsweringServer("openalex")
    known, unknown = Doi("10.1038/s41567-023-02305-y"), Doi("10.1046/j.1365-2699.2003.00795")
    server.put(f"/works/doi:{known}", {"select": FIELDS}, body_of("openalex", "013"))
    page_404 = exchange_of("openalex", "001")
    assert (page_404.status, page_404.headers["content-type"][:9]) == (404, "text/html")
    server.put(f"/works/doi:{unknown}", {"select": FIELDS}, page_404.body, 404, "text/html")
    found = look_up(server, known, unknown, Isbn("9780306406157"))
    assert [identifier for identifier, _ in found.found] == [known]
    assert found.found[0][1].service_id == "W4388522863"
    assert found.found[0][1].rank is None
    assert len(found.sent) == 2


def test_many_works_are_asked_for_in_lists_of_fifty() -> None:
    dois: Sequence[Identifier] = [Doi(f"10.1000/{number}") for number in range(1, 61)]
    odd = Doi("10.1000/a,b")
    server = AnsweringServer("openalex")
    for part, known in ((dois[:50], range(1, 50)), (dois[50:], range(51, 61))):
        name = "doi:" + "|".join(str(each) for each in part)
        params = {"filter": name, "select": FIELDS, "per_page": "100"}
        server.put("/works", params, page(*(work(number) for number in reversed(known))))
    server.put("/works/doi:10.1000/a%2Cb", {"select": FIELDS}, json.dumps(work(99)))
    found = look_up(server, *dois, odd, dois[0])
    assert len(found.found) == 60
    by_identifier = dict(found.found)
    assert by_identifier[dois[6]].service_id == "W7"
    assert by_identifier[odd].service_id == "W99"
    assert dois[49] not in by_identifier
    assert len(server.paths) == 3


def test_other_identifiers_are_asked_for_by_their_own_filter() -> None:
    wanted: list[Identifier] = [
        *(Pmid(str(number)) for number in range(1, 5)),
        ArxivId("1706.03762", 2),
    ]
    server = AnsweringServer("openalex")
    pmid = {"pmid": "https://pubmed.ncbi.nlm.nih.gov/3"}
    server.put(
        "/works",
        {"filter": "ids.pmid:1|2|3|4", "select": FIELDS, "per_page": "100"},
        page(work(1, ids=pmid)),
    )
    preprint = work(2, doi="https://doi.org/10.48550/arXiv.1706.03762")
    server.put(
        "/works",
        {"filter": "doi:10.48550/arxiv.1706.03762", "select": FIELDS, "per_page": "100"},
        page(preprint),
    )
    found = look_up(server, *wanted)
    assert [str(identifier) for identifier, _ in found.found] == ["3", "1706.03762v2"]


def test_a_list_of_authors_that_was_cut_is_asked_for_whole() -> None:
    people = [{"author": {"display_name": f"Jane Doe{number}"}} for number in range(101)]
    server = AnsweringServer("openalex")
    doi = Doi("10.1000/1")
    cut = work(1, authorships=people[:100], is_authors_truncated=True)
    server.put(f"/works/doi:{doi}", {"select": FIELDS}, json.dumps(cut))
    server.put("/works/W1", None, json.dumps(work(1, authorships=people)))
    ((_, record),) = look_up(server, doi).found
    assert len(record.work.authors) == 101
    assert not record.work.is_authors_cut


def test_an_answer_without_a_work_is_unreadable_and_not_unknown() -> None:
    server = AnsweringServer("openalex")
    server.put("/works/doi:10.1000/1", {"select": FIELDS}, "{}")
    with pytest.raises(WorkLookupError) as caught:
        look_up(server, Doi("10.1000/1"))
    assert caught.value.failure == "unreadable"


def test_a_merged_id_is_followed_and_both_are_kept() -> None:
    server = AnsweringServer("openalex")
    server.server.first.append((301, {"location": "/openalex/works/W2"}, b""))
    server.put("/works/W2", None, json.dumps(work(2)))
    found = server.run(lambda client, url: OpenAlex(client, url).look_up_own("openalex", "W1"))
    assert found.record is not None
    assert found.record.work.ids.openalex == "W2"
    assert [each.ids.openalex for each in found.record.work.versions] == ["W1"]


def test_cites_finds_citing_works_and_cited_by_the_references() -> None:
    server = AnsweringServer("openalex")
    doi = Doi("10.1000/1")
    counts = {"select": "id,referenced_works_count,cited_by_count"}
    own = {"id": "https://openalex.org/W1", "referenced_works_count": 1, "cited_by_count": 2}
    server.put(f"/works/doi:{doi}", counts, json.dumps(own))
    for name, found in (("cites", (work(2), work(3))), ("cited_by", (work(4),))):
        params = {"filter": f"{name}:W1", "select": CITED, "per_page": "10", "cursor": "*"}
        server.put("/works", params, page(*found))
    incoming = server.run(lambda client, url: OpenAlex(client, url).citations(doi, "in", 10))
    again = AnsweringServer("openalex", server.server)
    outgoing = again.run(lambda client, url: OpenAlex(client, url).citations(doi, "out", 10))
    assert incoming.works is not None
    assert outgoing.works is not None
    assert [each.ids.openalex for each in incoming.works] == ["W2", "W3"]
    assert [each.ids.openalex for each in outgoing.works] == ["W4"]
    assert incoming.is_complete
    assert outgoing.total == 1


def test_an_empty_or_unknown_list_of_references_is_no_list() -> None:
    counts = {"select": "id,referenced_works_count,cited_by_count"}
    own = {"id": "https://openalex.org/W1", "referenced_works_count": 0, "cited_by_count": 2}
    for status, body in ((200, json.dumps(own)), (404, "<html>")):
        server = AnsweringServer("openalex")
        server.put("/works/doi:10.1000/1", counts, body, status)
        edges = server.run(
            lambda client, url: OpenAlex(client, url).citations(Doi("10.1000/1"), "out", 10)
        )
        assert edges.works is None
        assert not edges.is_complete


def test_open_places_and_retractions() -> None:
    place = {"is_oa": True, "pdf_url": "https://a.example/1.pdf", "version": "acceptedVersion"}
    doi = Doi("10.1000/1")
    server = AnsweringServer("openalex")
    server.put(f"/works/doi:{doi}", {"select": FIELDS}, json.dumps(work(1, best_oa_location=place)))
    places, sent = server.run(lambda client, url: OpenAlex(client, url).locate(doi))
    assert [(each.url, each.version) for each in places] == [
        ("https://a.example/1.pdf", "accepted")
    ]
    assert len(sent) == 1
    flags = AnsweringServer("openalex")
    flags.put(
        f"/works/doi:{doi}",
        {"select": "id,doi,ids,title,is_retracted"},
        json.dumps(work(1, is_retracted=True)),
    )
    notices, _ = flags.run(lambda client, url: OpenAlex(client, url).notices([doi]))
    assert [(str(identifier), notice.kind) for identifier, notice in notices] == [
        ("10.1000/1", "retraction")
    ]


def test_what_is_shown_as_sent_is_what_left_but_the_key() -> None:
    server = AnsweringServer("openalex")
    server.put("/works", listed("title_and_abstract.search:cats", 25), page(work(1)))
    found = search(server, make_request("cats"))
    shown = parse_qs(urlsplit(found.sent[0].url).query)
    left = parse_qs(urlsplit(server.paths[0]).query)
    assert left.pop("api_key") == [KEY]
    assert shown == left
