"""What every engine for partitions promises: processes here, and Ray by `make judge-ray`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from carrel.core.errors import NotConfiguredError
from carrel.services.partition_engines import Outcome, PartitionEngine, PartitionError
from carrel.services.partition_engines.process_pool import ProcessEngine
from carrel.services.partition_engines.ray_cluster import RayEngine

WORK = "tests.services.partition_work"
HAS_RAY = "CARREL_TEST_RAY" in os.environ


@pytest.fixture(
    params=[
        "processes",
        pytest.param(
            "ray", marks=pytest.mark.skipif(not HAS_RAY, reason="make judge-ray runs it with Ray")
        ),
    ]
)
def engine(request: pytest.FixtureRequest) -> PartitionEngine:
    return ProcessEngine(2) if request.param == "processes" else RayEngine(2)


def outcomes(
    engine: PartitionEngine, function: str, names: str, folder: Path
) -> dict[int, Outcome]:
    found = list(engine.map(f"{WORK}:{function}", [n.encode() for n in names.split()], str(folder)))
    assert len(found) == len(dict(found))
    return dict(found)


def test_a_function_that_is_not_there_fails_each_partition(
    engine: PartitionEngine, tmp_path: Path
) -> None:
    found = outcomes(engine, "no_such_function", "a b", tmp_path)
    assert all(isinstance(outcome, PartitionError) for outcome in found.values())


def test_one_partition_that_cannot_be_done_stops_no_other(
    engine: PartitionEngine, tmp_path: Path
) -> None:
    found = outcomes(engine, "refuse_bad", "a bad c", tmp_path)
    assert (found[0], found[2]) == ("a", "c")
    bad = found[1]
    assert isinstance(bad, PartitionError)
    assert "cannot be done" in bad.message


@pytest.mark.promise("Q21")
def test_a_worker_killed_in_the_middle_has_its_partition_done_again(
    engine: PartitionEngine, tmp_path: Path
) -> None:
    found = outcomes(engine, "die_once", "a b c d e", tmp_path)
    assert (tmp_path / "died").exists()
    assert found == {0: "a", 1: "b", 2: "c", 3: "d", 4: "e"}
    assert {path.read_text() for path in tmp_path.glob("?")} == set("ABCDE")


def test_a_partition_that_kills_each_worker_is_given_up_alone(
    engine: PartitionEngine, tmp_path: Path
) -> None:
    found = outcomes(engine, "die_always", "a b c", tmp_path)
    assert isinstance(found[1], PartitionError)
    assert (found[0], found[2]) == ("a", "c")


def test_nothing_to_do_is_done(engine: PartitionEngine, tmp_path: Path) -> None:
    assert outcomes(engine, "write_upper", "", tmp_path) == {}


@pytest.mark.skipif(HAS_RAY, reason="Ray is installed here")
def test_without_ray_the_error_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(NotConfiguredError, match="not installed") as refused:
        outcomes(RayEngine(1), "write_upper", "a", tmp_path)
    assert "carrel[ray]" in refused.value.next_step
