"""What of a query is checked again on found works, and what is told as unchecked."""

from __future__ import annotations

import pytest

from carrel.libraries.literature.query_filter import QueryJudgement, judge_work
from carrel.libraries.literature.records import (
    Author,
    MergedWork,
    ServiceRecord,
    Venue,
    WorkIds,
    WorkRecord,
)
from carrel.libraries.query.papers import parse_paper_query

WORK = WorkRecord(
    ids=WorkIds(doi="10.1000/x", pmid="123"),
    title="Sleep and memory in ageing mice",
    abstract="We studied consolidation of memories during slow wave sleep.",
    authors=(Author("Müller", "Jörg Peter"), Author("Okada", "A")),
    issued="2019-05",
    venue=Venue("Journal of Biological Chemistry"),
)
BARE = WorkRecord(title="Sleep and memory in ageing mice")


def judge(query: str, work: WorkRecord = WORK, *, is_expressed: bool = False) -> QueryJudgement:
    found = MergedWork(work, {}, (ServiceRecord("arxiv", "1", work),))
    return judge_work(parse_paper_query(query), found, {"arxiv"} if is_expressed else ())


@pytest.mark.parametrize(
    "query",
    [
        "sleep year:2020..2024",
        "sleep -memory",
        "sleep NOT mice",
        'sleep "rapid eye movement"',
        "title:dreams",
        "author:okafor",
        "author:meyer sleep",
        "venue:nature",
        "doi:10.1000/y",
        "sleep AND (year:2001 OR year:2002)",
    ],
)
def test_what_contradicts_the_query_is_left_out(query: str) -> None:
    assert judge(query) == QueryJudgement(is_kept=False)


@pytest.mark.parametrize(
    "query",
    [
        "anything at all",
        "sleep year:2019",
        "sleep year:..2020",
        '"slow wave sleep"',
        "title:memories",
        "title:age*",
        "author:muller",
        'author:"J Müller"',
        'author:"Müller, Jörg"',
        "author:okada",
        'venue:"J Biol Chem"',
        'venue:"Journal of Biological Chemistry"',
        "doi:10.1000/X",
        "sleep -dreams",
        '"slow wave" OR year:1990',
    ],
)
def test_what_fits_stays_and_nothing_is_unchecked(query: str) -> None:
    assert judge(query) == QueryJudgement(is_kept=True)


@pytest.mark.parametrize(
    ("query", "unchecked"),
    [
        ("sleep year:2019", ("year:2019..2019",)),
        ('"slow wave"', ('"slow wave"',)),
        ("author:okada", ("author:okada",)),
        ("venue:nature", ("venue:nature",)),
        ("sleep -dreams", ("dreams",)),
        ("tag:mine", ("tag:mine",)),
        ("doi:10.1000/x", ("id:10.1000/x",)),
    ],
)
def test_what_a_record_does_not_say_is_told_as_unchecked(
    query: str, unchecked: tuple[str, ...]
) -> None:
    assert judge(query, BARE) == QueryJudgement(is_kept=True, unchecked=unchecked)


def test_a_service_that_read_the_whole_query_is_trusted_but_for_years_and_excluded_words() -> None:
    assert judge('"rapid eye movement"', is_expressed=True) == QueryJudgement(is_kept=True)
    assert judge("venue:nature", is_expressed=True) == QueryJudgement(is_kept=True)
    assert judge("sleep year:2020", is_expressed=True) == QueryJudgement(is_kept=False)
    assert judge("sleep -mice", is_expressed=True) == QueryJudgement(is_kept=False)


def test_any_year_that_a_record_of_the_work_states_may_fit() -> None:
    printed = WorkRecord(title="x", issued="2020")
    found = MergedWork(WORK, {}, (ServiceRecord("a", "1", WORK), ServiceRecord("b", "2", printed)))
    assert judge_work(parse_paper_query("x year:2020"), found, ()).is_kept


def test_a_cut_list_of_authors_decides_nothing() -> None:
    cut = WorkRecord(title="x", authors=(Author("Okada", "A"),), is_authors_cut=True)
    assert judge("author:meyer", cut) == QueryJudgement(is_kept=True, unchecked=("author:meyer",))
