"""arXiv end to end: words joined by AND, errors as entries, empty pages asked for again."""

from __future__ import annotations

import pytest

from carrel.libraries.identifiers import ArxivId, Doi, Identifier
from carrel.rooms.literature.ports import (
    LocationService,
    NoticeService,
    RecordService,
    SearchService,
)
from carrel.services.literature.arxiv import Arxiv
from carrel.services.literature.errors import ServiceFailedError, WorkLookupError
from tests.services.literature.adapters import AnsweringServer, body_of, make_request
from tests.services.literature.recorded import needs_recordings

pytestmark = pytest.mark.promise("W1")

ATOM = "application/atom+xml; charset=utf-8"
FEED = """<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"><opensearch:totalResults>
{total}</opensearch:totalResults>{entries}</feed>"""
ENTRY = """<entry><id>http://arxiv.org/abs/{id}</id><updated>2024-01-02T00:00:00Z</updated>
<published>2023-01-02T00:00:00Z</published><title>A title</title><summary>Words.</summary>
<author><name>Jane Doe</name></author></entry>"""
ERROR = """<entry><id>http://arxiv.org/api/errors#incorrect_id_format_for_x</id><title>Error</title>
<summary>incorrect id format for x</summary></entry>"""


def search(query: str, start: int, size: int, order: str = "relevance") -> dict[str, str]:
    return {
        "search_query": query,
        "sortBy": order,
        "sortOrder": "descending",
        "start": str(start),
        "max_results": str(size),
    }


def feed(*names: str, total: int | None = None, more: str = "") -> str:
    entries = "".join(ENTRY.format(id=name) for name in names) + more
    return FEED.format(total=len(names) if total is None else total, entries=entries)


def as_ports(one: Arxiv) -> tuple[SearchService, RecordService, LocationService, NoticeService]:
    """The type checker sees here that the adapter is all of these."""
    return one, one, one, one


@pytest.mark.parametrize(
    ("status", "body", "content_type", "failure"),
    [
        (400, feed(more=ERROR), ATOM, "failed"),
        (200, feed(more=ERROR), ATOM, "failed"),
        (200, "", ATOM, "unreadable"),
        (200, "<feed><entry>", ATOM, "unreadable"),
        (200, "<html><body>Rate exceeded.</body></html>", "text/html", "unreadable"),
        (429, "Rate exceeded.", "text/html", "rate_limited"),
        (503, "down", "text/plain", "failed"),
    ],
)
def test_what_is_no_feed_is_a_failure(
    status: int, body: str, content_type: str, failure: str
) -> None:
    server = AnsweringServer("arxiv")
    server.put("/api/query", search("all:testing", 0, 25), body, status, content_type)
    with pytest.raises(WorkLookupError) as caught:
        server.run(lambda client, url: Arxiv(client, url).search(make_request("testing")))
    assert caught.value.failure == failure


@needs_recordings
def test_a_recorded_page_is_read_with_total_and_ranks() -> None:
    server = AnsweringServer("arxiv")
    server.put(
        "/api/query", search("all:testing", 0, 10), body_of("arxiv", "011"), content_type=ATOM
    )
    answer = server.run(lambda client, url: Arxiv(client, url).search(make_request("testing", 10)))
    assert [record.rank for record in answer.records] == list(range(1, 11))
    assert answer.total is not None
    assert answer.total > 100_000
    assert not answer.is_complete
    assert answer.translated.text == "all:testing"


def test_an_empty_page_inside_the_total_is_asked_for_again() -> None:
    server = AnsweringServer("arxiv")
    names = [f"2101.{number:05}v1" for number in range(1, 4)]
    server.put("/api/query", search("all:testing", 0, 25), feed(*names), content_type=ATOM)
    server.server.first.append((200, {"content-type": ATOM}, feed(total=3).encode()))
    answer = server.run(lambda client, url: Arxiv(client, url).search(make_request("testing")))
    assert len(answer.records) == 3
    assert answer.is_complete
    assert len(server.paths) == 2
    server.put("/api/query", search("all:gone", 0, 25), feed(total=3), content_type=ATOM)
    with pytest.raises(WorkLookupError) as caught:
        server.run(lambda client, url: Arxiv(client, url).search(make_request("gone")))
    assert caught.value.failure == "unreadable"


def test_pages_go_on_where_arxiv_gave_fewer_than_asked() -> None:
    server = AnsweringServer("arxiv")
    names = [f"2101.{number:05}v1" for number in range(1, 6)]
    server.put(
        "/api/query", search("all:testing", 0, 5), feed(*names[:3], total=9), content_type=ATOM
    )
    server.put(
        "/api/query", search("all:testing", 3, 2), feed(*names[3:], total=9), content_type=ATOM
    )
    answer = server.run(lambda client, url: Arxiv(client, url).search(make_request("testing", 5)))
    assert [record.service_id for record in answer.records] == names
    # One request in three seconds.
    assert sum(server.waits.seconds) >= 3.0


@needs_recordings
def test_nothing_found_is_an_answer_and_preprints_that_nobody_wants_are_not_asked_for() -> None:
    server = AnsweringServer("arxiv")
    server.put(
        "/api/query", search("all:testing", 0, 25), body_of("arxiv", "001"), content_type=ATOM
    )
    answer = server.run(lambda client, url: Arxiv(client, url).search(make_request("testing")))
    assert (answer.records, answer.total, answer.is_complete) == ((), 0, True)
    server.server.asked.clear()
    answer = server.run(
        lambda client, url: Arxiv(client, url).search(make_request("testing", preprints=False))
    )
    assert answer.records == ()
    assert answer.remarks
    assert server.paths == []


@needs_recordings
def test_papers_are_looked_up_together_and_versions_told_apart() -> None:
    server = AnsweringServer("arxiv")
    asked: list[Identifier] = [
        ArxivId("quant-ph/0201082", 1),
        Doi("10.48550/arxiv.quant-ph/0201082"),
        ArxivId("quant-ph/0201082", 9),
        Doi("10.1000/elsewhere"),
    ]
    names = "quant-ph/0201082v1,quant-ph/0201082,quant-ph/0201082v9"
    params = {"id_list": names, "max_results": "3"}
    server.put("/api/query", params, body_of("arxiv", "009"), content_type=ATOM)
    answer = server.run(lambda client, url: Arxiv(client, url).look_up(asked))
    assert [name for name, _ in answer.found] == asked[:2]
    assert {record.service_id for _, record in answer.found} == {"quant-ph/0201082v1"}
    server.put(
        "/api/query",
        {"id_list": "quant-ph/0201082", "max_results": "1"},
        body_of("arxiv", "009"),
        content_type=ATOM,
    )
    places, sent = server.run(
        lambda client, url: Arxiv(client, url, texts_url="http://texts.example").locate(asked[1])
    )
    assert [place.url for place in places] == [
        "http://texts.example/e-print/quant-ph/0201082v1",
        "http://texts.example/pdf/quant-ph/0201082v1",
    ]
    assert len(sent) == 1


def test_a_list_that_arxiv_refuses_for_one_identifier_is_halved() -> None:
    server = AnsweringServer("arxiv")
    good, bad = ArxivId("2101.00001"), ArxivId("2101.00002")
    both = {"id_list": f"{good},{bad}", "max_results": "2"}
    server.put("/api/query", both, feed(more=ERROR), 400, ATOM)
    server.put("/api/query", {"id_list": str(bad), "max_results": "1"}, feed(more=ERROR), 400, ATOM)
    server.put(
        "/api/query",
        {"id_list": str(good), "max_results": "1"},
        feed("2101.00001v3"),
        content_type=ATOM,
    )
    answer = server.run(lambda client, url: Arxiv(client, url).look_up([good, bad]))
    assert [(name, record.service_id) for name, record in answer.found] == [(good, "2101.00001v3")]
    assert len(answer.sent) == 3


def test_what_arxiv_cannot_be_asked_is_told() -> None:
    server = AnsweringServer("arxiv")
    with pytest.raises(ServiceFailedError, match="institution"):
        server.run(
            lambda client, url: Arxiv(client, url).search(make_request("institution:oxford"))
        )
    assert server.paths == []
