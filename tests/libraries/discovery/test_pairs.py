"""Where a goal names both ends, every method works on them: the bridges differ, the ends stay."""

from __future__ import annotations

import pytest

from carrel.libraries.discovery import (
    CandidateConnection,
    GenerationMethod,
    NoConnectionError,
    Request,
)
from tests.libraries.discovery.goal_corpus import goal_discovery
from tests.libraries.discovery.small_corpus import small_discovery

DISCOVERY = goal_discovery()
PAIR = "Could zinc contribute to tinnitus?"
ENDS = {"zinc", "tinnitus"}


def proposed(
    goal: str, method: GenerationMethod, known: list[CandidateConnection], count: int
) -> list[CandidateConnection]:
    avoid = {one.end.key for one in known}
    return list(
        DISCOVERY.generate(goal, method, count, request=Request(count, avoid, known, known[:2]))
    )


@pytest.mark.promise("S3")
def test_all_methods_keep_the_pair_and_no_bridge_leads_twice() -> None:
    known: list[CandidateConnection] = []
    for method in (
        GenerationMethod.LITERATURE_BASED,
        GenerationMethod.DEBATE,
        GenerationMethod.ASSUMPTIONS,
    ):
        found = proposed(
            PAIR, method, known, 2 if method is GenerationMethod.LITERATURE_BASED else 1
        )
        assert all(connection.origin.made_by is method for connection in found)
        known.extend(found)
    assert len(known) == 4
    assert all({connection.start.key, connection.end.key} == ENDS for connection in known)
    leading = [connection.bridges[0].concept.key for connection in known]
    assert len(set(leading)) == len(leading)
    assert all(connection.relevance.share == 1 for connection in known)
    debated, questioned = known[2], known[3]
    assert [turn.speaker.split(" ")[0] for turn in debated.origin.turns] == [
        "for",
        "for",
        "against",
        "against",
    ]
    removed = questioned.origin.note.removeprefix("Assumption questioned: ").split(" is what")[0]
    assert removed not in {bridge.concept.label for bridge in questioned.bridges}


@pytest.mark.promise("S3")
def test_an_exhausted_pair_says_so_with_its_count() -> None:
    known = proposed(PAIR, GenerationMethod.LITERATURE_BASED, [], 50)
    assert len(known) == 6
    with pytest.raises(
        NoConnectionError, match="pair is exhausted: 6 concepts join zinc and tinnitus"
    ):
        proposed(PAIR, GenerationMethod.LITERATURE_BASED, known, 5)


@pytest.mark.promise("S3")
def test_the_way_a_goal_names_leads_first() -> None:
    first = DISCOVERY.generate("Does ketamine relieve depression via glutamate?", count=1)[0]
    assert first.bridges[0].concept.key == "glutamate"
    assert "the way that the goal itself names" in first.origin.note


@pytest.mark.promise("S3")
def test_expansion_keeps_one_end_and_says_that_it_widens() -> None:
    discovery = small_discovery()
    goal = "Does marine oil ease cold finger disease?"
    known = discovery.generate(goal, count=3)
    ends = {known[0].start.key, known[0].end.key}
    assert ends == {"cold finger disease", "marine oil"}
    found = discovery.generate(
        goal, GenerationMethod.EXPANSION, 3, request=Request(3, known=known, best=known)
    )
    assert found
    for connection in found:
        assert len({connection.start.key, connection.end.key} & ends) == 1
        assert connection.origin.note.startswith("Widened: ")
        assert connection.relevance.share < 1


@pytest.mark.promise("S3")
def test_where_hardly_anything_joins_the_pair_one_end_is_followed_and_that_is_said() -> None:
    discovery = small_discovery()
    goal = "Does ginger root help against cold finger disease?"
    known: list[CandidateConnection] = list(discovery.generate(goal, count=10))
    assert all(
        {one.start.key, one.end.key} == {"cold finger disease", "ginger root"} for one in known
    )
    request = Request(2, {one.end.key for one in known}, known)
    wider = discovery.generate(goal, count=2, request=request)
    assert wider
    for connection in wider:
        assert "so ginger root is left aside" in connection.origin.note
        assert connection.relevance.share == pytest.approx(0.1)


@pytest.mark.promise("S5")
def test_bridges_found_weak_come_last_and_those_of_the_leaders_first() -> None:
    plain = [one.bridges[0].concept.key for one in DISCOVERY.generate(PAIR, count=6)]
    request = Request(6, weak=frozenset({plain[0]}), strong=frozenset({plain[-1]}))
    advised = DISCOVERY.generate(PAIR, count=6, request=request)
    assert advised[0].bridges[0].concept.key == plain[-1]
    assert "as the meta-review says" in advised[0].origin.note
    assert advised[-1].bridges[0].concept.key == plain[0]
    assert "meta-review found" in advised[-1].origin.note


@pytest.mark.promise("S5")
def test_open_discovery_builds_on_no_bridge_that_was_found_weak() -> None:
    discovery = small_discovery()
    goal = "Find novel therapeutic targets for cold finger disease"
    weak = discovery.generate(goal, count=1)[0].bridges[0].concept
    for connection in discovery.generate(
        goal, count=3, request=Request(3, weak=frozenset({weak.key}))
    ):
        assert weak.key not in {bridge.concept.key for bridge in connection.bridges}
        assert (
            f"Not built on {weak.label}, which the meta-review found weak."
            in connection.origin.note
        )


@pytest.mark.promise("S5")
def test_expansion_says_truly_what_its_seed_was() -> None:
    discovery = small_discovery()
    goal = "Find novel therapeutic targets for cold finger disease"
    best = discovery.generate(goal, count=1)
    (found, *_) = discovery.generate(
        goal,
        GenerationMethod.EXPANSION,
        1,
        request=Request(1, best=best, why_best="because I say so"),
    )
    assert found.origin.note.startswith("A neighbour of marine oil (because I say so)")
    (alone, *_) = discovery.generate(goal, GenerationMethod.EXPANSION, 1)
    assert "nothing has been proposed or ranked yet" in alone.origin.note
