"""Jobs for a person or an agent that is no API: one command a step, everything logged.

    python -m benchmarks.deskbench.relay STATE_DIR begin [--server NAME] [--command …] [--jobs …]
    python -m benchmarks.deskbench.relay STATE_DIR tools [NAME …]
    python -m benchmarks.deskbench.relay STATE_DIR jobs
    python -m benchmarks.deskbench.relay STATE_DIR start JOB
    python -m benchmarks.deskbench.relay STATE_DIR next
    python -m benchmarks.deskbench.relay STATE_DIR call TOOL [JSON]
    python -m benchmarks.deskbench.relay STATE_DIR answer TEXT
    python -m benchmarks.deskbench.relay STATE_DIR end

A background process keeps the server and the clock between commands. It shows what an assistant
gets and never a verdict; those are in STATE_DIR/log.jsonl.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.deskbench.jobs import PREAMBLE, Job, choose_jobs, read_capabilities
from benchmarks.deskbench.mcp_client import ServerError
from benchmarks.deskbench.runs import (
    CALLS_PER_JOB,
    Desk,
    JobRecord,
    OutOfCallsError,
    append_record,
    begin_record,
    count_characters,
    finish_record,
    read_records,
)
from benchmarks.deskbench.servers import CARREL, OpenDesk, ServerUnderTest, make_server

# A keeper that nobody asks for this long ends by itself.
IDLE_SECONDS = 3 * 3600
_START_SECONDS = 900


class RelayKeeper:
    """The background process: at most one job at a time, with its server and its record."""

    def __init__(self, folder: Path, server: ServerUnderTest, jobs: list[Job], name: str) -> None:
        self._folder = folder
        self._server = server
        self._name = name
        self._jobs = {job.id: job for job in jobs}
        self._open = contextlib.ExitStack()
        self._job: Job | None = None

    def answer(self, words: list[str]) -> str:
        """What a command prints."""
        steps = {"jobs": self._list_jobs, "tools": self._show_tools, "start": self._start}
        steps |= {"next": self._next, "call": self._call, "answer": self._take_answer}
        try:
            return steps[words[0]](words[1:])
        except ServerError as error:
            return f"The server failed: {error}. Answer with what you have, or start the job again."

    def close(self) -> None:
        self._open.close()

    def _done(self) -> set[str]:
        log = self._folder / "log.jsonl"
        return {row["job"] for row in read_records(log)} if log.exists() else set()

    def _list_jobs(self, words: list[str]) -> str:
        done = self._done()
        return "\n".join(
            f"{number}  {'done' if name in done else 'open'}"
            for number, name in enumerate(self._jobs, start=1)
        )

    def _next(self, words: list[str]) -> str:
        if self._job is not None:
            return "A job is open: answer it first."
        left = [name for name in self._jobs if name not in self._done()]
        return self._start(left[:1]) if left else "No job is left. You are done."

    def _start(self, words: list[str]) -> str:
        if self._job is not None:
            return "A job is open: answer it first."
        job = self._find_job(words)
        if job is None:
            return f"There is no such job. Jobs have numbers from 1 to {len(self._jobs)}."
        place: OpenDesk = self._open.enter_context(self._server.open_desk(job))
        client = place.connect()
        self._open.callback(client.close)
        self._place, self._record = place, begin_record(job, place, self._name)
        self._desk, self._began, self._job = Desk(client, self._record), time.monotonic(), job
        number = list(self._jobs).index(job.id) + 1
        return f"Job {number} of {len(self._jobs)}\n\n{PREAMBLE}\n\nThe job: {job.text}"

    def _find_job(self, words: list[str]) -> Job | None:
        """A job by its number or id; ids say too much of the answer to be shown."""
        numbered = {str(number): job for number, job in enumerate(self._jobs.values(), start=1)}
        return (numbered | self._jobs).get(words[0]) if words else None

    def _show_tools(self, words: list[str]) -> str:
        if self._job is not None:
            return describe_tools(self._desk.instructions, self._desk.tools, words)
        job = next(iter(self._jobs.values()))
        with self._server.open_desk(job) as place:
            client = place.connect()
            try:
                return describe_tools(client.instructions, client.list_tools(), words)
            finally:
                client.close()

    def _call(self, words: list[str]) -> str:
        if self._job is None:
            return "No job is open: `next` starts one."
        try:
            arguments = json.loads(words[1]) if len(words) > 1 and words[1].strip() else {}
        except ValueError as error:
            return f"The arguments are not JSON: {error}. Nothing was called."
        if not words or not isinstance(arguments, dict):
            return "Say: call TOOL JSON-OBJECT. Nothing was called."
        try:
            answer = self._desk.call(words[0], arguments)
        except OutOfCallsError:
            return f"All {CALLS_PER_JOB} calls of this job are used. Answer with what you have."
        return ("[the tool answered with an error]\n" if answer.is_error else "") + answer.text

    def _take_answer(self, words: list[str]) -> str:
        if self._job is None:
            return "No job is open: `next` starts one."
        record, job = self._record, self._job
        record.answer = " ".join(words)
        record.seconds = round(time.monotonic() - self._began, 1)
        count_characters(record, job, self._desk)
        self._job = None
        try:
            finish_record_after_close(record, job, self._place, self._desk)
        finally:
            self._open.close()
            self._open = contextlib.ExitStack()
        append_record(record, self._folder / "log.jsonl")
        left = len(self._jobs) - len(self._done() & set(self._jobs))
        return f"Noted. {left} jobs are left; `next` starts one."


def finish_record_after_close(record: JobRecord, job: Job, place: OpenDesk, desk: Desk) -> None:
    """The verdict, once the assistant's server has ended."""
    desk.close()
    try:
        finish_record(record, job, place)
    except (ServerError, RuntimeError) as error:
        record.why = f"the desk could not be read afterwards: {error}"


def describe_tools(instructions: str, tools: list[dict[str, Any]], names: list[str]) -> str:
    """Instructions and tools as an assistant gets them; with names only these."""
    lines = [] if names else [f"Instructions of the server: {instructions}", ""]
    shown = [tool for tool in tools if not names or tool["name"] in names]
    lines += [json.dumps(tool, ensure_ascii=False) for tool in shown]
    return "\n".join(lines)


def keep(folder: Path, options: argparse.Namespace) -> None:
    """Runs the background process until `end`, or until nobody asks any more."""
    desks = folder.parent / "deskbench-desks"
    server = make_server(options.server, options.command, desks, template=options.template)
    has = read_capabilities(options.server)
    jobs = [job for job in choose_jobs(options.jobs) if set(job.needs) <= has]
    keeper = RelayKeeper(folder, server, jobs, options.name)
    with socket.create_server(("127.0.0.1", 0)) as door:
        door.settimeout(IDLE_SECONDS)
        (folder / "port").write_text(str(door.getsockname()[1]))
        try:
            while True:
                connection, _ = door.accept()
                with connection:
                    words = json.loads(connection.makefile("r", encoding="utf-8").readline())
                    text = "Ended." if words[0] == "end" else keeper.answer(words)
                    connection.sendall(text.encode())
                if words[0] == "end":
                    return
        except TimeoutError:
            return
        finally:
            keeper.close()
            (folder / "port").unlink(missing_ok=True)


def ask(folder: Path, words: list[str]) -> str:
    """Sends a command to the background process."""
    try:
        port = int((folder / "port").read_text())
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(json.dumps(words).encode() + b"\n")
            connection.shutdown(socket.SHUT_WR)
            return connection.makefile("r", encoding="utf-8").read()
    except (OSError, ValueError):
        raise SystemExit(f"relay: nothing runs for {folder}; say `begin` first") from None


def begin(folder: Path, words: list[str]) -> str:
    """Starts the background process and waits until it can be asked."""
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "port").exists():
        with contextlib.suppress(SystemExit):
            ask(folder, ["jobs"])
            return "It runs already."
        (folder / "port").unlink()
    with (folder / "keeper.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", __spec__.name, str(folder), "keep", *words],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    deadline = time.monotonic() + _START_SECONDS
    while not (folder / "port").exists():
        if process.poll() is not None:
            raise SystemExit((folder / "keeper.log").read_text()[-2000:])
        if time.monotonic() > deadline:
            raise SystemExit("relay: the server did not become ready")
        time.sleep(0.2)
    return "Ready. `tools` shows the tools, `next` starts a job."


def main(words: list[str]) -> None:
    if len(words) < 2:
        raise SystemExit(__doc__)
    folder, command, rest = Path(words[0]).resolve(), words[1], words[2:]
    if command in {"begin", "keep"}:
        parser = argparse.ArgumentParser(prog="relay STATE_DIR begin")
        parser.add_argument("--server", default=CARREL, help="name in capabilities.toml")
        parser.add_argument("--command", default="", help="command or address of the server")
        parser.add_argument("--template", type=Path, help="a desk that is loaded already")
        parser.add_argument("--jobs", default="all", help="all, splits, kinds or ids, with commas")
        parser.add_argument("--name", default="relay", help="who does the jobs, for the log")
        options = parser.parse_args(rest)
        if command == "keep":
            keep(folder, options)
            return
        print(begin(folder, rest))
    elif command in {"tools", "jobs", "start", "next", "call", "answer", "end"}:
        if command in {"call", "answer"} and rest[-1:] == ["-"]:
            rest = [*rest[:-1], sys.stdin.read()]
        print(ask(folder, [command, *rest]))
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONIOENCODING", "utf-8")
    main(sys.argv[1:])
