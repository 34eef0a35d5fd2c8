"""Goals are read by what they name, whatever verb stands between; what the corpus does not know is
said, never replaced.
"""

from __future__ import annotations

import pytest

from carrel.libraries.discovery import GoalNotInCorpusError, NoConnectionError
from carrel.libraries.discovery.concepts.kinds import kind_in_index
from carrel.libraries.discovery.goals.records import Wanted
from carrel.libraries.discovery.goals.scope import explain_reading
from carrel.libraries.discovery.records import Kind
from tests.libraries.discovery.goal_corpus import goal_discovery

DISCOVERY = goal_discovery()
DRUG, TARGET = Wanted.DRUG, Wanted.TARGET


@pytest.mark.promise("S7")
@pytest.mark.parametrize(
    ("goal", "start", "end", "through", "wanted"),
    [
        ("Could zinc deficiency contribute to tinnitus?", "tinnitus", "zinc", None, None),
        ("Autophagy and neurodegeneration", "neurodegeneration", "autophagy", None, None),
        (
            "Could statins protect against Alzheimer's disease?",
            "alzheimer disease",
            "statin",
            None,
            None,
        ),
        ("Statins in Alzheimer's disease", "alzheimer disease", "statin", None, None),
        ("Does ketamine relieve depression via BDNF?", "depression", "ketamine", "bdnf", None),
        (
            "Could ketamine work in depression by raising BDNF?",
            "depression",
            "ketamine",
            "bdnf",
            None,
        ),
        (
            "Is tumour growth accelerated by circadian rhythms?",
            "tumor growth",
            "circadian rhythm",
            None,
            None,
        ),
        (
            "Do circadian rhythms flibber tumour growth",
            "tumor growth",
            "circadian rhythm",
            None,
            None,
        ),
        (
            "What is the relationship between zinc and tinnitus in coral?",
            "tinnitus",
            "zinc",
            None,
            None,
        ),
        (
            "Which drugs could be repurposed for acute myeloid leukemia?",
            "acute myeloid leukemia",
            None,
            None,
            DRUG,
        ),
        (
            "Find novel therapeutic targets for acute myeloid leukemia",
            "acute myeloid leukemia",
            None,
            None,
            TARGET,
        ),
        ("Pinpoint what shapes coral growth", "coral", None, None, None),
        ("Malaria transmission blocking vaccine candidates", "malaria", None, None, None),
        ("Le zinc peut-il soulager la tinnitus ?", "tinnitus", "zinc", None, None),
        ("autophagy neurodegeneration", "neurodegeneration", "autophagy", None, None),
        ("Find drugs for tinnitus that do not cause depression", "tinnitus", None, None, DRUG),
        ("Tinnitus tinnitus tinnitus", "tinnitus", None, None, None),
    ],
)
def test_goals_of_many_forms_are_read_by_what_they_name(
    goal: str, start: str, end: str | None, through: str | None, wanted: Wanted | None
) -> None:
    reading, key = DISCOVERY.understand(goal), DISCOVERY.index.key
    read = (
        reading.start_concept.key,
        None if reading.pair is None else key(reading.pair),
        None if reading.through is None else key(reading.through),
        reading.wanted,
    )
    assert read == (start, end, through, wanted)


@pytest.mark.promise("S7")
def test_what_an_answer_must_not_bring_about_is_said_to_be_left_aside() -> None:
    assert (
        "depression (not wanted)"
        in DISCOVERY.understand("Treat tinnitus without causing depression").ignored
    )


@pytest.mark.promise("S7")
@pytest.mark.parametrize(
    ("goal", "missing", "near"),
    [
        (
            "Does fish oil prevent Raynaud's disease?",
            ("fish oil", "Raynaud's disease"),
            "fish (9 papers)",
        ),
        ("Could coral reward help?", ("coral reward",), "reward (6 papers)"),
        ("What causes the Great Depression?", ("Great Depression",), "depression (15 papers)"),
        ("Improve perovskite solar cell efficiency", ("perovskite solar cell efficiency",), ""),
        ("Does zinc prevent Raynaud's disease?", ("Raynaud's disease",), "ask about zinc alone"),
        ("Explain autofagy", ("autofagy",), "autophagy (12 papers)"),
        ("How do cells work", ("cells",), "such as"),
    ],
)
def test_a_name_the_corpus_does_not_know_is_refused_with_what_comes_near(
    goal: str, missing: tuple[str, ...], near: str
) -> None:
    with pytest.raises(GoalNotInCorpusError) as refused:
        DISCOVERY.understand(goal)
    assert tuple(name.text for name in refused.value.missing) == missing
    assert all(f"“{name}”" in str(refused.value) for name in missing)
    assert near in refused.value.next_step


@pytest.mark.promise("S7")
def test_a_goal_that_is_too_general_is_not_said_to_be_unknown() -> None:
    with pytest.raises(GoalNotInCorpusError, match="“cells” says too little"):
        DISCOVERY.understand("How do cells work")


@pytest.mark.promise("S7")
def test_a_goal_in_another_language_is_told_that_papers_are_read_as_english() -> None:
    with pytest.raises(GoalNotInCorpusError, match="English") as refused:
        DISCOVERY.understand("Quels médicaments pour traiter la maladie de Crohn ?")
    assert "Ask in English" in refused.value.next_step


@pytest.mark.promise("S7")
def test_a_thin_name_gives_way_to_the_next_and_that_is_said() -> None:
    said = explain_reading(
        DISCOVERY.understand("Malaria transmission blocking vaccine candidates"), DISCOVERY.index
    )
    assert "it was read as malaria" in said


@pytest.mark.promise("S7")
def test_ends_that_nothing_joins_are_looked_at_one_by_one_and_that_is_said() -> None:
    reading = DISCOVERY.understand("Autophagy in Alzheimer's disease")
    assert not reading.is_closed
    said = explain_reading(reading, DISCOVERY.index)
    assert "No concept joins autophagy and Alzheimer's disease here." in said
    assert "What Alzheimer's disease leads to is looked for instead." in said
    # What is looked for instead is used, whatever the first reading left aside.
    assert reading.start.label not in reading.ignored


@pytest.mark.promise("S7")
def test_where_two_of_three_names_are_joined_those_are_taken() -> None:
    reading = DISCOVERY.understand("How do zinc, depression and tinnitus hang together?")
    assert reading.pair is not None
    assert {reading.start_concept.key, DISCOVERY.index.key(reading.pair)} == {"zinc", "tinnitus"}


@pytest.mark.promise("S7")
def test_what_was_left_out_is_said() -> None:
    said = explain_reading(
        DISCOVERY.understand("What is the relationship between zinc and tinnitus in coral?"),
        DISCOVERY.index,
    )
    assert "what joins zinc (18 papers) with tinnitus (18 papers)" in said
    assert "Named, but not used: coral." in said


@pytest.mark.promise("S7")
def test_a_single_paper_leads_nowhere_and_says_so() -> None:
    with pytest.raises(NoConnectionError):
        DISCOVERY.generate("Find treatments for a transmission-blocking vaccine")


@pytest.mark.promise("S7")
@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("doxorubicin", Kind.SUBSTANCE),
        ("imatinib", Kind.SUBSTANCE),
        ("statin", Kind.SUBSTANCE),
        ("ribosomal kinase", Kind.GENE),
        ("bdnf", Kind.GENE),
        ("autophagy", Kind.PROCESS),
        ("synaptogenesis", Kind.PROCESS),
        ("alzheimer disease", Kind.DISEASE),
        ("acute myeloid leukemia", Kind.DISEASE),
        ("red cell", Kind.CELL),
        ("tax law", Kind.UNKNOWN),
    ],
)
def test_a_kind_is_told_by_name_and_company(key: str, kind: Kind) -> None:
    number = DISCOVERY.index.number(key)
    assert number is not None
    assert kind_in_index(DISCOVERY.index, number) is kind


@pytest.mark.promise("S7")
@pytest.mark.parametrize(
    ("goal", "first", "last"),
    [
        (
            "Which drugs could be repurposed for acute myeloid leukemia?",
            {"doxorubicin", "imatinib"},
            "shift work",
        ),
        (
            "Find novel therapeutic targets for acute myeloid leukemia",
            {"ribosomal kinase"},
            "shift work",
        ),
    ],
)
def test_the_sort_of_answer_a_goal_asks_for_comes_first_and_the_rest_counts_less(
    goal: str, first: set[str], last: str
) -> None:
    found = DISCOVERY.generate(goal, count=4)
    assert {connection.end.key for connection in found[: len(first)]} == first
    others = {connection.end.key: connection.relevance for connection in found[len(first) :]}
    assert others[last].share < 1
    assert "not known to be" in others[last].says
    assert all(
        connection.relevance.share > others[last].share for connection in found[: len(first)]
    )
