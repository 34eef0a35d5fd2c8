"""PDF papers: text by layout, and what title, date and DOI they state."""

from __future__ import annotations

import mmap
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pypdfium2
from pypdfium2 import raw as pdfium

from carrel.libraries.identifiers import ArxivId, Doi, NotAnIdentifierError
from carrel.libraries.text.budget import current_budget
from carrel.rooms.papers.building.models import PaperRecord, Reading, ReadProblem, guessed
from carrel.rooms.papers.building.ports import AssetStore
from carrel.services.paper_sources.fields import split_authors
from carrel.services.paper_sources.texts import clean, one_line

_HEAD_ENDS = re.compile(
    r"^\W*(?:\d{1,2}\.?|[ivx]{1,4}\.)?\s*(?:a\s?b\s?s\s?t\s?r\s?a\s?c\s?t|summary|introduction|background|references|bibliography"
    r"|works cited|literature "
    r"cited|literature|zusammenfassung|einleitung|literatur|r[ée]sum[ée]|resumen|keywords|key "
    r"words"
    r"|index terms|contents)\b",
    re.IGNORECASE | re.MULTILINE,
)
# Where no heading ends the head, only this much of the page is taken for it.
_SHORT_HEAD_CHARACTERS = 600
_LONGEST_HEAD_CHARACTERS = 3_000
_DOI = re.compile(r"(?:doi\.org/|\bdoi\b\s*[:=]?\s*)(10\.\d{4,9}/[^\s\"<>{}|\\^`]+)", re.IGNORECASE)
# Lines that speak of another work: a citation, a companion, a work that is reviewed or corrected.
_OF_ANOTHER = re.compile(
    r"\bet\s+al\b|\b(?:cit(?:e|ed|es|ing|ation)|see|refer(?:ence)?s?|comment(?:ary|s)?\s+on|reply\s+to|response\s+to|review\s+of"
    r"|correct(?:ion|s)|corrigendum|erratum|retract|supplement|companion|related|based\s+on|extends?|data(?:set)?|software|code"
    r"|original\s+(?:article|paper|publication|version|work))\b"
    r"|^\s*\[\d+\]|^\s*\d{1,3}\.\s+[A-Z]|[A-Z][\w'’-]+,?\s+\(\d{4}[a-z]?\)",
    re.IGNORECASE | re.MULTILINE,
)
# A notice about another paper, whose DOI such a page gives at least as often as its own.
_NOTICE = re.compile(
    r"^\s*(?:(?:author|publisher)(?:['’]s)?\s+)?(?:correction|corrigend|errat|retraction|withdrawal|addendum|expression\s+of\s+concern"
    r"|comments?\s+on|reply|response\s+to|book\s+review)",
    re.IGNORECASE | re.MULTILINE,
)
_ARXIV_STAMP = re.compile(
    r"arXiv:\s*((?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?)\s*\[[a-zA-Z-]+(?:\.[a-zA-Z-]+)?\]\s*"
    r"(?:\d{1,2}\s+[A-Z][a-z]{2}\s+((?:19|20)\d{2}))?"
)
_ARXIV_LINE = re.compile(
    r"^\s*(?:preprint\s*)?arXiv:\s*((?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?)\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_PUBLISHED = re.compile(
    r"\b(?:published|publication\s+date|date\s+of\s+publication|first\s+published|version\s+of\s+record)\b[^\n]{0,60}?"
    r"\b((?:19|20)\d{2})\b",
    re.IGNORECASE,
)
_COPYRIGHT = re.compile(
    r"^[^\n]{0,20}(?:©|\(c\)|\bcopyright\b)[^\n]{0,40}?\b((?:19|20)\d{2})\b",
    re.IGNORECASE | re.MULTILINE,
)

_XMP_START, _XMP_END = b"<x:xmpmeta", b"</x:xmpmeta>"
_LONGEST_XMP_BYTES = 1_000_000
_XMP_DOI = re.compile(
    r"(?:prism:doi|pdfx:doi|crossmark:DOI|pdfx:WPS-ARTICLEDOI)(?:\s*=\s*[\"']|[^<>]{0,50}>)\s*([^<\"']{5,300})",
    re.IGNORECASE,
)
_XMP_IDENTIFIER = re.compile(
    r"dc:identifier[^<>]{0,50}>\s*((?:doi:|https?://(?:dx\.)?doi\.org/)[^<]{5,300})", re.IGNORECASE
)
_XMP_DATE = re.compile(
    r"(?:prism:publicationDate|prism:coverDate)(?:\s*=\s*[\"']|[^<>]{0,50}>)\s*((?:19|20)\d{2}(?:-\d{2}(?:-\d{2})?)?)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PdfFacts:
    """The metadata of a PDF; `is_date_inferred` if the date may not be that of publication."""

    doi: str | None = None
    arxiv_id: str | None = None
    date: str | None = None
    is_date_inferred: bool = False


def read_facts(path: Path, first_page: str) -> PdfFacts:
    xmp = _xmp(path)
    head = page_head(first_page)
    arxiv_id, stamped = _arxiv(head, first_page)
    doi = _stated_doi(xmp) or _printed_doi(head)
    if found := _XMP_DATE.search(xmp):
        return PdfFacts(doi, arxiv_id, found.group(1))
    if published := _PUBLISHED.search(head):
        return PdfFacts(doi, arxiv_id, published.group(1))
    copyrighted = _COPYRIGHT.search(head)
    year = stamped or (copyrighted.group(1) if copyrighted else None)
    return PdfFacts(doi, arxiv_id, year, is_date_inferred=year is not None)


def page_head(first_page: str) -> str:
    """The first page above its abstract or first section."""
    ends = _HEAD_ENDS.search(first_page[:_LONGEST_HEAD_CHARACTERS])
    return first_page[: ends.start() if ends else _SHORT_HEAD_CHARACTERS]


def _xmp(path: Path) -> str:
    """The XMP packet, if it is stored uncompressed, as publishers do."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        start = content.find(_XMP_START)
        if start < 0:
            return ""
        end = content.find(_XMP_END, start, start + _LONGEST_XMP_BYTES)
        return content[start:end].decode("utf-8", "replace") if end > 0 else ""


def _stated_doi(xmp: str) -> str | None:
    for found in (*_XMP_DOI.finditer(xmp), *_XMP_IDENTIFIER.finditer(xmp)):
        try:
            return Doi.parse(found.group(1).strip()).value
        except NotAnIdentifierError:
            continue
    return None


def _printed_doi(head: str) -> str | None:
    """The one DOI at the head of the page; of several, none is known to be the paper's."""
    if _NOTICE.search(head):
        return None
    own: set[str] = set()
    lines = head.split("\n")
    for at, line in enumerate(lines):
        for found in _DOI.finditer(line):
            if _OF_ANOTHER.search(line[: found.start()]) or _OF_ANOTHER.search(
                lines[at - 1] if at else ""
            ):
                continue
            try:
                own.add(Doi.parse(found.group(1)).value)
            except NotAnIdentifierError:
                continue
    return own.pop() if len(own) == 1 else None


def _arxiv(head: str, first_page: str) -> tuple[str | None, str | None]:
    """Id and year of arXiv's stamp, anywhere on the page; else an id on a line of the head."""
    stamp = _ARXIV_STAMP.search(first_page)
    found = stamp or _ARXIV_LINE.search(head)
    try:
        arxiv_id = ArxivId.parse(found.group(1)).value if found else None
    except NotAnIdentifierError:
        return None, None
    return arxiv_id, stamp.group(2) if stamp else None


_MOST_PAGES = 3_000
_FEWEST_LETTERS_PER_PAGE = 20
_TITLE_AREA_CHARACTERS = 2_500
_LONGEST_TITLE = 300
_PAGE_RUNS_SHOWN = 10
_HYPHEN_AT_LINE_END = re.compile(r"(?<=[^\W\d_])(?:-|\u00ad|\ufffe|\x02)[ \t]*\n(?=[^\W\d_])")
_SOFT_HYPHEN = re.compile("[\u00ad\ufffe\x02]")
_ABSTRACT = re.compile(
    r"(?:^|\n)\s*a\s?b\s?s\s?t\s?r\s?a\s?c\s?t\b[\s.:—–-]*(.{80,4000}?)"
    r"(?=\n\s*(?:\d{0,2}\.?\s*introduction|keywords|key words|index terms|ccs "
    r"concepts|background)\b|\n\s*\n\s*\n|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_NO_TITLE = re.compile(
    r"^(?:untitled|microsoft word|slide "
    r"1|title|main|manuscript|.*\.(?:docx?|tex|dvi|pdf|indd|qxd|ps))\b|^\W*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Letters:
    """The text of a title page's top with the height of each character."""

    text: str
    heights: tuple[float, ...]


def read_pdf(path: Path, assets: AssetStore) -> Reading:
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
        return _read_document(document, path, assets)


def _read_document(document: pypdfium2.PdfDocument, path: Path, assets: AssetStore) -> Reading:
    if len(document) > _MOST_PAGES:
        return Reading.failed(
            "too_large", f"{len(document):,} pages are more than the limit of {_MOST_PAGES:,}"
        )
    pages, failed = _page_texts(document)
    if failed and len(failed) == len(pages):
        return Reading.failed(
            "pdf_not_valid", f"none of its pages can be loaded: {_pages_named(failed)}"
        )
    letters = sum(character.isalnum() for page in pages for character in page)
    if letters < _FEWEST_LETTERS_PER_PAGE * max(1, len(pages) - len(failed)):
        return Reading.failed(
            "no_text_layer",
            f"{len(pages)} pages with hardly any text, so it seems to be scanned; run OCR on "
            f"it first",
        )
    about = document.get_metadata_dict(skip_empty=True)
    problems: list[ReadProblem] = []
    if failed:
        message = f"{_pages_named(failed)} of {len(pages)} cannot be loaded; their text is missing"
        problems.append(ReadProblem("pages_not_readable", message, is_fatal=False))
    opening = "\n".join(pages[:2])
    title, is_title_stated = _title(about.get("Title"), document)
    if title is None:
        title = one_line(path.stem.replace("_", " ")) or path.name
        problems.append(
            ReadProblem(
                "title_from_file_name",
                "no title found; the file's name is used",
                is_fatal=False,
            )
        )
    facts = read_facts(path, pages[0])
    inferred = {"title": not is_title_stated, "publication_date": facts.is_date_inferred}
    body = "\n\n".join(
        f"<!-- page {number} -->\n\n{page}" for number, page in enumerate(pages, start=1) if page
    )
    abstract = _ABSTRACT.search(opening)
    record = PaperRecord(
        title=title,
        authors=split_authors(about.get("Author", "")),
        publication_date=facts.date,
        abstract=" ".join(abstract.group(1).split()) if abstract else None,
        doi=facts.doi,
        arxiv_id=facts.arxiv_id,
        markdown_sha256=assets.keep_markdown(f"# {title}\n\n{body}\n"),
        pdf_sha256=assets.keep_pdf(path),
        origins=guessed(*(name for name, is_guess in inferred.items() if is_guess)),
    )
    return Reading((record,), tuple(problems))


def _page_texts(document: pypdfium2.PdfDocument) -> tuple[list[str], list[int]]:
    """The text of every page, and the numbers, from 1, of those that PDFium cannot load."""
    pages: list[str] = []
    failed: list[int] = []
    budget = current_budget()
    for number in range(len(document)):
        try:
            pages.append(_page_text(document, number))
        except pypdfium2.PdfiumError:
            pages.append("")
            failed.append(number + 1)
        # A form that draws itself twice, nested, makes gigabytes of text out of a few lines.
        budget.spend_output(len(pages[-1]))
    return pages, failed


def _pages_named(numbers: Sequence[int]) -> str:
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


def _page_text(document: pypdfium2.PdfDocument, number: int) -> str:
    """Raises PdfiumError if the page or its text cannot be loaded."""
    page = document[number]
    try:
        text_page = page.get_textpage()
        try:
            text = text_page.get_text_bounded()
        finally:
            text_page.close()
    finally:
        page.close()
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _SOFT_HYPHEN.sub("", _HYPHEN_AT_LINE_END.sub("", text))
    return clean(text.encode("utf-8", "ignore").decode()) or ""


def _title(stated: str | None, document: pypdfium2.PdfDocument) -> tuple[str | None, bool]:
    """The stated title, unless a program wrote it; else the largest words atop page one."""
    if stated and len(stated.strip()) > 8 and not _NO_TITLE.match(stated.strip()):
        return one_line(stated), True
    try:
        letters = _top_letters(document)
    except pypdfium2.PdfiumError:
        return None, False
    heights = Counter(dict.fromkeys(letters.heights, 0))
    for character, height in zip(letters.text, letters.heights, strict=True):
        heights[height] += character.isalnum()
    for height in sorted(heights, reverse=True):
        if heights[height] >= 10:
            return _words_of_height(letters, height), False
    return None, False


def _words_of_height(letters: _Letters, height: float) -> str | None:
    """The first run of characters of that height; spaces are ignored."""
    run: list[str] = []
    for character, own in zip(letters.text, letters.heights, strict=True):
        if character.isspace():
            run.append(" ")
        elif abs(own - height) < 0.6:
            run.append(character)
        elif sum(letter.isalnum() for letter in run) >= 10:
            break
        else:
            run.clear()
    return one_line("".join(run)[:_LONGEST_TITLE])


def _top_letters(document: pypdfium2.PdfDocument) -> _Letters:
    page = document[0]
    try:
        text_page = page.get_textpage()
    except pypdfium2.PdfiumError:
        page.close()
        raise
    try:
        count = min(text_page.count_chars(), _TITLE_AREA_CHARACTERS)
        characters = [chr(pdfium.FPDFText_GetUnicode(text_page, at) or 32) for at in range(count)]
        heights = [
            round(pdfium.FPDFText_GetFontSize(text_page, at) * _scale(text_page, at), 1)
            for at in range(count)
        ]
    finally:
        text_page.close()
        page.close()
    usable = [
        (each if each.isprintable() or each.isspace() else " ", height)
        for each, height in zip(characters, heights, strict=True)
    ]
    return _Letters("".join(each for each, _ in usable), tuple(height for _, height in usable))


def _scale(text_page: pypdfium2.PdfTextPage, at: int) -> float:
    """Many programs set every font to size 1 and scale it with a matrix."""
    matrix = pdfium.FS_MATRIX()
    if not pdfium.FPDFText_GetMatrix(text_page, at, matrix):
        return 1.0
    return float(abs(matrix.d) or abs(matrix.b) or 1.0)
