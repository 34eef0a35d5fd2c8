"""Measures of one reading against its gold row: right, unknown or wrong; headings; order."""

from __future__ import annotations

import difflib
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

# Headings that a document may well have although its gold row does not name them.
_FREE = frozenset(
    {
        "references",
        "bibliography",
        "abstract",
        "contents",
        "acknowledgements",
        "acknowledgments",
        "summary",
        "introduction",
        "appendix",
    }
)
_NUMERAL = re.compile(r"^(?:[\dA-H]+(?:\.\d+)*\.?)\s+")
_LIKENESS = 0.95
_SENTENCE_END = re.compile(r"[.!?:;)\]”\"’]$")


@dataclass
class Prediction:
    """What a reader says of one PDF; None is unknown. `text` is the whole in reading order."""

    title: str | None = None
    authors: list[str] | None = None
    year: str | None = None
    doi: str | None = None
    headings: list[str] = field(default_factory=list)
    references: int | None = None
    text: str = ""
    cpu_seconds: float = 0.0
    confidence: dict[str, float] = field(default_factory=dict)


def squash(text: str | None) -> str:
    text = (text or "").replace("ß", "ss").replace("ø", "o").replace("ı", "i").replace("&", "and")
    folded = unicodedata.normalize("NFKD", text)
    kept = "".join(letter for letter in folded if not unicodedata.combining(letter))
    return re.sub(r"[\W_]", "", kept.lower())


def is_alike(one: str, other: str) -> bool:
    one, other = squash(one), squash(other)
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    return one == other or matcher.ratio() >= _LIKENESS


def score_title(row: dict[str, Any], said: str | None) -> str:
    accepted = [row["title"], *row["title_accept"]]
    if not said:
        return "right" if None in accepted else "unknown"
    return "right" if any(each and is_alike(each, said) for each in accepted) else "wrong"


def score_authors(row: dict[str, Any], said: Sequence[str] | None) -> str | None:
    """All in order; None where the row does not judge them."""
    if row["authors"] is None:
        return None
    if not said:
        return "right" if row["authors"] == [] else "unknown"
    also = row.get("authors_accept") or {}
    is_same = len(said) == len(row["authors"]) and all(
        squash(got) in {squash(name) for name in [want, *also.get(want, [])]}
        for want, got in zip(row["authors"], said, strict=True)
    )
    return "right" if is_same else "wrong"


def score_year(row: dict[str, Any], said: str | None) -> str:
    found = re.search(r"\d{4}", str(said or ""))
    if not found:
        return "right" if row["year"] is None else "unknown"
    return "right" if int(found.group()) in {row["year"], *row["year_accept"]} else "wrong"


def score_doi(row: dict[str, Any], said: str | None) -> str:
    said = said.lower() if said else None
    if said in row["own_doi_accept"] or said == row["own_doi"]:
        return "right"
    return "unknown" if said is None else "wrong"


def score_headings(row: dict[str, Any], said: Sequence[str]) -> tuple[int, int, int, int]:
    """Found and wanted of levels 1 and 2; known and said."""
    want = [squash(text) for level, text in row["headings"] if level <= 2]
    got = [squash(_NUMERAL.sub("", text)) for text in said]
    left, hits = Counter(got), 0
    for each in want:
        if left[each] > 0:
            left[each] -= 1
            hits += 1
    known = {squash(text) for _, text in row["headings"]} | _FREE
    return hits, len(want), sum(each in known for each in got), len(got)


def score_order(row: dict[str, Any], text: str) -> tuple[int, int]:
    """Adjacent pairs of gold headings that come in order in the text, and all such pairs.

    A heading's place is the last line that consists of it (a contents page comes before); pairs
    of which one is not found as a line are not counted.
    """
    places: dict[str, int] = {}
    for at, line in enumerate(text.splitlines()):
        key = squash(_NUMERAL.sub("", line.lstrip("# ").strip()))
        if key:
            places[key] = at
    counts = Counter(squash(heading) for _, heading in row["headings"])
    found = [
        places[key]
        for _, heading in row["headings"]
        if counts[key := squash(heading)] == 1 and key in places
    ]
    pairs = list(itertools.pairwise(found))
    return sum(one < other for one, other in pairs), len(pairs)


def score_paragraphs(text: str) -> tuple[int, int]:
    """Paragraphs that begin and end as sentences do, and all of 200 characters or more.

    Columns read across, or a page's foot in the middle of a sentence, break them.
    """
    whole = total = 0
    for block in re.split(r"\n\s*\n", text):
        words = " ".join(block.split())
        if len(words) < 200 or words.startswith(("#", "|", "<", "```", "!", "-", "*")):
            continue
        total += 1
        begins = next((letter for letter in words if letter.isalnum()), "a")
        is_whole = (begins.isupper() or begins.isdigit()) and bool(_SENTENCE_END.search(words))
        whole += is_whole
    return whole, total
