"""Cuts the lines of a reference list into entries, over columns and pages.

Several ways of marking an entry are tried (labels, hanging indents, gaps, names at line starts);
the way whose entries look most like references is taken.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from carrel.libraries.works.reference_sections import ReferenceLine


@dataclass(frozen=True, slots=True)
class PrintedEntry:
    """One entry of a list: its label where it has one, and its text in one line."""

    text: str
    label: str | None = None


_BRACKET = re.compile(r"^\s*\[([^\]\[]{1,40})\](?=\s|$|[^\s\d\]])")
_NUMBER = re.compile(r"^\s*(\d{1,4})(?:[.)]\s*|\s+)(?=\D|$)")
_LONE = re.compile(r"\(?\d{1,4}[.)]?")
_LONGEST_LABEL = 42
_ROUND = re.compile(r"^\s*\((\d{1,4})\)")
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]\d\d|20[0-4]\d)[a-z]?(?!\d)")
_UNDATED = re.compile(
    r"in press|forthcoming|to appear|submitted|unpublished|n\.\s?d\.|undated|https?://|www\.|10\.\d{4}/"
    r"|in preparation|preprint|im druck|im erscheinen|sous presse|à paraître|en prensa",
    re.IGNORECASE,
)
_CAPITAL = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĖĘĚĞĢĪİĶĹĻŁŃŅŇŌŐŒŔŘŚŞŠŢŤŪŮŰŹŻŽА-ЯΑ-Ω"
_WORD = rf"[{_CAPITAL}][\w'’\-]{{1,40}}"
_INITIALS = rf"(?:[{_CAPITAL}]\.?[\s-]?){{1,4}}"
# "Smith JA,", "Smith, J.", "J. A. Smith", "Smith, John, and", "R Core Team (2010)", "———".
_NAME_START = re.compile(
    r"^(?:(?:von|van|de|der|den|del|di|da|la|le|du|dos|ten|ter|el|al|O)[\s'’]){0,3}"
    rf"(?:{_WORD}(?:[\s-]{_WORD}){{0,2}},?\s{_INITIALS}(?:[,.;:&(]|and\b|und\b|et\b|$)"
    rf"|(?:[{_CAPITAL}]\.[\s-]?){{1,4}}(?:(?:von|van|de|der|den|la)\s){{0,2}}{_WORD}(?:[,.\s]|$)"
    rf"|{_WORD}(?:\s{_WORD}){{0,2}},\s{_WORD}[^.(]{{0,40}}?(?:,|\sand\s|\sund\s|\s&\s)"
    rf"|[{_CAPITAL}][^.(]{{2,60}}\((?:1[5-9]|20)\d\d[a-z]?\)"
    r"|[—–_]{2,})"
)
_DASHES = "\u002d\u2010\u2011\u00ad\u0002\ufffe"
_ADDRESS_TAIL = re.compile(r"(?:https?://|www\.|10\.\d{4,9}/)[^\s<>\"]{0,400}$", re.IGNORECASE)
# What may follow in an address that was broken at a line end: not a word of the next sentence.
_ADDRESS_GOES_ON = re.compile(r"[a-z0-9_\-~%./=&?#+:]")
_LONGEST_TAIL = 420
_SAME_EDGE_POINTS = 2.5
_LEAST_INDENT_POINTS = 4.0
_MOST_INDENT_POINTS = 80.0
_WIDE_GAP = 1.35
# An entry that is shorter or longer than this is cut wrongly or no reference.
_SHORTEST, _LONGEST = 25, 1_200
_WEIGHT_OF_BAD_ENTRIES = 1.5
# A way that finds so much less than the best is as good, where it is the surer one: entries that
# are cut in two may both look whole. Found on the PDFs of the gold set.
_NEARLY_AS_GOOD = 0.03
_LABELS_NEEDED = 0.6
_LINES_LEFT_OVER = 4
MAX_ENTRIES = 10_000


def split_entries(lines: Sequence[ReferenceLine]) -> list[PrintedEntry]:
    """The entries in order; text before the first one is left out."""
    lines = _join_lone_labels([line for line in lines if line.text.strip()])
    if not lines:
        return []
    labelled = _label_starts(lines)
    if labelled is not None:
        starts, labels = labelled
        return _make_entries(lines, starts, labels)[:MAX_ENTRIES]
    groups = _cut_columns(lines)
    # The surest way first: it wins unless another one is clearly better.
    ways = [
        _hanging_starts(groups),
        _gap_starts(groups),
        _name_starts(lines),
        _indented_starts(groups),
        list(range(len(lines))),
    ]
    found = [_make_entries(lines, starts, {}) for starts in ways if starts]
    best = max(map(_score, found))
    enough = best - _NEARLY_AS_GOOD * abs(best)
    return next(entries for entries in found if _score(entries) >= enough)[:MAX_ENTRIES]


def _score(entries: list[PrintedEntry]) -> float:
    good = sum(looks_like_reference(entry.text) for entry in entries)
    return good - _WEIGHT_OF_BAD_ENTRIES * (len(entries) - good)


def looks_like_reference(text: str) -> bool:
    """Whether a text begins like an entry, has its length and a date or an address."""
    if not _SHORTEST <= len(text) <= _LONGEST:
        return False
    first = text.lstrip("“\"'‘([«*•-–— ")[:1]
    is_start = first.isupper() or first.isdigit() or (bool(first) and not first.islower())
    starts_like_name = is_start or _NAME_START.match(text) is not None
    return starts_like_name and bool(_YEAR.search(text) or _UNDATED.search(text))


def _join_lone_labels(lines: list[ReferenceLine]) -> list[ReferenceLine]:
    """A label that stands apart from its entry, as a line of its own, is put before it."""
    joined: list[ReferenceLine] = []
    waiting: ReferenceLine | None = None
    for line in lines:
        if waiting is not None:
            is_beside = line.page == waiting.page and abs(line.y - waiting.y) < waiting.size
            text = f"{waiting.text.strip()} {line.text}"
            joined.append(replace(line, text=text, x=waiting.x) if is_beside else waiting)
            waiting = None
            if is_beside:
                continue
        text = line.text.strip()
        if len(text) <= _LONGEST_LABEL and (_BRACKET.fullmatch(text) or _LONE.fullmatch(text)):
            waiting = line
        else:
            joined.append(line)
    return joined if waiting is None else [*joined, waiting]


def _label_starts(lines: list[ReferenceLine]) -> tuple[list[int], dict[int, str]] | None:
    """Where labelled entries begin, and their labels; None where entries have no labels."""
    bracketed = {
        number: found.group(1).strip()
        for number, line in enumerate(lines)
        if (found := _BRACKET.match(line.text))
    }
    if bracketed and min(bracketed) <= 2:
        if all(label.isdigit() for label in bracketed.values()):
            bracketed = _counted(bracketed)
        if len(bracketed) > 1 or len(lines) < 12:
            return sorted(bracketed), bracketed
    for pattern in (_ROUND, _NUMBER):
        numbered = {
            number: found.group(1)
            for number, line in enumerate(lines)
            if (found := pattern.match(line.text))
        }
        if numbered and min(numbered) <= 2:
            counted = _counted(numbered)
            enough = len(counted) >= max(2, _LABELS_NEEDED * len(lines) / 8)
            if (enough or len(lines) < 6) and _goes_up(list(counted.values())):
                return sorted(counted), counted
    return None


def _counted(labels: dict[int, str]) -> dict[int, str]:
    """The labels that count up by one (or a little more) from the first."""
    kept: dict[int, str] = {}
    last: int | None = None
    for number, label in labels.items():
        value = int(label)
        if last is None or last < value <= last + 3:
            kept[number] = label
            last = value
    return kept


def _goes_up(labels: list[str]) -> bool:
    return bool(labels) and int(labels[0]) in {0, 1} and len(labels) >= 1


def _cut_columns(lines: list[ReferenceLine]) -> list[list[tuple[int, ReferenceLine]]]:
    """The lines of each column: a new one begins with a page, or where the text goes up again."""
    groups: list[list[tuple[int, ReferenceLine]]] = []
    for number, line in enumerate(lines):
        before = lines[number - 1] if number else None
        if before is None or line.page != before.page or line.y < before.y - line.size:
            groups.append([])
        groups[-1].append((number, line))
    return groups


def _edges(groups: list[list[tuple[int, ReferenceLine]]]) -> list[tuple[float, float | None]]:
    """The left edge of each column, and its indent where there is one."""
    indents: Counter[int] = Counter()
    lefts: list[float] = []
    for group in groups:
        left = min(line.x for _, line in group)
        # One line that sticks out to the left is no edge.
        xs = sorted(line.x for _, line in group)
        if len(xs) > 6 and xs[1] - xs[0] > _LEAST_INDENT_POINTS:
            left = xs[1]
        lefts.append(left)
        indents.update(
            round(line.x - left)
            for _, line in group
            if _LEAST_INDENT_POINTS <= line.x - left <= _MOST_INDENT_POINTS
        )
    indent = indents.most_common(1)[0][0] if indents else None
    known = sorted(lefts)
    found: list[tuple[float, float | None]] = []
    for group, left in zip(groups, lefts, strict=True):
        if indent is None:
            found.append((left, None))
        else:
            is_continued = _is_all_indented(group, left, known, indent)
            found.append((left - indent if is_continued else left, float(indent)))
    return found


def _is_all_indented(
    group: list[tuple[int, ReferenceLine]], left: float, lefts: list[float], indent: int
) -> bool:
    """A column that only continues the entry before it has no line at the edge."""
    at = bisect(lefts, left - indent - _SAME_EDGE_POINTS)
    has_edge = at < len(lefts) and lefts[at] < left - indent + _SAME_EDGE_POINTS
    is_narrow = all(line.x - left < _SAME_EDGE_POINTS for _, line in group)
    return has_edge and is_narrow and len(group) <= _LINES_LEFT_OVER


def _hanging_starts(groups: list[list[tuple[int, ReferenceLine]]]) -> list[int]:
    """Entries begin at the left edge of the column and go on indented."""
    starts: list[int] = []
    for group, (left, indent) in zip(groups, _edges(groups), strict=True):
        if indent is None:
            return []
        starts.extend(number for number, line in group if line.x - left < indent / 2)
    return starts


def _indented_starts(groups: list[list[tuple[int, ReferenceLine]]]) -> list[int]:
    """Entries begin indented, as paragraphs do, and go on at the edge."""
    starts: list[int] = []
    for group, (left, indent) in zip(groups, _edges(groups), strict=True):
        if indent is None:
            return []
        starts.extend(number for number, line in group if line.x - left > indent / 2)
    return starts


def _gap_starts(groups: list[list[tuple[int, ReferenceLine]]]) -> list[int]:
    """Entries have more space above them than lines have between them."""
    steps = [
        line.y - before.y
        for group in groups
        for (_, before), (_, line) in pairwise(group)
        if line.y > before.y
    ]
    if not steps:
        return []
    usual = median(sorted(steps)[: max(1, len(steps) * 2 // 3)])
    starts: list[int] = []
    for group in groups:
        for place, (number, line) in enumerate(group):
            above = line.y - group[place - 1][1].y if place else None
            is_new_column = above is None and (number == 0 or _NAME_START.match(line.text))
            if is_new_column or (above is not None and above > usual * _WIDE_GAP):
                starts.append(number)
    return starts


def _name_starts(lines: list[ReferenceLine]) -> list[int]:
    """Entries begin with a name after a line that ends a sentence or is short."""
    starts = [0]
    is_whole = False
    for number in range(1, len(lines)):
        text = lines[number - 1].text
        before = text.rstrip()
        is_whole = is_whole or bool(_YEAR.search(text) or _UNDATED.search(text))
        ends = before.endswith((".", ")", "]", "/")) or before[-1:].isdigit()
        if is_whole and ends and _NAME_START.match(lines[number].text):
            starts.append(number)
            is_whole = False
    return starts


def _make_entries(
    lines: list[ReferenceLine], starts: list[int], labels: dict[int, str]
) -> list[PrintedEntry]:
    known = set(starts)
    if not known:
        return []
    pieces: list[tuple[int, list[ReferenceLine]]] = []
    for number, line in enumerate(lines):
        if number in known:
            pieces.append((number, [line]))
        elif pieces:
            pieces[-1][1].append(line)
    return [_make_entry(own, labels.get(number)) for number, own in pieces]


def _make_entry(lines: list[ReferenceLine], label: str | None) -> PrintedEntry:
    text = join_entry_lines(lines)
    if label is not None:
        for pattern in (_BRACKET, _ROUND, _NUMBER):
            if found := pattern.match(text):
                text = text[found.end() :]
                break
    return PrintedEntry(text.strip(), label)


def join_entry_lines(lines: Sequence[ReferenceLine]) -> str:
    """The text of an entry in one line: words and addresses broken at line ends are whole again."""
    pieces: list[str] = []
    for line in lines:
        piece = line.text.strip()
        if pieces and piece:
            pieces[-1], between = _join(pieces[-1], piece)
            pieces.append(between)
        if piece:
            pieces.append(piece)
    return "".join(pieces)


def _join(text: str, piece: str) -> tuple[str, str]:
    """The line before without a hyphen that goes, and what stands between the two."""
    tail = text[-_LONGEST_TAIL:]
    if _ADDRESS_TAIL.search(tail) and _goes_on(tail, piece):
        return text, ""
    if text[-1] in _DASHES:
        # A broken word goes on with a small letter; "Hsu-" and "1999-" keep their hyphen.
        if text[-2:-1].isalpha() and piece[0].islower():
            return text[:-1], ""
        return text.rstrip("\u00ad\u0002\ufffe"), ""
    return text, " "


def _goes_on(tail: str, piece: str) -> bool:
    """Whether an address at the end of a line is continued on the next."""
    first = piece.split(maxsplit=1)[0]
    if tail[-1] in "/-_=&?%#~":
        return True
    if not _ADDRESS_GOES_ON.match(first):
        return False
    looks_like_address = any(mark in first.rstrip(".,;)") for mark in "/._-=&?%") or (
        any(letter.isdigit() for letter in first) and not _YEAR.fullmatch(first.strip("().,;"))
    )
    return looks_like_address and not (tail[-1] in ".,;" and first[:1].isupper())
