"""Progress of long commands: bars that move evenly, alone on their line, and leave nothing."""

from __future__ import annotations

import io
import re
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from carrel.cli.pace import Pace
from carrel.cli.progress import TerminalProgress, close_progress
from carrel.rooms.papers.building.models import BuildOptions
from carrel.wiring.papers_build import build_papers
from tests.cli.terminal import read_terminal
from tests.journeys.doors import ENVIRONMENT

pytestmark = pytest.mark.promise("Q2")

CONTROL = re.compile("\x1b[^a-zA-Z]*[a-zA-Z]")
# Seconds for a megabyte as they were measured, and how files of one kind differ among themselves.
TRUE_SECONDS = {".md": 2.37, ".xml": 0.18, ".bib": 0.40}
SPREAD = (0.7, 1.3, 1.0, 0.8, 1.2)


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

    def drawn(self) -> list[str]:
        """Every bar that was drawn, without colours."""
        return [CONTROL.sub("", piece) for piece in self.getvalue().split("\r") if piece.strip()]


@pytest.fixture(autouse=True)
def _usual_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")


def test_a_terminal_sees_a_bar_with_rate_and_time_left() -> None:
    stream, clock = Terminal(), Hands()
    progress = TerminalProgress(stream, clock)
    progress.begin("reading", 40_000_000, "bytes")
    clock.seconds = 2.0
    progress.advance(10_000_000)
    progress.end()
    last = [line for line in stream.drawn() if line.strip()][-1]
    assert re.fullmatch("reading ━+─+ +25% 10.0 MB of 40.0 MB  5.0 MB/s  6 s left", last)


def test_a_bar_is_gone_when_its_phase_ends_and_the_cursor_is_never_hidden() -> None:
    stream = Terminal()
    progress = TerminalProgress(stream, Hands())
    for phase in ("reading", "writing", "indexing"):
        progress.begin(phase, 2, "papers")
        progress.advance(2)
        progress.end()
    assert stream.getvalue().endswith("\r\x1b[K")
    assert "\n" not in stream.getvalue()
    assert "\x1b[?25l" not in stream.getvalue()


def test_a_bar_that_was_left_is_taken_away_at_the_end_of_the_command() -> None:
    stream = Terminal()
    TerminalProgress(stream, Hands()).begin("reading", 2, "papers")
    close_progress()
    assert stream.getvalue().endswith("\r\x1b[K")
    before = stream.getvalue()
    close_progress()
    assert stream.getvalue() == before


@pytest.mark.parametrize("width", [20, 30, 40, 60, 80, 120])
def test_a_bar_fits_its_terminal_and_keeps_the_time_left_longest(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    stream, clock = Terminal(), Hands()
    progress = TerminalProgress(stream, clock)
    progress.begin("reading", 40_000_000, "bytes")
    clock.seconds = 2.0
    progress.advance(10_000_000)
    last = [line for line in stream.drawn() if line.strip()][-1]
    assert len(last) < width
    assert "25%" in last
    assert ("left" in last) is (width >= 40)


@pytest.mark.promise("A8")
def test_a_name_in_square_brackets_or_with_controls_is_shown_as_it_is() -> None:
    stream = Terminal()
    progress = TerminalProgress(stream, Hands())
    progress.begin("[red]a[/red]\x07", 2, "[b]x[/b]")
    progress.end()
    assert "[red]a[/red]\\x07" in stream.getvalue()
    assert "2 [b]x[/b]" in stream.getvalue()


def test_slow_work_has_a_rate_by_the_minute() -> None:
    stream, clock = Terminal(), Hands()
    progress = TerminalProgress(stream, clock)
    progress.begin("summarising", 10, "papers")
    clock.seconds = 20.0
    progress.advance()
    assert stream.drawn()[-1].endswith("1 of 10 papers  3 papers/min  3 min 00 s left")


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


def test_a_quick_phase_says_nothing_in_a_pipe_and_a_dumb_terminal_has_no_bar(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    for stream in (io.StringIO(), Terminal()):
        progress = TerminalProgress(stream, Hands())
        progress.begin("reading", 3, "papers")
        progress.advance(3)
        progress.end()
        assert stream.getvalue() == ""


class Watched(TerminalProgress):
    """Moves the clock by the true cost of each file before it is counted, and notes the shares."""

    def __init__(self, files: list[Path]) -> None:
        self.clock = Hands()
        super().__init__(Terminal(), self.clock)
        self.costs = {
            file.stat().st_size: TRUE_SECONDS[file.suffix]
            * file.stat().st_size
            / 1_000_000
            * SPREAD[number % len(SPREAD)]
            for number, file in enumerate(files)
        }
        assert len(self.costs) == len(files), "files are told apart by their sizes"
        self.shown: list[tuple[float, float, float]] = []
        self._phase_now, self._bytes = "", 0

    def begin(self, phase: str, total: int | None, unit: str, work: float | None = None) -> None:
        self._phase_now = phase
        super().begin(phase, total, unit, work)

    def advance(self, amount: int = 1, work: float | None = None) -> None:
        if self._phase_now == "reading":
            self.clock.seconds += self.costs[amount]
            self._bytes += amount
        super().advance(amount, work)
        if self._phase_now == "reading":
            true_share = self.clock.seconds / sum(self.costs.values())
            assert self.share is not None
            self.shown.append((self.share, true_share, self._bytes / sum(self.costs)))


def test_the_bar_of_a_mixed_folder_moves_as_the_work_does(tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    for kind in ("articles", "texts"):
        (folder / kind).mkdir(parents=True)
    files: list[Path] = []
    for number in range(1, 31):
        filler = f"Sentence {number} of a text that is long enough to be read. " * (40 + number * 7)
        note = folder / "texts" / f"{number:02}.md"
        note.write_text(
            f"---\ntitle: Study {number}\nyear: 2001\n---\n# Study {number}\n\n{filler}"
        )
        article = folder / "articles" / f"{number:02}.xml"
        article.write_text(
            "<article><front><article-meta><title-group><article-title>Trial "
            f"{number}</article-title></title-group></article-meta></front>"
            f"<body><sec><title>Text</title><p>{filler * 3}</p></sec></body></article>"
        )
        files += [note, article]
    library = folder / "z.bib"
    library.write_text(
        "\n".join(f"@article{{k{n}, title={{Entry {n}}}, year={{1999}}}}" for n in range(900))
    )
    progress = Watched([*files, library])
    build_papers([folder], tmp_path / "corpus", BuildOptions(workers=1), progress=progress)
    assert len(progress.shown) == len(files) + 1
    assert max(abs(shown - true) for shown, true, _ in progress.shown) < 0.08
    assert max(abs(by_bytes - true) for _, true, by_bytes in progress.shown) > 0.25
    shares = [shown for shown, _, _ in progress.shown]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


def test_the_time_left_does_not_jump_when_pieces_take_unlike_long() -> None:
    pace, now, foretold = Pace(0.0), 0.0, []
    for number in range(200):
        now += (0.5, 1.5)[number % 2]
        pace.add(now, 1.0)
        left = pace.seconds_left(now, 200.0)
        if number >= 20 and left is not None:
            foretold.append(now + left)
    assert max(foretold) - min(foretold) < 30, "of an end at 200 seconds"
    assert all(abs(end - 200) < 20 for end in foretold)


def test_the_time_left_follows_when_the_work_becomes_slower() -> None:
    pace, now = Pace(0.0), 0.0
    for number in range(100):
        now += 0.1 if number < 50 else 2.0
        pace.add(now, 1.0)
    left = pace.seconds_left(now, 150.0)
    assert left is not None
    assert 80 < left < 110, "fifty pieces of two seconds each"


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal")
@pytest.mark.parametrize("command", [["papers", "build"], ["add"]])
def test_ctrl_c_leaves_a_clean_line_and_no_bar(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "papers").mkdir()
    for number in range(3):
        text = f"---\ntitle: Study {number}\n---\n# Study {number}\n\nA text of one sentence."
        (tmp_path / "papers" / f"{number}.md").write_text(text)
    words = [*command, str(tmp_path / "papers"), "--home", str(tmp_path / "home")]
    program = f"""
import sys
from carrel.cli import main
from carrel.cli.progress import TerminalProgress
advance = TerminalProgress.advance
def interrupted(self, *amounts):
    advance(self, *amounts)
    raise KeyboardInterrupt
TerminalProgress.advance = interrupted
sys.exit(main({words!r}))
"""
    environment = {**ENVIRONMENT, "TERM": "xterm"}
    said = read_terminal([sys.executable, "-c", program], environment, exit_code=130)
    assert "─" in said
    _, erased, rest = said.rpartition("\r\x1b[K")
    assert erased
    assert rest.startswith("Stopped. What was ")
    assert rest.endswith("to go on.\r\n")
    assert rest.count("\n") == 1
    assert "\x1b[?25l" not in said


def test_nothing_is_foretold_before_there_is_evidence_and_the_start_of_readers_is_no_pace() -> None:
    stream, clock = Terminal(), Hands()
    progress = TerminalProgress(stream, clock)
    progress.begin("reading", 1000, "papers")
    # The readers start for three seconds, and the first paper is one of a thousand.
    clock.seconds = 3.0
    progress.advance(1)
    assert all("left" not in line and "/" not in line for line in stream.drawn())
    for _ in range(99):
        clock.seconds += 0.1
        progress.advance(1)
    last = [line for line in stream.drawn() if line.strip()][-1]
    assert re.fullmatch("reading ━+─+ +10% 100 of 1,000 papers  10 papers/s  1 min 30 s left", last)


def test_a_burst_of_first_pieces_is_no_pace() -> None:
    pace = Pace(0.0)
    for _ in range(40):
        pace.add(3.001, 1.0)
    pace.add(3.002, 1.0)
    assert pace.seconds_left(3.002, 1000.0) is None
