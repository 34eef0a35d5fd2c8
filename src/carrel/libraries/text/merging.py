"""Three-way merges: two changes of one text or of its tags, put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from carrel.libraries.text.differences import match_lines

MINE_MARK, MIDDLE_MARK, THEIRS_MARK = "<<<<<<<", "=======", ">>>>>>>"


@dataclass(frozen=True, slots=True)
class MergedText:
    """A text with both changes; `conflicts` counts places where both stand, between marks."""

    text: str
    conflicts: int


def merge_texts(
    base: str, mine: str, theirs: str, *, mine_name: str, theirs_name: str
) -> MergedText:
    """Three-way merge by lines. Where both changed the same lines, both are kept with marks."""
    old, own, other = base.splitlines(), mine.splitlines(), theirs.splitlines()
    lines: list[str] = []
    conflicts = a = b = c = 0
    for start, own_start, other_start, size in _common_regions(old, own, other):
        was, is_mine, is_theirs = old[a:start], own[b:own_start], other[c:other_start]
        if is_mine in (is_theirs, was):
            lines += is_theirs
        elif is_theirs == was:
            lines += is_mine
        else:
            conflicts += 1
            lines += [f"{MINE_MARK} {mine_name}", *is_mine, MIDDLE_MARK, *is_theirs]
            lines.append(f"{THEIRS_MARK} {theirs_name}")
        lines += old[start : start + size]
        a, b, c = start + size, own_start + size, other_start + size
    ending = "\n" if lines and (mine.endswith("\n") or theirs.endswith("\n")) else ""
    return MergedText("\n".join(lines) + ending, conflicts)


def merge_tags(base: Sequence[str], mine: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """The newest tags, with those added and without those removed by the other change."""
    added = [tag for tag in mine if tag not in base]
    kept = [tag for tag in theirs if tag in mine or tag not in base]
    return list(dict.fromkeys((*kept, *added)))


def _common_regions(
    old: Sequence[str], own: Sequence[str], other: Sequence[str]
) -> Iterator[tuple[int, int, int, int]]:
    """Stretches that all three have, as places in each and their length; the end is one of 0."""
    with_own, with_other = match_lines(old, own), match_lines(old, other)
    at_own = at_other = 0
    while at_own < len(with_own) and at_other < len(with_other):
        own_old, own_place, own_size = with_own[at_own]
        other_old, other_place, other_size = with_other[at_other]
        start = max(own_old, other_old)
        end = min(own_old + own_size, other_old + other_size)
        if start < end:
            yield start, own_place + start - own_old, other_place + start - other_old, end - start
        if own_old + own_size < other_old + other_size:
            at_own += 1
        else:
            at_other += 1
    yield len(old), len(own), len(other), 0
