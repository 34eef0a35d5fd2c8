"""A desk that has nothing yet says so in a sentence, with the command that adds the first thing."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from carrel.cli import main
from carrel.cli.calls import at_terminal
from carrel.core.answer import split_explanation
from carrel.core.errors import CarrelError
from carrel.settings import Settings
from carrel.wiring.desk import open_desk

ADD_PAPERS = "carrel add FOLDER adds them."


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.mark.parametrize(
    ("words", "exit_code"),
    [
        (("papers", "stats"), 0),
        (("papers", "search", "fish oil"), 0),
        (("papers", "keyword", "oil"), 0),
        (("papers", "passages", "fish oil"), 0),
        (("papers", "quote", "fish oil is good"), 0),
        (("papers", "facets", "author"), 0),
        (("papers", "review"), 0),
        (("papers", "export"), 0),
        (("papers", "history"), 0),
        (("papers", "rank"), 3),
        (("papers", "show", "abcdef0123456789"), 3),
        (("papers", "related", "abcdef0123456789"), 3),
    ],
)
def test_papers_are_missed_in_one_sentence(
    words: tuple[str, ...], exit_code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == exit_code
    told = capsys.readouterr().err
    assert told.count("no papers yet") == 1
    assert told.count(ADD_PAPERS) == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("references", "search", "oil"), "There are no references yet. carrel add FILE"),
        (("knowledge", "search", "oil"), "There are no notes yet. carrel add FOLDER"),
    ],
)
def test_the_other_rooms_say_it_too(
    words: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 0
    assert told in capsys.readouterr().err


def test_the_statistics_of_nothing_are_zeros(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["papers", "stats", "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["papers"] == 0
    assert told.err == ""


def test_a_corpus_that_was_named_must_be_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["papers", "stats", "--snapshot", "missing.db"]) == 5
    assert "snapshot cannot be used" in capsys.readouterr().err


def test_assistants_are_told_by_the_names_of_operations(home: Path) -> None:
    async def ask() -> None:
        settings = Settings.model_validate({"home": home})
        async with open_desk(settings).session() as desk:
            terminal = await at_terminal(desk)
            hits, explanation = split_explanation(await terminal.ask("search_papers", query="oil"))
            assert hits == []
            assert explanation is not None
            assert explanation.message == "There are no papers yet. add_paper adds the first."
            with pytest.raises(CarrelError) as missed:
                await terminal.ask("get_paper_metadata", paper_id="abcdef0123456789")
            assert missed.value.code == "paper_not_found"
            assert "add_paper" in missed.value.next_step
            everywhere, nothing = split_explanation(await terminal.ask("search_desk", query="oil"))
            assert everywhere.hits == []
            assert nothing is not None
            for named in ("add_paper", "add_references", "save_knowledge", "start_research"):
                assert named in nothing.message

    asyncio.run(ask())
