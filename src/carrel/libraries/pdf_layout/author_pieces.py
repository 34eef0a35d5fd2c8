"""Lines under a title cut into pieces: names, affiliations, addresses, notes, other people."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice

from carrel.libraries.pdf_layout.content import Line, Span
from carrel.libraries.pdf_layout.person_names import (
    has_institution_word,
    is_group_name,
    is_person_name,
    is_place,
    split_names,
    tidy_name,
)
from carrel.libraries.pdf_layout.printed_dates import has_date
from carrel.libraries.pdf_layout.running_text import find_unknown_words, has_sentence_word
from carrel.libraries.pdf_layout.title_zone import FrontPage, join_spaces, sort_lines

# Inside a line of names, a gap wider than this share of the size separates two of them; spaces
# between words are under 0.55 on the pages of the gold set, justified text apart.
_NAME_GAP = 0.58
_MARKER_SIZE = 0.82
_MARKER_RISE = 0.12
_SAME_SIZE = 0.35
_LINE_STEP = 1.75
# A first page has no more lines of people and places than this.
_MOST_LINES = 300
# Lower-case words of an affiliation, as in "institut de mathématiques appliquées"; more are text.
_MOST_WORDS_OF_PLACES = 8
_MARK = "\ue000"
_MARKER_TEXT = re.compile(r"^[\d,;.\s*∗†‡§¶‖⋆★✉#a-zA-Zα-ωΑ-Ω♠♣♥♦()\[\]^+&–-]{1,14}$")
_LOOSE_MARKS = re.compile(r"(?<=[^\W\d_.])\s?(?:\d{1,2}(?:\s?,\s?\d{1,2})*|[*∗†‡§¶]+)(?=[,;\s]|$)")
_CONTACT = re.compile(
    r"@|https?:|www\.|\borcid\b|e-?mail|\bcorrespond|\btel\b|\bphone\b|\bfax\b|^\s*\{.*\}",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"^\W*(?:version|release|draft|revised|revision|updated|last\s+(?:updated|modified|revised)"
    r"|compiled|this\s+version|for\s+\w+\s+version|submitted|received|accepted|published|available"
    r"|edited\s+by|editor|copyright|©|\(c\)|package|document|technical|working|preprint|to\s+appear"
    r"|in\s+press|equal\s+contribution|these\s+authors|contributed\s+equally|communicated\s+by"
    r"|license|licence|doi\b|arxiv|v\d|r\s+package)",
    re.IGNORECASE,
)
# Labels of people who are not the author of a thesis or report.
_OTHER_PEOPLE = re.compile(
    r"^\W*(?:supervis|advis|thesis\s+(?:advis|superv|director)|betreuer|betreuung|gutachter|referent"
    r"|korreferent|pr[üu]fer|relator|correlator|director|directeur|orientador|coorientador|tutor"
    r"|examiner|promotor|opponent|edited\s+by|editors?\b|herausgeber|translat|[üu]bersetz|指导|导师"
    r"|traduc|reviewed\s+by|approved|committee|jury|chair(?:man)?\b|sponsor|prepared\s+for"
    r"|submitted\s+to|научный\s+руководитель|руководитель|преподаватель)",
    re.IGNORECASE,
)
_NUMERAL = re.compile(r"^(?:\d{1,2}|[IVX]{1,4})(?:\.\d{1,2}){0,3}\.?$")
_HAS_LETTERS = re.compile(r"[^\W\d_]{2}")
# Behind a name, the place; within a name it is a nickname and stays.
_PARENTHESES = re.compile(
    r"\s*[（(]([^()（）]{2,120})[)）](?=[\s,;、\ue000]*(?:$|[,;、\ue000]|and\b))"
)
_NICKNAME = re.compile(r"(?<=\s)\([^\W\d_]{2,20}\)(?=\s)")
_ENDS_SENTENCE = re.compile(r"\s[a-zß-ÿ]{3,40}[.!?]$")
_BROKEN = re.compile(r"(?:[,;&-]|\b(?:and|und|et|y))$")
Style = tuple[float, bool, bool]


class LineKind(Enum):
    NAMES = "names"
    AFFILIATION = "affiliation"
    CONTACT = "contact"
    NOTE = "note"
    OTHER_PEOPLE = "other people"
    UNKNOWN = "unknown"


@dataclass
class AuthorLine:
    """A piece of a line (gaps cut it), what it is, and the names on it with their marks."""

    line: Line
    text: str
    kind: LineKind
    names: list[str] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)
    affiliation: str = ""
    is_weak: bool = False

    @property
    def style(self) -> Style:
        spans = [span for span in self.line.spans if span.text.strip()]
        italic = sum(len(span.text) for span in spans if span.is_italic)
        return (
            self.line.size,
            self.line.is_bold,
            italic * 2 > sum(len(span.text) for span in spans),
        )


def cut_lines(lines: Iterable[Line], front: FrontPage) -> list[AuthorLine]:
    """The lines in parts, each with its kind, from top to bottom and left to right."""
    pieces = [piece for line in islice(lines, _MOST_LINES) for piece in _cut_at_gaps(line)]
    pieces = pieces[:_MOST_LINES]
    return [_classify(piece, front) for piece in sort_lines(pieces)]


def _cut_at_gaps(line: Line) -> list[Line]:
    """The line in parts, where it has gaps wider than a space between words."""
    if _NUMERAL.match(line.spans[0].text.strip()):
        return [line]
    parts: list[list[Span]] = [[]]
    for span in line.spans:
        if parts[-1] and span.gap_before > _NAME_GAP * max(line.size, 1.0):
            parts.append([])
        parts[-1].append(span)
    if len(parts) == 1:
        return [line]
    return [_make_part(line, part) for part in parts if any(span.text.strip() for span in part)]


def _make_part(line: Line, spans: list[Span]) -> Line:
    box = type(line.box)(
        min(span.box.x0 for span in spans),
        min(span.box.y0 for span in spans),
        max(span.box.x1 for span in spans),
        max(span.box.y1 for span in spans),
    )
    return Line(tuple(spans), box, line.page, line.baseline, line.angle)


def _read_marks(line: Line) -> tuple[str, list[str]]:
    """The text with a sign where a raised mark stood, and the marks."""
    text, marks = "", []
    for span in line.spans:
        stripped = span.text.strip()
        is_raised = span.rise > _MARKER_RISE * line.size and span.size < _MARKER_SIZE * line.size
        is_small = span.size < 0.75 * line.size and span.rise >= 0
        is_mark = _MARKER_TEXT.match(stripped) and (
            is_raised or (is_small and len(stripped) <= 3 and not stripped.isupper())
        )
        if is_mark and (text.strip() or len(stripped) <= 3):
            marks.append(stripped)
            text += _MARK
        else:
            text += span.text
    return text, marks


def _classify(line: Line, front: FrontPage) -> AuthorLine:
    marked, marks = _read_marks(line)
    text = join_spaces(marked.replace(_MARK, " "))
    piece = AuthorLine(line, text, LineKind.UNKNOWN, marks=marks)
    if text.endswith(":") and not _OTHER_PEOPLE.match(text):
        return piece
    if not _HAS_LETTERS.search(text) and not is_person_name(text):
        piece.kind = LineKind.NOTE
    elif _CONTACT.search(text):
        piece.kind = LineKind.CONTACT
        piece.names = _names_before_contact(text, front)
        if piece.names:
            piece.kind = LineKind.NAMES
    elif _OTHER_PEOPLE.match(text):
        piece.kind = LineKind.OTHER_PEOPLE
    elif has_date(text) or _NOTE.match(text):
        piece.kind = LineKind.NOTE
    else:
        _read_names(piece, marked, front)
    return piece


def is_note(text: str) -> bool:
    """Whether it is a line on a version, rights or the like, as stand under authors."""
    return bool(_NOTE.match(text))


def _names_before_contact(text: str, front: FrontPage) -> list[str]:
    """ "Jane Doe <jane@example.org>": the name before an address on one line."""
    found = re.match(
        r"^([^<(\[{@]{4,60}?)\s*[<(\[{]\s*(?:mailto:)?[^\s@]{1,60}@[^\s@]{1,80}$", text
    )
    if found and is_person_name(found.group(1), front.common_words):
        return [tidy_name(found.group(1))]
    return []


def _read_names(piece: AuthorLine, marked: str, front: FrontPage) -> None:
    inside = _PARENTHESES.search(marked)
    if inside and is_person_name(inside.group(1)):
        # The name again in another script.
        inside = None
    outside = _PARENTHESES.sub("", marked) if inside else marked
    parts = [name for part in outside.split(_MARK) for name in _split_part(part)]
    kinds = [_is_name(part, front) for part in parts]
    if parts and all(kinds):
        piece.kind = LineKind.NAMES
        piece.names = [tidy_name(part) for part in parts]
        piece.affiliation = inside.group(1) if inside else ""
        return
    leading = kinds.index(False) if False in kinds else 0
    if leading > 1 and is_group_name(parts[leading - 1]):
        leading -= 1
    rest = parts[leading:]
    is_mixed = leading > 0 and not any(kinds[leading + 1 :])
    is_weak = len(parts) == 2 and not has_institution_word(rest[-1]) if rest else False
    if is_mixed and (has_institution_word(" ".join(rest)) or is_place(rest[-1])):
        # "Jane Doe, Example University"; below other names, "Example Campus, Austria".
        piece.is_weak = is_weak
        piece.kind = LineKind.NAMES
        piece.names = [tidy_name(part) for part in parts[:leading]]
        piece.affiliation = ", ".join(rest)
    elif _is_affiliation(piece.text):
        piece.kind = LineKind.AFFILIATION


def _split_part(part: str) -> list[str]:
    return split_names(_LOOSE_MARKS.sub(" ,", part))


def _is_name(text: str, front: FrontPage) -> bool:
    text = join_spaces(_NICKNAME.sub(" ", _PARENTHESES.sub("", text)))
    return (is_person_name(text, front.common_words) and not is_place(text)) or is_group_name(text)


def _is_affiliation(text: str) -> bool:
    is_text = has_sentence_word(text) or _ENDS_SENTENCE.search(text)
    if is_text or len(find_unknown_words(text)) > _MOST_WORDS_OF_PLACES:
        return False
    if has_institution_word(text) or is_place(text):
        return True
    parts = [part.strip() for part in re.split(r"[,;]", text)]
    return len(parts) > 1 and (is_place(parts[-1]) or bool(re.search(r"\d{4,}", text)))


def is_same_style(one: Style, other: Style) -> bool:
    return abs(one[0] - other[0]) <= _SAME_SIZE and one[1:] == other[1:]


def join_broken_names(pieces: Sequence[AuthorLine], front: FrontPage) -> list[AuthorLine]:
    """Lines of a list joined where a name goes on in the next line."""
    joined: list[AuthorLine] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if last is not None and _may_go_on(last, piece):
            both = _classify(_join_lines(last.line, piece.line), front)
            if both.kind is LineKind.NAMES:
                joined[-1] = both
                continue
        joined.append(piece)
    return joined


def _may_go_on(last: AuthorLine, piece: AuthorLine) -> bool:
    if LineKind.UNKNOWN not in (last.kind, piece.kind):
        return False
    allowed = (LineKind.UNKNOWN, LineKind.NAMES)
    if last.kind not in allowed or piece.kind not in allowed:
        return False
    if last.kind is LineKind.NAMES and len(last.names) == 1 and not _BROKEN.search(last.text):
        return False
    step = piece.line.baseline - last.line.baseline
    return is_same_style(last.style, piece.style) and 0.3 < step / last.line.size < _LINE_STEP


def _join_lines(one: Line, other: Line) -> Line:
    first, *rest = other.spans
    text = first.text.lstrip()
    is_hyphenated = one.text.rstrip().endswith(("-", "\u2010", "\u00ad"))
    spaced = Span(
        text if is_hyphenated else f" {text}",
        first.box,
        first.size,
        first.font,
        first.is_bold,
        first.is_italic,
        first.is_monospaced,
        first.rise,
    )
    return Line((*one.spans, spaced, *rest), one.box, one.page, one.baseline, one.angle)
