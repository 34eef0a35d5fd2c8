"""Found works as CSL items, and gaps filled from them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from carrel.libraries.csl.schema import ITEM_TYPES, VARIABLES
from carrel.libraries.literature.csl_items import csl_gaps, fill_csl_gaps, work_as_csl
from carrel.libraries.literature.merging import merge_records
from carrel.libraries.literature.records import Author, MergedWork, Venue, WorkKind, WorkRecord
from tests.libraries.literature.made_records import TITLE, make_record

pytestmark = pytest.mark.promise("W2")


def article(**changes: Any) -> MergedWork:
    crossref = make_record(
        "crossref",
        ids={"doi": "10.1000/1"},
        issued="2019-05-17",
        venue="Sleep Medicine",
        volume="12",
        issue="3",
        pages="100-110",
        kind="article-journal",
        **changes,
    )
    pubmed = make_record(
        "pubmed", ids={"doi": "10.1000/1", "pmid": "5"}, abstract="CO<sub>2</sub> and sleep."
    )
    (work,) = merge_records([crossref, pubmed])
    return work


# Refusals first.


def test_a_mistyped_doi_fills_nothing_where_title_and_people_are_others() -> None:
    other = {"title": "Medieval tin mining", "author": [{"family": "Hatcher", "given": "J."}]}
    item = {"type": "article-journal", "DOI": "10.1000/1", **other}
    filled = fill_csl_gaps(item, article())
    assert "another work" in filled.contradiction
    assert filled.item == item
    # A translated title of the same people, and a title without people, are the work's own.
    same = work_as_csl(article())["author"]
    assert not fill_csl_gaps({**item, "author": same}, article()).contradiction
    assert not fill_csl_gaps({**item, "author": []}, article()).contradiction


def test_nothing_is_filled_from_a_work_with_another_doi() -> None:
    item = {"type": "article-journal", "title": TITLE, "DOI": "https://doi.org/10.2000/2"}
    filled = fill_csl_gaps(item, article())
    assert filled.item == item
    assert not filled.filled
    assert "10.2000/2" in filled.contradiction


def test_an_article_is_not_filled_from_its_preprint() -> None:
    (preprint,) = merge_records(
        [make_record("arxiv", ids={"arxiv": "1805.00001"}, kind="preprint")]
    )
    item = {"type": "article-journal", "title": TITLE, "container-title": "Sleep Medicine"}
    assert fill_csl_gaps(item, preprint).contradiction


def test_what_an_item_has_is_never_changed() -> None:
    item = {
        "type": "article-journal",
        "title": "My own title",
        "issued": {"date-parts": [[2018]]},
        "author": [{"literal": "Me"}],
        "note": "mine",
    }
    filled = fill_csl_gaps(item, article())
    assert {name: filled.item[name] for name in item} == item
    assert not filled.filled.keys() & item.keys()


def test_another_volume_keeps_the_place_as_it_is() -> None:
    item = {"type": "article-journal", "container-title": "Sleep Medicine", "volume": "99"}
    filled = fill_csl_gaps(item, article())
    assert "page" not in filled.item
    assert filled.filled["abstract"] == "pubmed"


# What is filled, and from whom.


def test_gaps_are_filled_with_the_service_that_gave_each() -> None:
    item = {"type": "article-journal", "title": TITLE, "volume": "", "DOI": "10.1000/1"}
    assert csl_gaps(item) == (
        "author", "issued", "container-title", "volume", "issue", "page", "abstract",
    )  # fmt: skip
    filled = fill_csl_gaps(item, article())
    assert csl_gaps(filled.item) == ()
    assert filled.filled["abstract"] == filled.filled["PMID"] == "pubmed"
    assert filled.filled["volume"] == filled.filled["page"] == "crossref"
    assert filled.item["abstract"] == "CO2 and sleep."
    assert item["volume"] == ""


def test_a_book_wants_an_isbn_and_no_pages() -> None:
    assert csl_gaps({"type": "book", "title": "Sleep"}) == ("author", "issued", "publisher", "ISBN")


def test_dates_without_a_year_are_gaps() -> None:
    assert "issued" in csl_gaps({"type": "article", "issued": {"date-parts": [[]]}})
    assert "issued" not in csl_gaps({"type": "article", "issued": {"literal": "in press"}})


# Works as items.


def test_an_article_is_a_whole_item() -> None:
    item = work_as_csl(article())
    assert item == {
        "type": "article-journal",
        "title": TITLE,
        "author": [
            {"family": "Smith", "given": "Ann B."},
            {"family": "García", "given": "Carlos"},
            {"family": "Zhang", "given": "Wei"},
        ],
        "issued": {"date-parts": [[2019, 5, 17]]},
        "container-title": "Sleep Medicine",
        "volume": "12",
        "issue": "3",
        "page": "100-110",
        "abstract": "CO2 and sleep.",
        "DOI": "10.1000/1",
        "PMID": "5",
    }


def test_a_preprint_names_its_server_and_number() -> None:
    (work,) = merge_records(
        [make_record("arxiv", ids={"arxiv": "1805.00001"}, venue="arXiv", kind="preprint")]
    )
    item = work_as_csl(work)
    assert (item["type"], item["genre"], item["publisher"]) == ("article", "preprint", "arXiv")
    assert item["number"] == "arXiv:1805.00001"
    assert item["custom"] == {"arxiv_id": "1805.00001"}
    assert "container-title" not in item


def test_a_list_of_authors_that_was_cut_says_so() -> None:
    record = make_record("openalex", ids={"doi": "10.1000/1"}, is_authors_cut=True)
    assert work_as_csl(record.work)["custom"] == {"et_al": ["author"]}


def test_groups_and_names_with_one_part_are_literal() -> None:
    work = WorkRecord(title="T", authors=(Author(literal="WHO"), Author(given="Plato"), Author()))
    assert work_as_csl(work)["author"] == [{"literal": "WHO"}, {"literal": "Plato"}]


@pytest.mark.parametrize(
    "kind",
    ["article-journal", "paper-conference", "preprint", "chapter", "book", "thesis", "report",
     "review", "dataset", "software", "editorial", "letter", "erratum", "retraction",
     "peer-review", "reference-entry", "other", None],
)  # fmt: skip
def test_every_kind_is_a_type_of_csl_with_its_variables(kind: WorkKind | None) -> None:
    work = replace(article().work, kind=kind, venue=Venue("V", "V.", ("1234-5678",), "P"))
    item = work_as_csl(work)
    assert item["type"] in ITEM_TYPES
    assert item.keys() <= VARIABLES
