"""Bridges, prospects and ends: what comes first, and why."""

from math import isclose, sqrt

from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.libraries.discovery import ConceptIndex, Discovery, Paper
from carrel.libraries.discovery.connections.methods import is_method
from carrel.libraries.discovery.paths.abc_paths import bridges, ends, through_all
from carrel.libraries.discovery.paths.link_prediction import Company, prospect
from carrel.libraries.discovery.paths.literatures import Reader
from carrel.libraries.discovery.records import Literature
from tests.libraries.discovery.small_corpus import GOAL, Shelf, small_discovery, small_papers

READER = Reader(ConceptIndex.build(small_papers()))


def literature(key: str, reader: Reader = READER) -> Literature:
    found = reader.literature([key])
    assert found is not None
    return found


def number(key: str, reader: Reader = READER) -> int:
    found = reader.index.number(key)
    assert found is not None
    return found


def test_a_literature_of_one_concept_keeps_the_company_of_that_concept() -> None:
    for key in ("cold finger disease", "marine oil", "sleep"):
        assert READER.company_of(literature(key)) == READER.company(number(key))


def test_hypotheses_are_ranked_by_the_prospect_that_the_benchmark_measures() -> None:
    discovery = small_discovery()
    made = discovery.generate(GOAL, count=5)
    own = discovery.reader.company(number("cold finger disease", discovery.reader))
    measured = [
        prospect(own, discovery.reader.company(number(one.end.key, discovery.reader)))
        for one in made
    ]
    assert [one.prospect for one in made] == measured
    assert measured == sorted(measured, reverse=True)
    assert len(set(measured)) > 1


def test_subjects_that_share_their_company_outrank_mentions_that_do() -> None:
    kept, other = {1: 0.6, 2: 0.8}, {3: 1.0}
    one = Company(kept, kept, 4.0)
    assert (
        prospect(one, Company(kept, kept, 4.0))
        > prospect(one, Company(kept, other, 4.0))
        > prospect(one, Company(other, other, 4.0))
    )


_PROFILES = st.dictionaries(st.integers(0, 6), st.floats(0.01, 1), max_size=5)
_COMPANIES = st.builds(Company, _PROFILES, _PROFILES, st.floats(0.01, 1000))


@settings(max_examples=60)
@given(_COMPANIES, _COMPANIES, st.floats(1.01, 10))
def test_a_prospect_is_the_same_both_ways_and_grows_with_use(
    one: Company, other: Company, times: float
) -> None:
    assert isclose(prospect(one, other), prospect(other, one))
    assert prospect(one, other) > 0
    assert prospect(
        one, Company(other.mentioned, other.subject, other.taken_up * times)
    ) > prospect(one, other)


def test_recent_papers_count_more_than_old_ones() -> None:
    papers = [
        Paper(f"new-{n}", "Fresh idea", keywords=("fresh idea", "corn"), year=2020)
        for n in range(3)
    ]
    papers += [
        Paper(f"old-{n}", "Stale idea", keywords=("stale idea", "corn"), year=2014)
        for n in range(3)
    ]
    reader = Reader(ConceptIndex.build(papers))
    assert isclose(reader.company(number("fresh idea", reader)).taken_up, 3.0)
    assert isclose(reader.company(number("stale idea", reader)).taken_up, 3.0 / 4)


def test_a_bridge_weighs_the_geometric_mean_of_its_sides_and_the_list_goes_down() -> None:
    found = bridges(
        READER,
        literature("cold finger disease"),
        literature("marine oil"),
        admits=lambda one: not is_method(READER, one),
    )
    weights = [(bridge.kind, bridge.weight) for bridge in found]
    assert weights == sorted(weights, reverse=True)
    assert all(isclose(bridge.weight, sqrt(bridge.near * bridge.far)) for bridge in found)
    assert {READER.index.key(bridge.concept) for bridge in found[:3]} == {
        "blood viscosity",
        "platelet aggregation",
        "vessel tone",
    }


def test_what_each_side_says_but_once_is_found_after_what_both_say_often() -> None:
    papers = [
        *small_papers(),
        Paper(
            "disease-once",
            "Nerve swelling in cold finger disease",
            keywords=("cold finger disease", "nerve swelling"),
        ),
        Paper(
            "oil-once", "Marine oil and nerve swelling", keywords=("marine oil", "nerve swelling")
        ),
    ]
    reader = Reader(ConceptIndex.build(papers))
    found = bridges(
        reader, literature("cold finger disease", reader), literature("marine oil", reader)
    )
    places = {reader.index.key(bridge.concept): place for place, bridge in enumerate(found)}
    assert places["nerve swelling"] > max(
        places[key] for key in ("blood viscosity", "platelet aggregation", "vessel tone")
    )


def test_papers_on_both_ends_prove_no_bridge() -> None:
    papers = [
        *small_papers(),
        *(
            Paper(
                f"both-{n}",
                "Marine oil in cold finger disease",
                keywords=("marine oil", "cold finger disease", "skin glow"),
            )
            for n in range(3)
        ),
    ]
    reader = Reader(ConceptIndex.build(papers))
    found = bridges(
        reader, literature("cold finger disease", reader), literature("marine oil", reader)
    )
    assert found
    assert "skin glow" not in {reader.index.key(bridge.concept) for bridge in found}


def test_a_pair_that_was_asked_after_shows_the_bridges_of_closed_discovery() -> None:
    discovery = Discovery(READER.index, Shelf(small_papers()))
    asked = discovery.connect("Can marine oil help?", "cold finger disease", "marine oil")
    wanted = bridges(READER, literature("cold finger disease"), literature("marine oil"))
    shown = [bridge.concept.key for bridge in asked.bridges]
    assert shown == [key for bridge in wanted if (key := READER.index.key(bridge.concept)) in shown]
    assert shown[0] == READER.index.key(wanted[0].concept)


def test_an_end_through_given_literatures_holds_to_every_one_of_them() -> None:
    through = [literature("blood viscosity"), literature("platelet aggregation")]
    found = through_all(
        READER,
        literature("cold finger disease"),
        through,
        10,
        lambda one: READER.rank_of_kind(one) == 2,
    )
    keys = [READER.index.key(end.concept) for end in found]
    assert keys[0] == "marine oil"
    assert "ginger root" not in keys
    assert "ginger root" in {
        READER.index.key(end.concept) for end in ends(READER, literature("cold finger disease"), 20)
    }
