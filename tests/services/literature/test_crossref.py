"""Crossref end to end: pages, types left out, batches, notices and reference lists."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from carrel.libraries.identifiers import ArxivId, Doi, Identifier, Pmid
from carrel.libraries.literature.queries.crossref import translate
from carrel.libraries.query.papers import parse_paper_query
from carrel.rooms.literature.ports import (
    CitationService,
    LocationService,
    LookupAnswer,
    NoticeService,
    RecordService,
    SearchService,
    ServiceSearchAnswer,
    ServiceSearchRequest,
)
from carrel.services.literature.crossref import Crossref
from carrel.services.literature.errors import WorkLookupError
from carrel.services.literature.recordings import read_exchanges
from carrel.services.literature.service_client import ServiceClient
from tests.services.literature.adapters import CONTACT, AnsweringServer, body_of, make_request
from tests.services.literature.recorded import SERVICES_DATA, RecordedServices, needs_recordings


def as_ports(
    one: Crossref,
) -> tuple[SearchService, RecordService, CitationService, LocationService, NoticeService]:
    """The type checker sees here that the adapter is all of these."""
    return one, one, one, one, one


def work(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "DOI": f"10.1000/{number}",
        "title": [f"Work {number}"],
        "type": "journal-article",
        **fields,
    }


def page(*works: dict[str, Any], total: int | None = None) -> str:
    message = {"total-results": len(works) if total is None else total, "items": list(works)}
    return json.dumps({"status": "ok", "message-type": "work-list", "message": message})


def one(found: dict[str, Any]) -> str:
    return json.dumps({"status": "ok", "message-type": "work", "message": found})


def asked(text: str, rows: int, **more: str) -> dict[str, str]:
    return {**translate(parse_paper_query(text)).parameters, "rows": str(rows), **more}


def search(server: AnsweringServer, request: ServiceSearchRequest) -> ServiceSearchAnswer:
    return server.run(lambda client, url: Crossref(client, url).search(request))


def look_up(server: AnsweringServer, *identifiers: Identifier) -> LookupAnswer:
    return server.run(lambda client, url: Crossref(client, url).look_up(identifiers))


@pytest.mark.parametrize(
    ("status", "body", "failure"),
    [
        (400, '{"status":"failed","message":[{"message":"Bad filter"}]}', "failed"),
        (404, '{"status":"failed","message":[{"message":"No such cursor"}]}', "failed"),
        (500, "Internal error", "failed"),
        (504, "<html>Gateway time-out</html>", "failed"),
        (429, "", "rate_limited"),
        (200, "", "unreadable"),
        (200, "<html></html>", "unreadable"),
        (200, '{"status":"ok","message":{"items":[{"DOI', "unreadable"),
        (200, '{"status":"ok","message":{}}', "unreadable"),
        (200, '{"status":"ok"}', "unreadable"),
    ],
)
def test_what_is_no_list_is_a_failure(status: int, body: str, failure: str) -> None:
    server = AnsweringServer("crossref")
    server.put("/works", asked("cats", 25), body, status)
    with pytest.raises(WorkLookupError) as caught:
        search(server, make_request("cats"))
    assert caught.value.failure == failure
    assert CONTACT not in str(caught.value)


def test_the_reason_of_a_refusal_is_told() -> None:
    server = AnsweringServer("crossref")
    server.put("/works", asked("cats", 25), '{"message":[{"message":"Bad filter"}]}', 400)
    with pytest.raises(WorkLookupError, match="Bad filter"):
        search(server, make_request("cats"))


def test_parts_of_works_and_false_twins_are_passed_over_and_counted() -> None:
    server = AnsweringServer("crossref")
    twin = work(1, DOI="10.65215/attention", issued={"date-parts": [[2025]]})
    parts = [
        work(at, type=kind) for at, kind in enumerate(("component", "peer-review", "grant"), 2)
    ]
    server.put("/works", asked("cats", 25), page(twin, *parts, work(9, title=[]), work(10)))
    found = search(server, make_request("cats"))
    assert [(each.service_id, each.rank) for each in found.records] == [("10.1000/10", 6)]
    assert found.remarks == (
        "1 entry known as false copies of other works",
        "3 entries that are parts of works, or reviews or grants",
        "1 entry without a title",
    )
    assert found.is_complete


def test_pages_follow_until_there_are_enough_records() -> None:
    server = AnsweringServer("crossref")
    first = [work(1, title=[]), *(work(number) for number in range(2, 101))]
    server.put("/works", asked("cats", 100), page(*first, total=150))
    second = [work(number) for number in range(101, 151)]
    server.put("/works", asked("cats", 100, offset="100"), page(*second, total=150))
    found = search(server, make_request("cats", limit=120))
    assert len(found.records) == 120
    assert found.records[-1].rank == 121
    assert (found.total, found.is_complete) == (150, True)
    assert all(f"mailto={CONTACT}" in unquote(path) for path in server.paths)
    assert all(CONTACT not in each.url for each in found.sent)


def test_an_empty_page_ends_a_list_that_promises_more() -> None:
    server = AnsweringServer("crossref")
    server.put("/works", asked("cats", 100), page(*map(work, range(1, 101)), total=150))
    server.put("/works", asked("cats", 100, offset="100"), page(total=150))
    found = search(server, make_request("cats", limit=120))
    assert len(found.records) == 100
    assert not found.is_complete


def test_preprints_are_left_out_on_demand() -> None:
    server = AnsweringServer("crossref")
    query = parse_paper_query("cats")
    params = {**translate(query, includes_preprints=False).parameters, "rows": "25"}
    posted = work(1, type="posted-content", subtype="preprint")
    server.put("/works", params, page(posted, work(2)))
    found = search(server, make_request("cats", preprints=False))
    assert [each.service_id for each in found.records] == ["10.1000/2"]


@needs_recordings
def test_every_recorded_single_work_comes_by_its_doi_and_every_404_is_unknown() -> None:
    known: list[Doi] = []
    unknown: list[Doi] = []
    for _, exchange in read_exchanges(SERVICES_DATA / "crossref"):
        parts = urlsplit(exchange.url)
        path = unquote(parts.path)
        rest = path.removeprefix("/works/")
        is_plain = not set(parse_qs(parts.query)) - {"mailto"}
        if path.startswith("/works/10.") and is_plain and not rest.endswith(("/agency", "xml")):
            if exchange.status == 200 and "/transform" not in rest:
                known.append(Doi.parse(rest))
            elif exchange.status == 404 and rest.count("/") == 1:
                unknown.append(Doi.parse(rest))
    assert len(known) > 15
    assert unknown
    for doi in known:
        server = AnsweringServer("crossref", RecordedServices(services=["crossref"]))
        ((identifier, record),) = look_up(server, doi).found
        assert identifier == doi
        assert record.service_id == doi.value
    for doi in unknown:
        server = AnsweringServer("crossref", RecordedServices(services=["crossref"]))
        assert look_up(server, doi).found == ()
        assert server.server.missing == []


@needs_recordings
def test_a_recorded_list_is_read_whole() -> None:
    server = AnsweringServer("crossref")
    server.put("/works", asked("cats", 15), body_of("crossref", "137"))
    found = search(server, make_request("cats", limit=15))
    assert len(found.records) == 15
    assert found.total and found.total > len(found.records)


def test_many_dois_go_into_one_filter_and_missing_ones_are_absent() -> None:
    dois = [Doi(f"10.1000/{number}") for number in range(1, 26)]
    server = AnsweringServer("crossref")
    for part, known in ((dois[:20], range(2, 21)), (dois[20:], range(21, 26))):
        params = {"filter": ",".join(f"doi:{each}" for each in part), "rows": "20"}
        server.put("/works", params, page(*map(work, reversed(known))))
    found = look_up(server, *dois, Pmid("1"), ArxivId("1706.03762"), Doi(ArxivId("1706.03762").doi))
    assert [record.service_id for _, record in found.found] == [str(each) for each in dois[1:]]
    assert len(server.paths) == 2


def test_a_doi_with_a_comma_is_asked_for_alone() -> None:
    server = AnsweringServer("crossref")
    odd = Doi("10.1000/a,b")
    server.put("/works/10.1000%2Fa%2Cb", None, one(work(1, DOI="10.1000/A,B")))
    server.put("/works/10.1000%2F2", None, "Resource not found.", 404, "text/plain")
    found = look_up(server, odd, Doi("10.1000/2"))
    assert [identifier for identifier, _ in found.found] == [odd]


def test_a_record_of_nothing_is_unreadable_and_not_unknown() -> None:
    server = AnsweringServer("crossref")
    server.put("/works/10.1000%2F2", None, one({"agency": {"id": "crossref"}}))
    with pytest.raises(WorkLookupError) as caught:
        look_up(server, Doi("10.1000/2"))
    assert caught.value.failure == "unreadable"


def test_reference_lists_are_given_and_citing_works_are_not_known() -> None:
    doi = Doi("10.1000/1")
    listed = work(1, reference=[{"DOI": "10.1000/7"}, {"unstructured": "A book."}])
    for raw, count in ((listed, 2), (work(1), None)):
        server = AnsweringServer("crossref")
        server.put("/works/10.1000%2F1", None, one(raw))
        edges = server.run(lambda client, url: Crossref(client, url).citations(doi, "out", 10))
        assert (None if edges.works is None else len(edges.works)) == count
        assert edges.is_complete == (count is not None)
    unknown = AnsweringServer("crossref")
    unknown.put("/works/10.1000%2F1", None, "Resource not found.", 404, "text/plain")
    edges = unknown.run(lambda client, url: Crossref(client, url).citations(doi, "out", 10))
    assert edges.works is None
    adapter = Crossref(ServiceClient(), "http://127.0.0.1:9")
    assert adapter.knows_citations(doi, "out")
    assert not adapter.knows_citations(doi, "in")


def test_notices_come_from_the_work_and_from_those_that_update_it_each_once() -> None:
    dois = [Doi("10.1000/1"), Doi("10.1000/2"), Doi("10.1000/3")]
    server = AnsweringServer("crossref")
    corrected = work(1, **{"updated-by": [{"DOI": "10.1000/c", "type": "correction"}]})
    server.put(
        "/works",
        {"filter": ",".join(f"doi:{each}" for each in dois), "rows": "20"},
        page(corrected, work(2)),
    )
    notes = [
        work(7, DOI="10.1000/c", **{"update-to": [{"DOI": "10.1000/1", "type": "correction"}]}),
        work(8, DOI="10.1000/r", **{"update-to": [{"DOI": "10.1000/2", "type": "retraction"}]}),
    ]
    server.put(
        "/works",
        {"filter": ",".join(f"updates:{each}" for each in dois), "rows": "100"},
        page(*notes),
    )
    found, sent = server.run(lambda client, url: Crossref(client, url).notices(dois))
    assert [(str(doi), notice.kind, notice.doi) for doi, notice in found] == [
        ("10.1000/1", "correction", "10.1000/c"),
        ("10.1000/2", "retraction", "10.1000/r"),
    ]
    assert len(sent) == 2


def test_open_texts_are_those_under_an_open_licence() -> None:
    link = {"URL": "https://a.example/1.pdf", "content-type": "application/pdf"}
    open_licence = {"URL": "https://creativecommons.org/licenses/by/4.0/"}
    for licence, count in (([open_licence], 1), ([], 0)):
        server = AnsweringServer("crossref")
        server.put("/works/10.1000%2F1", None, one(work(1, link=[link], license=licence)))
        places, sent = server.run(
            lambda client, url: Crossref(client, url).locate(Doi("10.1000/1"))
        )
        assert len(places) == count
        assert len(sent) == 1


def test_a_token_goes_into_a_header_and_nowhere_else() -> None:
    server = AnsweringServer("crossref")
    server.put("/works", asked("cats", 25), page(work(1)))
    request = make_request("cats")
    found = server.run(lambda client, url: Crossref(client, url, api_key="token-1").search(request))
    assert server.server.asked[0].headers["crossref-plus-api-token"] == "Bearer token-1"
    assert "token-1" not in found.sent[0].url
