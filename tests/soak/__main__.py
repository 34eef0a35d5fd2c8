"""`make soak`: two replicas, a proxy, PostgreSQL and a server that speaks S3, all on this machine,
under writers, while parts are killed, restarted and filled and one clock is five seconds off. At
the end every acknowledged write must be there once, through every door.

Everything listens on the loopback alone, and the number of events bounds the time: with the twenty
kills and three restarts of the default it takes about four minutes.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import httpx2

from tests.deployments.test_proxies import CADDY, Proxy, find_program, proxy_running
from tests.soak.doors import (
    Door,
    StdioDoor,
    command_door,
    mcp_door,
    rest_door,
)
from tests.soak.plan import Event, Happening, draw_plan
from tests.soak.servers import NAME, Database, Replica, run_carrel
from tests.soak.writers import KINDS, Outcome, Writers
from tests.stores.object_servers import BUCKET, moto_server, object_environment

ROOMS = "papers,references,knowledge"
SCOPES = (
    "papers:read",
    "papers:write",
    "knowledge:read",
    "knowledge:write",
    "knowledge:promote",
    "references:read",
    "references:write",
)
CLOCK_SECONDS = 5
FULL_SECONDS = 5.0
USER = "ada"
# Who speaks there is the operator, who sees papers and what is the team's, and nothing of ada's.
STDIO = "standard input and output"


class Institute:
    """Everything that runs, and what can happen to it."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.database = Database(folder / "database")
        stack.callback(self.database.close)
        self.database.start()
        endpoint = stack.enter_context(moto_server())
        settings = {
            **object_environment(endpoint),
            "CARREL_PAPERS_CORPUS_URL": f"s3://{BUCKET}/papers",
            "DATABASE_URL": self.database.url,
            "CARREL_AUTH_MODE": "builtin",
            "CARREL_LIMITS_PER_MINUTE": "1000000",
            "CARREL_LIMITS_BURST": "1000000",
            "CARREL_SERVER_PUBLIC_URL": f"https://{NAME}",
            "CARREL_SERVER_TRUSTED_PROXIES": "127.0.0.1",
            "CARREL_SERVER_REPLICAS": "2",
            "CARREL_SERVER_KEEP_ALIVE_SECONDS": "75",
        }
        self.replicas = []
        for number, clock_seconds in enumerate((0, CLOCK_SECONDS)):
            replica = Replica(folder / f"replica-{number}", settings, ROOMS, clock_seconds)
            stack.callback(replica.close)
            self.replicas.append(replica)
        desk = folder / "terminal"
        desk.mkdir()
        self.terminal = {
            "PATH": self.replicas[0].environment["PATH"],
            "HOME": str(desk),
            "CARREL_HOME": str(desk),
            **settings,
        }
        run_carrel(self.terminal, "users", "add", USER, "--generate")
        words = ["tokens", "create", "soak", "--scopes", ",".join(SCOPES), "--user", USER]
        self.token = run_carrel(self.terminal, *words).strip()
        for replica in self.replicas:
            replica.launch()
        for replica in self.replicas:
            replica.await_ready()

    def bring_about(self, happening: Happening) -> None:
        replica = self.replicas[happening.replica]
        match happening.event:
            case Event.KILL:
                replica.kill()
            case Event.DATABASE:
                self.database.stop_at_once()
                self.database.start()
            case Event.DATABASE_DISK:
                self.database.disk.fill()
                time.sleep(FULL_SECONDS)
                self.database.disk.empty()
                if not self.database.is_running():
                    self.database.start()
            case Event.REPLICA_DISK:
                replica.disk.fill()
                time.sleep(FULL_SECONDS)
                replica.disk.empty()

    def doors(self, client: httpx2.Client, stack: ExitStack) -> dict[str, Door]:
        """Every door by its name."""
        headers = {"Authorization": f"Bearer {self.token}"}
        found = {
            "MCP through the proxy": Door(mcp_door(client, headers), has_lists=False),
            "command line": Door(command_door(self.terminal, USER), has_lists=True),
        }
        for number, replica in enumerate(self.replicas, 1):
            direct = stack.enter_context(
                httpx2.Client(
                    base_url=f"http://127.0.0.1:{replica.port}", headers={"Host": NAME}, timeout=60
                )
            )
            found[f"REST at replica {number}"] = Door(rest_door(direct, headers), has_lists=True)
        stdio = StdioDoor(self.terminal, "--rooms", ROOMS)
        stack.callback(stdio.close)
        found[STDIO] = Door(stdio.ask, has_lists=False)
        return found


def compare(outcome: Outcome, found: Counter[str]) -> list[str]:
    """What is wrong with what a door lists."""
    acknowledged = set(outcome.acknowledged)
    known = acknowledged | outcome.unknown
    lost = sorted(acknowledged - found.keys())
    doubled = sorted(name for name, count in found.items() if count > 1)
    invented = sorted(found.keys() - known)
    wrong = (("lost", lost), ("doubled", doubled), ("nobody's", invented))
    return [f"{len(names)} {what} ({', '.join(names[:5])})" for what, names in wrong if names]


def run(options: argparse.Namespace) -> int:
    proxy = Proxy(CADDY / "Caddyfile.replicas", "caddy", f"https://{NAME}")
    if find_program(proxy.program) is None:
        raise SystemExit("the soak needs Debian's package `caddy`")
    plan = draw_plan(options.seed, options.kills, options.restarts)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="carrel-soak-")))
        institute = Institute(folder, stack)
        (folder / "proxy").mkdir()
        ports = [replica.port for replica in institute.replicas]
        client = stack.enter_context(proxy_running(proxy, folder / "proxy", *ports))
        writers = Writers(client, institute.token, options.writers, options.seed, KINDS)
        began = time.monotonic()
        with writers.writing():
            time.sleep(3)
            for number, happening in enumerate(plan, 1):
                time.sleep(happening.wait_seconds)
                said = f"{number:>3}/{len(plan)} {time.monotonic() - began:6.1f} s"
                print(f"{said}  {happening.event} ({writers.acknowledged():,} written)", flush=True)
                institute.bring_about(happening)
            time.sleep(5)
        if options.logs is not None:
            stack.callback(_keep_logs, folder, options.logs)
        for replica in institute.replicas:
            replica.await_ready()
        return report(institute, writers, client, stack)


def _keep_logs(folder: Path, logs: Path) -> None:
    """What the servers said, for whoever looks into a finding."""
    logs.mkdir(parents=True, exist_ok=True)
    for log in folder.glob("*.log"):
        shutil.copy(log, logs / log.name)


def report(institute: Institute, writers: Writers, client: httpx2.Client, stack: ExitStack) -> int:
    """Print what every door has; 1 where something acknowledged is lost or doubled."""
    failures = 0
    for kind, outcome in writers.outcomes.items():
        refused = ", ".join(f"{count} × {what}" for what, count in outcome.refused.most_common(6))
        print(f"{kind}: {len(outcome.acknowledged):,} acknowledged; {refused or 'none failed'}")
    print(f"the slowest answer took {writers.slowest_seconds:.1f} s")
    for name, door in institute.doors(client, stack).items():
        for kind, outcome in writers.outcomes.items():
            if name == STDIO and kind not in {"team-note", "paper"}:
                continue
            found = door.read(kind, {*outcome.acknowledged, *outcome.unknown})
            wrong = compare(outcome, found)
            failures += len(wrong)
            kept = f"{found.total():,} {kind}s there, {len(outcome.acknowledged):,} acknowledged"
            print(f"{name:<28} {kept}: {'; '.join(wrong) or 'each once'}")
    print("the soak found nothing lost" if failures == 0 else f"{failures} findings")
    return min(failures, 1)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=20, choices=range(201), metavar="0..200")
    parser.add_argument("--restarts", type=int, default=3, choices=range(51), metavar="0..50")
    parser.add_argument("--writers", type=int, default=6, choices=range(1, 65), metavar="1..64")
    parser.add_argument("--logs", type=Path, help="a folder for what the servers say")
    return run(parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
