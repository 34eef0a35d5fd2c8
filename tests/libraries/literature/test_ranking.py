"""The order of found works."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from carrel.libraries.literature.merging import merge_records
from carrel.libraries.literature.ranking import fuse_ranks, rank_works
from carrel.libraries.literature.records import MergedWork, ServiceRecord
from carrel.libraries.query.papers import parse_paper_query
from tests.libraries.literature.made_records import make_record

pytestmark = pytest.mark.promise("W1")


def found(title: str, abstract: str = "", *, doi: str = "", **ranks: int) -> list[ServiceRecord]:
    ids = {"doi": doi or f"10.1000/{abs(hash(title)) % 10**8}"}
    return [
        make_record(service, title=title, abstract=abstract, ids=ids, rank=rank)
        for service, rank in ranks.items()
    ]


def titles(records: list[ServiceRecord], query: str) -> list[str]:
    works = merge_records(records)
    return [work.work.title for work in rank_works(works, parse_paper_query(query))]


SLEEP = found("Sleep and memory in mice", "We study sleep.", openalex=5, crossref=7)
WHEAT = found("Growth of wheat", "Rain and soil.", openalex=1, crossref=1, pubmed=1)


def test_false_copies_come_last() -> None:
    copy = found("Sleep and memory", doi="10.65215/1", crossref=1)
    copy = [replace(each, work=replace(each.work, issued="2025")) for each in copy]
    assert titles([*copy, *WHEAT], "sleep and memory") == ["Growth of wheat", "Sleep and memory"]


def test_what_has_the_words_comes_before_what_services_rank_first() -> None:
    assert titles([*WHEAT, *SLEEP], "sleep memory")[0] == "Sleep and memory in mice"


def test_without_words_the_fused_ranks_decide() -> None:
    assert titles([*SLEEP, *WHEAT], "year:2010..2024")[0] == "Growth of wheat"


def test_neighbours_in_the_question_count_as_neighbours() -> None:
    apart = found("Learning of deep structures in a network", openalex=1)
    together = found("Structures of deep learning in a network", openalex=2)
    assert titles([*apart, *together], '"deep learning"')[0].startswith("Structures")


def test_the_work_named_by_title_or_identifier_is_first() -> None:
    longer = found("Sleep, sleep and sleep", "Sleep sleep sleep.", openalex=1, crossref=1)
    exact = found("Sleep matters", doi="10.5555/x1", pubmed=50)
    assert titles([*longer, *exact], "Sleep Matters")[0] == "Sleep matters"
    assert titles([*longer, *exact], "10.5555/X1")[0] == "Sleep matters"


def test_words_of_the_title_field_are_looked_for_in_titles_alone() -> None:
    inside = found("Growth of plants", "wheat wheat wheat wheat", openalex=1)
    named = found("Wheat in the north", "plants", openalex=2)
    assert titles([*inside, *named], "title:wheat")[0] == "Wheat in the north"


def test_excluded_words_do_not_rank() -> None:
    mice = found("Memory of mice", openalex=1)
    people = found("Memory of people", openalex=2)
    assert titles([*mice, *people], "memory -mice")[0] in {"Memory of mice", "Memory of people"}
    ranked = rank_works(merge_records([*mice, *people]), parse_paper_query("memory -mice"))
    assert ranked[0].score - ranked[1].score < 0.1


def test_fused_ranks_count_each_service_once_with_its_best_rank() -> None:
    one = make_record("openalex", ids={"doi": "10.1000/1"}, rank=3, name="a")
    again = make_record("openalex", ids={"doi": "10.1000/1"}, rank=9, name="b")
    other = make_record("crossref", ids={"doi": "10.1000/1"}, rank=1)
    unasked = make_record("pubmed", ids={"doi": "10.1000/1"})
    (work,) = merge_records([one, again, other, unasked])
    assert fuse_ranks(work) == pytest.approx(1 / 63 + 1 / 61)


def test_the_order_of_works_makes_no_difference() -> None:
    many = [
        each
        for at in range(12)
        for each in found(f"Study {at} of sleep and memory in mice", openalex=at % 3 + 1)
    ]
    works = merge_records(many)
    query = parse_paper_query("sleep memory")
    expected = rank_works(works, query)
    shuffled: list[MergedWork] = list(works)
    random.Random(4).shuffle(shuffled)
    assert rank_works(shuffled, query) == expected
    assert rank_works([], query) == []
