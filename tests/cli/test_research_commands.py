"""`carrel research` as typed in a shell."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest

from carrel.cli import main
from carrel.cli.page_drawing import draw_page
from carrel.cli.progress import TerminalProgress
from carrel.cli.research_following import FollowedRun, list_facts, make_run_page
from carrel.rooms.research.models import ResearchStatus
from tests.libraries.discovery.small_corpus import GOAL
from tests.rooms.research.house import build_snapshot


class FakeTerminal(io.StringIO):
    def isatty(self) -> bool:
        return True


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
def test_what_was_started_and_left_is_gone_on_with_later(
    places: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["research", "start", GOAL, "--hypothesis-count", "3", "--json", *places]) == 0
    started = json.loads(capsys.readouterr().out)
    assert main(["research", "watch", started["research_id"], *places]) == 0
    capsys.readouterr()
    assert main(["research", "status", started["research_id"], "--json", *places]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "completed"


@pytest.mark.promise("S10")
def test_earlier_hypotheses_are_imported(
    places: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hypotheses.json"
    file.write_text(json.dumps([{"id": "1", "summary": "Marine oil and sleep"}]))
    assert main(["research", "import", str(file), *places]) == 0
    assert "1 imported as res_" in capsys.readouterr().out
    assert main(["research", "import", str(tmp_path / "none.json"), *places]) == 2


def test_a_goal_that_is_refused_says_why(
    places: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["research", "start", "Poison the water supply of a city", *places]) == 2
    assert "cannot be worked on" in capsys.readouterr().err


@pytest.mark.promise("Q2")
def test_what_was_found_is_read_in_the_terminal(
    places: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*words: str) -> str:
        assert main(["research", *words, *places]) == 0
        return capsys.readouterr().out

    research_id = json.loads(said("start", GOAL, "--hypothesis-count", "3", "--json"))[
        "research_id"
    ]
    assert main(["research", "watch", research_id, *places]) == 0
    watched = capsys.readouterr()
    assert f"carrel research results {research_id}" in watched.err
    assert "carrel research" not in watched.out
    assert "100% completed" in said("status", research_id)
    assert research_id in said("list")
    listed = said("hypotheses", research_id)
    place, hypothesis_id, elo, *_, title = listed.splitlines()[0].split("\t")
    assert (place, elo.isdecimal()) == ("1", True)
    page = said("hypothesis", hypothesis_id)
    assert page.startswith(f"{title}\n{hypothesis_id} · Elo {elo} · ")
    headings = (
        "Rationale",
        "Sentences it rests on",
        "How it could be tested",
        "Review: initial, by",
        "Matches",
        "Papers",
    )
    found = [page.index(f"\n{heading}") for heading in headings]
    assert found == sorted(found)
    assert said("results", research_id).startswith(f"# {GOAL}")
    assert "by local" in said("rate", hypothesis_id, "0.9")
    assert "simulation" in said("review", hypothesis_id, "--review-type", "simulation")
    added = said("submit", research_id, "My own idea", "Marine oil keeps blood thin in the cold.")
    assert added.startswith("My own idea\n")
    approved = said("approve", hypothesis_id, "--reason", "It fits")
    assert approved.startswith(f"approved: {title} (It fits)\n")
    assert "Approved by local and rated 0.90 by local: counts as" in approved
    assert said("delete", research_id, "--force").startswith("Deleted: ")


def test_the_view_of_a_run_fits_the_terminal_and_shows_no_control_characters() -> None:
    status = ResearchStatus(
        research_id="res_1", goal="A goal \x1b[31m" + "long " * 60, status="active", progress=0.5,
        hypotheses_generated=1,
        hypotheses_reviewed=1, hypotheses_in_tournament=1, top_hypothesis=None, last_update="2026",
        estimated_completion_minutes=1,
        problem="Something is wrong. " * 10,
    )  # fmt: skip
    page = make_run_page(FollowedRun(status, []))
    drawn = io.StringIO()
    draw_page(page, drawn, 60, has_colour=False)
    assert all(len(line) <= 60 for line in drawn.getvalue().splitlines())
    assert "\x1b" not in drawn.getvalue()
    assert list_facts(status)[-1] == "less than a minute left"


@pytest.mark.parametrize("width", [20, 40, 80])
def test_a_run_is_followed_with_the_bar_of_all_commands(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    stream = FakeTerminal()
    progress = TerminalProgress(stream)
    progress.show_share("generating", 0.25, ["3 hypotheses", "about 4 min left"])
    progress.show_share("ranking", 0.5, ["9 hypotheses", "about 2 min left"])
    progress.close()
    drawn = [piece.removeprefix("\x1b[K") for piece in stream.getvalue().split("\r")]
    assert all(len(line) < width for line in drawn)
    assert ["ranking" in drawn[-2], "50%" in drawn[-2], drawn[-1]] == [True, True, ""]


def test_a_watched_run_ends_in_one_json_record(
    places: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["research", "start", GOAL, "--hypothesis-count", "3", "--watch", "--json", *places]
    assert main(words) == 0
    started = json.loads(capsys.readouterr().out)
    assert started["run"]["status"] == "completed"
    assert main(["research", "watch", started["research_id"], "--json", *places]) == 0
    watched = json.loads(capsys.readouterr().out)
    assert watched["status"] == "completed"
    assert watched["leaders"][0]["id"] == started["run"]["leaders"][0]["id"]
