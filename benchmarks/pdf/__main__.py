"""Reads gold PDFs with Carrel and with simpler readers, and prints shares side by side.

    python -m benchmarks.pdf [FOLDER] [--half tuned|held] [--failures] [--only-ours]

FOLDER holds PDFs and a gold.jsonl (docs/data.md says what its rows hold); without it, the set of
`../shared/data/pdf-gold` is fetched by Debian package. Values that a record marks as guesses count
as unknown. Right / unknown / wrong are shares of rows; headings are recall / precision over levels
1 and 2; order is the share of adjacent gold headings that come in order in the text, and of long
paragraphs that begin and end as sentences; references is the share of rows whose number is found
exactly / within a tenth; then milliseconds of CPU a page.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.pdf.gold import GoldPdf, find_gold
from benchmarks.pdf.made_pages import write_made_pages
from benchmarks.pdf.readers import open_present_reader, read_all_before, read_metadata, read_plain
from benchmarks.pdf.scoring import (
    Prediction,
    score_authors,
    score_doi,
    score_headings,
    score_order,
    score_paragraphs,
    score_title,
    score_year,
)
from tests.services.publisher_pages import LAYOUTS

_FIELDS = ("title", "authors", "year", "doi")
_VERDICTS = ("right", "unknown", "wrong")
_RECORD_FIELDS = {"title": "title", "authors": "authors", "year": "publication_date", "doi": "doi"}


@dataclass
class Tally:
    fields: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    headings: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    order: list[int] = field(default_factory=lambda: [0, 0])
    paragraphs: list[int] = field(default_factory=lambda: [0, 0])
    references: list[int] = field(default_factory=lambda: [0, 0, 0])
    pages: int = 0
    cpu_seconds: float = 0.0
    failures: list[str] = field(default_factory=list)
    rated: dict[str, list[tuple[float, bool]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, gold: GoldPdf, said: Prediction) -> None:
        row = gold.row
        verdicts = {
            "title": score_title(row, said.title),
            "authors": score_authors(row, said.authors),
            "year": score_year(row, said.year),
            "doi": score_doi(row, said.doi),
        }
        for name, verdict in verdicts.items():
            if verdict is None:
                continue
            self.fields[name][verdict] += 1
            value = getattr(said, name)
            if verdict != "right":
                wanted = row["own_doi"] if name == "doi" else row[name]
                self.failures.append(f"{gold.id}: {name} {verdict}: {value!r}, not {wanted!r}")
            if value and said.confidence:
                sure = said.confidence[_RECORD_FIELDS[name]]
                self.rated[name].append((sure, verdict == "right"))
        if row["headings"]:
            self.headings = _sum(self.headings, score_headings(row, said.headings))
            self.order = _sum(self.order, score_order(row, said.text))
        self.paragraphs = _sum(self.paragraphs, score_paragraphs(said.text))
        if row.get("references") and row.get("references_check") != "unknown":
            self._add_references(gold, said)
        self.pages += row.get("pages") or 0
        self.cpu_seconds += said.cpu_seconds

    def _add_references(self, gold: GoldPdf, said: Prediction) -> None:
        wanted, got = int(gold.row["references"]), said.references or 0
        is_near = got > 0 and abs(wanted - got) <= max(1, 0.1 * wanted)
        self.references = _sum(self.references, (wanted == got, is_near, 1))
        if not is_near and said.text:
            self.failures.append(f"{gold.id}: references {got}, not {wanted}")


def _sum(one: Sequence[int], other: Sequence[int]) -> list[int]:
    return [a + b for a, b in zip(one, other, strict=True)]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:5.1f}" if whole else "    –"


def print_row(name: str, tally: Tally) -> None:
    cells = []
    for column in _FIELDS:
        counts = tally.fields[column]
        total = sum(counts.values())
        cells.append(" /".join(_share(counts[verdict], total) for verdict in _VERDICTS))
    hits, wanted, known, said = tally.headings
    cells.append(f"{_share(hits, wanted)} /{_share(known, said)}")
    cells.append(f"{_share(*tally.order)} /{_share(*tally.paragraphs)}")
    exact, near, judged = tally.references
    cells.append(f"{_share(exact, judged)} /{_share(near, judged)}")
    cells.append(f"{1000 * tally.cpu_seconds / max(1, tally.pages):6.1f}")
    print(f"| {name:24} | " + " | ".join(cells) + " |")


def print_confidences(tally: Tally) -> None:
    """How often values of a confidence are right: a tenth for each row."""
    print("\nConfidence said, and share right (values found):")
    for name, rated in tally.rated.items():
        groups: dict[float, list[bool]] = defaultdict(list)
        for sure, is_right in rated:
            groups[round(sure, 2)].append(is_right)
        shown = ", ".join(
            f"{sure:.2f}: {100 * sum(found) / len(found):.1f} % of {len(found)}"
            for sure, found in sorted(groups.items(), reverse=True)
        )
        print(f"  {name:8} {shown}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pdf", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--half", choices=("tuned", "held"))
    parser.add_argument("--failures", action="store_true", help="say what ours gets wrong")
    parser.add_argument("--only-ours", action="store_true")
    options = parser.parse_args()
    pdfs, missing = find_gold(options.folder)
    pdfs = [each for each in pdfs if options.half in (None, each.half)]
    print(f"{len(pdfs)} PDFs, {sum(each.row.get('pages') or 0 for each in pdfs)} pages")
    if missing:
        print(f"{len(missing)} PDFs are not there: {', '.join(missing[:10])}")
    print(
        "\n| reader | title | all authors | year | own DOI | headings | order | references | ms |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    ours = Tally()
    with open_present_reader() as read:
        for each in pdfs:
            ours.add(each, read(each.path))
    print_row("Carrel", ours)
    if not options.only_ours:
        _print_others(pdfs)
    if options.folder is None and options.half is None:
        _print_made_pages()
    print_confidences(ours)
    if options.failures:
        print("\n" + "\n".join(ours.failures))


def _print_others(pdfs: Sequence[GoldPdf]) -> None:
    before = read_all_before(pdfs)
    if before is None:
        print(
            "| Carrel before (sheet, 224 PDFs) | 91.5 / 0 / 8.5 | 35.7 / 55.7 / 8.6 |"
            " 56.7 / 0 / 43.3 | wrong 2.2 | 0 | – | – | – |"
        )
    else:
        _print_reader("Carrel before", pdfs, before)
    _print_reader("plain dump", pdfs, {each.id: read_plain(each.path) for each in pdfs})
    metadata = {each.id: read_metadata(each.path) for each in pdfs}
    _print_reader("information, outline", pdfs, metadata)
    print("| pdftitle 0.20 (sheet, 224) | 42.4 / 16.5 / 41.1 | – | – | – | – | – | – | – |")


def _print_made_pages() -> None:
    """Pages in the layouts of publishers: no PDF of the gold set prints a DOI of its own."""
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="carrel-pages-") as name, open_present_reader() as read:
        for gold in write_made_pages(Path(name)):
            tally.add(gold, read(gold.path))
    print_row(f"Carrel, {len(LAYOUTS)} made pages", tally)
    for failure in tally.failures:
        print(f"  {failure}")


def _print_reader(name: str, pdfs: Sequence[GoldPdf], said: Mapping[str, Prediction]) -> None:
    tally = Tally()
    for each in pdfs:
        tally.add(each, said.get(each.id, Prediction()))
    print_row(name, tally)


if __name__ == "__main__":
    main()
