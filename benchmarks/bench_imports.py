"""The share of fields on which our imports agree with Better BibTeX's and JabRef's, per file, per
collection and in total.

Two shares are printed: of the fields that the other program expects, and of all fields that either
has, where what only we
have read counts against
us as much as what we have missed.

    python benchmarks/bench_imports.py FOLDER [--show NUMBER]

FOLDER holds `better-bibtex-import` (.bib with the expected Zotero .json) and `jabref-import`
(inputs of many formats with the
expected
.bib). How fields are compared stands in benchmarks/agreement.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.agreement.comparison import Agreement, Record
from benchmarks.agreement.jabref import expected_records as expected_entries
from benchmarks.agreement.jabref import our_record as jabref_record
from benchmarks.agreement.zotero import as_preferred, expected_records, one_journal, our_record
from carrel.libraries.bibliography.bibtex.fields import TitleCase
from carrel.libraries.bibliography.bibtex.reader import read_bibtex
from carrel.libraries.bibliography.formats import read_bibliography
from carrel.libraries.bibliography.imports import BibliographyError


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
        print_part(path.stem, part)
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
            fields = sum(len(record) for record in expected)
            print(f"  {path.name:<45} not read, {fields} fields not counted ({error})"[:150])
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
        print_part(path.name, part)
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


def print_part(name: str, part: Agreement) -> None:
    counts = (
        f"{part.same} agree, {part.different} differ, {part.missing} missing, {part.extra} "
        f"only ours"
    )
    print(
        f"  {name:<45} {part.share_of_expected:7.1%} of expected, {part.share:6.1%} of all "
        f"({counts})"
    )


def result(name: str, agreement: Agreement) -> str:
    expected = agreement.total - agreement.extra
    return (
        f"{name}: {agreement.share_of_expected:.2%} of {expected} expected fields agree; "
        f"with the {agreement.extra} that only we have counted against us, {agreement.share:.2%} "
        f"of {agreement.total}"
    )


def show(agreement: Agreement, number: int) -> None:
    classes = Counter((name, kind) for _, name, kind, _, _ in agreement.examples)
    for (name, kind), count in classes.most_common(number):
        print(f"  {count:5d} {kind:9s} {name}")
    for place, name, kind, theirs, mine in agreement.examples[: number * 10]:
        print(f"    {place} {name} {kind}: {theirs[:150]!r} <> {mine[:150]!r}")


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
        help="print this many classes of disagreement, with examples",
    )
    arguments = parser.parse_args()
    total = Agreement()
    for name, compare in (("better-bibtex-import", better_bibtex), ("jabref-import", jabref)):
        folder = arguments.folder / name
        if not folder.is_dir():
            print(f"{name}: not in {arguments.folder}")
            continue
        print(name)
        agreement = compare(folder)
        print(result(name, agreement))
        if arguments.show:
            show(agreement, arguments.show)
        total.join(agreement)
    print(result("total", total))


if __name__ == "__main__":
    main()
