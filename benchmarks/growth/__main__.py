"""`make growth-parsers`: CPU over the size of pathological input, for every parser; fails where it
grows faster than allowed.

Every family is screened at two small sizes. The suspicious ones, the slowest ones and a seeded
sample of the rest are then
measured at four full sizes; with --all, every family is.

python -m benchmarks.growth [--parser NAME] [--family NAME] [--all] [--verbose] [--seed N] [--sample
N] [--scale F]
"""

from __future__ import annotations

import argparse
import gc
import random
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.growth.families import Family
from benchmarks.growth.measure import Measured, measure, screen
from benchmarks.growth.parsers import ALLOWED, PARSERS, Parser

# The promise of issue 12: linear, with room for the logarithm of a sort and for noise.
MAX_EXPONENT = 1.3
MAX_BYTES_PER_BYTE = 3_000
# A busy machine makes single measurements jump; the best of this many counts.
ATTEMPTS = 3
SLOWEST_MEASURED = 2


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for on the command line."""

    parser: str
    family: str
    is_all: bool
    is_verbose: bool
    seed: int
    sample: int
    scale: float


@dataclass(frozen=True, slots=True)
class ParserResult:
    """One line of the table."""

    name: str
    families: int
    suspicious: int
    measured: int
    worst_exponent: float | None
    worst_family: str
    slowest_seconds: float
    slowest_family: str
    bad: int


def main() -> int:
    options = _options()
    gc.freeze()
    chosen = (
        "every family"
        if options.is_all
        else f"{options.sample} unsuspicious families of each parser"
    )
    print(f"seed {options.seed}; at full size {chosen}\n")
    print(
        "| parser | families | suspicious | measured | worst exponent | in | slowest | result "
        "|\n|---|---|---|---|---|---|---|---|"
    )
    results = []
    for parser in PARSERS:
        if options.parser.lower() in parser.name.lower():
            results.append(_measure_parser(parser, options))
            _print_row(results[-1])
    bad = sum(result.bad for result in results)
    families = sum(result.families for result in results)
    measured = sum(result.measured for result in results)
    print(
        f"\n{families} families screened, {measured} measured at full size, in "
        f"{_cpu_seconds():.0f} s of CPU; "
        + (
            f"{bad} grow faster than size ** {MAX_EXPONENT}, take too much or raise what they "
            f"should not"
            if bad
            else "all linear"
        )
    )
    return 1 if bad else 0


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime


def _options() -> Options:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--parser", default="", help="only parsers whose name contains this")
    arguments.add_argument("--family", default="", help="only families whose name contains this")
    arguments.add_argument(
        "--all",
        action="store_true",
        help="every family at full size, not only the suspicious (hours)",
    )
    arguments.add_argument(
        "--verbose",
        action="store_true",
        help="print every measurement at full size, not only the bad ones",
    )
    arguments.add_argument(
        "--seed", type=int, default=8, help="of the sample of unsuspicious families"
    )
    arguments.add_argument(
        "--sample", type=int, default=12, help="how many unsuspicious families of each parser"
    )
    arguments.add_argument(
        "--scale", type=float, default=1.0, help="0.1 takes full sizes a tenth as long"
    )
    chosen = arguments.parse_args()
    return Options(
        chosen.parser,
        chosen.family,
        chosen.all,
        chosen.verbose,
        chosen.seed,
        chosen.sample,
        chosen.scale,
    )


def _measure_parser(parser: Parser, options: Options) -> ParserResult:
    families = {
        name: family for name, family in parser.families().items() if options.family in name
    }
    suspicious, further = (
        (list(families), []) if options.is_all else _choose(parser, families, options)
    )
    sizes = tuple(int(parser.largest * options.scale) // part for part in (8, 4, 2, 1))
    worst: tuple[float | None, str] = (None, "")
    slowest, bad = (0.0, ""), 0
    for name in [*suspicious, *further]:
        found = _measure_well(parser, families[name], sizes)
        exponent = found.exponent
        is_bad = _is_bad(found, parser)
        bad += is_bad
        if exponent is not None and (worst[0] is None or exponent > worst[0]):
            worst = (exponent, name)
        if found.seconds and found.seconds[-1] > slowest[0]:
            slowest = (found.seconds[-1], name)
        if is_bad or options.is_verbose:
            _print_measurement(parser, name, found, is_bad)
    measured = len(suspicious) + len(further)
    return ParserResult(
        parser.name, len(families), len(suspicious), measured, *worst, *slowest, bad
    )


def _choose(
    parser: Parser, families: dict[str, Family], options: Options
) -> tuple[list[str], list[str]]:
    """The suspicious families, and of the rest the slowest ones and some by chance."""
    names = list(families)
    screened = _screened(parser, families, names)
    doubtful = [name for name in names if screened[name].is_suspicious]
    # Twice, because noise makes single calls of a millisecond jump; what is slow for a reason stays
    # so.
    again = _screened(parser, families, doubtful)
    suspicious = [name for name in doubtful if again[name].is_suspicious]
    rest = sorted(
        set(names) - set(suspicious), key=lambda name: (-sum(screened[name].seconds), name)
    )
    slowest, others = rest[:SLOWEST_MEASURED], rest[SLOWEST_MEASURED:]
    chance = random.Random(f"{options.seed} {parser.name}")
    return suspicious, slowest + chance.sample(sorted(others), min(options.sample, len(others)))


def _screened(
    parser: Parser, families: dict[str, Family], names: Sequence[str]
) -> dict[str, Measured]:
    return dict(
        zip(names, screen(parser.run, [families[name] for name in names], ALLOWED), strict=True)
    )


def _measure_well(parser: Parser, family: Family, sizes: Sequence[int]) -> Measured:
    """The best of several, where the first one looks bad."""
    best = measure(parser.run, family, sizes, ALLOWED)
    for _ in range(ATTEMPTS - 1):
        if best.problem or not _is_bad(best, parser):
            break
        again = measure(parser.run, family, sizes, ALLOWED)
        if (again.exponent or 0) < (best.exponent or 0):
            best = again
    return best


def _is_bad(found: Measured, parser: Parser) -> bool:
    is_steep = found.exponent is not None and found.exponent > MAX_EXPONENT
    return bool(found.problem) or is_steep or found.peak_bytes > MAX_BYTES_PER_BYTE * parser.largest


def _print_row(result: ParserResult) -> None:
    exponent = "none" if result.worst_exponent is None else f"{result.worst_exponent:.2f}"
    print(
        f"| {result.name} | {result.families} | {result.suspicious} | {result.measured} | "
        f"{exponent} | {result.worst_family} "
        f"| {result.slowest_seconds:.2f} s | {f'{result.bad} BAD' if result.bad else 'good'} |",
        flush=True,
    )


def _print_measurement(parser: Parser, name: str, found: Measured, is_bad: bool) -> None:
    seconds = " ".join(f"{spent:8.4f}" for spent in found.seconds)
    exponent = "-" if found.exponent is None else f"{found.exponent:.2f}"
    print(
        f"  {'BAD' if is_bad else '   '} {parser.name}: {name}: exponent {exponent}, seconds "
        f"{seconds}, "
        f"{found.peak_bytes >> 20} MB {found.problem}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
