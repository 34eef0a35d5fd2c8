"""A command whose home is named looks at no other home of the person."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from carrel.cli import main


@pytest.fixture
def usual_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a desk is when no home is named."""
    for name in [name for name in os.environ if name.startswith(("CARREL_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path / ".local" / "share" / "carrel"


@pytest.mark.parametrize("words", [["--home", "{}"], ["--home={}"]])
@pytest.mark.parametrize(
    "command",
    [["papers", "search", "viscosity"], ["alerts", "list"], ["references", "list"]],
    ids=" ".join,
)
def test_a_command_with_a_home_of_its_own_leaves_the_usual_one_alone(
    usual_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: list[str],
    words: list[str],
) -> None:
    # A copy of a published corpus is begun by whoever looks for it.
    monkeypatch.setenv("CARREL_PAPERS_CORPUS_URL", f"file://{tmp_path}/published")
    main([*command, *(word.format(tmp_path / "desk") for word in words)])
    assert (tmp_path / "desk").is_dir()
    assert not usual_home.exists()


@pytest.mark.promise("Q9")
def test_a_library_in_the_usual_home_stops_no_command_about_another_home_beside_a_database(
    usual_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    library = usual_home / "references" / "library.json"
    library.parent.mkdir(parents=True)
    library.write_text('[{"id": "old", "type": "book", "title": "Kept"}]')
    # Nothing listens there: the command gets as far as the database.
    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody@127.0.0.1:9/none?connect_timeout=1")
    pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    assert main(["references", "list", "--home", str(tmp_path / "desk")]) != 0
    told = capsys.readouterr().err
    assert "There is a library" not in told and "database" in told.lower(), told
