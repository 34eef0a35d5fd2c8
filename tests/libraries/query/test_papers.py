"""What people type, and what it is taken for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from carrel.libraries.query.papers import (
    AllOf,
    AnyOf,
    FacetPhrase,
    Not,
    PaperQuery,
    QueryNode,
    WithIdentifier,
    YearRange,
    parse_paper_query,
)
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.words import Phrase, split_words
from tests.rooms.papers.conftest import CORPUS
from tests.rooms.papers.desk import Desk
from tests.rooms.papers.snapshots import write_snapshot

A, B, C = Phrase(("a",)), Phrase(("b",)), Phrase(("c",))

TYPED = st.one_of(
    st.text(max_size=80),
    st.lists(
        st.sampled_from(
            [
                "AND",
                "OR",
                "NOT",
                "(",
                ")",
                '"',
                "“",
                "author:",
                "year:2019..2024",
                "year:",
                "doi:",
                "*",
                "a",
                "b*",
                "-",
                ":",
                "深度",
                "Müller",
                "^",
                "NEAR(",
            ]
        ),
        max_size=25,
    ).map(" ".join),
)


@pytest.mark.promise("P10")
@pytest.mark.parametrize(
    ("typed", "loose", "strict"),
    [
        ("a b", (A, B), None),
        ("state-of-the-art", (Phrase(("state", "of", "the", "art")),), None),
        ("深度学习 lidar", (Phrase(("深", "度", "学", "习")), Phrase(("lidar",))), None),
        ("neuro*", (Phrase(("neuro",), is_prefix=True),), None),
        ('a "b c"', (A,), Phrase(("b", "c"), is_exact=True)),
        ("“b c” a", (A,), Phrase(("b", "c"), is_exact=True)),
        ("a AND b", (), AllOf((A, B))),
        ("a b OR c", (), AnyOf((AllOf((A, B)), C))),
        ("a AND (b OR c)", (), AllOf((A, AnyOf((B, C))))),
        ("a NOT b", (), AllOf((A, Not(B)))),
        ("NOT a", (), Not(A)),
        ("a and b", (A, Phrase(("and",)), B), None),
        ("a AND", (), A),
        ("AND OR NOT", (), None),
        ("author:smith a", (A,), FacetPhrase("author", ("smith",))),
        ('author: "john smith"', (), FacetPhrase("author", ("john", "smith"))),
        ("year:2019..2024", (), YearRange(2019, 2024)),
        ("year:2024-2019", (), YearRange(2019, 2024)),
        ("year:2019..", (), YearRange(2019, None)),
        ("year:2019", (), YearRange(2019, 2019)),
        ("year:soon", (), None),
        ("a -year:soon", (A,), None),
        ("year: soon", (Phrase(("year",)), Phrase(("soon",))), None),
        ("year:>2010", (), YearRange(2011, None)),
        ("year:>=2024", (), YearRange(2024, None)),
        ("year:<2000", (), YearRange(None, 1999)),
        ("year:<=1999", (), YearRange(None, 1999)),
        ("Author:SMITH", (), FacetPhrase("author", ("SMITH",))),
        ("TAG:History", (), FacetPhrase("tag", ("History",))),
        (
            'author:"Smith, John"',
            (),
            AnyOf(
                (FacetPhrase("author", ("John", "Smith")), FacetPhrase("author", ("Smith", "John")))
            ),
        ),
        ("title:a", (), Phrase(("a",), in_title=True)),
        ("Title: a", (Phrase(("Title",)), A), None),
        ('"', (), None),
        ("(((", (), None),
        ("a)", (A,), None),
    ],
)
def test_what_is_typed_is_read(
    typed: str, loose: tuple[Phrase, ...], strict: QueryNode | None
) -> None:
    query = parse_paper_query(typed)
    assert (query.loose, query.strict) == (loose, strict)


@pytest.mark.promise("P10")
def test_a_year_that_is_none_is_told_once() -> None:
    (told,) = parse_paper_query("a year:soon year:soon year:2019").notices
    assert told.startswith("year:soon was not understood")


@pytest.mark.promise("P10")
def test_a_doi_field_names_its_paper() -> None:
    strict = parse_paper_query("doi:10.1000/xyz").strict
    assert isinstance(strict, WithIdentifier)
    assert strict.identifiers[0].value == "10.1000/xyz"


def phrases(node: QueryNode | None) -> list[Phrase]:
    match node:
        case Phrase():
            return [node]
        case AllOf(parts) | AnyOf(parts):
            return [phrase for part in parts for phrase in phrases(part)]
        case Not(part):
            return phrases(part)
        case _:
            return []


@pytest.mark.promise("Q3")
@given(TYPED)
def test_anything_can_be_read_and_no_phrase_is_empty(typed: str) -> None:
    query = parse_paper_query(typed)
    assert isinstance(query, PaperQuery)
    assert all(
        phrase.words and all(phrase.words) for phrase in (*query.loose, *phrases(query.strict))
    )


@pytest.mark.promise("Q3")
@given(st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=1, max_size=8))
def test_plain_words_stay_what_they_are(typed: list[str]) -> None:
    assert [phrase.words for phrase in parse_paper_query(" ".join(typed)).loose] == [
        (word,) for word in typed
    ]


@pytest.mark.promise("Q3")
@given(st.text(max_size=60))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold_text(fold_text(text)) == fold_text(text)
    assert all(split_words(word) == [word] for word in split_words(text))


@pytest.fixture(scope="module")
def shared_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder: Path = tmp_path_factory.mktemp("corpus")
    with Desk(write_snapshot(folder, CORPUS), folder / "paper-static") as desk:
        yield desk


@pytest.mark.promise("Q3")
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(typed=TYPED)
def test_no_text_makes_a_search_fail(shared_desk: Desk, typed: str) -> None:
    hits = shared_desk.ask("search_papers", query=typed[:500], limit=3)
    assert len({hit.paper_id for hit in hits}) == len(hits) <= 3
    shared_desk.ask("search_papers_by_keyword", keyword=typed[:500], limit=3)
