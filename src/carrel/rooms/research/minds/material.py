"""What a model is shown, cut to what it can take in: every part gets its share, and what a short
one leaves goes to the others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from carrel.core.quoting import delimit_quotation
from carrel.libraries.discovery.records import Paper
from carrel.rooms.research.records import Draft

# A cautious guess for any tokenizer: three letters of English to a token, every other character one
# of its own.
_LETTERS_PER_TOKEN = 3
# A row of which less than this would be left is not shown at all.
_LEAST_TOKENS = 24
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that is shown; `paper_id` where it is a paper, which may then be cited."""

    text: str
    paper_id: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """Rows under a heading, the most important first. When they are `needed`, all are shown,
    shortened alike; otherwise
    as many as there is room for."""

    heading: str
    rows: tuple[Row, ...]
    is_needed: bool = False


@dataclass(frozen=True, slots=True)
class Material:
    """The text for the model, and the ids of the papers that stand in it."""

    text: str
    paper_ids: frozenset[str]


def tokens_in(text: str) -> int:
    """About how many tokens a text has; rather too many than too few."""
    plain = sum(character.isascii() for character in text)
    return -(-plain // _LETTERS_PER_TOKEN) + len(text) - plain


def fitted(parts: Sequence[Part], room: int | None) -> Material:
    """The parts as one text of at most `room` tokens; all of it where no room is given."""
    there = [part for part in parts if part.rows]
    needs = [
        sum(tokens_in(row.text) + 1 for row in part.rows) + tokens_in(part.heading) + 1
        for part in there
    ]
    shares = needs if room is None else _shares(needs, room)
    shown = [
        _shown(part, share - tokens_in(part.heading) - 1)
        for part, share in zip(there, shares, strict=True)
    ]
    texts = [
        f"{part.heading}\n" + "\n".join(row.text for row in rows)
        for part, rows in zip(there, shown, strict=True)
        if rows
    ]
    return Material(
        delimit_quotation("\n\n".join(texts), "material"),
        frozenset(row.paper_id for rows in shown for row in rows if row.paper_id is not None),
    )


def shortened(text: str, room: int) -> str:
    """As much of a text as there is room for: to the end of a sentence where that keeps half of it,
    else between words. No mark
    is left at the end, since small models take it up and never find out of it."""
    if tokens_in(text) <= room:
        return text
    kept, left = [], room
    for word in re.findall(r"\s*\S+", text):
        left -= tokens_in(word)
        if left < 0:
            break
        kept.append(word)
    whole = "".join(kept)
    ends = [found.end() for found in _SENTENCE_END.finditer(whole)]
    return whole[: ends[-1]] if ends and 2 * ends[-1] >= len(whole) else whole


def papers_part(papers: Sequence[Paper]) -> Part:
    rows = (
        Row(f"[id: {paper.id}] {paper.title} ({paper.year or 'n.d.'})\n{paper.abstract}", paper.id)
        for paper in papers
    )
    return Part("Papers", tuple(rows))


def hypotheses_part(heading: str, drafts: Sequence[Draft], *, is_needed: bool = True) -> Part:
    return Part(
        heading,
        tuple(Row(f"{one.title}\n{one.summary}\n{one.rationale}\n") for one in drafts),
        is_needed,
    )


def list_part(heading: str, rows: Sequence[str]) -> Part:
    return Part(heading, tuple(Row(f"- {row}") for row in rows))


def _shares(needs: Sequence[int], room: int) -> list[int]:
    shares = [0] * len(needs)
    left = room
    for done, place in enumerate(sorted(range(len(needs)), key=lambda one: needs[one])):
        shares[place] = min(needs[place], left // (len(needs) - done))
        left -= shares[place]
    return shares


def _shown(part: Part, room: int) -> list[Row]:
    needs = [tokens_in(row.text) + 1 for row in part.rows]
    if part.is_needed:
        limits = _shares(needs, max(room, 0))
    else:
        # No row may take so much that fewer than three are seen.
        limits = [
            min(need, max(room // 3, _LEAST_TOKENS)) if sum(needs) > room else need
            for need in needs
        ]
    rows: list[Row] = []
    for row, need, limit in zip(part.rows, needs, limits, strict=True):
        taken = min(limit, room)
        if taken < min(need, _LEAST_TOKENS):
            break
        rows.append(Row(shortened(row.text, taken - 1), row.paper_id))
        room -= taken
    return rows
