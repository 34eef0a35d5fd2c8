"""What `carrel literature` prints for people, over the recorded services."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.cli import main
from tests.rooms.literature.outside import CHEMCROW, XGEN, Outside
from tests.services.literature.recorded import needs_recordings

pytestmark = needs_recordings


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Outside]:
    with Outside() as opened:
        addresses = opened.settings(tmp_path).literature.addresses.model_dump(exclude_none=True)
        lines = ["[audit]", "enabled = false", "[literature]"]
        lines += ['services = ["openalex", "crossref"]', "[literature.addresses]"]
        lines += [f'{name} = "{url}"' for name, url in addresses.items()]
        (tmp_path / "carrel.toml").write_text("\n".join(lines))
        monkeypatch.setenv("CARREL_HOME", str(tmp_path))
        yield opened


def test_what_fails_ends_with_its_exit_code_and_what_to_do(
    outside: Outside, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["literature", "show", "nonsense"]) == 2
    assert "carrel literature search" in capsys.readouterr().err
    assert main(["literature", "add", "nonsense", "--into", "library"]) == 1
    assert main(["literature", "search", "x", "--services", "scihub"]) == 2
    assert "openalex" in capsys.readouterr().err
    monkeypatch.setenv("CARREL_NETWORK", "false")
    assert main(["literature", "search", "chemistry"]) == 5
    assert "network = true" in capsys.readouterr().err


def test_found_works_stand_above_what_became_of_the_question(
    outside: Outside, capsys: pytest.CaptureFixture[str]
) -> None:
    outside.faults["crossref"] = (200, {"content-type": "text/html"}, b"<html></html>")
    assert main(["literature", "search", "language", "models", "chemistry"]) == 0
    shown = capsys.readouterr()
    works, _, coverage = shown.out.partition("2 services answered")
    assert "Augmenting large language models with chemistry tools" in works
    assert f"doi:{CHEMCROW}" in works and "found by openalex #1" in works
    rows = [line.split("\t") for line in coverage.splitlines() if "\t" in line]
    states = {row[0]: row[1] for row in rows}
    assert states["openalex"] == "answered" and states["crossref"] == "failed"
    assert states["semantic_scholar"] == "not asked"
    assert "carrel literature add" in shown.err


def test_one_work_is_shown_with_origins_and_kept_by_the_next_command(
    outside: Outside, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["literature", "show", XGEN]) == 0
    shown = capsys.readouterr().out
    assert "Where each field comes from" in shown and "Cell Genomics, 5(4), 100814" in shown
    assert main(["literature", "add", XGEN, "--into", "both"]) == 0
    kept = capsys.readouterr().out
    assert kept.startswith("added High-throughput screening")
    assert "paper " in kept and "reference herger-2025" in kept
    assert main(["literature", "search", "prime editing"]) == 0
    assert "in the library as herger-2025" in capsys.readouterr().out
