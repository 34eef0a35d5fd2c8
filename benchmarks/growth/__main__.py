"""`make growth-parsers`: CPU over the size of pathological input, for every parser; fails where it grows faster than allowed.

python -m benchmarks.growth [--parser NAME] [--family NAME] [--all]
"""
# ruff: noqa: E501 - tables of shapes, one to a line

from __future__ import annotations

import argparse
import gc
import sys

from benchmarks.growth.measure import measure
from benchmarks.growth.parsers import ALLOWED, PARSERS, Parser

# The promise of issue 12: linear, with room for the logarithm of a sort and for noise.
MAX_EXPONENT = 1.3
MAX_BYTES_PER_BYTE = 3_000


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--parser", default="", help="only parsers whose name contains this")
    arguments.add_argument("--family", default="", help="only families whose name contains this")
    arguments.add_argument("--all", action="store_true", help="print every measurement, not only the slowest and the bad ones")
    arguments.add_argument("--scale", type=float, default=1.0, help="a tenth looks at texts a tenth as long")
    chosen = arguments.parse_args()
    bad = 0
    gc.freeze()
    print(f"{'parser':28} {'family':46} {'exponent':>8}  {'seconds at each size':44} peak memory")
    for parser in PARSERS:
        if chosen.parser.lower() in parser.name.lower():
            bad += _one(parser, chosen.family, chosen.all, chosen.scale)
    print(
        f"{bad} of the measurements grow faster than size ** {MAX_EXPONENT}, were killed or raised what they should not"
        if bad
        else "every parser is linear"
    )
    return 1 if bad else 0


def _one(parser: Parser, wanted: str, is_all: bool, scale: float) -> int:
    bad = 0
    worst = (0.0, "")
    sizes = tuple(int(parser.largest * scale) // part for part in (8, 4, 2, 1))
    families = {name: family for name, family in parser.families().items() if wanted in name}
    for name, family in families.items():
        found = measure(parser.run, family, sizes, ALLOWED)
        exponent = found.exponent(sizes)
        if exponent is not None and exponent > MAX_EXPONENT and not found.is_killed:
            # Once more: a busy machine makes single measurements jump.
            again = measure(parser.run, family, sizes, ALLOWED)
            second = again.exponent(sizes)
            if second is None or second < exponent:
                found, exponent = again, second
        is_bad = found.is_killed or bool(found.raised) or (exponent is not None and exponent > MAX_EXPONENT)
        is_bad = is_bad or found.peak_bytes > MAX_BYTES_PER_BYTE * parser.largest
        bad += is_bad
        if found.seconds and found.seconds[-1] > worst[0]:
            worst = (found.seconds[-1], name)
        if is_bad or is_all:
            seconds = " ".join(f"{spent:10.4f}" for spent in found.seconds)
            shown = "-" if exponent is None else f"{exponent:.2f}"
            print(
                f"{parser.name[:28]:28} {name[:46]:46} {shown:>8}  {seconds:44} {found.peak_bytes >> 20:4} MB {'BAD ' if is_bad else ''}{found.raised}"
            )
    print(f"{parser.name[:28]:28} {f'{len(families)} families, {bad} bad; slowest {worst[0]:.3f} s: {worst[1]}'}", flush=True)
    return bad


if __name__ == "__main__":
    sys.exit(main())
