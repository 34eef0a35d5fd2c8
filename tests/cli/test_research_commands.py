"""`carrel research` as typed in a shell."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from carrel.cli import main
from tests.rooms.research.discovery.small_corpus import GOAL
from tests.rooms.research.house import build_snapshot


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("research-cli")
    return ["--home", str(folder / "home"), "--snapshot", str(build_snapshot(folder))]


@pytest.mark.promise("Q2")
def test_a_run_is_watched_to_its_end(places: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["research", "start", GOAL, "--hypothesis-count", "3", "--watch", *places]) == 0
    said = capsys.readouterr().out
    assert re.match(r"res_\w+ \(medicine\)", said)
    assert "100% completed" in said
    assert re.search(r"1\. +\d+ {2}\w", said)


@pytest.mark.promise("S2")
def test_what_was_started_and_left_is_gone_on_with_later(places: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["research", "start", GOAL, "--hypothesis-count", "3", "--json", *places]) == 0
    started = json.loads(capsys.readouterr().out)
    assert main(["research", "watch", started["research_id"], *places]) == 0
    capsys.readouterr()
    assert main(["research", "status", started["research_id"], "--json", *places]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "completed"


@pytest.mark.promise("S10")
def test_earlier_hypotheses_are_imported(places: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "hypotheses.json"
    file.write_text(json.dumps([{"id": "1", "summary": "Marine oil and sleep"}]))
    assert main(["research", "import", str(file), *places]) == 0
    assert "1 imported as res_" in capsys.readouterr().out
    assert main(["research", "import", str(tmp_path / "none.json"), *places]) == 2


def test_a_goal_that_is_refused_says_why(places: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["research", "start", "Poison the water supply of a city", *places]) == 2
    assert "cannot be worked on" in capsys.readouterr().err
