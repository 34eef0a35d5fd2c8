"""The command that builds a corpus, and the progress it shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from carrel.cli import main
from carrel.cli.papers_build import run
from carrel.rooms.papers.building.paper_keys import make_paper_id
from tests.stores.published_corpora import add_text, make_copy


@pytest.mark.promise("P9")
def test_the_command_builds_and_reports_in_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "good.md").write_text("# A good paper\n")
    (tmp_path / "bad.jsonl").write_text("{nope\n")
    assert (
        run(
            [
                "build",
                str(tmp_path),
                "--into",
                str(tmp_path / "out"),
                "--report",
                "json",
                "--workers",
                "1",
            ]
        )
        == 0
    )
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    assert report["papers"] == {
        "total": 1,
        "added": 1,
        "changed": 0,
        "removed": 0,
        "in_doubt": 1,
    }
    assert [(line["code"], line["line"], line["skipped"]) for line in report["lines"]] == [
        ("json_not_valid", 1, True)
    ]
    assert shown.err == "", "what is quick needs no progress in a pipe"


def test_a_source_that_does_not_exist_ends_with_two_and_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["build", str(tmp_path / "nowhere"), "--into", str(tmp_path / "out")]
    assert main(["papers", *words]) == 2
    assert "Name files or folders that exist" in capsys.readouterr().err


@pytest.mark.promise("P16")
def test_papers_are_removed_and_segments_compacted_at_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = ["--home", str(tmp_path / "home")]
    (tmp_path / "one.md").write_text("---\ntitle: One\ndoi: 10.1000/one\n---\nWhales sing.\n")
    (tmp_path / "two.md").write_text("---\ntitle: Two\ndoi: 10.1000/two\n---\nKrill drifts.\n")
    assert main(["papers", "build", str(tmp_path / "one.md"), "--quiet", *home]) == 0
    assert main(["papers", "build", str(tmp_path / "two.md"), "--quiet", *home]) == 0
    capsys.readouterr()
    assert main(["papers", "compact", *home]) == 0
    assert "1 segments; it had 2" in capsys.readouterr().out
    paper_id = make_paper_id("doi:10.1000/one")
    assert main(["papers", "remove", paper_id, "--json", *home]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "paper_id": paper_id,
        "title": "One",
        "decision": 1,
    }
    assert main(["papers", "stats", "--json", *home]) == 0
    assert json.loads(capsys.readouterr().out)["papers"] == 1
    assert main(["papers", "remove", paper_id, *home]) != 0
    assert "not found" in capsys.readouterr().err


@pytest.mark.promise("Q21")
def test_machines_read_parts_that_a_build_joins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home, sources = ["--home", str(tmp_path / "home")], tmp_path / "sources"
    sources.mkdir()
    for name in ("one", "two"):
        (sources / f"{name}.md").write_text(f"---\ntitle: {name}\n---\nWhales sing in {name}.\n")
    share = ["papers", "build-part", str(sources), "--workers", "1", *home]
    assert main([*share, "--part", "3/2"]) == 2
    assert main([*share, "--part", "1/2"]) == 0
    assert "1 partitions were read (2 files)." in capsys.readouterr().out
    assert main([*share, "--part", "2/2"]) == 0
    assert main(["papers", "build", str(sources), "--quiet", *home]) == 0


@pytest.mark.promise("Q12")
def test_a_copy_is_brought_up_to_date_before_it_is_exported_or_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "store").mkdir()
    url = (tmp_path / "store").as_uri()
    monkeypatch.setenv("CARREL_PAPERS_CORPUS_URL", url)
    home = ["--home", str(tmp_path / "home")]
    make_copy(tmp_path / "server", url)
    for number in (1, 2):
        add_text(tmp_path / "server", f"Paper {number}")
        assert main(["papers", "export-snapshot", str(tmp_path / f"out{number}"), *home]) == 0
        assert f"{number} papers are in" in capsys.readouterr().out
    add_text(tmp_path / "server", "Paper 3")
    assert main(["papers", "map", *home]) == 0
    assert "3 papers" in capsys.readouterr().out
