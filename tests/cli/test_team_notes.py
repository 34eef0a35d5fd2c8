"""A folder of notes that was imported by one person and then for the team, seen by a colleague at a
real server.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from carrel.cli import main
from tests.cli.served import invoke, serve

NOTES = {
    "Viscosity.md": "---\ntitle: Measuring viscosity\ntags: [protocol]\n---\nSee [[Capsules]].\n",
    "Capsules.md": "# Capsules\n\nThree grams a day, with a meal.\n",
}


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    # A folder with Obsidian's own inside is one of notes, whoever looks at it.
    (tmp_path / "notes" / ".obsidian").mkdir(parents=True)
    for name, text in NOTES.items():
        (tmp_path / "notes" / name).write_text(text, encoding="utf-8")
    return tmp_path / "notes"


def make_token(name: str, scopes: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(["tokens", "create", name, "--scopes", scopes]) == 0
    return capsys.readouterr().out.strip()


def import_notes(
    folder: Path, capsys: pytest.CaptureFixture[str], *words: str, code: int = 0
) -> tuple[str, str]:
    capsys.readouterr()
    assert main(["knowledge", "import", str(folder), *words]) == code
    said = capsys.readouterr()
    return said.out, said.err


@pytest.mark.parametrize("first", [["knowledge", "import"], ["add"]])
def test_importing_for_the_team_shares_what_was_ones_own(
    notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], first: list[str]
) -> None:
    token = make_token("ada", "knowledge:read", capsys)
    assert main([*first, str(notes)]) == 0
    with serve(tmp_path / "home", "tokens", "--rooms", "knowledge") as url:
        assert invoke(url, token, "search_knowledge", query="text:grams")["result"] == []
        capsys.readouterr()
        assert main(["knowledge", "search", "*", "--json"]) == 0
        before = {hit["title"]: hit["id"] for hit in json.loads(capsys.readouterr().out)}
        assert set(before) == {"Measuring viscosity", "Capsules"}

        said, _ = import_notes(notes, capsys, "--source", "team")
        assert "2 shared" in said and "new" not in said

        found = invoke(url, token, "search_knowledge", query="*")["result"]
        assert {hit["title"]: hit["id"] for hit in found} == before
        shown = invoke(url, token, "get_knowledge", id=before["Measuring viscosity"])["result"]
        assert shown["links"] == [{"target": "Capsules", "id": before["Capsules"]}]

        said, _ = import_notes(notes, capsys, "--source", "team")
        assert "2 unchanged" in said and "shared" not in said

        # The way back is explained, changes no owner, and still brings in what changed.
        (notes / "Capsules.md").write_text("# Capsules\n\nFour grams a day.\n", encoding="utf-8")
        said, explained = import_notes(notes, capsys)
        assert "1 changed" in said and "1 unchanged" in said
        assert "2 of these notes are the team's and stay so" in explained
        (hit,) = invoke(url, token, "search_knowledge", query="text:four")["result"]
        assert hit["id"] == before["Capsules"]


def test_a_note_that_changed_on_both_sides_is_not_shared_by_overwriting_it(
    notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    token = make_token("ada", "knowledge:read", capsys)
    import_notes(notes, capsys)
    assert main(["knowledge", "search", "text:grams", "--json"]) == 0
    (mine,) = json.loads(capsys.readouterr().out)
    assert main(["knowledge", "show", mine["id"], "--json"]) == 0
    words = ["--id", mine["id"], "--updated-at", json.loads(capsys.readouterr().out)["updated_at"]]
    assert main(["knowledge", "save", "Five grams.", *words]) == 0
    (notes / "Capsules.md").write_text("# Capsules\n\nSix grams.\n", encoding="utf-8")
    said, explained = import_notes(notes, capsys, "--source", "team", code=6)
    assert "1 conflict" in said and "1 shared" in said and "Capsules.md" in explained
    with serve(tmp_path / "home", "tokens", "--rooms", "knowledge") as url:
        assert invoke(url, token, "search_knowledge", query="text:grams")["result"] == []
        (shared,) = invoke(url, token, "search_knowledge", query="*")["result"]
        assert shared["title"] == "Measuring viscosity"
