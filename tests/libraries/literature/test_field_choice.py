"""Which service is believed for each field."""

from __future__ import annotations

from dataclasses import replace

import pytest

from carrel.libraries.literature.merging import merge_records
from carrel.libraries.literature.records import (
    Author,
    CitedWorkRecord,
    MergedWork,
    ServiceRecord,
    TextLocation,
    Venue,
)
from tests.libraries.literature.made_records import PEOPLE, TITLE, make_record, people

pytestmark = pytest.mark.promise("W1")

DOI = {"doi": "10.1000/1"}


def merge(*records: ServiceRecord) -> MergedWork:
    (work,) = merge_records(records)
    return work


def test_titles_are_crossrefs_and_abstracts_europe_pmcs() -> None:
    work = merge(
        make_record("openalex", ids=DOI, title=TITLE.lower(), abstract="From OpenAlex."),
        make_record("europepmc", ids=DOI, title=f"{TITLE}!", abstract="From Europe PMC."),
        make_record("crossref", ids=DOI, title=TITLE, abstract="From Crossref."),
    )
    assert (work.work.title, work.origins["title"]) == (TITLE, "crossref")
    assert (work.work.abstract, work.origins["abstract"]) == ("From Europe PMC.", "europepmc")


def test_a_title_in_capitals_and_a_cut_abstract_give_way() -> None:
    work = merge(
        make_record("crossref", ids=DOI, title=TITLE.upper()),
        make_record("semantic_scholar", ids=DOI, title=TITLE, abstract="We looked at sleep and …"),
        make_record("openalex", ids=DOI, title=TITLE, abstract="We looked at sleep and memory."),
    )
    assert work.work.title == TITLE
    assert work.origins["abstract"] == "openalex"


def test_authors_are_the_longest_list_that_nobody_cut() -> None:
    cut = make_record("pubmed", ids=DOI, authors=f"{PEOPLE}; Eva Berg", is_authors_cut=True)
    whole = make_record("openalex", ids=DOI, authors=PEOPLE)
    first = make_record("crossref", ids=DOI, authors="Ann B. Smith")
    work = merge(cut, whole, first)
    assert (work.work.authors, work.origins["authors"]) == (people(PEOPLE), "openalex")
    assert not work.work.is_authors_cut
    assert merge(cut, make_record("openalex", ids=DOI, authors="")).work.is_authors_cut


def test_of_equally_long_lists_full_given_names_count_before_the_service() -> None:
    initials = make_record("pubmed", ids=DOI, authors="A Smith; C García; W Zhang")
    full = make_record("crossref", ids=DOI, authors=PEOPLE)
    assert merge(initials, full).origins["authors"] == "crossref"
    assert merge(make_record("pubmed", ids=DOI), full).origins["authors"] == "pubmed"


@pytest.mark.parametrize(
    ("dates", "chosen"),
    [
        ({"crossref": "2019-05", "pubmed": "2019-05-17"}, "2019-05-17"),
        ({"crossref": "2019-06-01", "pubmed": "2019-05-17"}, "2019-05-17"),
        ({"crossref": "2019-06-01", "openalex": "2019-01-01"}, "2019-06-01"),
        ({"crossref": "2019", "openalex": "2019-01-01"}, "2019-01-01"),
        ({"crossref": "2019-05", "openalex": "2019-01-01"}, "2019-05"),
        ({"crossref": "2020", "pubmed": "2019"}, "2019"),
        # The date of the preprint, on its article.
        ({"crossref": "2020-05-01", "semantic_scholar": "2019-04-11"}, "2020-05-01"),
        ({"crossref": "2020", "openalex": "2020-02-03"}, "2020-02-03"),
        ({"crossref": None, "openalex": None}, None),
    ],
)
def test_the_date_is_the_earliest_full_one(
    dates: dict[str, str | None], chosen: str | None
) -> None:
    records = [make_record(name, ids=DOI, issued=date) for name, date in dates.items()]
    assert merge(*records).work.issued == chosen


def test_years_far_apart_are_told() -> None:
    work = merge(
        make_record("crossref", ids=DOI, issued="2015"),
        make_record("pubmed", ids=DOI, issued="2019"),
    )
    assert work.conflicts == ("the years differ: 2015 (crossref); 2019 (pubmed)",)


def test_a_venue_is_put_together_with_the_origin_of_each_part() -> None:
    named = make_record("crossref", ids=DOI, venue="Sleep Medicine")
    short = replace(
        make_record("pubmed", ids=DOI),
        work=replace(
            make_record("pubmed", ids=DOI).work,
            venue=Venue("Sleep Med", "Sleep Med", ("1389-9457",), "Elsevier"),
        ),
    )
    work = merge(named, short)
    assert work.work.venue == Venue("Sleep Medicine", "Sleep Med", ("1389-9457",), "Elsevier")
    assert work.origins["venue"] == "crossref"
    assert work.origins["venue.issn"] == work.origins["venue.publisher"] == "pubmed"


def test_pages_get_their_end_and_all_their_figures() -> None:
    first = make_record("crossref", ids=DOI, pages="228")
    both = make_record("pubmed", ids=DOI, pages="228-42")
    work = merge(first, both)
    assert (work.work.pages, work.origins["pages"]) == ("228-242", "pubmed")


def test_a_finer_kind_of_pubmed_counts_where_the_agency_says_article() -> None:
    article = make_record("crossref", ids=DOI, kind="article-journal")
    review = make_record("pubmed", ids=DOI, kind="review")
    assert merge(article, review).work.kind == "review"
    chapter = make_record("crossref", ids=DOI, kind="chapter")
    assert merge(chapter, review).work.kind == "chapter"


def test_identifiers_are_united_each_with_its_origin() -> None:
    work = merge(
        make_record("openalex", ids={**DOI, "openalex": "W1", "pmid": "5"}),
        make_record("pubmed", ids={**DOI, "pmid": "5", "pmcid": "PMC6"}),
        make_record("semantic_scholar", ids={**DOI, "corpus_id": "7"}),
    )
    assert work.work.ids.keys() == (
        "doi:10.1000/1", "pmid:5", "pmcid:PMC6", "openalex:W1", "corpus_id:7",
    )  # fmt: skip
    assert {name: work.origins[f"ids.{name}"] for name in ("doi", "pmid", "pmcid", "openalex")} == {
        "doi": "pubmed",
        "pmid": "pubmed",
        "pmcid": "pubmed",
        "openalex": "openalex",
    }


def test_places_of_the_text_are_united_and_the_longest_reference_list_is_kept() -> None:
    place = TextLocation("https://example.org/a.pdf", "pdf")
    cited = (CitedWorkRecord(title="One"), CitedWorkRecord(title="Two"))
    work = merge(
        make_record("crossref", ids=DOI, locations=(place,), references=cited[:1]),
        make_record("openalex", ids=DOI, locations=(place,), references=cited),
    )
    assert [each.service for each in work.work.locations] == ["crossref", "openalex"]
    assert (work.work.references, work.origins["references"]) == (cited, "openalex")


def test_an_unknown_service_is_believed_last_and_still_believed() -> None:
    work = merge(
        make_record("somewhere", ids=DOI, title="Sleep loss and memory", abstract="Theirs."),
        make_record("openalex", ids=DOI),
    )
    assert work.origins["title"] == "openalex"
    assert work.origins["abstract"] == "somewhere"


def test_groups_of_authors_stay_groups() -> None:
    group = make_record("pubmed", ids=DOI, authors="")
    group = replace(group, work=replace(group.work, authors=(Author(literal="Sleep Study Group"),)))
    assert merge(group).work.authors == (Author(literal="Sleep Study Group"),)
