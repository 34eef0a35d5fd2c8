"""The DOI and arXiv id of the paper itself, told from those of papers that it speaks of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from carrel.libraries.identifiers import ArxivId, Doi, NotAnIdentifierError
from carrel.libraries.pdf_layout.content import Line
from carrel.libraries.pdf_layout.own_places import Mention, ends_text, is_own_place
from carrel.libraries.pdf_layout.paragraph_lines import find_next_below, find_references
from carrel.libraries.pdf_layout.title_zone import FrontPage, join_spaces

_DOI = re.compile(
    r"(?:doi\.org/|\bdoi\b\s{0,3}[:=]?\s{0,3}|\bdigital\s+object\s+identifier\b\s{0,3}:?\s{0,3})"
    r"(?:https?://(?:dx\.)?doi\.org/)?(10\.\d{4,9}/[^\s\"<>{}|\\^`]{1,200})",
    re.IGNORECASE,
)
_ANY_DOI = re.compile(r"\b(10\.\d{4,9}/[^\s\"<>{}|\\^`]{1,200})")
_CROSSMARK = re.compile(
    r"crossmark\.(?:crossref\.org|dyndns\.org)/[^\s]{0,200}[?&]doi=([^&\s]{5,200})", re.IGNORECASE
)
_TEMPLATE = re.compile(
    r"v0+\.i0+|x{3,}|n{5,}|0{6,}|/0+\.0+$|\.doi$|1122445\.1122456|yyyy|doi-?number|/yy-|v0+i0+|/insert|your[-_]?doi",
    re.IGNORECASE,
)
# A notice about another paper, whose DOI such a page gives at least as often as its own.
NOTICE = re.compile(
    r"^\W{0,3}(?:(?:author|publisher)(?:['’]s)?\s+)?(?:correction|corrigend|errat|retraction"
    r"|retracted|withdrawal|addendum|expression\s+of\s+concern|comments?\s+on|reply\b"
    r"|response\s+to|book\s+review)",
    re.IGNORECASE,
)
_PUBLISHED_AS = re.compile(
    r"\b(?:this|(?:an?|the|earlier|later|final|shorter|longer|extended|revised|published|earliest)"
    r"\s+version\s+of\s+(?:this|the\s+present))\s+(?:\w{1,20}\s+){0,2}?(?:paper|article|document"
    r"|work|vignette|manuscript|report|chapter|text|preprint|manual|introduction|guide)\b"
    r"[^\n.]{0,80}?\b(?:published|appeared|appears|version\s+of|preprint\s+of|reprint\s+of"
    r"|adapted\s+from)\b([^\n]{0,400})",
    re.IGNORECASE,
)
_ARXIV = r"((?:\d{4}\.\d{4,5}|[a-z-]{2,20}(?:\.[A-Z]{2})?/\d{7})(?:v\d{1,3})?)"
_ARXIV_STAMP = re.compile(
    rf"arXiv:\s{{0,3}}{_ARXIV}\s{{0,3}}\[[a-zA-Z-]{{2,20}}(?:\.[a-zA-Z-]{{2,20}})?\]\s{{0,5}}"
    r"(?:(\d{1,2}\s+[A-Z][a-z]{2}\s+(?:19|20)\d{2}))?"
)
_ARXIV_LINE = re.compile(
    rf"^\W{{0,3}}(?:preprint\s{{0,3}})?arXiv(?:\s+preprint)?:?\s{{0,3}}{_ARXIV}\W{{0,3}}$",
    re.IGNORECASE,
)
# A page with more is a list of works.
_MOST_DOIS = 50
# Characters of a line that are looked at on each side of a DOI.
_MOST_BESIDE = 2_000
_LINE_TAIL = re.compile(
    r"(?:doi\.org/|\bdoi:?\s*)(?:10\.\d{4,9}/?[^\s]{0,60})?[/.\-_]?$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class OwnIdentifiers:
    """`related` are pairs of a relation and a DOI; `stamp_date` is the day of arXiv's stamp."""

    doi: str | None = None
    is_doi_stated: bool = False
    arxiv_id: str | None = None
    stamp_date: str | None = None
    related: tuple[tuple[str, str], ...] = ()


def find_identifiers(
    front: FrontPage,
    title: str,
    people: Sequence[str],
    stated: str | None,
    links: Sequence[str],
) -> OwnIdentifiers:
    """The identifiers of the paper; `stated` is the DOI of the publisher's metadata."""
    arxiv_id, stamped = _find_arxiv(front)
    is_notice = speaks_of_another(front, title)
    stated = stated or _find_crossmark(links)
    printed = None if stated or is_notice else _find_printed(front, title, people)
    own = stated or printed
    return OwnIdentifiers(
        doi=own,
        is_doi_stated=stated is not None,
        arxiv_id=arxiv_id,
        stamp_date=stamped,
        related=_find_related(front, title, own, is_notice),
    )


def speaks_of_another(front: FrontPage, title: str) -> bool:
    """Whether title or head say that it is a correction, retraction, comment or review."""
    return bool(NOTICE.match(title)) or any(
        NOTICE.match(join_spaces(line.text)) for line in front.head_lines
    )


def read_doi(text: str) -> str | None:
    """The DOI, unless it is a template's."""
    try:
        value = Doi.parse(text).value
    except NotAnIdentifierError:
        return None
    return None if _TEMPLATE.search(value) else value


def _find_crossmark(links: Sequence[str]) -> str | None:
    """The DOI that the page's own Crossmark button asks for."""
    found = {read_doi(match.group(1)) for link in links if (match := _CROSSMARK.search(link))}
    found.discard(None)
    return found.pop() if len(found) == 1 else None


def _find_printed(front: FrontPage, title: str, people: Sequence[str]) -> str | None:
    """The one DOI by which the page speaks of itself; of several, none is known to be its own."""
    own: set[str] = set()
    looked_at = 0
    for at in range(len(front.lines)):
        text = _text_with_next(front.lines, at)
        for found in _DOI.finditer(text):
            looked_at += 1
            if looked_at > _MOST_DOIS:
                return None
            doi = read_doi(found.group(1))
            begins, ends = found.span()
            mention = Mention(
                text[max(0, begins - _MOST_BESIDE) : begins], text[ends : ends + _MOST_BESIDE]
            )
            if doi and is_own_place(front, at, mention, title, people):
                own.add(doi)
    return _choose_one(own)


def _choose_one(found: set[str]) -> str | None:
    """The only one, where shorter ones are the beginnings of a longer one that was broken."""
    longest = max(found, key=len, default=None)
    if longest is None or all(longest.startswith(each) for each in found):
        return longest
    return None


def _text_with_next(lines: Sequence[Line], at: int) -> str:
    """The line, with the next one if a DOI is broken at its end."""
    line = lines[at]
    text = line.text.strip()
    if not _LINE_TAIL.search(text) or _DOI_IS_WHOLE.search(text):
        return text
    below = find_next_below(lines, at)
    if below is None or abs(below.size - line.size) > 0.6:
        return text
    rest, *others = below.text.split()
    is_rest = not others or any(letter.isdigit() for letter in rest)
    return text + rest if is_rest else text


# Whole, or with the full stop of its sentence: a suffix that goes on has no number yet.
_DOI_IS_WHOLE = re.compile(
    r"10\.\d{4,9}/(?:[^\s]{0,200}[^\s/.\-_]|[^\s]{0,200}\d[^\s/\-_]{0,20}\.)$"
)


def _find_related(
    front: FrontPage, title: str, own: str | None, is_notice: bool
) -> tuple[tuple[str, str], ...]:
    """The DOI that the first page says a version was published as, or that a notice is about."""
    text = join_spaces(" ".join(line.text for line in front.lines))[:8_000]
    if is_notice:
        found = {read_doi(match.group(1)) for match in _ANY_DOI.finditer(text)} - {None, own}
        only = found.pop() if len(found) == 1 else None
        return ((_relation_of_notice(front, title), only),) if only else ()
    for passage in _PUBLISHED_AS.finditer(text):
        sentence = re.split(r"(?<=[a-z)])\.\s+(?=[A-Z])", passage.group(1))[0]
        match = _ANY_DOI.search(sentence)
        doi = read_doi(match.group(1)) if match else None
        if doi and doi != own:
            return (("published_as", doi),)
    return ()


def _relation_of_notice(front: FrontPage, title: str) -> str:
    heads = " ".join([title, *(line.text for line in front.head_lines)]).lower()
    if "retract" in heads or "withdraw" in heads:
        return "retraction_of"
    if re.search(r"correct|corrigend|errat|addend", heads):
        return "correction_of"
    return "comment_on"


def _find_arxiv(front: FrontPage) -> tuple[str | None, str | None]:
    """Id and date of arXiv's stamp, else an id that has a line of the head to itself.

    A stamp on its side may stand with other words; a level one is a whole line with its date.
    """
    references = find_references(front)
    for line in front.stamps:
        if stamp := _ARXIV_STAMP.search(join_spaces(line.text)):
            return _read_arxiv(stamp.group(1)), stamp.group(2)
    for line in front.lines:
        stamp = _ARXIV_STAMP.fullmatch(join_spaces(line.text))
        if stamp and stamp.group(2) and line.baseline < references:
            return _read_arxiv(stamp.group(1)), stamp.group(2)
    for at, line in enumerate(front.lines):
        found = _ARXIV_LINE.match(join_spaces(line.text))
        if found and line.baseline < front.text_begins and not ends_text(front.lines, at):
            return _read_arxiv(found.group(1)), None
    return None, None


def _read_arxiv(text: str) -> str | None:
    try:
        return ArxivId.parse(text).value
    except NotAnIdentifierError:
        return None
