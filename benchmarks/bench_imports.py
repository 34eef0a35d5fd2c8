"""How our imports agree with Better BibTeX's and JabRef's, per file, per field and by cause.

Two scales are printed. The strict one (benchmarks/agreement/strict.py) reads the expectations with
code that is not ours, compares exact texts with markup, groups and files, pairs records by
identity, and counts files that cannot be read. The lenient one (benchmarks/agreement/comparison.py)
is the older, kept to compare with older reports. Both give the share of the fields that the other
program expects, and of all fields that either has, where what only we have read counts against us
as much as what we have missed.

Files are in two halves by the hash of their names: rules are chosen on the first alone, and
differences of the second are not shown unless asked for.

    python benchmarks/bench_imports.py FOLDER [--show NUMBER] [--half first|second]

FOLDER holds `better-bibtex-import` (.bib with the expected Zotero .json) and `jabref-import`
(inputs of many formats with the expected .bib).
"""

import argparse
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.agreement import strict_jabref, strict_zotero
from benchmarks.agreement.comparison import Agreement, Record
from benchmarks.agreement.jabref import expected_records as expected_entries
from benchmarks.agreement.jabref import our_record as jabref_record
from benchmarks.agreement.strict import Record as StrictRecord
from benchmarks.agreement.strict import StrictAgreement, pair
from benchmarks.agreement.zotero import as_preferred, expected_records, one_journal, our_record
from carrel.libraries.bibliography.bibtex.fields import TitleCase
from carrel.libraries.bibliography.bibtex.reader import read_bibtex
from carrel.libraries.bibliography.formats import read_bibliography
from carrel.libraries.bibliography.imports import BibliographyError, CslItem


def better_bibtex(folder: Path) -> Agreement:
    """Titles are read as the expectation was made: its preferences say when sentence case was
    off.
    """
    whole = Agreement()
    for path in sorted(folder.glob("*.bib")):
        expected, preferences = expected_records(path.with_suffix(".json"))
        titles = (
            TitleCase.AS_WRITTEN
            if preferences.get("importSentenceCase") == "off"
            else TitleCase.SENTENCE_CASE
        )
        ours: dict[str, Record] = {}
        for imported in read_bibtex(path.read_bytes(), titles).items:
            key = str(imported.item.get("id", ""))
            while key in ours:
                key += "'"
            ours[key] = our_record(imported.item, preferences)
        part = Agreement()
        for key, theirs, mine in pairs(expected, ours):
            part.add(
                f"{path.stem}:{key}", one_journal(as_preferred(theirs, preferences), mine), mine
            )
        whole.join(part)
    return whole


def jabref(folder: Path) -> Agreement:
    """Entries are compared in their order; a format that is not read is named and not counted."""
    whole = Agreement()
    for path in sorted(folder.glob("*")):
        if path.suffix == ".bib":
            continue
        expected = expected_entries(path.with_suffix(".bib"))
        try:
            imported = read_bibliography(path.read_bytes())
        except BibliographyError as error:
            print(f"  {path.name:<45} not read: {error}"[:150])
            continue
        part = Agreement()
        for place in range(max(len(expected), len(imported.items))):
            theirs = expected[place] if place < len(expected) else {}
            mine = (
                jabref_record(imported.items[place].item, theirs)
                if place < len(imported.items)
                else {}
            )
            part.add(f"{path.name}:{place}", theirs, mine)
        whole.join(part)
    return whole


def pairs(
    expected: dict[str, Record], ours: dict[str, Record]
) -> Iterator[tuple[str, Record, Record]]:
    """Records with one key belong together; where keys were made up by the other program, those
    left over do in their order.
    """
    lonely = [key for key in ours if key not in expected]
    for key, theirs in expected.items():
        if key in ours:
            yield key, theirs, ours[key]
        else:
            yield key, theirs, ours[lonely.pop(0)] if lonely else {}
    for key in lonely:
        yield key, {}, ours[key]


def is_first_half(path: Path) -> bool:
    return int(hashlib.sha256(path.stem.encode()).hexdigest(), 16) % 2 == 0


def inputs(folder: Path) -> list[Path]:
    is_bibtex = folder.name == "better-bibtex-import"
    return [path for path in sorted(folder.glob("*")) if (path.suffix == ".bib") == is_bibtex]


def compare_strictly(path: Path) -> StrictAgreement:
    """One input on the strict scale; titles are read as the expectation was made."""
    agreement = StrictAgreement()
    preferences: dict[str, Any] = {}
    below: frozenset[str] = frozenset()
    if path.suffix == ".bib":
        expected, preferences = strict_zotero.expected_records(path.with_suffix(".json"))
    else:
        expected = strict_jabref.expected_records(path.with_suffix(".bib"))
        below = strict_jabref.subtitles(path)
    as_written = path.suffix != ".bib" or preferences.get("importSentenceCase") == "off"
    titles = TitleCase.AS_WRITTEN if as_written else TitleCase.SENTENCE_CASE

    def ours(item: CslItem, theirs: StrictRecord) -> StrictRecord:
        if path.suffix == ".bib":
            return strict_zotero.our_record(item, theirs, preferences)
        return strict_jabref.our_record(item, theirs, below)

    try:
        items = [each.item for each in read_bibliography(path.read_bytes(), titles=titles).items]
    except BibliographyError as error:
        agreement.fail(path.name, expected, str(error))
        return agreement
    identities = [ours(item, {}) | {"id": str(item.get("id", ""))} for item in items]
    item_of = {id(record): item for record, item in zip(identities, items, strict=True)}
    for place, (theirs, mine) in enumerate(pair(expected, identities)):
        item = item_of.get(id(mine))
        record = ours(item, theirs) if item is not None else {}
        agreement.add(f"{path.name}:{theirs.get('id') or place}", theirs, record)
    return agreement


def strict_collection(folder: Path, half: str, number: int) -> None:
    halves = {"first": StrictAgreement(), "second": StrictAgreement()}
    shares: dict[str, list[tuple[float, float]]] = {"first": [], "second": []}
    for path in inputs(folder):
        name = "first" if is_first_half(path) else "second"
        part = compare_strictly(path)
        halves[name].join(part)
        shares[name].append((part.share_of_expected, part.share))
        print(
            f"  {path.name:<45} {name:<6} {part.share_of_expected:7.1%} of expected, "
            f"{part.share:6.1%} of all ({part.same} agree, {len(part.differences)} do not, "
            f"{part.extra} of them only ours)"
        )
    for name, agreement in halves.items():
        if number and half in {name, "both"}:
            show_differences(agreement, number)
    both = StrictAgreement()
    for agreement in halves.values():
        both.join(agreement)
    for name, agreement in (*halves.items(), ("both", both)):
        of_files = shares[name] if name in shares else shares["first"] + shares["second"]
        print(
            f"{folder.name}, {name}: {agreement.share_of_expected:.2%} of "
            f"{agreement.total - agreement.extra} expected fields, {agreement.share:.2%} of all "
            f"{agreement.total}; mean of {len(of_files)} files "
            f"{sum(of for of, _ in of_files) / max(1, len(of_files)):.2%} and "
            f"{sum(of for _, of in of_files) / max(1, len(of_files)):.2%}; "
            f"{agreement.causes()['case']} differ in case alone"
        )


def show_differences(agreement: StrictAgreement, number: int) -> None:
    print("  by cause")
    for cause, count in agreement.causes().most_common(number):
        print(f"  {count:5d} {cause}")
    for each in agreement.differences[: number * 10]:
        print(
            f"    {each.place} {each.field} ({each.cause}): {each.expected[:150]!r} <> "
            f"{each.ours[:150]!r}"
        )


def result(name: str, agreement: Agreement) -> str:
    expected = agreement.total - agreement.extra
    return (
        f"{name}: {agreement.share_of_expected:.2%} of {expected} expected fields agree; "
        f"with the {agreement.extra} that only we have counted against us, {agreement.share:.2%} "
        f"of {agreement.total}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--show",
        type=int,
        default=0,
        metavar="NUMBER",
        help="print this many causes of disagreement, with examples",
    )
    parser.add_argument(
        "--half",
        choices=("first", "second", "both"),
        default="first",
        help="whose differences to show",
    )
    arguments = parser.parse_args()
    total = Agreement()
    for name, compare in (("better-bibtex-import", better_bibtex), ("jabref-import", jabref)):
        folder = arguments.folder / name
        if not folder.is_dir():
            print(f"{name}: not in {arguments.folder}")
            continue
        print(f"{name}, strict scale")
        strict_collection(folder, arguments.half, arguments.show)
        agreement = compare(folder)
        print(result(f"{name}, lenient scale", agreement))
        total.join(agreement)
    print(result("total, lenient scale", total))


if __name__ == "__main__":
    main()
