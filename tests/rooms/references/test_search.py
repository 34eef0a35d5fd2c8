"""Searching a library: the syntax, and an index that answers as looking at every reference
would.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.rooms.references.items import Item
from carrel.rooms.references.search_index import (
    IndexedReference,
    QueryTerm,
    ReferenceIndex,
    parse_query,
)

SMITH: Item = {
    "id": "smith-2024",
    "type": "article-journal",
    "title": "Measuring RNA in Größe",
    "author": [{"family": "Smith", "given": "Ann"}, {"family": "Müller", "given": "Jörg"}],
    "issued": {"date-parts": [[2024, 3]]},
    "DOI": "10.1234/ABC",
    "PMID": "123",
    "keyword": "sequencing; single cell",
    "custom": {"tags": ["to-read"], "uuid": "u-1"},
}
TANAKA: Item = {
    "id": "tanaka-nd",
    "type": "book",
    "title": "田中の本 on aids for learning",
    "ISBN": "978-0-306-40615-7",
}
OERSTED: Item = {
    "id": "ørsted-1820",
    "type": "article-journal",
    "title": "The ÖBB’s first needle: self‑induction",
    "author": [{"family": "Ørsted", "given": "Hans Christian"}],
}
LIBRARY = [SMITH, TANAKA]


def found(query: str, items: list[Item] = LIBRARY) -> list[str]:
    return [item["id"] for item in ReferenceIndex(items).search(parse_query(query))]


@pytest.mark.promise("L6")
@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("smith", ["smith-2024"]),
        ("muller", ["smith-2024"]),
        ("Müller rna", ["smith-2024"]),
        ("grosse", ["smith-2024"]),
        ("große", ["smith-2024"]),
        ("Größe", ["smith-2024"]),
        ("measur", ["smith-2024"]),
        ("smith learning", []),
        ('"single cell"', ["smith-2024"]),
        ('"cell single"', []),
        ("author:muller", ["smith-2024"]),
        ("title:muller", []),
        ("year:2024", ["smith-2024"]),
        ("year:202", []),
        ("doi:10.1234/abc", ["smith-2024"]),
        ("DOI:10.1234/ABC", ["smith-2024"]),
        ("doi:10.1234/ab", []),
        ("pmid:123", ["smith-2024"]),
        ("isbn:9780306406157", ["tanaka-nd"]),
        ("id:SMITH-2024", ["smith-2024"]),
        ("type:book", ["tanaka-nd"]),
        ("tag:to-read", ["smith-2024"]),
        ("keyword:sequencing", ["smith-2024"]),
        ("田中", ["tanaka-nd"]),
        ("AIDS", []),
        ("aids", ["tanaka-nd"]),
        ("RNA", ["smith-2024"]),
        ("unknown:smith", []),
        ("", ["smith-2024", "tanaka-nd"]),
    ],
)
def test_the_syntax_of_a_reference_search(query: str, ids: list[str]) -> None:
    assert found(query) == ids


@pytest.mark.promise("L6")
@pytest.mark.parametrize(
    ("query", "is_found"),
    [
        ("orsted", True),
        ("Ørsted", True),
        ("author:ORSTED", False),
        ("author:orsted", True),
        ("id:orsted-1820", True),
        ('"obb\'s first"', True),
        ("self-induction", True),
        ("OBB", True),
        ("ÖBB", True),
        ("ÖBBS", False),
    ],
)
def test_letters_and_signs_are_folded_as_in_every_room(query: str, is_found: bool) -> None:
    assert found(query, [OERSTED]) == (["ørsted-1820"] if is_found else [])


WORDS = st.sampled_from(
    ["gene", "general", "gen", "RNA", "cell", "single cell", "éa", "a", "2019", "smith"]
)
SOME_ITEMS = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.uuids().map(str),
            "type": st.just("book"),
            "title": st.lists(WORDS, max_size=4).map(" ".join),
        }
    ),
    max_size=12,
)


@given(SOME_ITEMS, st.lists(WORDS, min_size=1, max_size=3))
def test_the_index_answers_as_looking_at_every_reference_would(
    items: list[Item], words: list[str]
) -> None:
    terms = parse_query(" ".join(f'"{word}"' for word in words))
    expected = [item["id"] for item in items if all(_matches(item, term) for term in terms)]
    assert [item["id"] for item in ReferenceIndex(items).search(terms)] == expected


def _matches(item: Item, term: QueryTerm) -> bool:
    return IndexedReference(item).matches(term)


@given(SOME_ITEMS, SOME_ITEMS, st.data(), WORDS)
def test_an_index_that_was_updated_equals_one_that_was_made(
    before: list[Item], more: list[Item], data: st.DataObject, word: str
) -> None:
    after = data.draw(st.permutations([item for item in before if data.draw(st.booleans())] + more))
    index = ReferenceIndex(before)
    index.update(after)
    assert list(index.search(parse_query(word))) == list(
        ReferenceIndex(after).search(parse_query(word))
    )


@given(st.text(max_size=80))
def test_anything_typed_is_understood(query: str) -> None:
    ReferenceIndex(LIBRARY).search(parse_query(query))


def test_a_page_is_taken_out_without_the_rest() -> None:
    items: list[Item] = [
        {"id": str(number), "type": "book", "title": "cell"} for number in range(300)
    ]
    hits = ReferenceIndex(items).search(parse_query("cell"))
    assert len(hits) == 300
    assert [item["id"] for item in hits[100:103]] == ["100", "101", "102"]
    assert hits[-1]["id"] == "299"
