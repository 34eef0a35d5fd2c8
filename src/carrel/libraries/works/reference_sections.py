"""Finds the lines of a document's reference list: from its heading to what follows it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class ReferenceLine:
    """A line in reading order; `x` and `y` are its left and upper edge in points.

    `has_hyphen` says that a hyphen at its end may have been put there by line breaking.
    """

    text: str
    x: float = 0.0
    y: float = 0.0
    page: int = 1
    size: float = 10.0
    is_bold: bool = False
    has_hyphen: bool = False


_HEADINGS = frozenset(
    {
        "references", "reference", "reference list", "list of references", "references cited",
        "references and notes", "references and further reading", "literature cited",
        "literature", "works cited", "cited works", "bibliography", "selected bibliography",
        "cited literature", "citations", "sources", "references and links", "notes and references",
        "bibliographical references", "further reading and references", "cited references",
        "literatur", "literaturverzeichnis", "literaturangaben", "literaturliste", "quellen",
        "quellenverzeichnis", "zitierte literatur", "bibliographie", "references bibliographiques",
        "reference bibliographique", "liste des references", "bibliografia", "referencias",
        "referencias bibliograficas", "referenze", "riferimenti", "riferimenti bibliografici",
        "literatuur", "literatuurlijst", "referenties", "bibliografie", "litteratur",
        "litteraturliste", "litteraturforteckning", "referenser", "referanser", "kallor",
        "kirjallisuus", "lahteet", "lahdeluettelo", "literatura", "literatura citada",
        "obras citadas", "pismiennictwo", "piśmiennictwo", "irodalom", "irodalomjegyzek",
        "hivatkozasok", "kaynaklar", "kaynakca", "literatura cytowana", "pouzita literatura",
        "zdroje", "литература", "список литературы", "библиография", "ссылки", "источники",
        "література", "список літератури", "βιβλιογραφια", "αναφορες", "参考文献", "参考资料",
        "引用文献", "文献", "參考文獻", "참고문헌", "참고 문헌", "المراجع", "מקורות", "ביבליוגרפיה",
        "tai lieu tham khao", "daftar pustaka", "rujukan", "เอกสารอ้างอิง", "viri",
        "popis literature",
    }
)  # fmt: skip
_ENDS = re.compile(
    r"(?:appendi(?:x|ces)|annex(?:e|es)?|anhang|anexos?|appendice|bijlagen?|bilaga|"
    r"supplement(?:ary|al)?(?: (?:materials?|information|data|figures?|tables?))?|"
    r"supporting information|acknowledge?ments?|danksagung|remerciements|agradecimientos|"
    r"author (?:contributions?|information|biograph(?:y|ies)|details)|authors?['’]? contributions|"
    r"about the authors?|biograph(?:y|ies)|biographical notes?|affiliations?|"
    r"authors?['’]? addresse?s?|"
    r"correspond(?:ence|ing author)(?: address)?|contact|funding|conflicts? of interest|"
    r"competing interests|data availability|index|subject index|author index|glossary|"
    r"list of (?:figures|tables|symbols|abbreviations)|abbreviations|session info(?:rmation)?|"
    r"figures?|figure (?:captions|legends)|tables?|contents|proofs?|notation|"
    r"r session info(?:rmation)?|changelog|revision history|curriculum vitae|lebenslauf)",
    re.IGNORECASE,
)
_APPENDIX = re.compile(
    r"(?:(?:appendix|annex|anhang|annexe|appendice|supplement|bijlage)\s+(?:[A-Z]|[IVX]{1,5}|\d{1,2})\b"
    r"|[A-Z](?:\.\d{1,2}){0,3}\.?\s+(?:appendix|supplement|proofs?\b|additional|details|derivation|simulation))",
    re.IGNORECASE,
)
_NUMERAL = re.compile(
    r"^(?:(?:chapter|section|kapitel)\s+)?(?:[0-9]{1,2}(?:\.[0-9]{1,2}){0,3}|[A-Z]|[IVX]{1,5})[.):]?\s+"
)
# A figure that stands on a page of the list.
_CAPTION = re.compile(r"\s*(?:Figure|Fig\.|Table|Abbildung|Tabelle)\s+\d{1,3}\s?[.:]")
_LEADERS = re.compile(r"(?:\.\s?){4,}|\s\d{1,4}$")
# A line this much larger than the entries is a heading.
_LARGER = 1.12
_LONGEST_HEADING = 90
_LONGEST_NAME_OF_LIST = 60
_SPACED_LETTERS = 8
_EDGE = " .:—–-*#_"
_TOP_LINES = 4
# Pages between two headings of the list that are running heads of one list.
_PAGES_OF_RUNNING_HEADS = 2
# How many headings of lists are tried, from the last.
_MOST_LISTS = 12
# Longer than any list: 10,000 entries of four lines.
MAX_LINES = 40_000


def find_reference_list(lines: Sequence[ReferenceLine]) -> Sequence[ReferenceLine]:
    """The lines of the last reference list, without its heading; empty where there is none."""
    return next(find_reference_lists(lines), ())


def find_reference_lists(
    lines: Sequence[ReferenceLine],
) -> Iterator[Sequence[ReferenceLine]]:
    """The lines below each heading of a reference list, the last first.

    The last may be none: a row of a table, or an entry of an index, has the same words.
    """
    found = [number for number, line in enumerate(lines) if is_list_heading(line.text)]
    tops = _page_tops(lines)
    for _ in range(_MOST_LISTS):
        if not found:
            return
        start = found.pop()
        # A running head that names the list on each of its pages.
        while found:
            is_near = lines[start].page - lines[found[-1]].page <= _PAGES_OF_RUNNING_HEADS
            if start - tops[lines[start].page] >= _TOP_LINES or not is_near:
                break
            start = found.pop()
        yield _cut_list(lines, start)


def _cut_list(lines: Sequence[ReferenceLine], start: int) -> Sequence[ReferenceLine]:
    """The lines of the list whose heading is at `start`."""
    body = [
        line
        for line in lines[start + 1 : start + 1 + MAX_LINES]
        if line.text.strip() and not _CAPTION.match(line.text) and not is_list_heading(line.text)
    ]
    return body[: _find_end(body, lines[start])]


def is_list_heading(text: str) -> bool:
    """Whether a line is the heading of a reference list, in any of many languages."""
    if len(text) > _LONGEST_NAME_OF_LIST or not text.strip() or _LEADERS.search(text):
        return False
    plain = text.strip(_EDGE)
    is_spaced = len(plain) > _SPACED_LETTERS and all(len(piece) == 1 for piece in plain.split())
    plain = plain.replace(" ", "") if is_spaced else _NUMERAL.sub("", plain).strip(_EDGE)
    folded = unicodedata.normalize("NFKD", plain.casefold())
    bare = "".join(letter for letter in folded if not unicodedata.combining(letter))
    return " ".join(bare.split()) in _FOLDED_HEADINGS


_FOLDED_HEADINGS = frozenset(
    "".join(
        letter
        for letter in unicodedata.normalize("NFKD", heading.casefold())
        if not unicodedata.combining(letter)
    )
    for heading in _HEADINGS
)


def _page_tops(lines: Sequence[ReferenceLine]) -> dict[int, int]:
    tops: dict[int, int] = {}
    for number, line in enumerate(lines):
        tops.setdefault(line.page, number)
    return tops


def _find_end(body: list[ReferenceLine], heading: ReferenceLine) -> int:
    """How many lines belong to the list."""
    if not body:
        return 0
    usual = median(line.size for line in body[:60])
    for number, line in enumerate(body):
        text = line.text.strip()
        if len(text) > _LONGEST_HEADING:
            continue
        stands_out = line.size > usual * _LARGER or (line.is_bold and heading.is_bold)
        plain = _NUMERAL.sub("", text).strip(" .:")
        if _ENDS.fullmatch(plain) and (stands_out or text[:1].isupper()):
            return number
        if _APPENDIX.match(text) and (stands_out or not text.endswith((".", ","))):
            return number
        is_like_heading = line.size >= heading.size * 0.97 and line.is_bold == heading.is_bold
        if number and stands_out and is_like_heading and any(map(str.isalpha, text)):
            return number
    return len(body)
