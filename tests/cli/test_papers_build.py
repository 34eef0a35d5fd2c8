"""The command that builds a corpus, and the progress it shows."""

from __future__ import annotations

import io
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from carrel.cli.papers_build import run
from carrel.cli.progress import TerminalProgress


class Hands:
    """A clock whose hands a test moves."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.seconds


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


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
    assert report["papers"] == {"total": 1, "added": 1, "changed": 0, "removed": 0}
    assert [(line["code"], line["line"], line["skipped"]) for line in report["lines"]] == [
        ("json_not_valid", 1, True)
    ]
    assert "reading" in shown.err and "writing" in shown.err


def test_a_source_that_does_not_exist_ends_with_two_and_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["build", str(tmp_path / "nowhere"), "--into", str(tmp_path / "out")]) == 2
    assert "Name files or folders that exist" in capsys.readouterr().err


@pytest.mark.promise("Q2")
def test_a_terminal_sees_a_bar_with_rate_and_time_left() -> None:
    stream, clock = Terminal(), Hands()
    progress = TerminalProgress(stream, clock)
    progress.begin("reading", 40_000_000, "bytes")
    clock.seconds = 2.0
    progress.advance(10_000_000)
    progress.end()
    last = re.sub("\x1b[^a-zA-Z]*[a-zA-Z]", "", stream.getvalue().strip()).rpartition("\r")[2]
    assert re.fullmatch(
        "reading (━)+[^ ]* +25% 10.0 MB of 40.0 MB  5.0 MB/s  6 s left", last.strip()
    )


@pytest.mark.promise("A8")
def test_a_name_in_square_brackets_is_no_markup_of_the_bar() -> None:
    stream = Terminal()
    progress = TerminalProgress(stream, Hands())
    progress.begin("[red]a[/red]", 2, "[b]x[/b]")
    progress.end()
    assert "[red]a[/red]" in stream.getvalue()
    assert "2 [b]x[/b]" in stream.getvalue()


@pytest.mark.promise("Q2")
def test_a_pipe_sees_plain_lines_and_not_too_many() -> None:
    stream, clock = io.StringIO(), Hands()
    progress = TerminalProgress(stream, clock)
    progress.begin("writing", 1000, "papers")
    for _ in range(1000):
        clock.seconds += 0.011
        progress.advance()
    progress.end()
    lines = stream.getvalue().splitlines()
    assert lines[0] == "writing 1,000 papers"
    assert lines[-1] == "writing: 1,000 papers in 11 s"
    assert len(lines) == 4
    assert "\r" not in stream.getvalue()
