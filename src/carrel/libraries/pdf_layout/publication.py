"""Journal, volume, issue, pages and year, as heads, feet and date lines of a first page say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from carrel.libraries.pdf_layout.content import Line
from carrel.libraries.pdf_layout.paragraph_lines import take_paragraph
from carrel.libraries.pdf_layout.printed_dates import find_dates, find_years
from carrel.libraries.pdf_layout.running_text import (
    find_unknown_words,
    is_citation,
    is_footnote,
    is_running_text,
)
from carrel.libraries.pdf_layout.title_zone import FrontPage, join_spaces

_YEAR = r"(?P<year>(?:19|20)\d{2})"
_PAGES = r"(?P<pages>[A-Z]?\d{1,6}\s?[-–—]\s?[A-Z]?\d{1,6}|e\d{3,9})"
_NAME = r"(?P<venue>[^\W\d_][^\d()|;:©]{2,100}?)"
_MONTH_WORD = r"[A-Z][a-zéûä]{2,9}\.?"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # Journal of Tests 12 (2019) 1-9; Journal of Tests 12 (3), 2019, 1-9
        rf"^{_NAME},?\s+(?P<volume>\d{{1,4}})\s?\({_YEAR}\)[\s,:]{{1,3}}(?:{_PAGES}|(?P<number>\d{{3,9}}))",
        # Int J Comput Vis (2015) 115:211-252
        rf"^{_NAME}\s+\({_YEAR}\)\s+(?P<volume>\d{{1,4}})(?:\s?\((?P<issue>[\d–-]{{1,7}})\))?\s?:\s?"
        rf"(?:{_PAGES}|(?P<number>\d{{1,9}}))",
        # Sensors 2021, 21, 1234; Sensors 2021, 21(3), 12
        rf"^{_NAME}\s+{_YEAR},\s?(?P<volume>\d{{1,4}})(?:\s?\((?P<issue>[\d–-]{{1,7}})\))?,\s?"
        rf"(?:{_PAGES}|(?P<number>\d{{1,9}}))",
        # eLife 2019;8:e12345; BMJ 2019;364:l1234; Genome Biol 2015;16(2):177-180
        rf"^{_NAME}\.?\s+{_YEAR}(?:\s[A-Z][a-z]{{2}}(?:\s\d{{1,2}})?)?\s?;\s?(?P<volume>\d{{1,4}})"
        rf"(?:\s?\((?P<issue>[\d–-]{{1,7}})\))?\s?:\s?(?:{_PAGES}|(?P<number>[a-z]?\d{{1,9}}))",
        # PHYSICAL REVIEW LETTERS 116, 061102 (2016)
        rf"^{_NAME},?\s+(?P<volume>\d{{1,4}}),\s?(?:{_PAGES}|(?P<number>[A-Z]?\d{{1,9}}))\s?\({_YEAR}\)",
        # Bioinformatics of 2018: volume and issue, year, pages
        rf"^{_NAME},\s+(?P<volume>\d{{1,4}})\s?\((?P<issue>[\d–-]{{1,7}})\),\s?{_YEAR},\s?{_PAGES}",
        # IEEE TRANSACTIONS ON TESTS, VOL. 12, NO. 3, MARCH 2019
        rf"^{_NAME},\s+VOL(?:\.|UME)\s?(?P<volume>\d{{1,4}}),\s+(?:NO\.|NUMBER|ISSUE)\s?"
        rf"(?P<issue>\d{{1,4}}),\s+(?:{_MONTH_WORD}(?:[-/]{_MONTH_WORD})?\s+)?{_YEAR}",
        # January 2007, Volume 18, Issue 3.
        rf"^(?P<month>{_MONTH_WORD})\s+{_YEAR},\s+Volume\s+(?P<volume>\d{{1,4}}),\s+"
        rf"(?:Issue|Code Snippet)\s+(?P<issue>\d{{1,4}})",
        # Nature | Vol 574 | 24 October 2019 | 505
        rf"^{_NAME}\s?\|\s?VOL(?:\.|UME)?\s?(?P<volume>\d{{1,4}})\s?\|\s?(?:NO\.?\s?(?P<issue>\d{{1,4}})\s?\|\s?)?"
        rf"(?:\d{{1,2}}\s+)?(?:{_MONTH_WORD}\s+)?{_YEAR}",
        # Proceedings of NAACL-HLT 2018, pages 84-91
        rf"^(?P<venue>(?:In\s+)?(?:Proceedings|Findings|Proc\.|Actes|Tagungsband)[^|©]{{3,200}}?),\s+"
        rf"(?:pages|pp\.?)\s?{_PAGES}",
        # R News Vol. 5/2, November 2005; The R Journal Vol. 8/1, Aug. 2016
        rf"^{_NAME}\s+Vol\.\s?(?P<volume>\d{{1,4}})/(?P<issue>\d{{1,3}}),\s+{_MONTH_WORD}\s+{_YEAR}",
        # PLoS ONE 14(3): e0212345.
        rf"^{_NAME}\s+(?P<volume>\d{{1,4}})\s?\((?P<issue>\d{{1,3}})\)\s?:\s?{_PAGES}",
    )
)
_PUBLISHED = re.compile(
    r"\b(?:first\s+published|published(?:\s+online)?|publication\s+date|date\s+of\s+publication"
    r"|version\s+of\s+record|ver[öo]ffentlicht|publi[ée]\s+le|publicado)\b(.{0,60})",
    re.IGNORECASE,
)
_COPYRIGHT = re.compile(
    r"^(.{0,40}?)(?:©|\(c\)|\bcopyright\b|ⓒ).{0,40}?\b((?:19|20)\d{2})\b(.{0,40})", re.IGNORECASE
)
# "Copyright 1975 is in the text" is a sentence, "Copyright 1975 by the authors" is none.
_GOES_ON = re.compile(
    r"^\W{0,3}(?!by\b|the\b|and\b|all\b|held\b|für\b|der\b|die\b|de\b|les\b|los\b)[a-zß-ÿ]"
)
# Small print in a side column or a block of rights.
_LABELLED = re.compile(
    r"^(?:published(?:\s+online)?\s{0,2}:|©\s{0,2}(?:19|20)\d{2})", re.IGNORECASE
)
# "Work published in": what is published is named, and it is not this page.
_HAS_SUBJECT = re.compile(
    r"(?<!article)(?<!paper)(?<!online)(?<!early)(?<!record)(?<!letter)(?<!chapter)(?<!report)"
    r"(?<=[^\W\d_])\s{1,3}$",
    re.IGNORECASE,
)
_PUBLISHED_AS_A = re.compile(r"\bpublished\s+as\s+an?\s+", re.IGNORECASE)
# The parts of a page below which feet stand in any size and in small print.
_FOOT_BAND = 0.9
_LOW = 0.8
_SMALL_PRINT = 0.95
_LARGE = 1.2
_RANGE = re.compile(r"\b(?:19|20)\d{2}\s?[-–—]\s?((?:19|20)\d{2})\b")
_CONFERENCE_DAYS = re.compile(
    r"^(?:[A-Z][^\d©]{2,80},\s+[A-Z][a-z]{2,9}\.?\s+\d{1,2}"
    r"(?:\s?[-–—]\s?(?:[A-Z][a-z]{2,9}\.?\s+)?\d{1,2})?"
    r"|[A-Z][a-z]{2,9}\.?\s+\d{1,2}\s?[-–—]\s?(?:[A-Z][a-z]{2,9}\.?\s+)?\d{1,2}),?\s+"
    r"((?:19|20)\d{2})",
)
_NOT_PUBLISHED = re.compile(
    r"\b(?:received|accepted|submitted|revised|recibido|eingegangen|re[çc]u"
    r"|accessed|retrieved|visited|abgerufen|consult[ée])\b",
    re.IGNORECASE,
)
_COMPILED = re.compile(
    r"\b(?:compiled|generated|printed|last\s+(?:updated|modified|changed)|built|processed)\b",
    re.IGNORECASE,
)
# A program wrote the date of the software's version: "gnm version 1.1-2, 2022-04-29".
_VERSION = re.compile(r"\bversion\s{0,2}v?\d.{0,40}?\b(?:19|20)\d{2}-\d{2}-\d{2}\b", re.IGNORECASE)
_NO_VENUE = re.compile(
    r"^(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|vol|volume|no|issue|page|pages|doi|received|accepted|published|citation|copyright|version"
    r"|and|of|in|the|article|research|fig|figure|table)\b\.?$|\bet\s+al\b|@|https?:",
    re.IGNORECASE,
)
_CITATION_LABEL = re.compile(
    r"^\W{0,3}(?:citation|cite\s+this\s+article)\s{0,3}[:：]", re.IGNORECASE
)
# "In Phys. Rev. X" and "drift seen in Phys. Rev. X" are of a sentence, "In Vitro Biology" is not.
_BEGINS_SENTENCE = re.compile(
    r"^(?:in(?!\s+(?:vitro|vivo|silico|situ|practice|proceedings|proc)\b)|as|by|from|see|after|unlike"
    r"|since|like|both|however|but|if|when)\s",
    re.IGNORECASE,
)
_WORD_BEFORE_JOIN = re.compile(
    r"\b([a-zß-ÿ]{2,40}),?\s+(?:in|by|from|with|to|at|per)\s+(?:the\s+)?[A-Z]"
)


@dataclass(frozen=True, slots=True)
class PublicationFacts:
    """`is_published` if the date is that of publication, not of typesetting or copyright."""

    venue: str | None = None
    volume: str | None = None
    issue: str | None = None
    pages: str | None = None
    date: str | None = None
    is_published: bool = False


def is_journal_line(text: str) -> bool:
    """Whether the line gives journal, volume and pages: "J. Tests (2019) 12:1-9"."""
    if is_running_text(text[:400]) or is_citation(text[:400]):
        return False
    found = (pattern.match(text[:400]) for pattern in _PATTERNS)
    return any(each and not _is_in_sentence(each) for each in found)


def _is_in_sentence(found: re.Match[str]) -> bool:
    """Whether the words of a journal's line, or those behind it, are of a sentence."""
    venue = found.groupdict().get("venue") or ""
    joined = _WORD_BEFORE_JOIN.findall(venue)
    if _BEGINS_SENTENCE.match(venue) or find_unknown_words(" ".join(joined)):
        return True
    behind = found.string[found.end() :]
    return bool(re.match(r",? [a-zß-ÿ]", behind)) and bool(
        find_unknown_words(behind.strip(" ,").split(" ")[0])
    )


def find_publication(front: FrontPage, title_bottom: float | None) -> PublicationFacts:
    """What the page says of its publication."""
    heads = _take_heads(front)
    facts = _read_journal(heads)
    if facts.date:
        return facts
    date, is_published = _find_date(front, heads, title_bottom)
    return replace(facts, date=date, is_published=is_published)


def _take_heads(front: FrontPage) -> list[str]:
    """Lines above the text and in head and foot, without notes, citations and sentences."""
    kept: list[str] = []
    for at, line in enumerate(front.lines):
        is_small = line.size <= _SMALL_PRINT * front.body_size
        is_low = line.box.y0 > _FOOT_BAND * front.page.height
        is_foot = is_low or (line.box.y0 > _LOW * front.page.height and is_small)
        if line.baseline < front.text_begins:
            if not _goes_on(front.lines, at):
                kept.append(_join_row(front.lines, at))
        elif is_foot:
            if not _is_in_note(front.lines, at) and not _goes_on(front.lines, at):
                kept.append(_join_row(front.lines, at))
        elif is_small and _LABELLED.match(line.text.strip()):
            kept.append(join_spaces(line.text)[:400])
    return kept


def _goes_on(lines: Sequence[Line], at: int) -> bool:
    """Whether the line goes on with a sentence of the line above."""
    above = take_paragraph(lines, at)[-1:]
    text = join_spaces(above[0].text) if above else ""
    is_open = text.count("(") > text.count(")")
    return is_open or (not text.endswith((".", "!", "?")) and is_running_text(text))


def _is_in_note(lines: Sequence[Line], at: int) -> bool:
    """Whether the line belongs to a footnote or to an entry of a reference list."""
    paragraph = [*take_paragraph(lines, at), lines[at]]
    return any(is_footnote(each.text) or is_citation(each.text) for each in paragraph)


def _join_row(lines: Sequence[Line], at: int) -> str:
    """The text of a line, with parts of the same row that stand close to its right."""
    line = lines[at]
    text, edge = line.text, line.box.x1
    for other in lines[at + 1 : at + 4]:
        is_same_row = abs(other.baseline - line.baseline) < 0.3 * line.size
        if is_same_row and 0 < other.box.x0 - edge < 6 * line.size:
            text, edge = f"{text} {other.text}", other.box.x1
    return join_spaces(text)[:400]


def _read_journal(heads: Sequence[str]) -> PublicationFacts:
    best = PublicationFacts()
    for text in heads:
        if _CITATION_LABEL.match(text) or is_citation(text) or is_running_text(text):
            continue
        for pattern in _PATTERNS:
            found = pattern.match(text)
            if not found:
                continue
            facts = None if _is_in_sentence(found) else _read_match(found, text)
            if facts and _count_fields(facts) > _count_fields(best):
                best = facts
            break
    return best


def _count_fields(facts: PublicationFacts) -> int:
    return sum(bool(each) for each in (facts.venue, facts.volume, facts.pages, facts.date))


def _read_match(found: re.Match[str], text: str) -> PublicationFacts | None:
    parts = found.groupdict()
    venue = _tidy_venue(parts.get("venue"))
    if parts.get("venue") and venue is None:
        return None
    pages = parts.get("pages") or parts.get("number")
    year = parts.get("year") or _year_in_venue(parts.get("venue"))
    dates = [date for date in find_dates(text) if str(date.year) == year]
    return PublicationFacts(
        venue=venue,
        volume=parts.get("volume"),
        issue=parts.get("issue"),
        pages=re.sub(r"\s?[-–—]\s?", "-", pages) if pages else None,
        date=str(dates[0]) if len(dates) == 1 else year,
        is_published=year is not None,
    )


def _year_in_venue(venue: str | None) -> str | None:
    years = set(find_years(venue or ""))
    return str(years.pop()) if len(years) == 1 else None


def _tidy_venue(venue: str | None) -> str | None:
    if venue is None:
        return None
    text = join_spaces(venue).strip(" ,.;|")
    text = re.sub(r"^In\s+(?=Proceedings|Proc)", "", text)
    if len(text) < 3 or _NO_VENUE.search(text) or len(text.split()) > 25:
        return None
    if sum(letter.isalpha() for letter in text) < 0.6 * len(text.replace(" ", "")):
        return None
    return text


def _find_date(
    front: FrontPage, heads: Sequence[str], title_bottom: float | None
) -> tuple[str | None, bool]:
    """The date and whether it is that of publication."""
    for text in heads:
        found = _PUBLISHED.search(text)
        if (
            not found
            or _is_sentence(text[: found.end()])
            or _HAS_SUBJECT.search(text[: found.start()])
        ):
            continue
        if dates := find_dates(found.group(1)):
            return str(dates[0]), True
        if len(years := set(find_years(found.group(1)))) == 1:
            return str(years.pop()), True
    for text in heads:
        days = _CONFERENCE_DAYS.match(text)
        if days and not _is_sentence(text):
            return days.group(1), True
    if year := _find_copyright(heads):
        return year, False
    return _find_date_line(front, title_bottom), False


def _is_sentence(text: str) -> bool:
    """Whether a line is running text, but for "published as a conference paper"."""
    return is_running_text(_PUBLISHED_AS_A.sub("published ", text))


def _find_copyright(heads: Sequence[str]) -> str | None:
    found = set()
    for text in heads:
        match = _COPYRIGHT.match(text[:200])
        if match and not is_running_text(match.group(1), 0) and not _GOES_ON.match(match.group(3)):
            last = _RANGE.search(text[:200])
            found.add(last.group(1) if last else match.group(2))
    return found.pop() if len(found) == 1 else None


def _find_date_line(front: FrontPage, title_bottom: float | None) -> str | None:
    """The date on a line of its own above the text; of several years, none is known."""
    if title_bottom is None:
        return None
    plain: list[str] = []
    compiled: list[str] = []
    in_title: set[str] = set()
    for at, line in enumerate(front.lines):
        text = join_spaces(line.text)
        if line.baseline >= front.text_begins or _NOT_PUBLISHED.search(text) or len(text) > 100:
            continue
        dates = [] if _VERSION.search(text) else find_dates(text)
        if line.baseline <= title_bottom and line.size > _LARGE * front.body_size:
            in_title.update(str(date.year) for date in dates)
        elif _COMPILED.search(text):
            compiled.extend(str(date) for date in dates[:1])
        elif is_running_text(text) or _goes_on(front.lines, at):
            continue
        elif dates:
            plain.append(str(dates[0]))
        elif re.fullmatch(r"\(?(?:19|20)\d{2}\)?", text) and line.baseline > title_bottom:
            plain.append(text.strip("()"))
    return _choose_date(plain, compiled, in_title)


def _choose_date(plain: Sequence[str], compiled: Sequence[str], in_title: set[str]) -> str | None:
    """The date of one year; a title's own year only speaks against others."""
    chosen = plain or compiled
    years = {date[:4] for date in chosen}
    if len(years | in_title) != 1 or not chosen:
        return None
    return max(plain, key=len) if plain else compiled[0]
