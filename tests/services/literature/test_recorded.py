"""Every recording is answered by the local server, under the service's host path and base."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

import httpx2

from carrel.services.literature.recordings import Exchange, Recordings, read_exchanges
from carrel.services.literature.requests import request_key
from tests.services.literature.recorded import SERVICES_DATA, RecordedServices, needs_recordings


@needs_recordings
def test_every_recording_is_answered_in_any_order_of_parameters_and_for_anybody() -> None:
    async def scene() -> None:
        with RecordedServices() as recorded:
            async with httpx2.AsyncClient(follow_redirects=False) as client:
                for path, exchange in read_exchanges(SERVICES_DATA):
                    service = path.parent.name.replace("semanticscholar", "semantic_scholar")
                    service = {"ncbi-idconv": "idconv", "doi": "doi_org"}.get(service, service)
                    parts = urlsplit(exchange.url)
                    pairs = "&".join(reversed(parts.query.split("&"))) if parts.query else ""
                    url = f"{recorded.url(service)}{parts.path}?{pairs}&mailto=me%40uni.org"
                    answer = await client.request(
                        exchange.method, url, content=exchange.request_body or None
                    )
                    assert "x-not-recorded" not in answer.headers, exchange.url
                    assert answer.content
                absent = await client.get(f"{recorded.url('openalex')}/works/W1?api_key=k")
        assert absent.status_code == 404
        assert absent.headers["x-not-recorded"] == "1"
        assert recorded.missing == ["/openalex/works/W1?api_key=k"]

    asyncio.run(scene())


@needs_recordings
def test_a_base_address_with_a_path_is_left_out() -> None:
    with RecordedServices(services=["europepmc"]) as recorded:
        full, short = (
            httpx2.get(f"{recorded.url('europepmc')}{path}")
            for path in (
                "/europepmc/webservices/rest/search?query=cancer&x=1",
                "/search?query=cancer&x=1",
            )
        )
        assert full.status_code == short.status_code
    assert all(asked.path.startswith("/europepmc/") for asked in recorded.asked)


@needs_recordings
def test_replay_finds_every_shared_recording_by_its_request() -> None:
    recordings = Recordings(SERVICES_DATA)
    for _, exchange in read_exchanges(SERVICES_DATA):
        found = recordings.find(exchange.key)
        assert found is not None
        assert found.key == exchange.key


def test_requests_are_the_same_question_whoever_asks_in_whatever_order() -> None:
    one = request_key("get", "https://api.example.org/works/10.1%2Fa?b=2&a=x+y&mailto=me%40a.org")
    two = request_key("GET", "http://API.example.org:443/works/10.1/a?a=x%20y&api_key=1&b=2")
    assert one == two
    assert one.digest == two.digest
    posted = request_key("POST", "https://a.org/x", '{"b": 1, "a": [2]}')
    assert posted == request_key("POST", "https://a.org/x", '{"a":[2],"b":1}')
    assert posted != request_key("POST", "https://a.org/x", '{"a":[2],"b":2}')
    assert posted != request_key("GET", "https://a.org/x")


def test_an_exchange_is_saved_as_readable_files_and_found_again(tmp_path: Path) -> None:
    folder = tmp_path
    small = Exchange("GET", "https://a.org/w?q=b&a=1", 200, {"Content-Type": "x"}, "ä".encode())
    large = Exchange("POST", "https://a.org/w", 200, {}, b"[" * 70_000, '{"ids": [1]}')
    binary = Exchange("GET", "https://a.org/b", 200, {}, b"\xff\x00")
    failed = Exchange("GET", "https://a.org/f", 0, failure="unreachable", reason="No.")
    for each in (small, large, binary, failed):
        Recordings(folder).save("openalex", each)
    recordings = Recordings(folder)
    found = recordings.find(request_key("GET", "https://a.org/w?a=1&q=b"))
    assert found is not None
    assert found.body == small.body
    assert found.headers == {"content-type": "x"}
    for each in (large, binary, failed):
        assert recordings.find(each.key) == each
    assert recordings.find(request_key("GET", "https://a.org/none")) is None
    assert "ä" in next(folder.glob("openalex/w-q-b*.json")).read_text(encoding="utf-8")
