"""What one call costs a replica and what it costs the PostgreSQL that all replicas share.

    python -m benchmarks.replica_costs [--calls 400]

CPU of both sides for one call, bytes of write-ahead log, and what an idle replica asks, measured
while one client asks a server with `DATABASE_URL` on loopback. `docs/scale.md` reckons with these:
the database is what replicas have in common, so its share of a call bounds how many of them are
worth having. Needs PostgreSQL.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.desk_growth import Server, serving
from tests.stores.postgres_server import postgres_server

Ask = Callable[[int], dict[str, Any]]
_IDLE_SECONDS = 20.0


def _reference(number: int) -> dict[str, Any]:
    item = {"type": "book", "title": f"A book {number}", "publisher": "Nobody"}
    return {"input": json.dumps([item])}


CALLS: dict[str, tuple[str, Ask]] = {
    "read a note": ("search_knowledge", lambda number: {"query": f"note {number % 50}"}),
    "save a note": (
        "save_knowledge",
        lambda number: {"title": f"note {number}", "content": f"What is in note {number}."},
    ),
    "list references": ("list_references", lambda number: {"limit": 5}),
    "add a reference": ("add_references", _reference),
}


@dataclass(frozen=True, slots=True)
class _Times:
    """A process in the kernel's words: ticks of its own and of children that ended."""

    pid: int
    parent: int
    ticks: int

    @classmethod
    def of(cls, pid: int) -> _Times:
        try:
            words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return cls(pid, 0, 0)
        return cls(pid, int(words[1]), sum(int(word) for word in words[11:15]))


class DatabaseProcesses:
    """CPU of all processes of one PostgreSQL, those that ended between two looks included."""

    def __init__(self, url: str) -> None:
        self._url = url
        with psycopg.connect(url) as connection:
            row = connection.execute("SELECT pg_backend_pid()").fetchone()
            assert row is not None
            self._parent = _Times.of(int(row[0])).parent

    def used_seconds(self) -> float:
        everybody = [
            _Times.of(int(path.name)) for path in Path("/proc").iterdir() if path.name.isdecimal()
        ]
        family = [each for each in everybody if self._parent in {each.pid, each.parent}]
        return sum(each.ticks for each in family) / os.sysconf("SC_CLK_TCK")

    def written_bytes(self) -> int:
        with psycopg.connect(self._url) as connection:
            row = connection.execute("SELECT pg_current_wal_lsn() - '0/0'").fetchone()
        assert row is not None
        return int(row[0])

    def transactions(self) -> int:
        with psycopg.connect(self._url) as connection:
            row = connection.execute(
                "SELECT xact_commit + xact_rollback FROM pg_stat_database "
                "WHERE datname = current_database()"
            ).fetchone()
        assert row is not None
        return int(row[0])

    def connections(self) -> int:
        with psycopg.connect(self._url) as connection:
            row = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
            ).fetchone()
        assert row is not None
        return int(row[0]) - 1


def measure(server: Server, database: DatabaseProcesses, calls: int) -> None:
    print(f"{'':<18}{'replica ms':>12}{'database ms':>13}{'log bytes':>11}{'clock ms':>10}")
    for name, (tool, ask) in CALLS.items():
        for number in range(20):
            server.call(tool, **ask(-1 - number))
        ours, theirs = server.used_seconds(), database.used_seconds()
        written, began = database.written_bytes(), time.monotonic()
        for number in range(calls):
            server.call(tool, **ask(number))
        clock = time.monotonic() - began
        figures = (
            (server.used_seconds() - ours) * 1000 / calls,
            (database.used_seconds() - theirs) * 1000 / calls,
            (database.written_bytes() - written) / calls,
            clock * 1000 / calls,
        )
        print("{:<18}{:>12.2f}{:>13.2f}{:>11,.0f}{:>10.2f}".format(name, *figures), flush=True)
    time.sleep(2)
    spent, done = database.used_seconds(), database.transactions()
    time.sleep(_IDLE_SECONDS)
    each = (database.transactions() - done - 2) / _IDLE_SECONDS
    cpu = (database.used_seconds() - spent) * 1000 / _IDLE_SECONDS
    print(f"idle: {each:.1f} transactions and {cpu:.1f} ms of the database's CPU a second")
    print(f"{database.connections()} connections of this replica to the database")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replica_costs", description=__doc__)
    parser.add_argument("--calls", type=int, default=400)
    options = parser.parse_args(arguments)
    with postgres_server() as url, tempfile.TemporaryDirectory(prefix="carrel-costs-") as folder:
        os.environ.update({"DATABASE_URL": url, "CARREL_AUTH_MODE": "tokens"})
        home = Path(folder)
        made = subprocess.run(
            [sys.executable, "-m", "carrel", "tokens", "create", "ada", "--scopes",
             "knowledge:read,knowledge:write,references:read,references:write", "--home", folder],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        with serving(home, "--rooms", "knowledge,references,research,literature") as server:
            server.identify(made.stdout.strip())
            measure(server, DatabaseProcesses(url), options.calls)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
