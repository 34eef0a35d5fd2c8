"""Where each field of other formats ends up: ours beside pandoc, citation-js and bibutils.

    python -m benchmarks.import_judge.places PEERS [--records 300] [--format ris]

One line for each field and each answer on which ours stands alone, with the types concerned.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from benchmarks.import_judge.formats import FORMATS, Record
from benchmarks.import_judge.judge import places_of
from benchmarks.import_judge.others import Item, read_foreign
from carrel.libraries.bibliography.formats import read_bibliography
from carrel.libraries.bibliography.recognition import InputKind


def our_item(text: str, form: str) -> Item:
    found = read_bibliography(text, kind=InputKind(form)).items
    return found[0].item if found else {}


def verdict(placed: str, found: dict[str, str]) -> str:
    if placed == "lost":
        return "lost"
    if not found:
        return "ours only"
    return "with others" if placed in found.values() else "elsewhere"


def report(form: str, records: list[Record], peers: Path) -> None:
    theirs: dict[str, list[Any]] = read_foreign(peers, form, [record.text for record in records])
    counts: Counter[str] = Counter()
    alone: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for number, record in enumerate(records):
        mine = our_item(record.text, form)
        for field, token in record.tokens.items():
            placed = places_of(token, mine) or "lost"
            found = {name: places_of(token, items[number] or {}) for name, items in theirs.items()}
            found = {name: places for name, places in found.items() if places}
            if placed == "lost" or (found and placed not in found.values()):
                answers = [f"{name}: {places}" for name, places in found.items()]
                alone[field, placed, *answers][record.kind] += 1
            counts[verdict(placed, found)] += 1
    print(f"\n{form}: {dict(counts)} of {counts.total()} fields of {len(records)} records")
    for (field, placed, *answers), kinds in sorted(alone.items()):
        print(f"  {field:<22} ours {placed:<24} {'; '.join(answers):<70} "
                  f"{' '.join(sorted(kinds))[:90]}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("peers", type=Path)
    parser.add_argument("--records", type=int, default=300)
    parser.add_argument("--format", default="", help="one format alone")
    arguments = parser.parse_args()
    for form, draw in FORMATS.items():
        if arguments.format in {"", form}:
            dice = random.Random(f"places {form}")
            records = [draw(dice, number) for number in range(arguments.records)]
            report(form, records, arguments.peers)


if __name__ == "__main__":
    main()
