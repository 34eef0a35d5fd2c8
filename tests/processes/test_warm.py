"""A program that begins warm is a program: its own process, streams, environment and end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import warm

ENVIRONMENT = {"PATH": os.environ["PATH"], "ONLY": "this"}


def python(code: str, *words: str) -> list[str | bytes]:
    return [sys.executable, "-c", code, *words]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("pass", 0),
        ("import sys; sys.exit(5)", 5),
        ("raise SystemExit('a reason')", 1),
        ("raise RuntimeError", 1),
        ("import os; os._exit(9)", 9),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
        ("raise KeyboardInterrupt", -signal.SIGINT),
    ],
)
def test_it_ends_as_python_does(code: str, expected: int) -> None:
    cold = subprocess.run(python(code), capture_output=True, text=True, check=False)
    ended = warm.run(python(code), capture_output=True, text=True)
    assert (cold.returncode, ended.returncode) == (expected, expected)
    assert ended.stderr.splitlines()[-1:] == cold.stderr.splitlines()[-1:]


def test_it_reads_and_writes_the_streams_that_it_is_given(tmp_path: Path) -> None:
    code = (
        "import os, sys; print(sys.stdin.read()[::-1], sys.argv, os.getcwd(), dict(os.environ)); "
        "print('said', file=sys.stderr)"
    )
    ended = warm.run(
        python(code, "é", "b"),
        input="ß1",
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=ENVIRONMENT,
        check=True,
    )
    assert ended.stdout == f"1ß ['-c', 'é', 'b'] {tmp_path} {ENVIRONMENT}\n"
    assert ended.stderr == "said\n"
    with (tmp_path / "out").open("w") as file:
        warm.run(python("print('into a file')"), stdout=file, check=True)
    assert (tmp_path / "out").read_text() == "into a file\n"


def test_one_process_leaves_nothing_to_the_next() -> None:
    code = "import os, json; print(os.getpid(), hasattr(json, 'left')); json.left = 1"
    first, second = (
        warm.run(python(code), capture_output=True, text=True, check=True).stdout.split()
        for _ in range(2)
    )
    assert first[1] == second[1] == "False"
    assert len({first[0], second[0], str(os.getpid())}) == 3


def test_it_can_be_killed_and_waited_for() -> None:
    with warm.start(
        python("import signal; print('on', flush=True); signal.pause()"), stdout=-1
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"on\n"
        assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.01)
        process.kill()
        assert process.wait(60) == -signal.SIGKILL


def test_what_is_open_is_closed_and_said_before_the_end(tmp_path: Path) -> None:
    code = (
        "import atexit, sys, threading\n"
        "open(sys.argv[1], 'w').write('whole')\n"
        "kept = open(sys.argv[2], 'w'); kept.write('whole')\n"
        "atexit.register(lambda: print('at the end'))\n"
        "threading.Thread(target=lambda: print('in a thread')).start()\n"
        "print('said')"
    )
    files = [tmp_path / "one", tmp_path / "two"]
    ended = warm.run(python(code, *map(str, files)), capture_output=True, text=True, check=True)
    assert sorted(ended.stdout.splitlines()) == ["at the end", "in a thread", "said"]
    assert [file.read_text() for file in files] == ["whole", "whole"]


def test_a_module_runs_as_main() -> None:
    words: list[str | bytes] = [sys.executable, "-m", "carrel", "--version"]
    ended = warm.run(words, capture_output=True, text=True, check=True)
    assert ended.stdout.startswith("carrel ")
