"""What configured servers tell of a PDF, and how it joins what our own reader found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from carrel.libraries.pdf_layout.title_page import Found, TitlePage
from carrel.libraries.works.grobid import GrobidPaper
from carrel.rooms.papers.building.models import ReadProblem
from carrel.services.paper_sources.pdf_services import PdfServiceError, PdfServices

Value = TypeVar("Value")

# GROBID's fields come from a model.
_CONFIDENCE = 0.85


@dataclass(frozen=True, slots=True)
class ServiceAnswers:
    """Answers of the servers that are configured, and what went wrong."""

    paper: GrobidPaper | None = None
    markdown: str | None = None
    problems: tuple[ReadProblem, ...] = ()


def ask_services(services: PdfServices, path: Path) -> ServiceAnswers:
    """Ask the configured servers; one that fails is told of, and our own reading stands."""
    paper = markdown = None
    problems: list[ReadProblem] = []
    try:
        paper = services.read_with_grobid(path)
    except PdfServiceError as error:
        problems.append(_failed("GROBID", error))
    try:
        markdown = services.read_with_docling(path)
    except PdfServiceError as error:
        problems.append(_failed("docling", error))
    return ServiceAnswers(paper, markdown, tuple(problems))


def _failed(name: str, error: PdfServiceError) -> ReadProblem:
    message = f"{name} was asked but {error}; Carrel's own reading is used"
    return ReadProblem("pdf_service_failed", message, is_fatal=False)


def prefer_grobid(front: TitlePage, paper: GrobidPaper | None) -> TitlePage:
    """The title page with GROBID's fields, unless the publisher states them in the file."""
    if paper is None:
        return front
    return replace(
        front,
        title=_choose(front.title, paper.title),
        authors=_choose(front.authors, paper.authors or None),
        affiliations=_choose(front.affiliations, paper.affiliations or None),
        date=_choose(front.date, paper.date),
        abstract=_choose(front.abstract, paper.abstract),
        # A DOI that GROBID finds on the page may be another paper's: ours is stricter.
        doi=front.doi,
    )


def _choose(own: Found[Value] | None, other: Value | None) -> Found[Value] | None:
    if other is None or (own is not None and own.origin == "publisher"):
        return own
    return Found(other, _CONFIDENCE, "layout")
