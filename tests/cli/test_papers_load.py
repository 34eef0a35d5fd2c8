"""The command that loads dumps: what it says to people and to programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from carrel.cli import main
from tests.services.dumps.dump_files import openalex_work, write_partition

pytestmark = pytest.mark.promise("W3")


def test_a_command_without_its_dump_says_what_to_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["papers", "load"])
    assert "name the service and the folder" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["papers", "load", "scopus", "."])
    assert "openalex" in capsys.readouterr().err


def test_errors_come_as_json_where_json_was_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["papers", "load", "arxiv", str(tmp_path / "nowhere"), "--json"]
    assert main([*words, "--home", str(tmp_path / "home")]) != 0
    assert "There is no" in json.loads(capsys.readouterr().out)["error"]["message"]


def test_the_summary_says_what_was_taken_left_out_and_set_aside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = ["--home", str(tmp_path / "home")]
    assert main(["papers", "load", "--status", *home]) == 0
    assert "No dump was loaded" in capsys.readouterr().out
    dump = tmp_path / "dump"
    works = [openalex_work(1, "One"), openalex_work(2, "Zwei", language="de")]
    write_partition(dump, "2026-05-01", [*works, b"{broken"])
    assert main(["papers", "load", "openalex", str(dump), "--languages", "en", *home]) == 0
    shown = capsys.readouterr()
    for said in (
        "3 records of 1 of 1 files",
        "1 papers: 1 new, 0 changed, 0 gone",
        "Left out: 1 by language.",
        "1 records could not be read",
        "The dump reaches 2026-05-01",
    ):
        assert said in " ".join(shown.out.split())
    assert main(["papers", "load", "openalex", str(dump), "--languages", "en", *home]) == 0
    assert "all 1 files were loaded before" in capsys.readouterr().out
    assert main(["papers", "load", "--status", "--json", *home]) == 0
    [status] = json.loads(capsys.readouterr().out)
    assert status["newest"] == "2026-05-01"
    assert status["filters"] == {"languages": ["en"]}
    assert (status["records"], status["is_complete"]) == (1, True)


def test_a_dump_of_something_else_is_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = tmp_path / "dump"
    write_partition(dump, "2026-05-01", [b'{"DOI": "10.1/x", "title": ["Not of OpenAlex"]}'])
    words = ["papers", "load", "openalex", str(dump), "--home", str(tmp_path / "home")]
    assert main(words) == 1
    assert "is this a dump of openalex?" in capsys.readouterr().err
