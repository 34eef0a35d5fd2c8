"""The DOI and arXiv id of the paper itself, told from those of papers that it speaks of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from carrel.libraries.identifiers import ArxivId, Doi, NotAnIdentifierError
from carrel.libraries.pdf_layout.content import Line
from carrel.libraries.pdf_layout.publication import is_journal_line
from carrel.libraries.pdf_layout.title_zone import FrontPage, join_spaces, squash

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
# Lines that speak of another work: a citation, a companion, a work that is reviewed or corrected.
_OF_ANOTHER = re.compile(
    r"\bet\s+al\b|\b(?:cited|citing|see|refer(?:ence)?s?|comment(?:ary|s)?\s+on|reply\s+to"
    r"|response\s+to|review\s+of|correct(?:ion|s)|corrigendum|erratum|retract\w*|supplement\w*"
    r"|companion|related|based\s+on|extends?|data(?:set)?s?|software|code|deposited|archived"
    r"|repository|preprint\s+of|previous|earlier|appeared|published\s+(?:as|in|at)|version\s+of"
    r"|original(?:ly)?\s+(?:article|paper|publication|version|work|published)|this\s+concerns)\b"
    r"|^\s*\[\d+\]|^\s*\d{1,3}\.\s+[A-Z]|[A-Z][\w'’-]+,?\s+\(\d{4}[a-z]?\)",
    re.IGNORECASE,
)
_OWN_LABEL = re.compile(r"^\s{0,3}digital\s+object\s+identifier\b", re.IGNORECASE)
_CITE_LABEL = re.compile(
    r"^\W{0,3}(?:citation|cite\s+(?:this|as)|to\s+cite|how\s+to\s+cite|recommended\s+citation"
    r"|suggested\s+citation|please\s+cite\s+this\s+(?:article|paper)|acm\s+reference\s+format"
    r"|zitiervorschlag|zitierweise|pour\s+citer|c[óo]mo\s+citar|como\s+citar|citar\s+como)",
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
    r"(?:published|appeared|appears|version\s+of|preprint\s+of|reprint\s+of|adapted\s+from)"
    r"[^\n]{0,400}",
    re.IGNORECASE,
)
_REFERENCES = re.compile(
    r"^\W{0,3}(?:\d{1,2}\.?\s+)?(?:references?(?:\s+and\s+notes)?|bibliography|literature(?:\s+cited)?"
    r"|literatur|works\s+cited|notes|r[ée]f[ée]rences|referencias)\W{0,3}$",
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
_PARAGRAPH_STEP = 1.7
_MOST_PARAGRAPH_LINES = 12
_MOST_LINES_BEFORE = 4
# A page with more is a list of works.
_MOST_DOIS = 50
_IS_LABEL = re.compile(r"^\W{0,3}(?:doi)?\W{0,3}(?:https?://)?(?:dx\.)?\W{0,3}$", re.IGNORECASE)
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
    references = _find_references(front)
    foot = 0.9 * front.page.height
    looked_at = 0
    for at, line in enumerate(front.lines):
        if references < line.baseline and line.box.y0 <= foot:
            continue
        text = _text_with_next(front.lines, at)
        for found in _DOI.finditer(text):
            looked_at += 1
            if looked_at > _MOST_DOIS:
                return None
            doi = read_doi(found.group(1))
            if doi and _is_own(front, at, text[: found.start()], title, people):
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
    if _LINE_TAIL.search(text) and not _DOI_IS_WHOLE.search(text):
        below = _next_below(lines, at)
        if below is not None:
            return text + below.text.strip().split(" ")[0]
    return text


_DOI_IS_WHOLE = re.compile(r"10\.\d{4,9}/[^\s]*[^\s/.\-_]$")


def _next_below(lines: Sequence[Line], at: int) -> Line | None:
    line = lines[at]
    for other in lines[at + 1 : at + 8]:
        step = other.baseline - line.baseline
        is_same_column = abs(other.box.x0 - line.box.x0) < 25
        if 0.5 * line.size < step < _PARAGRAPH_STEP * line.size and is_same_column:
            return other
    return None


def _is_own(front: FrontPage, at: int, before: str, title: str, people: Sequence[str]) -> bool:
    line = front.lines[at]
    above = _take_paragraph(front.lines, at)
    kept = [each.text for each in above if not is_journal_line(join_spaces(each.text))]
    paragraph = _without_own_people(join_spaces(" ".join([*kept, before])), people)
    if _CITE_LABEL.match(paragraph):
        return _has_title(paragraph, title) or not title
    if _OWN_LABEL.search(line.text):
        return True
    if _OF_ANOTHER.search(paragraph):
        return False
    if len(above) > _MOST_LINES_BEFORE:
        return False
    is_head = line.baseline < front.text_begins and front.text_begins < front.page.height
    if is_head or (front.text_begins >= front.page.height and at < 12):
        return not _is_in_sentence(before, above)
    if front.is_in_margin(line):
        return not _is_in_sentence(before, above)
    # Elsewhere, only a DOI that has a line to itself, as publishers print it above the foot.
    return bool(_IS_LABEL.match(before)) and not _goes_on(above) and len(above) <= 1


def _without_own_people(text: str, people: Sequence[str]) -> str:
    """The text without "Doe et al." at its beginning, where Doe is the first author."""
    found = re.match(r"^(.{2,40}?)\s+et\s+al\.?,?\s", text)
    family = squash(people[0].split()[-1]) if people else ""
    if found and family and squash(found.group(1)).endswith(family):
        return text[found.end() :]
    return text


def _take_paragraph(lines: Sequence[Line], at: int) -> list[Line]:
    """The lines above that belong to the same paragraph, from top to bottom."""
    taken: list[Line] = []
    current = lines[at]
    for other in reversed(lines[max(0, at - 60) : at]):
        step = current.baseline - other.baseline
        if step > 3 * current.size or len(taken) >= _MOST_PARAGRAPH_LINES:
            break
        is_same_column = other.box.x0 < current.box.x1 and current.box.x0 < other.box.x1
        is_near = 0.4 * current.size < step < _PARAGRAPH_STEP * max(current.size, other.size)
        if is_near and is_same_column and abs(other.size - current.size) < 0.6:
            taken.append(other)
            current = other
    return taken[::-1]


def _is_in_sentence(before: str, above: Sequence[Line]) -> bool:
    """Whether the words before a DOI are running text rather than a label or a journal's line."""
    words = [word for word in before.split() if word.isalpha()]
    lower = [word for word in words if word.islower() and word not in ("doi", "of", "and", "the")]
    return len(lower) > 3 or (not words and _goes_on(above))


def _goes_on(above: Sequence[Line]) -> bool:
    """Whether the line above is prose that a DOI would end."""
    if not above:
        return False
    words = above[-1].text.split()
    lower = sum(word.isalpha() and word.islower() for word in words)
    return lower >= 3 and not above[-1].text.rstrip().endswith(".")


def _has_title(paragraph: str, title: str) -> bool:
    wanted = squash(title)
    return len(wanted) > 7 and wanted[:40] in squash(paragraph)


def _find_references(front: FrontPage) -> float:
    """Where a list of references begins; below the page where there is none."""
    heads = (line for line in front.lines if _REFERENCES.match(join_spaces(line.text)))
    return min((line.baseline for line in heads), default=float("inf"))


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
        sentence = re.split(r"(?<=[a-z)])\.\s+(?=[A-Z])", passage.group())[0]
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
    """Id and date of arXiv's stamp, anywhere on the page; else an id on a line of the head."""
    for line in (*front.stamps, *front.lines):
        if stamp := _ARXIV_STAMP.search(join_spaces(line.text)):
            return _read_arxiv(stamp.group(1)), stamp.group(2)
    for line in front.head_lines:
        if found := _ARXIV_LINE.match(join_spaces(line.text)):
            return _read_arxiv(found.group(1)), None
    return None, None


def _read_arxiv(text: str) -> str | None:
    try:
        return ArxivId.parse(text).value
    except NotAnIdentifierError:
        return None
