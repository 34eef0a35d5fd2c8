"""Whatever goes wrong, a command ends with one line, the next step and an honest exit code."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from carrel.cli.command_names import in_commands
from carrel.cli.errors import describe_in_one_line, report_error
from carrel.core.errors import InsufficientPermissionsError
from carrel.doors.errors import EXIT_CODES, TABLE
from tests.processes import warm

START = "import sys; from carrel.cli import main; sys.exit(main())"
ROOT = Path(__file__).parent


def start(
    home: Path,
    *words: str | bytes,
    code: str = START,
    stdout: int | None = subprocess.PIPE,
    stderr: int | None = subprocess.PIPE,
    prepare: Callable[[], None] | None = None,
    **changes: str,
) -> subprocess.Popen[str]:
    environment = {**os.environ, "CARREL_HOME": str(home), "HOME": str(home.parent), **changes}
    return warm.start(
        [sys.executable, "-c", code, *words],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        preexec_fn=prepare,
        env=environment,
        cwd=ROOT,
        text=True,
        errors="surrogateescape",
    )


def run(home: Path, *words: str | bytes, **how: object) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command."""
    process = start(home, *words, **how)  # type: ignore[arg-type]
    out, err = process.communicate(timeout=90)
    return process.returncode, out or "", err or ""


def assert_one_line(err: str) -> str:
    assert err.endswith("\n")
    assert err.count("\n") == 1, err
    assert err.startswith("carrel: "), err
    assert in_commands(err) == err
    assert "Traceback" not in err
    return err


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.mark.promise("Q3")
@pytest.mark.parametrize(
    ("words", "exit_code", "said"),
    [
        (("references", "cite", "nobody-1900"), 3, "Reference not found: nobody-1900"),
        (("knowledge", "show", "n-1"), 3, "carrel knowledge search"),
        (("jobs", "get", "nothing"), 3, "Job not found"),
        (("knowledge", "search", "x", "--limit", "many"), 2, "carrel: --limit"),
        (("research", "start", "short"), 2, "carrel: GOAL: "),
        (("fly",), 2, "there is no command 'fly'. carrel help lists them."),
        (("serach", "x"), 2, "Did you mean carrel find?"),
        (("search", "fish oil"), 2, "carrel find 'fish oil' searches the desk"),
        (("papers", "build", "nowhere", "--quiet"), 2, "None of the sources exists"),
        (("doctr",), 2, "Did you mean carrel doctor?"),
        (("cite",), 2, "Did you mean carrel references cite?"),
        (("research", "check", "x"), 2, "Did you mean carrel research check-claim?"),
        (("--json", "research", "chek-claim"), 2, "no command 'chek-claim'. Did you mean"),
        (("serve", "--port", "70000"), 2, "port"),
        (("backup", "x.tar.gz", "--quiet"), 3, "Home folder not found"),
    ],
)
def test_an_error_is_one_line_with_the_next_step(
    home: Path, words: Sequence[str], exit_code: int, said: str
) -> None:
    code, out, err = run(home, *words)
    assert (code, out) == (exit_code, "")
    assert said in assert_one_line(err)


def test_what_changed_meanwhile_is_a_conflict(home: Path) -> None:
    saved = json.loads(run(home, "knowledge", "save", "First.", "--json")[1])
    known = ("--id", saved["id"], "--updated-at", "2001-01-01T00:00:00+00:00")
    code, _, err = run(home, "knowledge", "save", "Second.", *known)
    assert code == 6
    assert_one_line(err)


def test_what_is_not_allowed_is_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    refused = InsufficientPermissionsError(frozenset({"papers:write"}), frozenset())
    assert report_error(refused, ["papers", "add"]) == 4
    assert "papers:write" in assert_one_line(capsys.readouterr().err)


def test_the_log_stays_silent_unless_it_is_asked_for(tmp_path: Path) -> None:
    words = ("papers", "stats", "--snapshot", str(tmp_path / "missing.db"))
    code, _, err = run(tmp_path / "home", *words)
    assert code == 5
    assert_one_line(err)
    code, _, err = run(tmp_path / "home", *words, "--log-level", "info")
    assert code == 5
    assert "carrel.gate: call not answered" in err


@pytest.mark.promise("Q3")
def test_a_bug_is_one_line_and_its_traceback_is_in_the_log_alone(home: Path) -> None:
    break_it = (
        "import carrel.cli.databases as verb, sys\n"
        "def run(words): raise ZeroDivisionError('a bug')\n"
        "verb.run = run\n"
        f"{START}"
    )
    code, out, err = run(home, "databases", "check", code=break_it)
    assert (code, out) == (1, "")
    assert "ZeroDivisionError" in assert_one_line(err)


@pytest.mark.promise("Q3")
def test_a_bug_in_an_operation_is_one_line_too(home: Path) -> None:
    break_it = (
        f"from carrel.rooms.knowledge.service import Knowledge\nKnowledge.get = None\n{START}"
    )
    code, out, err = run(home, "knowledge", "show", "x", code=break_it)
    assert (code, out) == (1, "")
    assert "--log-level debug" in assert_one_line(err)
    code, _, err = run(home, "knowledge", "show", "x", "--log-level", "debug", code=break_it)
    assert code == 1
    assert "carrel.gate: call failed" in err


def _no_more_than_half_a_kilobyte() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))


@pytest.mark.parametrize(
    "words",
    [
        ("knowledge", "save", "Something to remember."),
        ("references", "add", "@book{one, title = {First}, year = 2001}"),
        ("users", "add", "eve", "--generate"),
        ("research", "list"),
    ],
)
def test_a_full_disk_is_one_line(home: Path, words: Sequence[str]) -> None:
    code, out, err = run(home, *words, prepare=_no_more_than_half_a_kilobyte)
    assert (code, out) == (5, "")
    assert_one_line(err)


@pytest.mark.parametrize(
    "words",
    [
        ("knowledge", "save", "Something to remember."),
        ("references", "add", "@book{one, title = {First}, year = 2001}"),
        ("users", "list"),
        ("research", "list"),
    ],
)
def test_a_home_that_cannot_be_made_is_one_line(tmp_path: Path, words: Sequence[str]) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    code, out, err = run(tmp_path / "file" / "home", *words)
    assert (code, out) == (5, "")
    assert_one_line(err)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("knowledge.sqlite", ("knowledge", "search", "note")),
        ("research/research.db", ("research", "list")),
    ],
)
def test_a_damaged_database_is_one_line(home: Path, name: str, words: tuple[str, ...]) -> None:
    assert run(home, "knowledge", "save", "A note.")[0] == 0
    assert run(home, "research", "list")[0] == 0
    (home / name).write_bytes(b"no database at all " * 500)
    code, out, err = run(home, *words)
    assert (code, out) == (5, "")
    assert "carrel databases" in assert_one_line(err)


def test_bytes_that_are_no_text_are_refused_in_one_line(home: Path) -> None:
    code, out, err = run(home, b"knowledge", b"search", b"caf\xff")
    assert (code, out) == (2, "")
    assert_one_line(err)
    code, _, err = run(home, b"caf\xff")
    assert code == 2
    assert_one_line(err)
    code, _, err = run(home, b"papers", b"build", b"caf\xff")
    assert code == 2
    assert "Traceback" not in err


def test_a_reader_that_stops_reading_ends_the_command_quietly(home: Path) -> None:
    reads, writes = os.pipe()
    os.close(reads)
    code, _, err = run(home, "help", stdout=writes)
    os.close(writes)
    assert (code, err) == (141, "")


def test_output_that_cannot_be_written_is_an_error(home: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        code, _, err = run(home, "help", stdout=full.fileno())
    assert code == 5
    assert "the output cannot be written" in assert_one_line(err)


@pytest.mark.parametrize("closed", [(1,), (2,), (1, 2)])
def test_closed_streams_change_no_exit_code(home: Path, closed: Sequence[int]) -> None:
    def close() -> None:
        for number in closed:
            os.close(number)

    assert run(home, "references", "list", prepare=close)[0] == 0
    code, _, err = run(home, "references", "cite", "nobody", prepare=close)
    assert code == 3
    assert "Traceback" not in err


def _hear_interrupts() -> None:
    """As at a terminal; a shell that runs the tests in the background ignores them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _wait_for(process: subprocess.Popen[str], words: str) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if words in line:
            return
    pytest.fail(f"it never said {words}")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -15)])
def test_a_signal_ends_a_command_without_a_word(
    home: Path, number: signal.Signals, code: int
) -> None:
    """The command says when it is at work, and waits there for the signal."""
    held = (
        "import sys, threading, carrel.cli.databases as verb\n"
        "def run(words):\n"
        "    print('at work', file=sys.stderr, flush=True)\n"
        "    threading.Event().wait(60)\n"
        "    return 0\n"
        "verb.run = run\n"
        f"{START}"
    )
    process = start(home, "databases", "check", code=held, prepare=_hear_interrupts)
    _wait_for(process, "at work")
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (code, "")


def test_every_exit_code_of_the_table_is_explained() -> None:
    assert {mapping.exit_code for mapping in TABLE.values()} <= set(EXIT_CODES)


def test_nothing_done_is_not_success(home: Path) -> None:
    code, _, _ = run(home, "references", "add", "this is no reference")
    assert code == 1


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("Not in a paper: “cold divers”", "Not in a paper: “cold divers”. Name another."),
        ("It cannot be opened", "It cannot be opened. Name another."),
        ("Not a library {}", "Not a library {}. Name another."),
        ("It ends here.", "It ends here. Name another."),
        ("本は見つかりません。", "本は見つかりません。 Name another."),
        ("", "Name another."),
    ],
)
def test_a_message_and_the_next_step_are_two_sentences(message: str, line: str) -> None:
    assert describe_in_one_line(message, "Name another.") == line
