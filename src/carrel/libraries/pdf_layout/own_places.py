"""Places of a title page at which a paper speaks of itself: head, foot, imprint, how to cite."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from carrel.libraries.pdf_layout.content import Line
from carrel.libraries.pdf_layout.paragraph_lines import (
    MOST_PARAGRAPH_LINES,
    find_label,
    find_next_below,
    find_references,
    take_paragraph,
)
from carrel.libraries.pdf_layout.publication import is_journal_line
from carrel.libraries.pdf_layout.running_text import (
    is_citation,
    is_footnote,
    is_running_text,
    leads_on,
)
from carrel.libraries.pdf_layout.title_zone import FrontPage, join_spaces, squash

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
_MOST_LINES_BEFORE = 4
# The band of running feet, and the parts of a page below which imprints and lone DOIs stand.
_FOOT_BAND = 0.9
_LOW = 0.85
_IMPRINT_BEGINS = 0.6
_MOST_IMPRINT_LINES = 3
_SMALL_PRINT = 0.95
_MOST_HEAD_LINES = 12
_IMPRINT = re.compile(
    r"©|\(c\)\s?(?:19|20)\d{2}|\bcopyright\b|\be?ISSN\b|\bISBN\b|\brights\s+reserved\b"
    r"|^\s*(?:received|accepted|available\s+online|published(?:\s+online)?)\b.{0,20}\d"
    r"|creativecommons|\bCC[\s-]BY\b",
    re.IGNORECASE,
)
_LABEL_AT_END = re.compile(r"(?:\bdoi\b\W{0,3})?(?:https?://)?(?:dx\.|www\.)?$", re.IGNORECASE)
_AVAILABLE_AT = re.compile(r"\bavailable(?:\s+online)?\s+at\W{0,2}$", re.IGNORECASE)
_ARXIV_INSIDE = re.compile(r"\S.{0,400}\barxiv\s?:", re.IGNORECASE)
_IS_LABEL = re.compile(r"^\W{0,3}(?:doi)?\W{0,3}(?:https?://)?(?:dx\.)?\W{0,3}$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mention:
    """The words before and behind a DOI on its line."""

    before: str
    after: str


def is_own_place(
    front: FrontPage, at: int, found: Mention, title: str, people: Sequence[str]
) -> bool:
    """Whether the page speaks of itself: in its head or foot, its imprint, or "how to cite"."""
    line = front.lines[at]
    whole = take_paragraph(front.lines, at)
    cited = join_spaces(" ".join([*(each.text for each in whole), found.before]))
    if _CITE_LABEL.match(cited):
        return _has_title(cited, title)
    if find_references(front) < line.baseline and not front.is_in_margin(line):
        return False
    is_small = line.size <= _SMALL_PRINT * front.body_size
    is_foot = line.box.y0 > _FOOT_BAND * front.page.height
    is_head = line.baseline < front.text_begins and (
        front.text_begins < front.page.height or at < _MOST_HEAD_LINES
    )
    if _OWN_LABEL.search(line.text) and (is_head or is_foot or is_small):
        return True
    above = [each for each in whole if not _is_of_title(each.text, title)]
    if _is_of_another(front, at, found, above, title, people):
        return False
    if is_small and _is_in_imprint(front, at, found, above):
        return True
    if _is_in_text(front, at, above):
        return False
    if is_head or (is_foot and (is_small or not above)):
        return len(above) <= _MOST_LINES_BEFORE
    return is_small and not above and _stands_above_foot(front, at, found)


def _is_of_another(
    front: FrontPage,
    at: int,
    found: Mention,
    above: Sequence[Line],
    title: str,
    people: Sequence[str],
) -> bool:
    """Whether label, paragraph or line say that a DOI is of another work, or of a sentence."""
    label = _find_own_label(front.lines, at, title)
    kept = [each.text for each in above if not is_journal_line(join_spaces(each.text))]
    paragraph = _without_own_people(join_spaces(" ".join([*kept, found.before])), people)
    return (
        any(_OF_ANOTHER.search(text) for text in (label, paragraph))
        or is_citation(paragraph)
        or any(is_footnote(each.text) for each in (*above, front.lines[at]))
        or len(above) >= MOST_PARAGRAPH_LINES
        or _is_in_sentence(found, people)
    )


def _is_in_text(front: FrontPage, at: int, above: Sequence[Line]) -> bool:
    """Whether the lines above are running text, or the line below goes on with it."""
    lines = [join_spaces(each.text) for each in above]
    text = " ".join(line for line in lines if not is_journal_line(line))
    return is_running_text(text) or leads_on(text) or _goes_on_below(front.lines, at)


def _is_in_sentence(found: Mention, people: Sequence[str]) -> bool:
    """Whether the words beside a DOI on its line are a sentence or a citation."""
    before = _without_own_people(join_spaces(_LABEL_AT_END.sub("", found.before)), people)
    after = join_spaces(found.after)
    if leads_on(before) and not _AVAILABLE_AT.search(before):
        return True
    if is_citation(before) or _ARXIV_INSIDE.search(before):
        return True
    most = 3 if is_journal_line(before) or re.search(r"\d", before) else 0
    return is_running_text(before, most) or is_running_text(after)


def _is_in_imprint(front: FrontPage, at: int, found: Mention, above: Sequence[Line]) -> bool:
    """Whether a DOI has a line to itself in the small print on rights and dates near the foot."""
    line = front.lines[at]
    if not _IS_LABEL.match(found.before) or line.box.y0 < _IMPRINT_BEGINS * front.page.height:
        return False
    below = find_next_below(front.lines, at)
    beside = [*above[-_MOST_IMPRINT_LINES:], *([below] if below else [])]
    return any(_IMPRINT.search(each.text) for each in beside) and not _has_text_below(front, at)


def _stands_above_foot(front: FrontPage, at: int, found: Mention) -> bool:
    """Whether a DOI has a line to itself below all text of its column."""
    line = front.lines[at]
    is_low = line.box.y0 > _LOW * front.page.height
    return is_low and bool(_IS_LABEL.match(found.before)) and not _has_text_below(front, at)


def _has_text_below(front: FrontPage, at: int) -> bool:
    """Whether text in the size of the body stands below in the same column."""
    line = front.lines[at]
    return any(
        other.baseline > line.baseline + 1
        and other.size > _SMALL_PRINT * front.body_size
        and other.box.x0 < line.box.x1
        and line.box.x0 < other.box.x1
        for other in front.lines[at + 1 :]
    )


def _goes_on_below(lines: Sequence[Line], at: int) -> bool:
    """Whether the line below goes on in the middle of a sentence."""
    below = find_next_below(lines, at)
    if below is None or abs(below.size - lines[at].size) > 0.6:
        return False
    text = join_spaces(below.text)
    first = text.split(" ")[0].strip(".,;:")
    return first.isalpha() and first.islower() and is_running_text(text)


def _find_own_label(lines: Sequence[Line], at: int, title: str = "") -> str:
    """The label right above, unless it is the journal's line or the title."""
    label = find_label(lines, at)
    return "" if is_journal_line(label) or _is_of_title(label, title) else label


def _is_of_title(text: str, title: str) -> bool:
    key = squash(text)
    return len(key) > 3 and key in squash(title)


def _without_own_people(text: str, people: Sequence[str]) -> str:
    """The text without "Doe et al." at its beginning, where Doe is the first author."""
    found = re.match(r"^(.{2,40}?)\s+et\s+al\.?,?\s", text)
    family = squash(people[0].split()[-1]) if people else ""
    if found and family and squash(found.group(1)).endswith(family):
        return text[found.end() :]
    return text


def _has_title(paragraph: str, title: str) -> bool:
    wanted = squash(title)
    return len(wanted) > 7 and wanted[:40] in squash(paragraph)


def ends_text(lines: Sequence[Line], at: int) -> bool:
    """Whether the lines right above are running text or say that it is of another work."""
    above = join_spaces(" ".join(each.text for each in take_paragraph(lines, at)))
    label = _find_own_label(lines, at)
    is_of_another = any(_OF_ANOTHER.search(text) for text in (label, above))
    return is_of_another or is_running_text(above) or leads_on(above)
