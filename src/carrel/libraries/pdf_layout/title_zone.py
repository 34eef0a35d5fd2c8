"""The front of a document: the lines of its first page and where its text begins."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from carrel.libraries.pdf_layout.content import Line, PageContent, PdfContent

# Pages that are looked through for the body size, running heads and words of the document.
_PAGES_READ = 8
_LONGEST_HEADING = 60
# A paragraph: lines of prose below one another. Prose is mostly lower case, addresses are not.
_PROSE_LINES = 3
_PROSE_CHARACTERS = 38
_PROSE_LOWER_SHARE = 0.55
_ABSTRACT_WORDS = (
    r"a\s?b\s?s\s?t\s?r\s?a\s?c\s?t|s\s?u\s?m\s?m\s?a\s?r\s?y|zusammenfassung|kurzfassung"
    r"|r[ée]sum[ée]|resumen|resumo|riassunto|sammanfattning|samenvatting|streszczenie|abstrakt"
    r"|аннотация|реферат|摘\s?要|초록|要旨|概要|إلخلاصة|ملخص"
)
_END_WORDS = (
    r"(?:table\s+of\s+)?contents|inhalt(?:sverzeichnis)?|table\s+des\s+mati[èe]res|sommaire|[íi]ndice"
    r"|indice|inhoud(?:sopgave)?|оглавление|содержание|目\s?录|目\s?次|차례|key\s?words?(?:\s+and\s+phrases)?"
    r"|index\s+terms|schl[üu]sselw[öo]rter|mots[- ]cl[ée]s|palabras\s+clave|palavras-chave"
    r"|ключевые\s+слова|关\s?键\s?词|introduction|einleitung|introducci[óo]n|introduzione"
    r"|introdu[çc][ãa]o|inleiding|введение|引言|緒言|はじめに|서론|background|preface|vorwort"
    r"|references|bibliography|ccs\s+concepts|acm\s+reference\s+format|article\s+info|a\s?r\s?t\s?i"
    r"\s?c\s?l\s?e\s+i\s?n\s?f\s?o|highlights|graphical\s+abstract|significance(?:\s+statement)?"
)
_NUMERAL = r"(?:(?:\d{1,2}|[IVX]{1,4}|[Cc]hapter\s+\d{1,2})[.)]?\s{1,9})?"
ABSTRACT_HEADING = re.compile(rf"^\W{{0,3}}(?:{_ABSTRACT_WORDS})\W{{0,3}}$", re.IGNORECASE)
ABSTRACT_RUN_IN = re.compile(
    rf"^\W{{0,3}}(?:{_ABSTRACT_WORDS})\s{{0,4}}[.:：—–―-]\s{{0,4}}(?=\S)", re.IGNORECASE
)
_ABSTRACT_GLUED = re.compile(r"^(?:abstract|summary|zusammenfassung)\s+(?=\S)", re.IGNORECASE)
_END_HEADING = re.compile(rf"^\W{{0,3}}{_NUMERAL}(?:{_END_WORDS})\W{{0,3}}$", re.IGNORECASE)
_END_RUN_IN = re.compile(
    r"^\W{0,3}(?:key\s?words?(?:\s+and\s+phrases)?|index\s+terms|mots[- ]cl[ée]s|ccs\s+concepts"
    r"|ключевые\s+слова|关键词)\s{0,4}(?:[.:：—–-]|•)",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")
_SPACES = re.compile(r"\s+")
_LETTERS = re.compile(r"[^\W\d_]{2,30}")
_ADDRESS = re.compile(r"[@/]|\w\.\w")


def join_spaces(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


def squash(text: str) -> str:
    """Letters and digits only, in lower case."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())


@dataclass(frozen=True)
class FrontPage:
    """The first page with text; `lines` are level and go from top to bottom, left to right."""

    page: PageContent
    lines: tuple[Line, ...]
    stamps: tuple[Line, ...]
    body_size: float
    common_words: frozenset[str]
    running_heads: frozenset[str]
    text_begins: float
    has_abstract: bool

    @cached_property
    def squashed(self) -> str:
        return squash("".join(line.text for line in self.lines))

    @property
    def head_lines(self) -> tuple[Line, ...]:
        """The lines above the abstract or the first paragraph."""
        return tuple(line for line in self.lines if line.baseline < self.text_begins)

    def is_in_margin(self, line: Line) -> bool:
        """Whether it stands in the head or foot band of the page."""
        height = self.page.height or 1.0
        return line.box.y1 < 0.12 * height or line.box.y0 > 0.9 * height

    def is_running_head(self, line: Line) -> bool:
        return fold_digits(line.text) in self.running_heads and self.is_in_margin(line)


def fold_digits(text: str) -> str:
    return squash(_DIGITS.sub("0", text))


def read_front_page(content: PdfContent) -> FrontPage | None:
    """The front page; None where no page near the beginning has text."""
    pages = content.pages[:_PAGES_READ]
    page = next((each for each in pages[:3] if any(_is_level(line) for line in each.lines)), None)
    if page is None:
        return None
    lines = sort_lines([line for line in page.lines if _is_level(line)])
    body_size = _find_body_size(pages)
    begins, has_abstract = _find_text(lines, body_size, page)
    return FrontPage(
        page=page,
        lines=tuple(lines),
        stamps=tuple(line for line in page.lines if line.angle % 360 and line.text.strip()),
        body_size=body_size,
        common_words=_find_common_words(pages),
        running_heads=_find_running_heads(pages, page.number),
        text_begins=begins,
        has_abstract=has_abstract,
    )


def _is_level(line: Line) -> bool:
    return line.angle % 360 == 0 and bool(line.text.strip())


def sort_lines(lines: list[Line]) -> list[Line]:
    """Rows from top to bottom (baselines within a third of the size), each from left to right."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda each: (each.baseline, each.box.x0)):
        if rows and line.baseline - rows[-1][0].baseline <= 0.3 * max(line.size, 1.0):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [line for row in rows for line in sorted(row, key=lambda each: each.box.x0)]


def _find_body_size(pages: tuple[PageContent, ...]) -> float:
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            if _is_level(line):
                sizes[round(line.size, 1)] += len(line.text)
    return max(sizes, key=lambda size: (sizes[size], size), default=0.0)


def _find_common_words(pages: tuple[PageContent, ...]) -> frozenset[str]:
    words: set[str] = set()
    for page in pages:
        for line in page.lines:
            for token in line.text.split():
                # Addresses spell names in lower case.
                if token.islower() and not _ADDRESS.search(token):
                    words.update(_LETTERS.findall(token))
    return frozenset(words)


def _find_running_heads(pages: tuple[PageContent, ...], front: int) -> frozenset[str]:
    """Texts in head or foot bands of two or more other pages."""
    seen: Counter[str] = Counter()
    for page in pages:
        if page.number == front:
            continue
        band = {
            fold_digits(line.text)
            for line in page.lines
            if line.box.y1 < 0.12 * page.height or line.box.y0 > 0.9 * page.height
        }
        seen.update(band)
    return frozenset(text for text, count in seen.items() if count >= 2 and len(text) > 3)


def _find_text(lines: list[Line], body_size: float, page: PageContent) -> tuple[float, bool]:
    """Where abstract, contents or text begins, and whether an abstract has a heading."""
    heading = next((line for line in lines if begins_abstract(line, body_size)), None)
    end = next((line for line in lines if _ends_front(line)), None)
    if heading is not None and (end is None or heading.baseline <= end.baseline + 30):
        return heading.baseline - 0.5, True
    prose = _find_prose(lines, page)
    found = [each for each in (end.baseline if end else None, prose) if each is not None]
    return (min(found) - 0.5 if found else page.height), heading is not None


def begins_abstract(line: Line, body_size: float) -> bool:
    text = join_spaces(line.text)
    if ABSTRACT_HEADING.match(text) or ABSTRACT_RUN_IN.match(text):
        return True
    if not _ABSTRACT_GLUED.match(text) or line.size > 1.15 * body_size:
        return False
    first, *others = (span for span in line.spans if span.text.strip())
    return (
        bool(others)
        and len(first.text.strip()) < 20
        and (first.is_bold != others[0].is_bold or first.font != others[0].font)
    )


def _ends_front(line: Line) -> bool:
    text = join_spaces(line.text)
    if len(text) > _LONGEST_HEADING:
        return bool(_END_RUN_IN.match(text[:_LONGEST_HEADING]))
    return bool(_END_HEADING.match(text) or _END_RUN_IN.match(text))


def _find_prose(lines: list[Line], page: PageContent) -> float | None:
    """The first baseline of a paragraph of text."""
    for at, line in enumerate(lines):
        run = 1
        last = line
        if not _is_prose(line, page):
            continue
        for later in lines[at + 1 : at + 12]:
            if abs(later.box.x0 - last.box.x0) > 30 or later.baseline <= last.baseline:
                continue
            is_next = later.baseline - last.baseline < 2.0 * last.size
            if not is_next or not _is_prose(later, page) or abs(later.size - line.size) > 0.6:
                break
            run, last = run + 1, later
        if run >= _PROSE_LINES:
            return line.baseline
    return None


def _is_prose(line: Line, page: PageContent) -> bool:
    words = [word for word in line.text.split() if any(letter.isalpha() for letter in word)]
    if len(line.text.strip()) < _PROSE_CHARACTERS or len(words) < 5 or ". . ." in line.text:
        return False
    if "@" in line.text or line.box.width < 0.25 * page.width:
        return False
    lower = sum(word[0].islower() for word in words if word[0].isalpha())
    return lower >= _PROSE_LOWER_SHARE * len(words)
