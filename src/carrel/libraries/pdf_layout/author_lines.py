"""The authors under a title: lines cut into names, affiliations and addresses, in order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum

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
from carrel.libraries.pdf_layout.title_zone import FrontPage, join_spaces, sort_lines
from carrel.libraries.pdf_layout.titles import FoundTitle

# Inside a line of names, a gap wider than this share of the size separates two of them; spaces
# between words are under 0.55 on the pages of the gold set, justified text apart.
_NAME_GAP = 0.58
_MARKER_SIZE = 0.82
_MARKER_RISE = 0.12
_SAME_SIZE = 0.35
_LINE_STEP = 1.75
# In sizes: names further below than this are of somebody or something else.
_WIDE_SPACE = 6.0
_MOST_AUTHORS = 1_000
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


_BROKEN = re.compile(r"(?:[,;&-]|\b(?:and|und|et|y))$")
NOT_SUPPORTED = "nothing beside the names shows that they are names"
BEFORE_NAMES = "an affiliation stands before the names"
_INITIAL = re.compile(r"(?:^|\s)\w\.|-")
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


@dataclass(frozen=True)
class FoundAuthors:
    """Names in order; `doubts` says what speaks against the list."""

    names: tuple[str, ...]
    affiliations: tuple[tuple[str, str], ...] = ()
    institutions: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    lines: tuple[Line, ...] = ()
    is_confirmed: bool = False


def find_authors(front: FrontPage, title: FoundTitle) -> FoundAuthors | None:
    """The authors; None where none are printed or a line among them is not understood."""
    below = _take_zone(front, title)
    found = _read_list(below, front, title.bottom)
    if found is None and not any(each.kind is LineKind.UNKNOWN for each in below[:1]):
        above = [line for line in front.lines if line.baseline < title.top]
        found = _read_list(_cut_lines(above, front), front, None)
        if found is not None:
            return _with_doubt(found, "above the title")
    return found


def _with_doubt(found: FoundAuthors, doubt: str) -> FoundAuthors:
    return FoundAuthors(
        found.names, found.affiliations, found.institutions, (*found.doubts, doubt), found.lines
    )


def _take_zone(front: FrontPage, title: FoundTitle) -> list[AuthorLine]:
    """The pieces of lines between title and text, without side columns and running feet."""
    own = set(title.lines)
    lines = [
        line
        for line in front.lines
        if title.bottom < line.baseline < front.text_begins
        and line not in own
        and not _is_in_side_column(line, title, front)
        and not front.is_running_head(line)
    ]
    return _cut_lines(lines, front)


def _is_in_side_column(line: Line, title: FoundTitle, front: FrontPage) -> bool:
    """Whether it stands left of a title that is not centred: dates, editors, how to cite."""
    middle = (title.left + title.right) / 2
    is_centred = abs(middle - front.page.width / 2) < 0.04 * front.page.width
    return not is_centred and line.box.x1 < title.left - 0.01 * front.page.width


def _cut_lines(lines: Iterable[Line], front: FrontPage) -> list[AuthorLine]:
    pieces = [piece for line in lines for piece in _cut_at_gaps(line)]
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
    if has_institution_word(text) or is_place(text):
        return True
    parts = [part.strip() for part in re.split(r"[,;]", text)]
    return len(parts) > 1 and (is_place(parts[-1]) or bool(re.search(r"\d{4,}", text)))


def _read_list(
    pieces: Sequence[AuthorLine], front: FrontPage, title_bottom: float | None
) -> FoundAuthors | None:
    """The names of the pieces in the style of the first names; None if one is not understood."""
    pieces = _stop_at_other_people(_join_broken_names(pieces, front))
    at = next((n for n, piece in enumerate(pieces) if piece.kind is LineKind.NAMES), None)
    if at is None:
        return None
    style = pieces[at].style
    _demote_weak_names(pieces[at:])
    named = _take_near([piece for piece in pieces[at:] if _is_named_in(piece, style)], pieces)
    last = max(n for n, piece in enumerate(pieces) if piece is named[-1])
    if any(_is_not_understood(piece, style) for piece in pieces[at : last + 1]):
        return None
    named = _sort_columns(named)
    names = [name for piece in named for name in piece.names]
    if len(set(names)) != len(names) or len(names) > _MOST_AUTHORS:
        return None
    affiliations = _link_affiliations(named, pieces[at:])
    first = named[0].line
    is_near = front.has_abstract or (
        title_bottom is not None and first.baseline - title_bottom < _WIDE_SPACE * first.size
    )
    return FoundAuthors(
        names=tuple(names),
        affiliations=tuple(affiliations),
        institutions=tuple(dict.fromkeys(place for _, place in affiliations)),
        doubts=tuple(_find_doubts(pieces, at, last, named, is_near=is_near)),
        lines=tuple(piece.line for piece in named),
    )


def _take_near(named: Sequence[AuthorLine], pieces: Sequence[AuthorLine]) -> list[AuthorLine]:
    """The names down to a wide empty space: a place at the foot of a cover is no author."""
    taken = [named[0]]
    for piece in named[1:]:
        between = [
            each.line.baseline for each in pieces if each.line.baseline < piece.line.baseline
        ]
        nearest = max(between, default=piece.line.baseline)
        if piece.line.baseline - nearest > _WIDE_SPACE * piece.line.size:
            break
        taken.append(piece)
    return taken


def _is_named_in(piece: AuthorLine, style: Style) -> bool:
    return piece.kind is LineKind.NAMES and _is_same_style(piece.style, style)


def _is_not_understood(piece: AuthorLine, style: Style) -> bool:
    return piece.kind is LineKind.UNKNOWN and (
        _is_same_style(piece.style, style) or _is_sentence(piece.text)
    )


def _stop_at_other_people(pieces: list[AuthorLine]) -> list[AuthorLine]:
    """The pieces above a label such as "Supervisor", and those of its row to the left of it."""
    at = next((n for n, each in enumerate(pieces) if each.kind is LineKind.OTHER_PEOPLE), None)
    return pieces if at is None else pieces[:at]


def _find_doubts(
    pieces: Sequence[AuthorLine],
    at: int,
    last: int,
    named: Sequence[AuthorLine],
    *,
    is_near: bool,
) -> list[str]:
    """What speaks against a list of names that was understood."""
    style = pieces[at].style
    doubts = []
    after = [piece for piece in pieces[last + 1 :] if piece.kind is LineKind.UNKNOWN]
    if any(_is_same_style(piece.style, style) and _is_beside(piece, named[-1]) for piece in after):
        doubts.append("a line after the names is in their style")
    before = pieces[:at]
    if any(piece.kind is LineKind.UNKNOWN and piece.line.size >= style[0] for piece in before):
        doubts.append("a line before the names is not understood")
    if any(piece.kind is LineKind.AFFILIATION for piece in before):
        doubts.append(BEFORE_NAMES)
    others = [piece for piece in pieces[at:] if piece.kind is LineKind.NAMES]
    if any(piece.style[0] > style[0] + _SAME_SIZE for piece in others):
        doubts.append("larger names follow")
    if not _is_supported(pieces[at:], named, is_near=is_near):
        doubts.append(NOT_SUPPORTED)
    return doubts


def _is_supported(
    pieces: Sequence[AuthorLine], named: Sequence[AuthorLine], *, is_near: bool
) -> bool:
    """Whether marks, initials, several names, or the lines below show that names are names."""
    names = [name for piece in named for name in piece.names]
    if any(piece.marks or piece.affiliation for piece in named) or len(names) > 2:
        return True
    if any(_INITIAL.search(name) or is_group_name(name) for name in names):
        return True
    below = next((piece for piece in pieces if piece not in named), None)
    if below is None:
        return is_near
    if below.kind is LineKind.NOTE:
        return has_date(below.text) or bool(_NOTE.match(below.text))
    return below.kind is not LineKind.UNKNOWN


def _sort_columns(named: Sequence[AuthorLine]) -> list[AuthorLine]:
    """Names straight below a name come before its neighbours that have none below."""
    ordered: list[AuthorLine] = []
    for piece in named:
        above = next((each for each in ordered if _is_stacked(each, piece)), None)
        has_neighbour = above is not None and any(
            _is_neighbour(each.line, above.line)
            and not any(_is_stacked(each, other) for other in named)
            for each in ordered
        )
        if above is not None and has_neighbour:
            ordered.insert(ordered.index(above) + 1, piece)
        else:
            ordered.append(piece)
    return ordered


def _is_neighbour(one: Line, other: Line) -> bool:
    """Whether both stand in one row, columns apart."""
    gap = max(one.box.x0 - other.box.x1, other.box.x0 - one.box.x1)
    return abs(one.baseline - other.baseline) < 1.0 and gap > 2 * one.size


def _is_stacked(above: AuthorLine, piece: AuthorLine) -> bool:
    if len(above.names) > 1 or len(piece.names) > 1:
        return False
    step = piece.line.baseline - above.line.baseline
    return 0.5 < step / above.line.size < 1.6 and _overlap(above.line, piece.line)


def _demote_weak_names(pieces: Sequence[AuthorLine]) -> None:
    """Below people, a team alone or "Example Campus, Austria" is where they work."""
    first, *others = pieces
    if first.is_weak or is_group_name(first.names[-1]):
        return
    for piece in others:
        is_team = len(piece.names) == 1 and is_group_name(piece.names[0])
        if piece.is_weak or is_team:
            piece.kind, piece.names = LineKind.AFFILIATION, []


def _is_same_style(one: Style, other: Style) -> bool:
    return abs(one[0] - other[0]) <= _SAME_SIZE and one[1:] == other[1:]


def _is_sentence(text: str) -> bool:
    words = text.split()
    return len(words) > 12 and sum(word[0].islower() for word in words) > 0.6 * len(words)


def _is_beside(piece: AuthorLine, last: AuthorLine) -> bool:
    return piece.line.baseline - last.line.baseline < 2.2 * last.line.size


def _join_broken_names(pieces: Sequence[AuthorLine], front: FrontPage) -> list[AuthorLine]:
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
    return _is_same_style(last.style, piece.style) and 0.3 < step / last.line.size < _LINE_STEP


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


def _link_affiliations(
    named: Sequence[AuthorLine], pieces: Sequence[AuthorLine]
) -> list[tuple[str, str]]:
    """Pairs of name and institution: by mark, on the same line, or below in the same column."""
    pairs = [
        (name, piece.affiliation) for piece in named if piece.affiliation for name in piece.names
    ]
    places = [piece for piece in pieces if piece.kind is LineKind.AFFILIATION]
    if not places or pairs:
        return pairs
    everyone = [name for piece in named for name in piece.names]
    if len(places) == 1:
        return [(name, clean_affiliation(places[0].text)) for name in everyone]
    for piece in named:
        below = [
            place
            for place in places
            if place.line.baseline > piece.line.baseline and _overlap(place.line, piece.line)
        ]
        following = [
            each.line.baseline
            for each in named
            if each.line.baseline > piece.line.baseline and _overlap(each.line, piece.line)
        ]
        end = min(following, default=float("inf"))
        texts = [place.text for place in below if place.line.baseline < end]
        if len(named) > 1 and len(piece.names) == 1 and texts:
            pairs += [(piece.names[0], clean_affiliation(", ".join(texts)))]
    return pairs


def _overlap(one: Line, other: Line) -> bool:
    return one.box.x0 < other.box.x1 and other.box.x0 < one.box.x1


def clean_affiliation(text: str) -> str:
    """Without the mark before it and stops at its end."""
    return re.sub(r"^(?:[a-z]|\d{1,2})[\s.)]\s*(?=[^\W\d_])|[\s,;.]+$", "", join_spaces(text))
