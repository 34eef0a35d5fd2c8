"""What JSON allows and no answer of ours can hold never spoils what stands beside it."""

from __future__ import annotations

import pytest

from carrel.libraries.literature.raw_fields import text_of
from carrel.services.literature.lenient_json import decode_json
from carrel.services.literature.openalex import OpenAlex
from tests.services.literature.adapters import AnsweringServer, make_request
from tests.services.literature.test_openalex import listed


@pytest.mark.parametrize("body", [b"", b"{", b"<html>", b"[" * 200_000, b'{"a":' + b"9" * 5000])
def test_what_is_no_json_is_refused(body: bytes) -> None:
    with pytest.raises((ValueError, RecursionError)):
        decode_json(body)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_a_number_without_a_size_is_absent(number: str) -> None:
    assert decode_json(f'{{"a":[{number},1.5]}}'.encode()) == {"a": [None, 1.5]}


@pytest.mark.parametrize(
    "body", [b'"a \\ud800 b"', b'"a \\uDFFF b"', b'"a \xed\xa0\x80 b"', b'{"\\ud800":["\\udc00"]}']
)
def test_half_of_a_surrogate_pair_becomes_text_that_can_be_written(body: bytes) -> None:
    assert str(decode_json(body)).encode("utf-8")


def test_whole_pairs_and_large_numbers_stay() -> None:
    assert decode_json(b'["\\ud835\\udc00 \\u00e9", 123456789012345678901]') == [
        "\U0001d400 é",
        123456789012345678901,
    ]


def test_one_broken_title_does_not_cost_the_search() -> None:
    server = AnsweringServer("openalex")
    body = (
        '{"meta":{"count":2,"cost_usd":-Infinity},"results":['
        '{"id":"https://openalex.org/W10","title":"Broken \\ud800 title"},'
        '{"id":"https://openalex.org/W11","title":"Whole","cited_by_count":NaN}]}'
    )
    server.put("/works", listed("title_and_abstract.search:cats", 25), body)
    found = server.run(lambda client, url: OpenAlex(client, url).search(make_request("cats")))
    titles = [record.work.title for record in found.records]
    assert len(titles) == 2
    assert all(text_of(title).encode("utf-8") for title in titles)
    assert found.cost.cost_usd is None


@pytest.mark.parametrize("price", ["-5", "1" + "0" * 400, '"1"', "{}"])
def test_what_is_no_price_is_not_counted(price: str) -> None:
    server = AnsweringServer("openalex")
    server.put(
        "/works",
        listed("title_and_abstract.search:cats", 25),
        f'{{"meta":{{"count":0,"cost_usd":{price}}},"results":[]}}',
    )
    found = server.run(lambda client, url: OpenAlex(client, url).search(make_request("cats")))
    assert found.cost.cost_usd is None
