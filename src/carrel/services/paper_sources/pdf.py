"""PDF papers, read by layout: title page, text with headings and pages, figures, references."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import pypdfium2

from carrel.libraries.pdf_layout.content import Line, PdfContent
from carrel.libraries.pdf_layout.headings import PrintedHeading
from carrel.libraries.pdf_layout.readability import is_undecodable
from carrel.libraries.pdf_layout.references import read_references
from carrel.libraries.pdf_layout.structure import DocumentStructure, read_structure
from carrel.libraries.pdf_layout.title_page import Found, TitlePage, read_title_page
from carrel.libraries.works.given_names import given_name
from carrel.rooms.papers.building.models import Reading, ReadProblem
from carrel.rooms.papers.building.paper_records import (
    FieldOrigin,
    Heading,
    PaperRecord,
    RelatedWork,
)
from carrel.rooms.papers.building.ports import AssetStore
from carrel.services.paper_sources.pdf_content import MOST_PAGES, read_document_content
from carrel.services.paper_sources.pdf_figures import keep_figures
from carrel.services.paper_sources.pdf_ocr import find_program, read_scanned_pages
from carrel.services.paper_sources.pdf_service_answers import ask_services, prefer_grobid
from carrel.services.paper_sources.pdf_services import PdfServices
from carrel.services.paper_sources.texts import clean, one_line

ValueT = TypeVar("ValueT")

# Fields of a title page that a record calls otherwise.
_FIELD_NAMES = {"date": "publication_date"}
_FEWEST_LETTERS_PER_PAGE = 20
_PAGE_RUNS_SHOWN = 10
_MAX_MARKDOWN_LEVEL = 6
# What a file's name tells of a title.
_NAME_CONFIDENCE = 0.1
# Text and headings as the rules of layout find them.
_LAYOUT_CONFIDENCE = 0.9
# Letters read from a picture may be wrong: at most this, below `MIN_CITED_CONFIDENCE`, so that
# every field that was read so is a guess.
_OCR_CERTAINTY = 0.49
_NO_SERVICES = PdfServices()
_HELPED_BY_OCR = frozenset({"no_text_layer", "text_not_decodable"})


@dataclass(frozen=True, slots=True)
class PdfText:
    """The text of a PDF and what is to be said of it."""

    content: PdfContent
    problems: tuple[ReadProblem, ...] = ()
    # What is left of a confidence, as letters themselves may be wrong.
    certainty: float = 1.0


def read_pdf(path: Path, assets: AssetStore, services: PdfServices = _NO_SERVICES) -> Reading:
    """The paper of a PDF with a text layer, or why there is none."""
    with path.open("rb") as file:
        if b"%PDF-" not in file.read(1024):
            return Reading.failed("not_a_pdf", "the file is named .pdf but is not a PDF")
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        is_locked = "password" in str(error).lower()
        return (
            Reading.failed("pdf_locked", "it needs a password")
            if is_locked
            else Reading.failed("pdf_not_valid", f"cannot be opened: {error}")
        )
    with document:
        return _read_document(document, path, assets, services)


def _read_document(
    document: pypdfium2.PdfDocument, path: Path, assets: AssetStore, services: PdfServices
) -> Reading:
    if len(document) > MOST_PAGES:
        return Reading.failed(
            "too_large", f"{len(document):,} pages are more than the limit of {MOST_PAGES:,}"
        )
    content = read_document_content(document, path)
    text = _check_text(content)
    if isinstance(text, Reading):
        text = _read_scan(document, content, text)
    if isinstance(text, Reading):
        return text
    return _make_reading(document, text, path, assets, services)


def _check_text(content: PdfContent) -> PdfText | Reading:
    """The text with pages that are missing, or why there is none."""
    pages = content.pages
    failed = [page.number for page in pages if not page.width]
    if failed and len(failed) == len(pages):
        return Reading.failed(
            "pdf_not_valid", f"none of its pages can be loaded: {name_pages(failed)}"
        )
    letters = sum(sum(map(str.isalnum, line.text)) for page in pages for line in page.lines)
    if letters < _FEWEST_LETTERS_PER_PAGE * max(1, len(pages) - len(failed)):
        counted = "1 page" if len(pages) == 1 else f"{len(pages)} pages"
        return Reading.failed(
            "no_text_layer",
            f"{counted} with hardly any text, so it seems to be scanned; run OCR on "
            f"it first, or install tesseract",
        )
    if is_undecodable(content):
        return Reading.failed(
            "text_not_decodable",
            "its fonts do not say which letters they draw, so its text cannot be read; run OCR on "
            "it first, or install tesseract",
        )
    problems: list[ReadProblem] = []
    if failed:
        message = f"{name_pages(failed)} of {len(pages)} cannot be loaded; their text is missing"
        problems.append(ReadProblem("pages_not_readable", message, is_fatal=False))
    damaged = [page.number for page in pages if page.is_damaged]
    if damaged:
        message = (
            f"{name_pages(damaged)} of {len(pages)}: parts of the text are missing, because "
            f"fonts do not say which letters they draw or there is too much of it"
        )
        problems.append(ReadProblem("pages_damaged", message, is_fatal=False))
    return PdfText(content, tuple(problems))


def _read_scan(
    document: pypdfium2.PdfDocument, content: PdfContent, failure: Reading
) -> PdfText | Reading:
    """The text as Tesseract reads it, where it is installed; else the failure."""
    program = find_program()
    if program is None or failure.problems[0].code not in _HELPED_BY_OCR:
        return failure
    scanned = read_scanned_pages(document, program)
    letters = sum(sum(map(str.isalnum, line.text)) for page in scanned.pages for line in page.lines)
    if letters < _FEWEST_LETTERS_PER_PAGE * len(scanned.pages):
        return failure
    problems = [
        ReadProblem(
            "text_by_ocr",
            f"{len(scanned.pages) - len(scanned.missed)} pages were read by Tesseract from their "
            f"pictures; check quotations against the pages",
            is_fatal=False,
        )
    ]
    if scanned.missed:
        message = (
            f"{name_pages(scanned.missed)} of {len(scanned.pages)} took too long to read from "
            f"their pictures; run OCR on the file first"
        )
        problems.append(ReadProblem("pages_not_readable", message, is_fatal=False))
    read = replace(content, pages=scanned.pages)
    return PdfText(read, tuple(problems), certainty=_OCR_CERTAINTY)


def _make_reading(
    document: pypdfium2.PdfDocument,
    text: PdfText,
    path: Path,
    assets: AssetStore,
    services: PdfServices,
) -> Reading:
    others = ask_services(services, path)
    front = prefer_grobid(read_title_page(text.content), others.paper)
    problems = [*text.problems, *others.problems]
    title = one_line(front.title.value) if front.title else None
    structure = read_structure(text.content, title, front.lines)
    figures, images = keep_figures(document, structure.figures, assets)
    references = (others.paper.references if others.paper else ()) or read_references(
        _lines_in_order(structure), structure.figures
    )
    origins = _field_origins(front, text.certainty)
    if title is None:
        name = given_name(path) or path.name
        title = one_line(Path(name).stem.replace("_", " ")) or name
        origins.append(FieldOrigin("title", "guess", _NAME_CONFIDENCE))
        problems.append(
            ReadProblem(
                "title_from_file_name", "no title found; the file's name is used", is_fatal=False
            )
        )
    body = others.markdown or structure.markdown
    markdown = clean(f"# {title}\n\n{body}") or f"# {title}"
    affiliations = _value(front.affiliations) or ()
    record = PaperRecord(
        title=title,
        authors=_value(front.authors) or (),
        institutions=tuple(dict.fromkeys(institution for _, institution in affiliations)),
        affiliations=affiliations,
        venue=_value(front.venue),
        publication_date=_value(front.date),
        abstract=_value(front.abstract),
        keywords=_value(front.keywords) or (),
        doi=_value(front.doi),
        arxiv_id=_value(front.arxiv_id),
        language=_value(front.language),
        volume=_value(front.volume),
        issue=_value(front.issue),
        pages=_value(front.pages),
        publisher=_value(front.publisher),
        related=tuple(RelatedWork(relation, doi) for relation, doi in front.related),
        headings=_headings(title, structure.headings),
        images=tuple(images),
        markdown_sha256=assets.keep_markdown(markdown + "\n"),
        pdf_sha256=assets.keep_pdf(path),
        references_sha256=assets.keep_references(references) if references else None,
        figures_sha256=assets.keep_figures(figures) if figures else None,
        origin="layout",
        confidence=_LAYOUT_CONFIDENCE * text.certainty,
        origins=tuple(origins),
    )
    return Reading((record,), tuple(problems))


def _value(found: Found[ValueT] | None) -> ValueT | None:
    return found.value if found else None


def _field_origins(front: TitlePage, certainty: float) -> list[FieldOrigin]:
    """Origin and confidence of every field that the title page gave."""
    return [
        FieldOrigin(
            _FIELD_NAMES.get(name, name),
            found.origin,
            found.confidence * (certainty if found.origin != "publisher" else 1.0),
        )
        for name, found in _found_fields(front)
    ]


def _found_fields(front: TitlePage) -> Iterable[tuple[str, Found[Any]]]:
    for field in fields(front):
        found = getattr(front, field.name)
        if isinstance(found, Found):
            yield field.name, found


def _headings(title: str, printed: Sequence[PrintedHeading]) -> tuple[Heading, ...]:
    """The sections; the title, which stands above them all, is none."""
    found = [
        (min(heading.level + 1, _MAX_MARKDOWN_LEVEL), one_line(heading.text)) for heading in printed
    ]
    return tuple(Heading(level, text) for level, text in found if text and text != title)


def _lines_in_order(structure: DocumentStructure) -> Iterable[Line]:
    for page in structure.order.pages:
        for flow in page.flows:
            for row in flow.rows:
                yield from row.lines


def name_pages(numbers: Sequence[int]) -> str:
    """`page 3`, `pages 2 to 4 and 9`, and no more than the first few of many."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = [
        str(first) if first == last else f"{first} to {last}"
        for first, last in runs[:_PAGE_RUNS_SHOWN]
    ]
    if len(runs) > _PAGE_RUNS_SHOWN:
        shown.append(f"others ({len(numbers)} in all)")
    return f"page{'s' if len(numbers) > 1 else ''} " + (
        ", ".join(shown[:-1]) + " and " + shown[-1] if len(shown) > 1 else shown[0]
    )
