"""What `carrel research start` says of a goal from which nothing can start is true."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrel.cli import main

PAPERS = """
@article{one, author={Smith, Ann}, title={Plasma exchange and viscosity}, year=2001,
  abstract={Plasma exchange lowers blood viscosity.}}
@article{two, author={Jones, Bob}, title={Fish oil and blood viscosity}, year=2002,
  abstract={Fish oil reduces blood viscosity in healthy people.}}
"""


def test_a_goal_of_which_one_paper_speaks_is_not_said_to_be_unknown_to_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "papers.bib").write_text(PAPERS, encoding="utf-8")
    assert main(["papers", "build", "in", "--quiet"]) == 0
    assert main(["papers", "search", "plasma exchange"]) == 0
    assert "Plasma exchange and viscosity" in capsys.readouterr().out
    assert main(["research", "start", "Find new uses of plasma exchange"]) == 2
    said = capsys.readouterr().err
    assert "too few to start a hypothesis from" in said and "“plasma exchange”" in said
    assert "No paper of this corpus speaks" not in said


def test_a_goal_that_full_texts_alone_name_is_not_said_to_be_in_no_paper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    for number in range(4):
        text = f"# Blood viscosity study {number}\n\nFish oil helped in Raynaud disease {number}.\n"
        (tmp_path / "in" / f"p{number}.md").write_text(text, encoding="utf-8")
    assert main(["papers", "build", "in", "--quiet"]) == 0
    assert main(["papers", "search", "raynaud disease"]) == 0
    assert "Raynaud" in capsys.readouterr().out
    assert main(["research", "understand", "Find new treatments for Raynaud disease"]) == 0
    said = capsys.readouterr().out
    assert "“Raynaud disease” is in no title, abstract or keyword" in said
