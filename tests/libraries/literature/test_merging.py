"""Records of many services become works."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.libraries.literature.merging import list_records, merge_records
from carrel.libraries.literature.records import (
    MergedWork,
    Notice,
    ServiceRecord,
    VersionPointer,
    WorkIds,
    WorkRecord,
)
from tests.libraries.literature.made_records import PEOPLE, TITLE, make_record

pytestmark = pytest.mark.promise("W1")

ARTICLE = make_record(
    "crossref",
    ids={"doi": "10.1016/j.sleep.2019.01"},
    venue="Sleep Medicine",
    volume="12",
    pages="100-110",
    kind="article-journal",
    rank=1,
)


def groups(*records: ServiceRecord) -> set[frozenset[str]]:
    return {frozenset(each.service for each in work.records) for work in merge_records(records)}


def find(works: list[MergedWork], service: str) -> MergedWork:
    return next(work for work in works if service in {each.service for each in work.records})


# Refusals first: what must stay apart.


def test_two_articles_with_different_dois_stay_apart_and_the_shared_identifier_is_told() -> None:
    one = make_record("crossref", ids={"doi": "10.1000/1", "pmid": "11"}, kind="article-journal")
    other = make_record("pubmed", ids={"doi": "10.2000/2", "pmid": "11"}, kind="article-journal")
    works = merge_records([one, other])
    assert len(works) == 2
    assert all("11" in " ".join(work.conflicts) for work in works)
    assert [work.work.ids.pmid for work in works].count("11") == 1


@pytest.mark.parametrize(
    "title",
    ["Editorial", "Introduction", "Book Reviews", "Correction to: " + TITLE, "Reply to: " + TITLE],
)
def test_generic_titles_and_notices_are_not_joined_by_likeness(title: str) -> None:
    one = make_record("crossref", title=title, ids={"doi": "10.1000/1"}, venue="Sleep")
    other = make_record("openalex", title=title, ids={"openalex": "W1"}, venue="Sleep")
    assert len(merge_records([one, other])) == 2


def test_parts_of_a_series_stay_apart() -> None:
    second = make_record("crossref", title=f"{TITLE}. Part II", ids={"doi": "10.1000/2"})
    third = make_record("openalex", title=f"{TITLE}. Part III", ids={"openalex": "W3"})
    whole = make_record("semantic_scholar", ids={"corpus_id": "1"})
    assert len(merge_records([second, third, whole])) == 3


def test_a_correction_is_not_its_article() -> None:
    notice = make_record("pubmed", title=f"Erratum: {TITLE}", ids={"pmid": "5"}, kind="erratum")
    silent = make_record("europepmc", ids={"europepmc": "MED/6"}, kind="erratum")
    assert groups(ARTICLE, notice, silent) == {
        frozenset({"crossref"}),
        frozenset({"pubmed"}),
        frozenset({"europepmc"}),
    }


def test_a_doi_on_another_title_and_other_people_is_the_registration_agencys() -> None:
    wrong = make_record(
        "openalex",
        title="Growth of wheat under drought",
        authors="Otto Bauer",
        ids={"doi": "10.1016/j.sleep.2019.01", "openalex": "W9"},
    )
    works = merge_records([wrong, ARTICLE])
    assert len(works) == 2
    assert find(works, "crossref").work.ids.doi == "10.1016/j.sleep.2019.01"
    assert find(works, "openalex").work.ids.doi is None
    assert all("another work" in " ".join(work.conflicts) for work in works)


def test_a_doi_on_another_title_of_the_same_people_is_one_work_with_a_conflict() -> None:
    translated = make_record(
        "openalex", title="Schlafmangel und Gedächtnis", ids={"doi": "10.1016/j.sleep.2019.01"}
    )
    (work,) = merge_records([translated, ARTICLE])
    assert work.work.title == TITLE
    assert work.origins["title"] == "crossref"
    assert "titles differ" in work.conflicts[0]


def test_known_false_twins_are_refused_and_marked() -> None:
    true = make_record(
        "semantic_scholar", ids={"semantic_scholar": "a" * 40}, venue="Sleep", citations=9000
    )
    fake = make_record("crossref", ids={"doi": "10.65215/abc"}, issued="2025", citations=0)
    works = merge_records([fake, true])
    assert len(works) == 2
    assert find(works, "crossref").copy_of == find(works, "semantic_scholar").work.ids
    assert "copy" in find(works, "crossref").conflicts[0]
    assert find(works, "semantic_scholar").copy_of is None


def test_a_false_doi_that_a_service_attached_to_the_true_work_is_taken_off() -> None:
    fake = make_record("crossref", ids={"doi": "10.65215/abc"}, issued="2025-03-01")
    melted = make_record("openalex", ids={"doi": "10.65215/abc", "openalex": "W1"}, venue="Sleep")
    true = make_record("pubmed", ids={"pmid": "7"}, venue="Sleep")
    works = merge_records([fake, melted, true])
    assert groups(fake, melted, true) == {
        frozenset({"crossref"}),
        frozenset({"openalex", "pubmed"}),
    }
    assert find(works, "openalex").work.ids.doi is None
    assert "that of a copy" in find(works, "openalex").conflicts[0]


def test_an_unknown_copy_is_marked_by_year_registrant_and_citations() -> None:
    famous = make_record(
        "crossref", ids={"doi": "10.1000/1"}, issued="2009", venue="Sleep", citations=5000
    )
    copy = make_record("crossref", ids={"doi": "10.99999/1"}, issued="2025", citations=0)
    works = merge_records([famous, copy])
    marked = [work.copy_of for work in works]
    assert {work.work.ids.doi: work.copy_of is not None for work in works} == {
        "10.1000/1": False,
        "10.99999/1": True,
    }
    assert WorkIds(doi="10.1000/1") in marked


def test_the_article_of_a_much_cited_preprint_is_no_copy() -> None:
    preprint = make_record(
        "semantic_scholar",
        ids={"arxiv": "0901.00001"},
        issued="2009",
        kind="preprint",
        citations=5000,
    )
    article = make_record(
        "crossref", ids={"doi": "10.99999/1"}, issued="2015", venue="Sleep", citations=0
    )
    assert all(work.copy_of is None for work in merge_records([preprint, article]))


# Versions are linked, not melted.


def test_preprint_and_article_are_linked_by_likeness() -> None:
    preprint = make_record(
        "biorxiv", ids={"doi": "10.1101/2018.05.01"}, issued="2018", kind="preprint"
    )
    works = merge_records([preprint, ARTICLE])
    assert len(works) == 2
    (to_article,) = find(works, "biorxiv").versions
    assert (to_article.relation, to_article.origin) == ("published_as", "likeness")
    assert to_article.ids.doi == "10.1016/j.sleep.2019.01"
    (to_preprint,) = find(works, "crossref").versions
    assert (to_preprint.relation, to_preprint.ids.doi) == ("preprint_of", "10.1101/2018.05.01")


def test_a_stated_version_is_linked_though_the_titles_differ() -> None:
    preprint = make_record(
        "arxiv",
        title="Sleepless and forgetful",
        ids={"arxiv": "1805.00001"},
        issued="2018",
        kind="preprint",
        versions=(VersionPointer("published_as", WorkIds(doi="10.1016/j.sleep.2019.01"), "arxiv"),),
    )
    works = merge_records([preprint, ARTICLE])
    (link,) = find(works, "crossref").versions
    assert (link.relation, link.ids.arxiv, link.origin) == ("preprint_of", "1805.00001", "arxiv")


def test_a_version_that_nobody_returned_is_named() -> None:
    preprint = make_record(
        "arxiv",
        ids={"arxiv": "1805.00001"},
        versions=(VersionPointer("published_as", WorkIds(doi="10.1000/9"), "arxiv"),),
    )
    (work,) = merge_records([preprint])
    assert [(link.relation, link.ids.doi, link.title) for link in work.versions] == [
        ("published_as", "10.1000/9", "")
    ]


def test_a_record_of_both_versions_goes_to_the_article_and_links_the_preprint() -> None:
    preprint = make_record("arxiv", ids={"arxiv": "1805.00001"}, issued="2018", kind="preprint")
    both = make_record(
        "semantic_scholar",
        ids={"doi": "10.1016/j.sleep.2019.01", "arxiv": "1805.00001", "corpus_id": "3"},
        venue="Sleep Medicine",
    )
    works = merge_records([preprint, both, ARTICLE])
    assert groups(preprint, both, ARTICLE) == {
        frozenset({"arxiv"}),
        frozenset({"crossref", "semantic_scholar"}),
    }
    assert find(works, "crossref").work.ids.arxiv is None
    assert find(works, "crossref").versions[0].ids.arxiv == "1805.00001"
    assert find(merge_records([both, ARTICLE]), "crossref").work.ids.arxiv == "1805.00001"


def test_the_same_pubmed_number_on_preprint_and_article_links_them() -> None:
    preprint = make_record("openalex", ids={"doi": "10.1101/1", "pmid": "8"}, kind="preprint")
    article = make_record("pubmed", ids={"doi": "10.1000/8", "pmid": "8"}, venue="Sleep")
    works = merge_records([preprint, article])
    assert find(works, "pubmed").versions[0].relation == "preprint_of"


def test_pubmeds_record_of_an_arxiv_preprint_is_the_preprint() -> None:
    preprint = make_record("arxiv", ids={"arxiv": "1805.00001"}, kind="preprint")
    indexed = make_record("pubmed", ids={"arxiv": "1805.00001", "pmid": "5"}, kind="preprint")
    (work,) = merge_records([preprint, indexed])
    assert (work.work.ids.arxiv, work.work.ids.pmid) == ("1805.00001", "5")


def test_a_doi_counts_before_what_a_service_calls_the_kind() -> None:
    called = make_record(
        "openalex",
        ids={"doi": "10.1016/j.sleep.2019.01", "arxiv": "1805.00001", "openalex": "W1"},
        kind="preprint",
    )
    (work,) = merge_records([called, ARTICLE])
    assert work.work.kind == "article-journal"


def test_numbered_versions_of_one_text_are_linked() -> None:
    first = make_record("crossref", ids={"doi": "10.21203/rs.3.rs-1/v1"}, kind="preprint")
    second = make_record("europepmc", ids={"doi": "10.21203/rs.3.rs-1/v2"}, kind="preprint")
    works = merge_records([first, second])
    assert [work.versions[0].relation for work in works] == ["version_of", "version_of"]


# What is one work.


@pytest.mark.parametrize(
    ("ids", "other"),
    [
        ({"doi": "10.1000/1"}, {"doi": "10.1000/1"}),
        ({"doi": "10.1000/1"}, {"doi": "https://doi.org/10.1000/1"}),
        ({"doi": "10.1000/AB"}, {"doi": "10.1000/ab"}),
        ({"pmid": "1"}, {"europepmc": "MED/1"}),
        ({"pmcid": "PMC12"}, {"pmcid": "12"}),
        ({"arxiv": "1805.00001"}, {"arxiv": "1805.00001v3"}),
        ({"arxiv": "1805.00001"}, {"doi": "10.48550/arxiv.1805.00001"}),
        ({"arxiv": "math.GT/0309136"}, {"arxiv": "math.GT/0309136v2"}),
        ({"corpus_id": "4"}, {"corpus_id": "4"}),
        ({"openalex": "W4"}, {"openalex": "W4"}),
        ({"dblp": "conf/x/1"}, {"dblp": "conf/x/1"}),
    ],
)
def test_one_identifier_is_one_work_whatever_the_title(
    ids: dict[str, str], other: dict[str, str]
) -> None:
    one = make_record("openalex", ids=ids)
    again = make_record("semantic_scholar", title="Sleep (revised)", ids=other, issued="2012")
    assert len(merge_records([one, again])) == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"title": TITLE.upper()},
        {"title": f"[{TITLE}]."},
        {"title": TITLE.replace("sleep loss", "<i>sleep</i> loss")},
        {"title": f"RETRACTED: {TITLE}"},
        {"title": f"{TITLE}: a cohort study"},
        {"authors": "A Smith; C Garcia; W Zhang"},
        {"authors": "Ann Smith"},
        {"issued": "2020"},
        {"issued": None},
        {"authors": "", "venue": "Sleep Medicine"},
    ],
)
def test_the_same_work_without_a_common_identifier_is_joined(changed: dict[str, str]) -> None:
    other = make_record("openalex", **{"ids": {"openalex": "W1"}, **changed})  # type: ignore[arg-type]
    assert len(merge_records([ARTICLE, other])) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Role of α-synuclein in H<sub>2</sub>O", r"Role of $\alpha$-synuclein in H$_2$O"),
        ("Role of α-synuclein in older adults", "Role of alpha-synuclein in older adults"),
        ("Tumour behaviour in ageing adults", "Tumor behavior in aging adults"),
        (r"Collisions at $\sqrt{s}=7$ TeV in {ATLAS}", "Collisions at √s = 7 TeV in ATLAS"),
        (r"Decay of $\Lambda_b^0 \to J/\psi K$ observed", "Decay of Λb0 → J/ψ K observed"),
        (r"Schr\"odinger operators and \'etale maps", "Schrödinger operators and étale maps"),
    ],
)
def test_formulas_and_spellings_of_services_are_one_title(one: str, other: str) -> None:
    here = make_record("crossref", title=one, ids={"doi": "10.1000/1"})
    there = make_record("arxiv", title=other, ids={"openalex": "W1"})
    assert len(merge_records([here, there])) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("IL-1α in the sleep of older adults", "IL-1β in the sleep of older adults"),
        ("Sleep in type 1 diabetes of adults", "Sleep in type 2 diabetes of adults"),
        ("Sleep and memory in older men", "Sleep and memory in older women"),
    ],
)
def test_titles_that_differ_in_a_word_stay_apart(one: str, other: str) -> None:
    here = make_record("crossref", title=one, ids={"doi": "10.1000/1"})
    there = make_record("openalex", title=other, ids={"openalex": "W1"})
    assert len(merge_records([here, there])) == 2


def test_nobody_and_a_short_title_is_not_enough() -> None:
    one = make_record("crossref", title="Sleep", authors="", ids={"doi": "10.1000/1"}, venue="S")
    other = make_record("openalex", title="Sleep", authors="", ids={"openalex": "W1"}, venue="S")
    assert len(merge_records([one, other])) == 2


def test_a_journal_and_its_abbreviation_are_one_venue_by_their_issn() -> None:
    full = make_record("crossref", authors="", ids={"doi": "10.1000/1"}, venue="Proc. Sleep Acad.")
    short = make_record("pubmed", authors="", ids={"pmid": "1"}, venue="PSA")
    issn = ("1389-9457",)
    records = [
        replace(each, work=replace(each.work, venue=replace(each.work.venue, issn=issn)))
        for each in (full, short)
    ]
    assert len(merge_records([full, short])) == 2
    assert len(merge_records(records)) == 1


def test_a_shortened_name_of_a_journal_is_that_journal() -> None:
    full = make_record("crossref", authors="", ids={"doi": "10.1000/1"}, venue="Journal of Sleep")
    short = make_record("pubmed", authors="", ids={"pmid": "1"}, venue="J Sleep")
    other = make_record("pubmed", authors="", ids={"pmid": "1"}, venue="J Sleep Med")
    assert len(merge_records([full, short])) == 1
    assert len(merge_records([full, other])) == 2


def test_a_record_returned_twice_counts_once_with_its_best_rank() -> None:
    later = replace(ARTICLE, rank=30)
    (work,) = merge_records([later, ARTICLE, later])
    assert [record.rank for record in work.records] == [1]


# Retractions and counts.


def test_any_retraction_counts_and_every_notice_is_kept_with_its_service() -> None:
    retracted = replace(
        make_record("pubmed", ids={"doi": "10.1016/j.sleep.2019.01", "pmid": "3"}),
        citation_count=4,
    )
    notices = (Notice("retraction", "2021-02", pmid="99"), Notice("correction"))
    retracted = replace(retracted, work=replace(retracted.work, notices=notices))
    watch = make_record(
        "openalex",
        ids={"doi": "10.1016/j.sleep.2019.01"},
        notices=(Notice("retraction", service="openalex"),),
        citations=7,
    )
    (work,) = merge_records([ARTICLE, retracted, watch])
    assert work.work.is_retracted
    assert Counter(notice.service for notice in work.work.notices) == {"pubmed": 2, "openalex": 1}
    assert work.citation_counts == {"pubmed": 4, "openalex": 7}


# What holds for all records.

_SERVICES = ("crossref", "pubmed", "openalex", "semantic_scholar", "arxiv", "europepmc")
_TITLES = (TITLE, f"{TITLE}. Part II", f"Correction to: {TITLE}", "Editorial", "Sleep in mice", "")
_PEOPLE = (PEOPLE, "A. Smith; C. Garcia", "Otto Bauer", "")
_IDS: tuple[dict[str, str], ...] = (
    {"doi": "10.1000/1"}, {"doi": "10.1101/2"}, {"doi": "10.65215/3"}, {"arxiv": "1805.00001"},
    {"pmid": "1"}, {"pmid": "1", "doi": "10.1000/1"}, {"arxiv": "1805.00001", "doi": "10.1000/1"},
    {"openalex": "W1"}, {"pmcid": "PMC1", "doi": "10.2000/5"}, {},
)  # fmt: skip
_POINTERS = ((), (VersionPointer("published_as", WorkIds(doi="10.1000/1"), ""),))


@st.composite
def service_records(draw: st.DrawFn) -> ServiceRecord:
    return make_record(
        draw(st.sampled_from(_SERVICES)),
        title=draw(st.sampled_from(_TITLES)),
        authors=draw(st.sampled_from(_PEOPLE)),
        issued=draw(st.sampled_from(("2018", "2019", "2019-05-01", "2025", None))),
        ids=dict(draw(st.sampled_from(_IDS))),
        venue=draw(st.sampled_from(("", "Sleep", "bioRxiv"))),
        rank=draw(st.sampled_from((None, 1, 2, 3))),
        citations=draw(st.sampled_from((None, 0, 5000))),
        kind=draw(st.sampled_from((None, "article-journal", "preprint", "erratum"))),
        volume=draw(st.sampled_from(("", "3"))),
        versions=draw(st.sampled_from(_POINTERS)),
        name=draw(st.sampled_from(("", "a", "b", "c"))),
    )


@settings(max_examples=150, deadline=None)
@given(st.lists(service_records(), max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_records_makes_no_difference(
    records: list[ServiceRecord], rng: random.Random
) -> None:
    shuffled = list(records)
    rng.shuffle(shuffled)
    assert merge_records(shuffled) == merge_records(records)


@settings(max_examples=100, deadline=None)
@given(st.lists(service_records(), max_size=12), st.integers(0, 12))
def test_merging_again_or_page_by_page_gives_the_same(
    records: list[ServiceRecord], at: int
) -> None:
    once = merge_records(records)
    assert merge_records(list_records(once)) == once
    page = merge_records(records[:at])
    assert merge_records([*list_records(page), *records[at:]]) == once


@settings(max_examples=150, deadline=None)
@given(st.lists(service_records(), max_size=12))
def test_every_record_is_in_one_work_and_no_identifier_in_two(
    records: list[ServiceRecord],
) -> None:
    works = merge_records(records)
    kept = [(each.service, each.service_id, each.work) for each in list_records(works)]
    assert len(kept) == len(set(kept))
    assert set(kept) == {(each.service, each.service_id, each.work) for each in records}
    keys: Counter[str] = Counter()
    for work in works:
        keys.update(work.work.ids.keys())
    assert not [key for key, count in keys.items() if count > 1]
    for work in works:
        dois = {each.work.ids.doi for each in work.records if each.service != "arxiv"} - {None}
        assert len(dois - {"10.65215/3"}) <= 1
        assert all(link.ids != work.work.ids or not link.ids.keys() for link in work.versions)


@settings(max_examples=100, deadline=None)
@given(st.lists(service_records(), max_size=12))
def test_every_field_that_is_known_has_an_origin_among_its_records(
    records: list[ServiceRecord],
) -> None:
    for work in merge_records(records):
        services = {each.service for each in work.records}
        assert set(work.origins.values()) <= services
        kinds = {f"ids.{key.partition(':')[0]}" for key in tuple(work.work.ids.keys())}
        assert kinds <= work.origins.keys()
        for field in ("title", "abstract", "authors", "issued", "kind", "volume"):
            assert bool(getattr(work.work, field)) == (field in work.origins)


def test_broken_records_cost_little() -> None:
    long = "sleep " * 50_000 + " " * 50_000
    many = "; ".join(f"Ann Smith{at}" for at in range(5_000))
    records = [
        make_record(service, title=long, authors=many, ids={"pmid": str(at)})
        for at, service in enumerate(_SERVICES)
    ]
    assert len(merge_records(records)) == len(records)


def test_nothing_merges_to_nothing() -> None:
    assert merge_records([]) == []
    (empty,) = merge_records([ServiceRecord("openalex", "", WorkRecord())])
    assert empty.work == WorkRecord()
