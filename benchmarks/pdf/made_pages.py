"""Gold rows of pages in the layouts of publishers, which print or state a DOI of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.pdf.gold import GoldPdf
from tests.services.publisher_pages import LAYOUTS, PublisherPage


def write_made_pages(folder: Path) -> list[GoldPdf]:
    """The PDFs, written into the folder, with their rows."""
    made = []
    for layout in LAYOUTS:
        page = layout()
        path = folder / f"{layout.__name__}.pdf"
        path.write_bytes(page.write())
        made.append(GoldPdf(make_row(layout.__name__, page), path))
    return made


def make_row(name: str, page: PublisherPage) -> dict[str, Any]:
    """A row as in gold.jsonl."""
    return {
        "id": f"made/{name}",
        "package": None,
        "path": f"{name}.pdf",
        "title": page.title,
        "title_accept": [],
        "authors": list(page.authors),
        "year": int(page.year) if page.year else None,
        "year_accept": [],
        "own_doi": page.doi,
        "own_doi_accept": [] if page.doi else [None],
        "headings": [],
        "references": None,
        "pages": 3,
    }
