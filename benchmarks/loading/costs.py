"""What searches and additions cost in a corpus that was loaded.

    python -m benchmarks.loading.costs HOME [--searches 200] [--additions 10]

Prints one line of JSON: milliseconds of a search (first, median, 95 of 100) over words drawn from
the titles of the generator, and seconds of one addition, of wall clock and of CPU.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import resource
import statistics
import time
from pathlib import Path

import orjson

from benchmarks.synthetic_corpus import texts, vocabulary
from carrel.core.caller import LOCAL_USER, Call, Caller, Visit
from carrel.policy.scopes import ALL_SCOPES
from carrel.settings import read_settings
from carrel.wiring.desk import open_desk
from carrel.wiring.papers_build import add_paper_file

_CALL = Call(Caller(LOCAL_USER, frozenset(ALL_SCOPES)), Visit("bench", "1"))
_SEED = 5


def _questions(count: int) -> list[str]:
    """One to four words of works, some as a phrase."""
    chance = random.Random(_SEED)
    found = []
    for title, abstract in texts(count, vocabulary(), seed=29):
        words = [word for word in f"{title} {abstract}".split() if len(word) > 4]
        start = chance.randrange(max(1, len(words) - 4))
        some = " ".join(words[start : start + chance.randint(1, 4)])
        found.append(f'"{some}"' if chance.random() < 0.2 else some)
    return found


async def measure_searches(home: Path, count: int) -> dict[str, float]:
    settings = read_settings(
        environment={"CARREL_HOME": str(home), "CARREL_AUDIT_ENABLED": "false"}
    )
    desk = open_desk(settings)
    spent = []
    try:
        operation = desk.catalogue.operations["search_papers"]
        for query in _questions(count):
            started = time.perf_counter()
            await operation.run(operation.question.model_validate({"query": query}), _CALL)
            spent.append((time.perf_counter() - started) * 1_000)
    finally:
        await desk.close()
    later = sorted(spent[1:])
    return {
        "first_ms": round(spent[0], 1),
        "median_ms": round(statistics.median(later), 1),
        "p95_ms": round(later[int(len(later) * 0.95)], 1),
    }


def measure_additions(home: Path, count: int) -> dict[str, float]:
    into = home / "papers"
    walls, cpus = [], []
    for number in range(count):
        file = into / "added" / f"bench-{number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        # Every second one is a work that the dump has.
        known = f"10.5555/synthetic.{number * 7919 + 1}"
        doi = known if number % 2 else f"10.5555/own.{number}"
        file.write_text(f"---\ndoi: {doi}\n---\n# An added text {number}\n\nA few words of it.\n")
        used = resource.getrusage(resource.RUSAGE_SELF)
        started = time.perf_counter()
        add_paper_file(into, file)
        walls.append(time.perf_counter() - started)
        now = resource.getrusage(resource.RUSAGE_SELF)
        cpus.append(now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime)
    return {
        "addition_seconds": round(statistics.median(walls), 3),
        "addition_most_seconds": round(max(walls), 3),
        "addition_cpu_seconds": round(statistics.median(cpus), 3),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument("--additions", type=int, default=10)
    options = parser.parse_args()
    searches = asyncio.run(measure_searches(options.home, options.searches))
    print(orjson.dumps(searches | measure_additions(options.home, options.additions)).decode())
