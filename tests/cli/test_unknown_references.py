"""An id that the library does not have: the nearest ids, and the command that finds them."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrel.cli import main
from carrel.rooms.references.nearest_ids import find_nearest_ids

LIBRARY = """@book{Swanson-1986, title={Fish oil}, author={Swanson, Don}, year=1986}
@book{knuth, title={The art}, author={Knuth, Donald}, year=1968}
"""


@pytest.fixture(autouse=True)
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "refs.bib").write_text(LIBRARY, encoding="utf-8")
    assert main(["references", "add", "refs.bib"]) == 0


@pytest.mark.parametrize("words", [["cite"], ["show"], ["remove", "--force"], ["fulltext"]])
def test_the_error_names_the_nearest_id_and_the_command(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["references", words[0], "swanson1986", *words[1:]]) == 3
    told = capsys.readouterr()
    assert told.out == ""
    assert "'Swanson-1986'" in told.err
    assert "knuth" not in told.err
    assert "carrel references search WORDS finds ids." in told.err


def test_nothing_near_is_not_made_up(capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["references", "show", "zzzzqqqq"]) == 3
    told = capsys.readouterr().err
    assert "nearest" not in told
    assert "carrel references search WORDS" in told


def test_other_writing_comes_before_parts_and_likeness() -> None:
    known = ["swanson-1986-fish", "Swanson 1986", "knuth-1968"]
    assert find_nearest_ids(["swanson_1986"], known) == ["Swanson 1986", "swanson-1986-fish"]
    assert find_nearest_ids(["kunth1968"], known) == ["knuth-1968"]
    assert find_nearest_ids(["--"], known) == []
