"""The map of texts: neighbours stay neighbours, the same seed gives the same map."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from carrel.libraries.map_layout import MapText, TilePoint, choose_landmarks, cut_tiles, fit_map
from carrel.libraries.map_layout.force_layout import separate
from carrel.libraries.map_layout.tiles import POINT
from tests.libraries.map_layout.topics import TOPICS, make_texts, topic_of


def test_texts_that_share_no_word_make_no_map() -> None:
    with pytest.raises(ValueError, match="no paper"):
        fit_map([MapText("a", ""), MapText("b", "12 34")])


def test_a_single_paper_and_papers_that_are_all_alike_have_places() -> None:
    alone = fit_map([MapText("a", "Ice in winter")])
    assert len(alone.places) == 1
    alike = fit_map([MapText(str(number), "Ice in winter", "snow") for number in range(60)])
    assert len(set(alike.places)) > 50
    assert all(0 <= at.real <= 1 and 0 <= at.imag <= 1 for at in alike.places)


def test_nearest_papers_are_of_the_same_topic() -> None:
    drawn = fit_map(make_texts(60))
    assert share_of_topic(drawn.landmark_ids, drawn.places) > 0.95


def test_the_same_papers_and_seed_give_the_same_map_and_another_seed_another() -> None:
    texts = make_texts(20)
    once, again = fit_map(texts, seed=3), fit_map(texts, seed=3)
    assert once.places == again.places
    assert once.regions == again.regions
    assert fit_map(texts, seed=4).places != once.places


def test_a_new_paper_is_placed_among_those_about_the_same_and_nothing_moves() -> None:
    texts = make_texts(50)
    drawn = fit_map([text for text in texts if not text.id.endswith("9")])
    before = list(drawn.places)
    added = [text for text in texts if text.id.endswith("9")]
    right = 0
    for text in added:
        vector = drawn.vector_of(text)
        assert vector is not None
        at = drawn.place(text.id, vector)
        near = min(range(len(before)), key=lambda number: abs(before[number] - at))
        right += topic_of(drawn.landmark_ids[near]) == topic_of(text.id)
    assert right >= len(added) - 1
    assert drawn.places == before


def test_a_paper_without_a_known_word_has_no_place() -> None:
    drawn = fit_map(make_texts(20))
    assert drawn.vector_of(MapText("x", "Zzyzx qwrt")) is None


def test_regions_are_named_by_what_sets_them_apart() -> None:
    drawn = fit_map(make_texts(60))
    named = {term for region in drawn.regions.coarse for term in region.terms}
    assert len(drawn.regions.coarse) >= 3
    assert named & set(TOPICS)
    assert not named & {"observed", "measured", "evidence", "time"}
    numbers = {drawn.regions.region_at(at) for at in drawn.places}
    assert numbers <= {region.number for region in drawn.regions.coarse}


def test_hostile_titles_are_only_words() -> None:
    texts = [MapText(f"h{n}", f"<script>alert({n})</script> ice snow", "ice") for n in range(30)]
    drawn = fit_map(texts)
    assert all("<" not in term for region in drawn.regions.coarse for term in region.terms)


def test_tiles_hold_every_point_once_with_the_first_in_the_parents() -> None:
    chance = random.Random(1)
    points = [TilePoint(chance.random(), chance.random(), n, n % 256, n % 7) for n in range(1, 801)]
    tiles = list(cut_tiles(points, per_tile=100))
    seen = {}
    for tile in tiles:
        assert tile.count <= 100
        for x, y, number, year, region in POINT.iter_unpack(tile.body):
            place = (
                (tile.column + x / 65536) / 2**tile.depth,
                (tile.row + y / 65536) / 2**tile.depth,
            )
            assert number not in seen
            seen[number] = (place, year, region)
    assert set(seen) == {point.number for point in points}
    for point in points:
        (x, y), year, region = seen[point.number]
        assert abs(x - point.x) < 1e-4
        assert abs(y - point.y) < 1e-4
        assert (year, region) == (point.year, point.region)
    assert {number for _, _, number, _, _ in POINT.iter_unpack(tiles[0].body)} == set(range(1, 101))
    assert all(one.depth <= other.depth for one, other in pairwise(tiles))


def test_points_at_one_place_end_in_a_tile_however_many_they_are() -> None:
    points = [TilePoint(0.3, 0.3, number, 0, 0) for number in range(1, 60)]
    assert sum(tile.count for tile in cut_tiles(points, per_tile=4)) == 59


def test_points_are_moved_apart() -> None:
    moved = separate([0.5 + 0.5j] * 20, 0.01)
    least = min(abs(one - other) for at, one in enumerate(moved) for other in moved[:at])
    assert least > 0.004


def test_landmarks_do_not_depend_on_the_order_of_papers() -> None:
    ids = [f"paper-{number}" for number in range(300)]
    assert choose_landmarks(ids, 100) == choose_landmarks(ids[::-1], 100)
    assert len(choose_landmarks(ids, 100)) == 100


def share_of_topic(ids: list[str], places: list[complex]) -> float:
    """The share of five nearest papers that are of a paper's own topic."""
    right = 0
    for number, at in enumerate(places):
        order = sorted(range(len(places)), key=lambda other: abs(places[other] - at))
        right += sum(topic_of(ids[other]) == topic_of(ids[number]) for other in order[1:6])
    return right / (5 * len(places))
