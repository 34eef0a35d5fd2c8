"""Reading CSL-JSON items: odd values are read for what they are, and works are told apart."""

from __future__ import annotations

from typing import Any

import pytest

from carrel.libraries.identifiers import ArxivId, Doi, Identifier, Isbn, Pmcid, Pmid
from carrel.rooms.references.items import (
    Duplicate,
    Item,
    KnownIdentifiers,
    arxiv_of,
    custom,
    doi_of,
    family,
    first_family,
    identifiers_of,
    isbns_of,
    keywords,
    names_text,
    pmcid_of,
    pmid_of,
    tags,
    text_of,
    work_keys,
    year_of,
)
from carrel.rooms.references.known_works import KnownWorks


@pytest.mark.parametrize(
    ("value", "text"),
    [("a", "a"), (7, "7"), (1.5, "1.5"), (True, ""), (None, ""), (["a"], ""), ({}, "")],
)
def test_a_text_is_a_word_or_a_number_and_nothing_else(value: object, text: str) -> None:
    assert text_of({"title": value}, "title") == text


@pytest.mark.parametrize(
    ("issued", "year"),
    [
        ({"date-parts": [[2024, 3]]}, 2024),
        ({"date-parts": [["1999"]]}, 1999),
        ({"date-parts": [["?"]], "literal": "about 1850"}, 1850),
        ({"date-parts": [[]], "raw": "1851"}, 1851),
        ({"date-parts": [], "literal": "1852"}, 1852),
        ({"date-parts": [2020], "literal": "1853"}, 1853),
        ({"date-parts": "2020", "raw": "1854"}, 1854),
        ({"literal": "1855", "raw": "1900"}, 1855),
        ({"literal": "", "raw": "1856"}, 1856),
        ({}, None),
        ("spring 1857", 1857),
        (1858, 1858),
        ("in 12345", None),
        ("-0044", -44),
        (None, None),
    ],
)
def test_the_year_is_found_however_the_date_is_given(issued: object, year: int | None) -> None:
    assert year_of({"issued": issued}) == year


def test_names_are_read_whatever_parts_they_have() -> None:
    assert family({"family": "Smith", "given": "Ann"}) == "Smith"
    assert family({"literal": "WHO"}) == "WHO"
    assert family({"name": "Team"}) == "Team"
    assert family({"family": "", "given": "Plato"}) == "Plato"
    assert family({}) == ""
    assert first_family({"author": [{"family": "A"}], "editor": [{"family": "E"}]}) == "A"
    assert first_family({"editor": [{"family": "E"}]}) == "E"
    assert first_family({"author": [{}], "editor": [{"family": "E"}]}) is None
    assert first_family({"author": "A"}) is None
    item = {
        "author": [{"family": "Smith", "given": "Ann"}, "odd", {"family": "", "literal": "WHO"}],
        "editor": [{"family": "Gogh", "non-dropping-particle": "van"}],
    }
    assert names_text(item) == "Ann Smith; WHO; van Gogh"


def test_keywords_tags_and_custom_fields_that_are_odd_are_none() -> None:
    assert keywords({"keyword": "a; b;; c "}) == ["a", "b", "c"]
    assert keywords({"keyword": [" a ", "", 3]}) == ["a", "3"]
    assert keywords({}) == [] == keywords({"keyword": None})
    assert tags({"custom": {"tags": ["a", 1]}}) == ["a", "1"]
    assert tags({"custom": {"tags": "a"}}) == [] == tags({"custom": ["a"]})
    assert custom({"custom": [1]}) == {} == custom({})


def test_identifiers_are_read_in_every_spelling_and_what_is_none_is_none() -> None:
    assert doi_of({"DOI": "https://doi.org/10.1234/ABC"}) == "10.1234/abc"
    assert doi_of({"DOI": "no doi"}) is None is doi_of({})
    assert pmid_of({"PMID": 123}) == "123" and pmid_of({"PMID": "x"}) is None
    assert pmcid_of({"PMCID": "PMC12"}) == "PMC12" and pmcid_of({}) is None
    assert isbns_of({"ISBN": "978-0-306-40615-7, 0-306-40615-2; 123"}) == ["9780306406157"] * 2
    assert isbns_of({}) == []


@pytest.mark.parametrize(
    ("item", "arxiv"),
    [
        ({"custom": {"arxiv_id": "1706.03762v5"}}, "1706.03762"),
        ({"number": "arXiv:1706.03762"}, "1706.03762"),
        ({"number": "1706.03762"}, None),
        ({"archive": "ArXiv", "archive_location": "1706.03762"}, "1706.03762"),
        ({"archive": "Elsewhere", "archive_location": "1706.03762"}, None),
        ({"DOI": "10.48550/arXiv.1706.03762"}, "1706.03762"),
        ({"custom": {"arxiv_id": "odd"}, "DOI": "10.48550/arXiv.1706.03762"}, "1706.03762"),
        ({"custom": {"arxiv_id": "1706.03762"}, "number": "arXiv:1512.03385"}, "1706.03762"),
        ({"DOI": "10.1234/abc"}, None),
        ({}, None),
    ],
)
def test_an_arxiv_id_is_found_where_other_tools_keep_it(item: Item, arxiv: str | None) -> None:
    assert arxiv_of(item) == arxiv


def test_a_chapter_is_not_the_book_whose_isbn_it_has() -> None:
    book = {"type": "book", "title": "The Book", "ISBN": "9780306406157"}
    chapter = {**book, "type": "chapter", "title": "One"}
    assert identifiers_of(book) == [("isbn", "9780306406157")]
    assert identifiers_of(chapter) == [("isbn", "9780306406157 one")]
    works = KnownWorks([{"id": "book", **book}])
    assert works.find(book) == Duplicate("book", "isbn")
    assert works.find(chapter) is None


def test_a_title_alone_is_no_key_and_with_an_author_or_a_year_it_is() -> None:
    smith = [{"family": "Smith"}]
    assert work_keys({"title": "On cells"}) == []
    assert work_keys({"author": smith, "issued": {"date-parts": [[2024]]}}) == []
    assert work_keys({"title": "On Cells", "author": smith}) == [("title", "oncells|smith|None")]
    dated = {"title": "On cells", "issued": {"date-parts": [[2024]]}}
    assert work_keys(dated) == [("title", "oncells||2024")]
    own = {"custom": {"eric_id": "EJ1", "scopus_id": "2-S2"}}
    assert work_keys(own) == [("eric", "ej1"), ("scopus", "2-s2")]


@pytest.mark.parametrize(
    ("kept", "new", "expected"),
    [
        ({}, {}, Duplicate("a", "title")),
        ({"DOI": "10.1234/a"}, {}, Duplicate("a", "title")),
        ({}, {"DOI": "10.1234/a"}, Duplicate("a", "title")),
        ({"DOI": "10.1234/a"}, {"DOI": "10.1234/b"}, None),
        ({"DOI": "10.1234/a"}, {"DOI": "10.1234/A"}, Duplicate("a", "doi")),
        ({"DOI": "10.1234/a"}, {"PMID": "12"}, Duplicate("a", "title")),
        ({"ISBN": "9780306406157"}, {"ISBN": "9783161484100"}, Duplicate("a", "title")),
        ({"title": "Other"}, {}, None),
    ],
)
def test_a_title_proves_nothing_where_both_have_other_identifiers_of_one_kind(
    kept: dict[str, Any], new: dict[str, Any], expected: Duplicate | None
) -> None:
    base: Item = {"type": "book", "title": "On cells", "author": [{"family": "Smith"}]}
    works = KnownWorks([{"id": "a", **base, **kept}])
    assert works.find({**base, **new}) == expected


def test_of_two_records_with_one_key_the_first_is_named() -> None:
    works = KnownWorks([{"id": "a", "DOI": "10.1234/a"}])
    works.add({"id": "b", "DOI": "10.1234/a", "PMID": "12"})
    assert works.find({"DOI": "10.1234/a"}) == Duplicate("a", "doi")
    assert works.find({"PMID": "12"}) == Duplicate("b", "pmid")


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        (Doi.parse("10.1234/A"), Duplicate("doi", "doi")),
        (Doi.parse("10.48550/arXiv.1706.03762"), Duplicate("arxiv", "arxiv")),
        (ArxivId.parse("1706.03762v2"), Duplicate("arxiv", "arxiv")),
        (Pmid.parse("12"), Duplicate("pmid", "pmid")),
        (Pmcid.parse("PMC12"), Duplicate("pmcid", "pmcid")),
        (Isbn.parse("0-306-40615-2"), Duplicate("isbn", "isbn")),
        (Doi.parse("10.1234/b"), None),
        (Pmid.parse("13"), None),
    ],
)
def test_an_identifier_finds_the_record_of_its_work(
    identifier: Identifier, expected: Duplicate | None
) -> None:
    known = KnownIdentifiers(
        [
            {"id": "doi", "DOI": "10.1234/a"},
            {"id": "later", "DOI": "10.1234/a"},
            {"id": "arxiv", "custom": {"arxiv_id": "1706.03762"}},
            {"id": "pmid", "PMID": "12"},
            {"id": "pmcid", "PMCID": "PMC12"},
            {"id": "isbn", "ISBN": "9780306406157"},
        ]
    )
    assert known.find(identifier) == expected


def test_a_web_page_is_known_by_its_type_title_and_address() -> None:
    page = {"type": "webpage", "title": "A page", "URL": "https://example.org/a/"}
    works = KnownWorks([{"id": "page", **page}])
    assert works.find({**page, "title": "A Page", "URL": "https://example.org/a"}) == Duplicate(
        "page", "url"
    )
    assert works.find({**page, "URL": "https://example.org/b"}) is None
    assert works.find({**page, "type": "report"}) is None


BASE = {"type": "article-journal", "title": "Letter", "issued": {"date-parts": [[1999]]}}


@pytest.mark.promise("L6")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"volume": "20", "issue": "1", "page": "5-6"}, {"volume": "20", "issue": "2"}),
        ({"page": "5-6"}, {"page": "85-86"}),
        ({"type": "book", "volume": "1"}, {"type": "book", "volume": "Vol. 2"}),
        ({"type": "book", "edition": "first"}, {"type": "book", "edition": "second"}),
        (
            {"type": "chapter", "container-title": "Book One"},
            {"type": "chapter", "container-title": "Book Two"},
        ),
        (
            {"type": "webpage", "URL": "https://example.org/a"},
            {"type": "webpage", "URL": "https://example.org/b"},
        ),
    ],
)
def test_works_of_one_title_that_stand_in_other_places_are_all_kept(
    one: dict[str, str], other: dict[str, str]
) -> None:
    works = KnownWorks([{**BASE, **one, "id": "a"}])
    assert works.find({**BASE, **other}) is None
    works.add({**BASE, **other, "id": "b"})
    assert works.find({**BASE, **one}) == Duplicate("a", "title")
    found = works.find({**BASE, **other})
    assert found is not None
    assert found.reference_id == "b"


@pytest.mark.promise("L6")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"volume": "20", "page": "5-6"}, {"page": "5"}),
        ({"volume": "20"}, {"volume": "Volume 20"}),
        ({"issue": "3-4"}, {"issue": "3"}),
        ({"container-title": "J. Chem."}, {"container-title": "Journal of Chemistry"}),
    ],
)
def test_a_work_that_is_written_otherwise_is_one_work(
    one: dict[str, str], other: dict[str, str]
) -> None:
    works = KnownWorks([{**BASE, **one, "id": "a"}])
    assert works.find({**BASE, **other}) == Duplicate("a", "title")


def test_a_thousand_letters_of_one_title_are_told_apart() -> None:
    letters = [{**BASE, "id": f"l{n}", "volume": "1", "page": str(n)} for n in range(1000)]
    works = KnownWorks([])
    for letter in letters:
        assert works.find(letter) is None
        works.add(letter)
    assert works.find({**BASE, "volume": "1", "page": "999"}) == Duplicate("l999", "title")
