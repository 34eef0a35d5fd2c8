"""`carrel papers map` at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from carrel.cli import main
from carrel.stores.paper_map import MAP_NAME
from tests.libraries.map_layout.topics import make_texts


def test_a_home_without_papers_is_told_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["papers", "map", "--home", str(tmp_path / "home")]) != 0
    assert "papers" in capsys.readouterr().err


def test_the_map_is_drawn_and_brought_up_to_date(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = ["--home", str(tmp_path / "home")]
    lines = [
        json.dumps({"title": text.title, "abstract": text.abstract, "id": text.id})
        for text in make_texts(12)
    ]
    (tmp_path / "first.jsonl").write_text("\n".join(lines[:40]), encoding="utf-8")
    (tmp_path / "second.jsonl").write_text("\n".join(lines[40:]), encoding="utf-8")
    assert main(["papers", "build", str(tmp_path / "first.jsonl"), "--quiet", *home]) == 0
    capsys.readouterr()
    assert main(["papers", "map", *home]) == 0
    assert "The map was drawn: it shows 40 papers." in capsys.readouterr().out
    assert (tmp_path / "home" / "papers" / MAP_NAME).is_file()
    assert main(["papers", "build", str(tmp_path / "second.jsonl"), "--quiet", *home]) == 0
    assert main(["papers", "map", *home]) == 0
    assert "48 papers; 8 of them are new" in capsys.readouterr().out
    assert main(["papers", "map", "--again", *home]) == 0
    assert "was drawn" in capsys.readouterr().out
