"""The title: the largest lines at the head of the first page that are no journal's name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from carrel.libraries.pdf_layout.content import Line, Span
from carrel.libraries.pdf_layout.person_names import is_person_name
from carrel.libraries.pdf_layout.printed_dates import begins_with_date
from carrel.libraries.pdf_layout.title_zone import FrontPage, join_spaces, sort_lines, squash

# Rule 3 of the facts sheet (224 PDFs of Debian packages): over 1.08 of the body, lines within
# 0.6 points and a gap under 1.1 size belong together.
_LARGER_THAN_BODY = 1.08
_SAME_SIZE = 0.6
_LINE_STEP = 2.1
_LOWEST_TITLE = 0.75
_LONGEST_TITLE = 400
_FEWEST_LETTERS = 4
_MARKER_SIZE = 0.82
_SMALL_LINE = 0.7
_SAME_RANK = 0.85
# Smaller sizes are those of a font's own units: nothing can be told by them.
_SMALLEST_BODY = 2.0
_ARTICLE_TYPES = re.compile(
    r"^(?:(?:original|regular|full(?:-length)?|short|brief|rapid|invited|special|feature|technical"
    r"|survey|mini|systematic|clinical|case|data|software|tools?|methods?|methodology|research|open"
    r"|peer|perspectives?|view|opinions?|news|book|scientific|contributed|review|letters?|article"
    r"|articles|papers?|reports?|notes?|communications?|contributions?|editorials?|commentary"
    r"|correspondence|access|reviewed|protocol|database|resources?|and|resource|hypothesis"
    r"|author|preprint|manuscript|submitted|draft|type|n°|to|the|editor|study|studies|discussion"
    r"|theory|poster|abstract|demo|tutorial|vignette|chapter|free|full|text|thesis|theses|phd|ph\.d\.?"
    r"|dissertation|doctoral|doctor|master(?:['’]?s)?|bachelor(?:['’]?s)?|diploma|diplomarbeit"
    r"|masterarbeit|bachelorarbeit|doktorarbeit|seminararbeit|tesis|tesi|tese|thèse|mémoire|m\.s\.?"
    r"|contents|inhalt(?:sverzeichnis)?|sommaire|[íi]ndice|proposal|template)[\s:|/&-]*){1,5}$"
    r"|^\w{0,6}学位论文$|^\w{0,4}毕业论文.{0,6}$",
    re.IGNORECASE,
)
_JOURNAL_HEAD = re.compile(
    r"^(?:the\s+)?(?:\w+\s+){0,3}?journal\s*of\b|^journalof|^(?:in\s+)?proceedings\b|^transactions\b"
    r"|^annals\s+of\b|^acta\s+\w+|^lecture\s+notes\b|^(?:volume|vol\.?|issue|band|tome)\s+\d"
    r"|^(?:arxiv|doi|issn|isbn|https?:|www\.)|^technical\s+report\b|^working\s+paper\b"
    r"|^(?:jss|plos\s+\w+|elife|nature|science|cell|the\s+lancet|bmj|pnas|ieee|acm|springer|elsevier"
    r"|frontiers\s+in\s+\w+|wiley|mdpi|biorxiv|medrxiv|ssrn|bmc\s+\w+|scientific\s+reports"
    r"|nature\s+\w+|physical\s+review\s+\w*|ieee\s+transactions.*|acm\s+transactions.*|r\s?news)$"
    r"|\bvol(?:ume|\.)\s*\d+|\bno\.\s*\d+|\bissn\b|\bpp\.\s*\d+",
    re.IGNORECASE,
)
_INSTITUTION = re.compile(
    r"^(?:the\s+)?(?:national\s+)?(?:universi|fakult|facult|department|institut|[ée]cole|school\s+of"
    r"|college\s+of|centro\s+univ|ministry|technische|hochschule|research\s+council|\w+\s+university)"
    r"|.{0,60}\buniversity(?:\s+of\s+\w+)?$"
)
_MARKS_AT_END = re.compile(r"(?<=[\w)?!])\s?[*∗†‡§¶⋆☆★][,*∗†‡§¶⋆☆★]{0,6}$")
# The number of a paper at a conference: AIECE2021-0003.
_CODE = re.compile(r"^[A-Z]{2,8}[-–]?\d{4}")
_HOMEPAGE = re.compile(
    r"journal\s*homepage|contents\s+lists?\s+available|available\s+online\s+at|sciencedirect"
    r"|www\.elsevier\.com/locate",
    re.IGNORECASE,
)
_HEADING_START = re.compile(
    r"^(?:(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?|[IVX]{1,5}\.)\s+\w|(?:chapter|part|kapitel|teil|chapitre"
    r"|partie|cap[íi]tulo|capitolo|section|appendix|anhang)\s+(?:\d|[IVXA-D]\b))",
    re.IGNORECASE,
)
_NO_INFORMATION = re.compile(
    r"^(?:untitled|microsoft\s+word|slide\s*1|title|main|manuscript|paper|document\d*|cm[a-z]*\d+"
    r"|.*\.(?:docx?|tex|dvi|pdf|indd|qxd|ps|rtf|odt|eps|p65|fm)|[\w.-]*\d{4,}[\w.-]*)\s*$|^\W*$"
    r"|^microsoft\s",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class FoundTitle:
    """The title and its lines; `evidence` counts what speaks for it."""

    text: str
    lines: tuple[Line, ...]
    is_larger: bool
    is_stated: bool
    is_repeated: bool
    has_rival: bool

    @property
    def is_heading(self) -> bool:
        """Whether it may be the heading of a section or chapter of a longer work."""
        return bool(_HEADING_START.match(self.text))

    @property
    def top(self) -> float:
        return min(line.box.y0 for line in self.lines)

    @property
    def bottom(self) -> float:
        return max(line.baseline for line in self.lines)

    @property
    def left(self) -> float:
        return min(line.box.x0 for line in self.lines)

    @property
    def right(self) -> float:
        return max(line.box.x1 for line in self.lines)


def read_information_title(information: dict[str, str]) -> str | None:
    """The title of the information dictionary, unless a program wrote it."""
    text = join_spaces(information.get("Title", ""))
    if len(squash(text)) < _FEWEST_LETTERS or _NO_INFORMATION.match(text[:300]):
        return None
    return text[:_LONGEST_TITLE]


def find_title(front: FrontPage, information: dict[str, str]) -> FoundTitle | None:
    """The title on the page; None where no lines stand out as one."""
    if front.body_size < _SMALLEST_BODY:
        return None
    stated = read_information_title(information)
    groups = [group for group in _group_lines(front) if _may_be_title(group, front)]
    if not groups:
        return None
    if stated and (group := _find_stated(groups, stated)):
        return _make_title(front, group, is_stated=True, has_rival=False)
    larger = [group for group in groups if group[0].size > _LARGER_THAN_BODY * front.body_size]
    larger = _skip_people(larger, front)
    if not larger:
        return _find_plain_title(front, groups)
    largest = max(group[0].size for group in larger)
    best = next(group for group in larger if group[0].size > largest - _SAME_SIZE)
    if (kind := _find_kind_above(best, front)) is not None:
        return _make_title(front, kind, is_stated=False, has_rival=True)
    rival = _find_rival(best, larger)
    if rival is not None and _is_short_head(best):
        best, rival = rival, best
    return _make_title(front, best, is_stated=False, has_rival=rival is not None)


def _find_kind_above(best: list[Line], front: FrontPage) -> list[Line] | None:
    """A larger "Editorial" above a person's name, which is then the title, and the name is not."""
    if not is_person_name(_join_text(best), front.common_words):
        return None
    for group in _group_lines(front):
        is_above = group[-1].baseline < best[0].baseline and group[0].size > best[0].size
        if is_above and _ARTICLE_TYPES.match(_join_text(group)[:120]):
            return group
    return None


def _group_lines(front: FrontPage) -> list[list[Line]]:
    """Lines that may hold a title, those of one size below one another joined."""
    lines = _skip_journal_head(front)
    lowest = _LOWEST_TITLE * front.page.height
    groups: list[list[Line]] = []
    for line in lines:
        if line.baseline > min(front.text_begins, lowest) or front.is_running_head(line):
            continue
        if _is_noise(line):
            continue
        if groups and _continues(groups[-1], line):
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def _skip_journal_head(front: FrontPage) -> Sequence[Line]:
    """The lines below "Contents lists available at" and "journal homepage"."""
    marks = [
        line.baseline
        for line in front.head_lines
        if line.baseline < 0.35 * front.page.height and _HOMEPAGE.search(line.text)
    ]
    return [line for line in front.lines if line.baseline > max(marks, default=-1.0)]


def _is_noise(line: Line) -> bool:
    text = join_spaces(line.text)
    letters = sum(letter.isalpha() for letter in text)
    is_code = " " not in text and bool(_CODE.search(text))
    return letters == 0 or letters * 3 < len(text.replace(" ", "")) or "@" in text or is_code


def _continues(group: list[Line], line: Line) -> bool:
    last = group[-1]
    return (
        abs(line.size - group[0].size) <= _SAME_SIZE
        and line.baseline - last.baseline <= _LINE_STEP * max(line.size, last.size)
        and line.box.x0 < last.box.x1
        and last.box.x0 < line.box.x1
        and (line.is_bold == group[0].is_bold or abs(line.size - group[0].size) < 0.1)
    ) or _is_same_row(last, line)


def _is_same_row(last: Line, line: Line) -> bool:
    return (
        abs(line.baseline - last.baseline) < 0.3 * line.size
        and abs(line.size - last.size) <= _SAME_SIZE
        and 0 < line.box.x0 - last.box.x1 < 3 * line.size
    )


def _may_be_title(group: list[Line], front: FrontPage) -> bool:
    text = close_spaced_letters(_join_text(group))
    if sum(letter.isalpha() for letter in text) < _FEWEST_LETTERS and not _is_east_asian(text):
        return False
    if _ARTICLE_TYPES.match(text[:120]) or _JOURNAL_HEAD.search(text[:200]):
        return False
    if begins_with_date(text):
        return False
    return not all(span.is_monospaced for line in group for span in line.spans) or len(group) > 1


def close_spaced_letters(text: str) -> str:
    """ "C O N T E N T S" as one word; a dash keeps its spaces."""
    tokens = text.split()
    is_spaced = len(tokens) > 3 and all(len(token) == 1 for token in tokens)
    if not is_spaced:
        return text
    return "".join(f" {sign} " if sign in "–—-:|" else sign for sign in tokens).strip()


def _is_east_asian(text: str) -> bool:
    return sum("぀" <= letter <= "鿿" or "가" <= letter <= "힣" for letter in text) >= 2


def _is_person(group: list[Line], front: FrontPage) -> bool:
    text = _join_text(group)
    return len(group) == 1 and (
        is_person_name(text, front.common_words) or _has_only_institution(text)
    )


def _skip_people(groups: list[list[Line]], front: FrontPage) -> list[list[Line]]:
    """Without names of people and institutions, where lines about as large remain."""
    others = [group for group in groups if not _is_person(group, front)]
    largest = max((group[0].size for group in groups), default=0.0)
    is_enough = any(group[0].size > _SAME_RANK * largest for group in others)
    return others if is_enough else groups


def _has_only_institution(text: str) -> bool:
    is_short = len(text.split()) <= 8 and ":" not in text
    return is_short and bool(_INSTITUTION.match(text.lower()))


def _find_stated(groups: list[list[Line]], stated: str) -> list[Line] | None:
    """The lines that print the stated title, perhaps with more than it or less."""
    wanted = squash(stated)
    for size in (1, 2, 3):
        for at in range(len(groups) - size + 1):
            lines = [line for group in groups[at : at + size] for line in group]
            found = squash(_join_text(lines))
            if found == wanted or (found.startswith(wanted) and len(wanted) > 12 and size == 1):
                return lines
    return None


def _find_rival(best: list[Line], larger: list[list[Line]]) -> list[Line] | None:
    """Another group below, nearly as large, that says more."""
    for group in larger:
        is_below = group[0].baseline > best[-1].baseline
        if (
            is_below
            and group[0].size > _SMALL_LINE * best[0].size
            and (len(_join_text(group)) > 1.5 * len(_join_text(best)))
        ):
            return group
    return None


def _is_short_head(group: list[Line]) -> bool:
    """Whether the lines may be a journal's or series' name rather than a title."""
    words = _join_text(group).split()
    return len(words) <= 4 and len(group) == 1


def _find_plain_title(front: FrontPage, groups: list[list[Line]]) -> FoundTitle | None:
    """Where nothing is larger than the text: the first lines, if bold, centred or in capitals."""
    middle = front.page.width / 2
    for group in groups[:4]:
        if _is_person(group, front):
            continue
        text = _join_text(group)
        is_centred = all(
            abs((line.box.x0 + line.box.x1) / 2 - middle) < 0.04 * front.page.width
            and line.box.width < 0.8 * front.page.width
            for line in group
        )
        if (group[0].is_bold or text.isupper() or is_centred) and len(text) < _LONGEST_TITLE:
            return _make_title(front, group, is_stated=False, has_rival=len(groups) > 1)
    return None


def _make_title(
    front: FrontPage, group: list[Line], *, is_stated: bool, has_rival: bool
) -> FoundTitle:
    lines = tuple(sort_lines(group))
    text = close_spaced_letters(_join_text(lines))
    squashed = squash(text)
    return FoundTitle(
        text=text[:_LONGEST_TITLE],
        lines=lines,
        is_larger=lines[0].size > _LARGER_THAN_BODY * front.body_size,
        is_stated=is_stated,
        is_repeated=any(
            len(head) > 8 and (head in squashed or squashed in head) for head in front.running_heads
        ),
        has_rival=has_rival,
    )


def _join_text(lines: Sequence[Line]) -> str:
    """The text of the lines without footnote marks; a word broken by a hyphen is joined."""
    parts: list[str] = []
    for line in lines:
        text = _line_text(line)
        text = _MARKS_AT_END.sub("", text)
        if parts and parts[-1].endswith("-") and text[:1].islower():
            parts[-1] = parts[-1][:-1] + text
        elif text:
            parts.append(text)
    return join_spaces(" ".join(parts))


def _line_text(line: Line) -> str:
    """The text of a line without raised marks; the small A of LaTeX is none."""
    texts: list[str] = []
    for at, span in enumerate(line.spans):
        after = line.spans[at + 1].text[:1] if at + 1 < len(line.spans) else ""
        is_inside_word = span.text.isalpha() and after.isalpha()
        texts.append(" " if _is_mark(span, line) and not is_inside_word else span.text)
    return join_spaces("".join(texts))


def _is_mark(span: Span, line: Line) -> bool:
    text = span.text.strip()
    is_small = span.size < _MARKER_SIZE * line.size and span.rise > 0.1 * line.size
    return is_small and len(text) <= 3 and not re.match(r"^(?:th|st|nd|rd|®|™|TM)$", text)
