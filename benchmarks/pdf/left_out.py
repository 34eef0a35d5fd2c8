"""Counts what of the text of PDFs is not in their Markdown, by reason, and names what is lost.

    python -m benchmarks.pdf.left_out FOLDER… [--show 10]

FOLDERs are searched for PDFs. Every line must be in the Markdown or left out for a stated reason:
the command ends with 1 where one is neither. Shares are of the characters of all lines.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pypdfium2

from carrel.libraries.pdf_layout.structure import read_structure
from carrel.libraries.pdf_layout.title_page import read_title_page
from carrel.services.paper_sources.pdf_content import read_document_content
from tests.libraries.pdf_layout.lost_text import find_lost_lines


@dataclass
class LeftOutCount:
    path: Path
    characters: int
    by_reason: Counter[str]
    lost: list[str]

    @property
    def share(self) -> float:
        """The share of figure labels, of running heads and of what is lost."""
        counted = sum(self.by_reason[reason] for reason in ("running_head", "figure"))
        return (counted + sum(map(len, self.lost))) / max(1, self.characters)


def count_left_out(path: Path) -> LeftOutCount:
    """The characters of one PDF that are left out, by reason."""
    with pypdfium2.PdfDocument(path) as document:
        content = read_document_content(document, path)
    front = read_title_page(content)
    structure = read_structure(content, front.title.value if front.title else None, front.lines)
    by_reason: Counter[str] = Counter()
    for each in structure.left_out:
        by_reason[each.reason] += len(each.line.text)
    lost = [f"page {line.page}: {line.text}" for line in find_lost_lines(content, structure)]
    characters = sum(len(line.text) for page in content.pages for line in page.lines)
    return LeftOutCount(path, characters, by_reason, lost)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--show", type=int, default=10, help="how many files to name")
    asked = parser.parse_args()
    counts: list[LeftOutCount] = []
    for path in sorted(path for folder in asked.folders for path in folder.rglob("*.pdf")):
        try:
            counts.append(count_left_out(path))
        except pypdfium2.PdfiumError as error:
            print(f"{path.name}: {error}")
    total = sum(each.characters for each in counts)
    reasons: Counter[str] = Counter()
    for each in counts:
        reasons.update(each.by_reason)
    print(f"{len(counts)} PDFs, {total:,} characters")
    for reason, number in reasons.most_common():
        print(f"  {reason:14} {number:9,}  {number / max(1, total):.2%}")
    lost = sum(len(line) for each in counts for line in each.lost)
    print(f"  {'lost':14} {lost:9,}  {lost / max(1, total):.2%}")
    for each in sorted(counts, key=lambda each: each.share, reverse=True)[: asked.show]:
        print(f"{each.share:.1%} {each.path.name} {dict(each.by_reason)}")
    for each in counts:
        for line in each.lost[: asked.show]:
            print(f"lost: {each.path.name}, {line[:120]}")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
