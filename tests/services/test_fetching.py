"""Fetching within bounds: client documents from public addresses only, key sets, any answer."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest

from carrel.core.errors import UnavailableError
from carrel.services.fetching import (
    AnswerRefusedError,
    AnswerTooLargeError,
    ConnectionFailedError,
    Fetcher,
    FetchError,
    FetchLimits,
    FetchTimeoutError,
    HttpAnswer,
    Redirects,
    is_public,
)
from carrel.services.oauth_documents import HttpKeySet, HttpsClientDocuments

PRIVATE = [
    "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0",
    "100.64.0.1", "224.0.0.1",
    "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "ff02::1", "192.0.2.1", "198.18.0.1", "not an address",
    "",
]  # fmt: skip
URL = "https://client.example/oauth/client.json"
Answer = Callable[[httpx2.Request], httpx2.Response]


@pytest.mark.promise("A3")
@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_that_are_not_out_on_the_internet_are_refused(address: str) -> None:
    assert not is_public(address)


def test_public_addresses_are_allowed() -> None:
    assert all(is_public(address) for address in ("1.1.1.1", "93.184.216.34", "2606:4700::1111"))


def fetched(
    answer: Answer, addresses: list[str], url: str = URL
) -> tuple[Any, list[httpx2.Request]]:
    seen: list[httpx2.Request] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return answer(request)

    async def resolve(host: str) -> list[str]:
        return addresses

    documents = HttpsClientDocuments(resolve=resolve, transport=httpx2.MockTransport(handle))
    return asyncio.run(documents.fetch(url)), seen


@pytest.mark.promise("A3")
def test_the_checked_address_is_the_one_connected_to_under_the_name_asked_for() -> None:
    (facts, seconds), seen = fetched(
        lambda _: httpx2.Response(
            200, json={"client_id": URL}, headers={"cache-control": "max-age=600"}
        ),
        ["93.184.216.34"],
    )
    assert facts == {"client_id": URL}
    assert seconds == 600
    assert str(seen[0].url) == "https://93.184.216.34/oauth/client.json"
    assert seen[0].headers["host"] == "client.example"
    assert seen[0].extensions["sni_hostname"] == "client.example"


@pytest.mark.promise("A3")
@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["93.184.216.34", "10.0.0.1"], []])
def test_a_name_with_any_private_address_is_not_visited(addresses: list[str]) -> None:
    with pytest.raises(UnavailableError, match="not at a public address"):
        fetched(lambda _: httpx2.Response(200, json={}), addresses)


BAD: dict[str, Answer] = {
    "a redirect inward": lambda _: httpx2.Response(
        302, headers={"location": "http://169.254.169.254/"}
    ),
    "not found": lambda _: httpx2.Response(404),
    "too large": lambda _: httpx2.Response(200, content=b'{"a":"' + b"x" * 40_000 + b'"}'),
    "not JSON": lambda _: httpx2.Response(200, content=b"<html>"),
    "a list": lambda _: httpx2.Response(200, json=[]),
    "packed": lambda _: httpx2.Response(
        200, content=gzip.compress(b'{"a":1}'), headers={"content-encoding": "gzip"}
    ),
}


@pytest.mark.promise("A3")
@pytest.mark.parametrize("what", BAD)
def test_an_answer_that_is_no_document_is_refused(what: str) -> None:
    with pytest.raises(UnavailableError):
        fetched(BAD[what], ["93.184.216.34"])


@pytest.mark.promise("A3")
@pytest.mark.parametrize(
    "url",
    [
        "http://client.example/x",
        "https://client.example:8443/x",
        "ftp://client.example/x",
        "https:///x",
    ],
)
def test_only_plain_https_is_fetched(url: str) -> None:
    with pytest.raises(UnavailableError):
        fetched(lambda _: httpx2.Response(200, json={}), ["93.184.216.34"], url)


@pytest.mark.promise("A1")
def test_a_key_set_is_fetched_and_what_is_none_is_said() -> None:
    def keys(answer: Answer) -> Any:
        return asyncio.run(
            HttpKeySet("https://login.example/keys", transport=httpx2.MockTransport(answer)).fetch()
        )

    assert keys(lambda _: httpx2.Response(200, json={"keys": []})) == {"keys": []}
    for bad in (
        lambda _: httpx2.Response(200, json={"no": 1}),
        lambda _: httpx2.Response(500),
        BAD["a redirect inward"],
    ):
        with pytest.raises(UnavailableError):
            keys(bad)


def get(answer: Answer, limits: FetchLimits, url: str = "http://one.example/a") -> HttpAnswer:
    async def run() -> HttpAnswer:
        async with Fetcher(limits, transport=httpx2.MockTransport(answer)) as fetcher:
            return await fetcher.get(url)

    return asyncio.run(run())


def moves(request: httpx2.Request) -> httpx2.Response:
    """`/near` leads to `/end` on the same host, `/far` to another one, `/round` to itself."""
    match request.url.path:
        case "/near":
            return httpx2.Response(302, headers={"location": "/end"})
        case "/far":
            return httpx2.Response(302, headers={"location": "http://169.254.169.254/end"})
        case "/round":
            return httpx2.Response(302, headers={"location": "/round"})
        case _:
            return httpx2.Response(200, content=str(request.url).encode())


NO_REDIRECTS = FetchLimits(5.0, 1000)
SAME_HOST = FetchLimits(5.0, 1000, redirects=Redirects.SAME_HOST, max_redirects=3)


def test_redirects_go_only_where_the_limits_say() -> None:
    assert get(moves, NO_REDIRECTS, "http://one.example/near").status == 302
    assert get(moves, SAME_HOST, "http://one.example/near").body == b"http://one.example/end"
    for path in ("far", "round"):
        with pytest.raises(AnswerRefusedError):
            get(moves, SAME_HOST, f"http://one.example/{path}")
    anywhere = FetchLimits(5.0, 1000, redirects=Redirects.ANY, max_redirects=3)
    assert get(moves, anywhere, "http://one.example/far").body == b"http://169.254.169.254/end"
    with pytest.raises(AnswerRefusedError):
        get(moves, anywhere, "http://one.example/round")


def test_an_answer_is_read_no_further_than_its_size_allows() -> None:
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        while True:
            read += 100
            yield b"x" * 100

    with pytest.raises(AnswerTooLargeError):
        get(lambda _: httpx2.Response(200, content=endless()), NO_REDIRECTS)
    assert read <= 1200
    exact = get(lambda _: httpx2.Response(200, content=b"x" * 1000), NO_REDIRECTS)
    assert len(exact.body) == 1000


def test_a_packed_answer_is_refused_where_its_size_must_be_known_beforehand() -> None:
    def packed(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(
            200, content=gzip.compress(b"x" * 900), headers={"content-encoding": "gzip"}
        )

    assert get(packed, NO_REDIRECTS).body == b"x" * 900
    with pytest.raises(AnswerRefusedError):
        get(packed, FetchLimits(5.0, 1000, accepts_compressed=False))


def test_an_answer_that_drips_for_ever_is_ended_by_the_total_time() -> None:
    async def dripping() -> AsyncIterator[bytes]:
        while True:
            await asyncio.sleep(0)
            yield b""

    with pytest.raises(FetchTimeoutError, match=r"within 0\.05 seconds"):
        get(lambda _: httpx2.Response(200, content=dripping()), FetchLimits(0.05, 1000))


@pytest.mark.parametrize(
    ("failure", "connect_seconds", "expected"),
    [
        (httpx2.ConnectError("no route"), None, ConnectionFailedError),
        (httpx2.ConnectTimeout("late"), 1.0, ConnectionFailedError),
        (httpx2.ConnectTimeout("late"), None, FetchTimeoutError),
        (httpx2.ReadTimeout("late"), 1.0, FetchTimeoutError),
        (httpx2.DecodingError("odd"), None, AnswerRefusedError),
    ],
)
def test_what_went_wrong_is_told_apart(
    failure: Exception, connect_seconds: float | None, expected: type[FetchError]
) -> None:
    def fail(request: httpx2.Request) -> httpx2.Response:
        raise failure

    with pytest.raises(expected):
        get(fail, FetchLimits(5.0, 1000, connect_seconds=connect_seconds))
