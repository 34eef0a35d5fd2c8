"""The authors under a title, in order, with their affiliations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from carrel.libraries.pdf_layout.author_pieces import (
    AuthorLine,
    LineKind,
    Style,
    cut_lines,
    is_note,
    is_same_style,
    join_broken_names,
)
from carrel.libraries.pdf_layout.content import Line
from carrel.libraries.pdf_layout.person_names import is_group_name
from carrel.libraries.pdf_layout.printed_dates import has_date
from carrel.libraries.pdf_layout.title_zone import FrontPage, join_spaces
from carrel.libraries.pdf_layout.titles import FoundTitle

_SAME_SIZE = 0.35
# In sizes: names further below than this are of somebody or something else.
_WIDE_SPACE = 6.0
_MOST_AUTHORS = 1_000
NOT_SUPPORTED = "nothing beside the names shows that they are names"
BEFORE_NAMES = "an affiliation stands before the names"
_WORD_STEP = 1.75
_SECTION = re.compile(r"^\d{1,2}(?:\.\d{1,2}){0,2}\.?\s+[A-Z]")
_INITIAL = re.compile(r"(?:^|\s)\w\.|-")


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
        found = _read_list(cut_lines(above, front), front, None)
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
    return cut_lines(lines, front)


def _is_in_side_column(line: Line, title: FoundTitle, front: FrontPage) -> bool:
    """Whether it stands left of a title that is not centred: dates, editors, how to cite."""
    middle = (title.left + title.right) / 2
    is_centred = abs(middle - front.page.width / 2) < 0.04 * front.page.width
    return not is_centred and line.box.x1 < title.left - 0.01 * front.page.width


def _read_list(
    pieces: Sequence[AuthorLine], front: FrontPage, title_bottom: float | None
) -> FoundAuthors | None:
    """The names of the pieces in the style of the first names; None if one is not understood."""
    pieces = _stop_at_other_people(join_broken_names(pieces, front))
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
    return piece.kind is LineKind.NAMES and is_same_style(piece.style, style)


def _is_not_understood(piece: AuthorLine, style: Style) -> bool:
    return piece.kind is LineKind.UNKNOWN and (
        is_same_style(piece.style, style) or _is_sentence(piece.text)
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
    if any(is_same_style(piece.style, style) and _is_beside(piece, named[-1]) for piece in after):
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
        return has_date(below.text) or is_note(below.text)
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


def _is_sentence(text: str) -> bool:
    words = text.split()
    return len(words) > 12 and sum(word[0].islower() for word in words) > 0.6 * len(words)


def _is_beside(piece: AuthorLine, last: AuthorLine) -> bool:
    return piece.line.baseline - last.line.baseline < 2.2 * last.line.size


def _link_affiliations(
    named: Sequence[AuthorLine], pieces: Sequence[AuthorLine]
) -> list[tuple[str, str]]:
    """Pairs of name and institution: by mark, on the same line, or below in the same column."""
    pairs = [
        (name, piece.affiliation) for piece in named if piece.affiliation for name in piece.names
    ]
    largest = max(piece.line.size for piece in named)
    places = [
        piece
        for piece in pieces
        if piece.kind is LineKind.AFFILIATION and not _is_heading(piece, largest)
    ]
    if not places or pairs:
        return pairs
    everyone = [name for piece in named for name in piece.names]
    if len(places) == 1 and not _stands_between(named, pieces):
        return [(name, clean_affiliation(_whole_text(places[0], pieces))) for name in everyone]
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
        texts = [_whole_text(place, pieces) for place in below if place.line.baseline < end]
        if len(named) > 1 and len(piece.names) == 1 and texts:
            pairs += [(piece.names[0], clean_affiliation(join_places(texts)))]
    return pairs


def _stands_between(named: Sequence[AuthorLine], pieces: Sequence[AuthorLine]) -> bool:
    """Whether a line that is no name stands between names, perhaps where some of them work."""
    top = min(piece.line.baseline for piece in named)
    bottom = max(piece.line.baseline for piece in named)
    return any(top + 1 < piece.line.baseline < bottom - 1 for piece in pieces if piece not in named)


def _overlap(one: Line, other: Line) -> bool:
    return one.box.x0 < other.box.x1 and other.box.x0 < one.box.x1


def _is_heading(piece: AuthorLine, largest: float) -> bool:
    """Whether it is larger than the names, or has a section's number in larger or bold type."""
    is_larger = piece.line.size > largest + _SAME_SIZE
    return is_larger or (piece.line.is_bold and bool(_SECTION.match(piece.text)))


def _whole_text(place: AuthorLine, pieces: Sequence[AuthorLine]) -> str:
    """The text with the beginning of its first word, where that ends the line above."""
    for piece in pieces:
        step = place.line.baseline - piece.line.baseline
        is_above = 0.3 < step / place.line.size < _WORD_STEP and _overlap(piece.line, place.line)
        is_open = piece.text.endswith(("-", "\u2010", "/")) and piece.kind is LineKind.UNKNOWN
        if is_above and is_open and place.text[:1].islower():
            return join_places([piece.text, place.text])
    return place.text


def join_places(texts: Sequence[str]) -> str:
    """The lines of one institution: each once, a word broken at a hyphen or stroke whole."""
    joined = ""
    for text in dict.fromkeys(join_spaces(text) for text in texts):
        if joined.endswith(("-", "\u2010")) and text[:1].islower():
            joined = joined.rstrip("-\u2010") + text
        elif joined.endswith("/"):
            joined += text
        else:
            joined = f"{joined}, {text}" if joined else text
    return joined


def clean_affiliation(text: str) -> str:
    """Without the mark before it and stops at its end."""
    return re.sub(r"^(?:[a-z]|\d{1,2})[\s.)]\s*(?=[^\W\d_])|[\s,;.]+$", "", join_spaces(text))
