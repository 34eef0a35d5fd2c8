"""The material of a prompt, fitted to the context window, and the citations that it allows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from carrel.core.quoting import delimit_quotation
from carrel.libraries.discovery.records import Paper
from carrel.rooms.research.claim_models import CheckedStatement
from carrel.rooms.research.records import Draft

# A cautious estimate for any tokenizer: three English letters or one other character a token.
_LETTERS_PER_TOKEN = 3
# A row of which less than this would be left is not shown at all.
_LEAST_TOKENS = 24
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")


@dataclass(frozen=True, slots=True)
class MaterialRow:
    """One row of material; `paper_id` if it is a paper, which may then be cited."""

    text: str
    paper_id: str | None = None


@dataclass(frozen=True, slots=True)
class MaterialPart:
    """Rows, the most important first; if `is_needed` all are shown, shortened, else what fits."""

    heading: str
    rows: tuple[MaterialRow, ...]
    is_needed: bool = False


@dataclass(frozen=True, slots=True)
class PromptMaterial:
    """The text for the model, and the ids of the papers in it."""

    text: str
    paper_ids: frozenset[str]


def count_tokens(text: str) -> int:
    """About how many tokens a text has; rather too many than too few."""
    plain = sum(character.isascii() for character in text)
    return -(-plain // _LETTERS_PER_TOKEN) + len(text) - plain


def fit_material(parts: Sequence[MaterialPart], room: int | None) -> PromptMaterial:
    """The parts as one text of at most `room` tokens; None is no limit."""
    there = [part for part in parts if part.rows]
    needs = [
        sum(count_tokens(row.text) + 1 for row in part.rows) + count_tokens(part.heading) + 1
        for part in there
    ]
    shares = needs if room is None else _shares(needs, room)
    shown = [
        _fit_rows(part, share - count_tokens(part.heading) - 1)
        for part, share in zip(there, shares, strict=True)
    ]
    texts = [
        f"{part.heading}\n" + "\n".join(row.text for row in rows)
        for part, rows in zip(there, shown, strict=True)
        if rows
    ]
    return PromptMaterial(
        delimit_quotation("\n\n".join(texts), "material"),
        frozenset(row.paper_id for rows in shown for row in rows if row.paper_id is not None),
    )


def shorten(text: str, room: int) -> str:
    """Cut at the end of a sentence if that keeps half, else between words; `room` is in tokens.

    There is no ellipsis at the end: small models repeat it endlessly.
    """
    if count_tokens(text) <= room:
        return text
    kept, left = [], room
    for word in re.findall(r"\s*\S+", text):
        left -= count_tokens(word)
        if left < 0:
            break
        kept.append(word)
    whole = "".join(kept)
    ends = [found.end() for found in _SENTENCE_END.finditer(whole)]
    return whole[: ends[-1]] if ends and 2 * ends[-1] >= len(whole) else whole


def papers_part(papers: Sequence[Paper]) -> MaterialPart:
    rows = (
        MaterialRow(
            f"[id: {paper.id}] {paper.title} ({paper.year or 'n.d.'})\n{paper.abstract}", paper.id
        )
        for paper in papers
    )
    return MaterialPart("Papers", tuple(rows))


def evidence_part(statements: Sequence[CheckedStatement]) -> MaterialPart:
    """The sentences that come nearest to each statement; the mind decides what they do to it."""
    rows = (
        MaterialRow(
            f"[id: {one.paper_id}] on “{each.statement}” ({one.section or 'text'}): {one.sentence}",
            one.paper_id,
        )
        for each in statements
        for one in (*each.contradicting, *each.supporting, *each.bearing, *each.nearest)
    )
    return MaterialPart("Sentences that bear on it, for or against", tuple(rows))


def hypotheses_part(
    heading: str, drafts: Sequence[Draft], *, is_needed: bool = True
) -> MaterialPart:
    return MaterialPart(
        heading,
        tuple(MaterialRow(f"{one.title}\n{one.summary}\n{one.rationale}\n") for one in drafts),
        is_needed,
    )


def list_part(heading: str, rows: Sequence[str]) -> MaterialPart:
    return MaterialPart(heading, tuple(MaterialRow(f"- {row}") for row in rows))


def _shares(needs: Sequence[int], room: int) -> list[int]:
    shares = [0] * len(needs)
    left = room
    for done, place in enumerate(sorted(range(len(needs)), key=lambda one: needs[one])):
        shares[place] = min(needs[place], left // (len(needs) - done))
        left -= shares[place]
    return shares


def _fit_rows(part: MaterialPart, room: int) -> list[MaterialRow]:
    needs = [count_tokens(row.text) + 1 for row in part.rows]
    if part.is_needed:
        limits = _shares(needs, max(room, 0))
    else:
        # No row may take so much that fewer than three are seen.
        limits = [
            min(need, max(room // 3, _LEAST_TOKENS)) if sum(needs) > room else need
            for need in needs
        ]
    rows: list[MaterialRow] = []
    for row, need, limit in zip(part.rows, needs, limits, strict=True):
        taken = min(limit, room)
        if taken < min(need, _LEAST_TOKENS):
            break
        rows.append(MaterialRow(shorten(row.text, taken - 1), row.paper_id))
        room -= taken
    return rows


_ID_IN_TEXT = re.compile(r"\s*\[\s*id:\s*([^\[\]]*?)\s*\]", re.IGNORECASE)
_BETWEEN_IDS = re.compile(r"\s*[,;]\s*(?:id:\s*)?", re.IGNORECASE)
_OTHER_IN_TEXT = re.compile(
    r"\s*[\[(]?\b(?:(?:doi:\s*|https?://[^\s/]+/)?10\.\d{4,9}/[^\s\])]+|PMID:?\s*\d+|arXiv:\s*\d{4}\.\d{4,5}(?:v\d+)?)[\])]?",
    re.IGNORECASE,
)


class Citations:
    """Cleans the citations of one answer, and counts what it removes."""

    def __init__(self, paper_ids: Iterable[str]) -> None:
        self._shown_ids = frozenset(paper_ids)
        self._removed: set[str] = set()

    @property
    def removed(self) -> int:
        return len(self._removed)

    def keep_shown(self, named: Sequence[str]) -> tuple[str, ...]:
        """The distinct ids that were in the prompt."""
        names = dict.fromkeys(
            name.strip().removeprefix("[id:").removesuffix("]").strip() for name in named
        )
        self._removed.update(name for name in names if name and name not in self._shown_ids)
        return tuple(name for name in names if name in self._shown_ids)

    def clean(self, written: str) -> str:
        """The text without ids, DOIs and other numbers of papers outside the prompt."""
        return _OTHER_IN_TEXT.sub(self._remove, _ID_IN_TEXT.sub(self._keep_shown, written)).strip()

    def clean_all(self, written: Sequence[str]) -> tuple[str, ...]:
        """Clean each text; drops empty ones and duplicates."""
        return tuple(dict.fromkeys(filter(None, map(self.clean, written))))

    def _keep_shown(self, found: re.Match[str]) -> str:
        names = _BETWEEN_IDS.split(found[1])
        self._removed.update(name for name in names if name not in self._shown_ids)
        shown = [name for name in names if name in self._shown_ids]
        return f" [id: {', '.join(shown)}]" if shown else ""

    def _remove(self, found: re.Match[str]) -> str:
        self._removed.add(found[0].strip())
        return ""


def is_quoted_from(quotation: str, papers: Sequence[Paper]) -> bool:
    """Whether a sentence occurs in one of the papers."""
    said = " ".join(quotation.split()).strip('“”"')
    return bool(said) and any(
        said in " ".join(f"{paper.title} {paper.abstract}".split()) for paper in papers
    )


def is_evidence(quotation: str, statements: Sequence[CheckedStatement]) -> bool:
    """Whether a sentence is, or is part of, one that was shown as evidence."""
    said = " ".join(quotation.split()).strip('“”"')
    return bool(said) and any(
        said in one.sentence
        for each in statements
        for one in (*each.contradicting, *each.supporting, *each.bearing, *each.nearest)
    )


@cache
def prompt_text(name: str) -> str:
    """The text of a prompt, by the name of its file."""
    prompts = files("carrel.rooms.research").joinpath("prompts")
    return prompts.joinpath(f"{name}.md").read_text(encoding="utf-8").strip()


def agent_text(name: str, **values: object) -> str:
    """The instructions of an agent, with their places filled."""
    text = prompt_text(f"agents/{name}")
    for place, value in values.items():
        text = text.replace("{" + place + "}", str(value))
    return text
