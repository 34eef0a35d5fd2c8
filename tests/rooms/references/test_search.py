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


MORE: Item = {
    "id": "more",
    "type": "webpage",
    "title": "Plain",
    "title-short": "Sonnet",
    "PMID": 77,
    "PMCID": "PMC0012",
    "DOI": "https://doi.org/10.48550/arXiv.1706.03762",
    "URL": "https://example.org/a",
    "container-title": "Weekly",
    "volume": 31,
    "keyword": "alpha; beta",
    "custom": {
        "uuid": "U-2",
        "tags": ["later"],
        "additional_urls": ["https://example.org/b"],
        "eric_id": "EJ99",
    },
}


@pytest.mark.promise("L6")
@pytest.mark.parametrize(
    ("query", "is_found"),
    [
        ("id:u-2", True),
        ("id:mor", False),
        ("pmid:77", True),
        ("pmid:7", False),
        ("pmcid:PMC12", True),
        ("pmcid:PMC0012", True),
        ("pmcid:12", True),
        ("pmcid:1", False),
        ("doi:10.48550/arxiv.1706.03762", True),
        ("doi:https://doi.org/10.48550/arXiv.1706.03762", True),
        ("url:https://example.org/a", True),
        ("url:https://example.org/b", True),
        ("url:https://example.org/", False),
        ("year:2024", False),
        ("type:webpage", True),
        ("type:web", False),
        ("title:sonnet", True),
        ("title:weekly", False),
        ("keyword:beta", True),
        ("keyword:later", False),
        ("tag:later", True),
        ("tag:beta", False),
        ("weekly 31 ej99 webpage", True),
        ("ej99 absent", False),
        ('title:"plain sonnet"', True),
        ('"plain sonnet', True),
        ("isbn:9780306406157", False),
        ("SONNET", False),
        ("title:SONNET", False),
        ("title:Sonnet", True),
        ("in", True),
        ("zq", False),
        ("url:", False),
    ],
)
def test_every_field_matches_its_own_values_alone(query: str, is_found: bool) -> None:
    assert found(query, [MORE]) == (["more"] if is_found else [])


def test_a_term_keeps_its_capitals_only_where_two_are_adjacent_in_a_text() -> None:
    (rna,) = parse_query("RNA")
    assert (rna.text, rna.field, rna.exact_case) == ("rna", None, "RNA")
    (titled,) = parse_query('Title:"The  ÖBB"')
    assert (titled.text, titled.field, titled.exact_case) == ("the obb", "title", "The OBB")
    for query in ("Rna", "doi:10.1/ABC", "id:SMITH"):
        (term,) = parse_query(query)
        assert term.exact_case is None
    (foreign,) = parse_query("other:word")
    assert (foreign.text, foreign.field) == ("other:word", None)
    assert parse_query('"" title:""') == ()


@pytest.mark.parametrize("count", [63, 64, 65, 200])
def test_words_of_few_and_of_many_references_are_found_alike(count: int) -> None:
    items: list[Item] = [
        {"id": str(number), "title": "common" + ("rare" if number % 50 == 0 else "")}
        for number in range(count)
    ]
    index = ReferenceIndex(items[:10])
    assert len(index.search(parse_query("common"))) == 10
    index.update(items)
    for query, expected in (
        ("common", range(count)),
        ("commo", range(count)),
        ("rare", range(0, count, 50)),
        ("co", range(count)),
    ):
        hits = index.search(parse_query(query))
        assert [item["id"] for item in hits] == [str(number) for number in expected]
        assert len(hits) == len(list(expected))


def test_an_index_follows_its_library_through_many_changes() -> None:
    items: list[Item] = [{"id": str(n), "title": "cell", "PMID": n} for n in range(1500)]
    index = ReferenceIndex(items)
    assert [item["id"] for item in index.search(parse_query("pmid:7"))] == ["7"]
    for turn in range(3):
        items = [{**item, "title": f"cell turn{turn}"} for item in items]
        index.update(items)
        assert len(index.entries) <= 2 * len(items), "what is gone is let go"
        assert len(index.search(parse_query("cell"))) == 1500
        assert len(index.search(parse_query(f"turn{turn}"))) == 1500
        assert len(index.search(parse_query(f"turn{turn - 1}"))) == 0
        assert [item["id"] for item in index.search(parse_query("pmid:7"))] == ["7"]
    index.update(items[::-1])
    assert [item["id"] for item in index.search(parse_query("cell"))[:2]] == ["1499", "1498"]
    index.update(items[5:7])
    assert [item["id"] for item in index.search(parse_query("cell"))] == ["5", "6"]
    index.update([])
    assert list(index.search(parse_query(""))) == []


def test_more_words_than_are_remembered_are_all_answered() -> None:
    items: list[Item] = [{"id": str(n), "title": f"word{n:04d}"} for n in range(300)]
    index = ReferenceIndex(items)
    for _ in range(2):
        for number in range(300):
            hits = index.search(parse_query(f"word{number:04d}"))
            assert [item["id"] for item in hits] == [str(number)]
    assert len(index._word_cache) <= 256


def test_hits_are_a_sequence_with_both_ends() -> None:
    items: list[Item] = [{"id": str(n), "title": "cell"} for n in range(5)]
    hits = ReferenceIndex(items).search(parse_query("cell"))
    assert (hits[0]["id"], hits[4]["id"], hits[-5]["id"]) == ("0", "4", "0")
    with pytest.raises(IndexError):
        hits[5]
    assert [item["id"] for item in hits[3:99]] == ["3", "4"] and hits[5:] == []
    moved = ReferenceIndex(items)
    moved.update([items[3], items[1]])
    assert [item["id"] for item in moved.search(parse_query("cell"))[:1]] == ["3"]
