"""A damaged corpus and a damaged library are named, moved aside and made again; none is deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrel.cli import main

PAPER = "# Fish oil and blood viscosity\n\nFish oil lowers blood viscosity in patients.\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "fish.md").write_text(PAPER, encoding="utf-8")
    assert main(["papers", "build", "in", "--quiet"]) == 0
    assert main(["references", "add", "@book{knuth, title={The art}, year=1968}"]) == 0
    assert main(["references", "add", "@book{eco, title={The rose}, year=1980}"]) == 0
    return tmp_path / "home"


def carrel(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(list(words))
    said = capsys.readouterr()
    return code, said.out, said.err


def damage(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[:1000] = b"\xa7" * min(1000, len(content))
    file.write_bytes(content)


@pytest.mark.parametrize("pattern", ["*", "state.db", "manifest.json"])
def test_a_damaged_corpus_is_named_moved_aside_and_made_again(
    home: Path, capsys: pytest.CaptureFixture[str], pattern: str
) -> None:
    for file in (home / "papers").rglob(pattern):
        if file.is_file():
            damage(file)
    code, _, err = carrel(capsys, "papers", "build", "in", "--quiet")
    assert code == 5 and "is damaged" in err and "carrel doctor --fix" in err
    assert "unexpected error" not in err
    code, out, err = carrel(capsys, "doctor", "--fix")
    assert "unexpected error" not in out + err and "server's log" not in out + err
    if pattern == "state.db":
        # It still can be read, so the doctor leaves it where it is.
        assert "by hand" in carrel(capsys, "papers", "build", "in", "--quiet")[2]
    else:
        assert "are damaged" in out and "carrel papers build FOLDER" in out
        assert list(home.glob("leftovers-*/papers/manifest.json")), "nothing is deleted"
        assert carrel(capsys, "papers", "build", "in", "--quiet")[0] == 0
    assert "Fish oil" in carrel(capsys, "papers", "search", "viscosity")[1]


@pytest.mark.parametrize("broken", [b'[{"id": ', b"", b"\xff\xfe\x00", b'{"a": 1}'])
@pytest.mark.parametrize("words", [("doctor", "--fix"), ("references", "restore", "--version")])
def test_a_broken_library_is_moved_aside_for_its_newest_version(
    home: Path, capsys: pytest.CaptureFixture[str], broken: bytes, words: tuple[str, ...]
) -> None:
    library = home / "references" / "library.json"
    before = library.read_bytes()
    library.write_bytes(broken)
    code, _, err = carrel(capsys, "references", "list")
    assert code == 5 and ".library.json.carrel/versions" in err and "carrel doctor --fix" in err
    number = err.partition("restore --version ")[2].partition(" ")[0].strip("`")
    more = (number,) if words[0] == "references" else ()
    code, out, err = carrel(capsys, *words, *more)
    assert code == 0, out + err
    assert library.read_bytes() == before
    assert [file.read_bytes() for file in library.parent.glob("*.damaged-*")] == [broken]
    out = carrel(capsys, "references", "list")[1]
    assert "The art" in out and "The rose" in out
