"""S13: `carrel vocabularies` keeps thesauri in the home, and research reads them."""

import json
from pathlib import Path

import pytest

from carrel.cli import main
from carrel.settings import Settings
from carrel.wiring.vocabularies import (
    identify_vocabularies,
    read_vocabularies,
    used_vocabularies,
)

TERMS = "term\tsynonyms\nmicroRNA\tmiRNA|small temporal RNA\ngrain boundary\tGB\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Own Terms.tsv").write_text(TERMS, encoding="utf-8")
    return tmp_path / "home"


def read(capsys: pytest.CaptureFixture[str], *words: str) -> object:
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_vocabulary_is_added_listed_used_and_removed_s13(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    added = read(capsys, "vocabularies", "add", "Own Terms.tsv")
    assert isinstance(added, dict)
    assert (added["name"], added["terms"], added["synonyms"]) == ("own-terms", 2, 3)
    assert read(capsys, "vocabularies", "list") == [added]
    used = used_vocabularies(Settings(home=home))
    vocabulary = read_vocabularies(used)
    assert vocabulary.preferred("small temporal rna") == "microrna"
    before = identify_vocabularies(used)
    read(capsys, "vocabularies", "remove", "own-terms")
    assert read(capsys, "vocabularies", "list") == []
    assert before and identify_vocabularies(used_vocabularies(Settings(home=home))) == ""


def test_the_file_of_the_setting_is_read_first_s13(home: Path, tmp_path: Path) -> None:
    settings = Settings(home=home, research={"vocabulary": tmp_path / "Own Terms.tsv"})
    assert main(["vocabularies", "add", "Own Terms.tsv", "--name", "again"]) == 0
    assert [file.name for file in used_vocabularies(settings)] == [
        "Own Terms.tsv",
        "again.tsv.xz",
    ]
    assert len(read_vocabularies(used_vocabularies(settings))) == 2


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("add", "nowhere.tsv"), 3, "nowhere.tsv"),
        (("add", "Own Terms.tsv", "--name", "../up"), 2, "cannot be the name"),
        (("add", "empty.tsv"), 2, "no terms"),
        (("remove", "../../etc"), 3, "Vocabulary not found"),
    ],
)
def test_what_cannot_be_added_or_removed_is_said(
    home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    code: int,
    said: str,
) -> None:
    (tmp_path / "empty.tsv").write_text("", encoding="utf-8")
    assert main(["vocabularies", *words]) == code
    assert said in capsys.readouterr().err


def test_a_second_of_the_same_name_is_refused_unless_it_replaces(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["vocabularies", "add", "Own Terms.tsv"]) == 0
    assert main(["vocabularies", "add", "Own Terms.tsv"]) != 0
    assert "already" in capsys.readouterr().err
    assert main(["vocabularies", "add", "Own Terms.tsv", "--replace"]) == 0
