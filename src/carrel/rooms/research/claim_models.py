"""Questions and answers of claim checking, and what reviews keep of it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from carrel.core.operation import Answer, Question
from carrel.core.work_notices import WorkNotice

VerdictName = Literal["supports", "contradicts", "mixed", "silent", "undecided"]

MAX_CLAIM_CHARACTERS = 20_000
MAX_NAMED = 100
MAX_CITED = 20
_Name = Annotated[str, Field(min_length=1, max_length=300)]
_OneOrMore = BeforeValidator(lambda value: [value] if isinstance(value, str) else value)


class CheckClaim(Question):
    text: str = Field(
        min_length=3,
        max_length=MAX_CLAIM_CHARACTERS,
        description="A claim, a paragraph of a draft, or note:ID",
    )
    within: Annotated[list[_Name], _OneOrMore] = Field(
        default_factory=list, max_length=MAX_NAMED, description="Only these papers"
    )
    cited: Annotated[list[_Name], _OneOrMore] = Field(
        default_factory=list,
        max_length=MAX_CITED,
        description="Works it cites: reference keys, DOIs, paper_ids",
    )


class FindContradictions(Question):
    within: Annotated[list[_Name], _OneOrMore] = Field(
        default_factory=list,
        max_length=MAX_NAMED,
        description="Papers to compare: paper_ids, DOIs",
    )
    query: str = Field(
        default="",
        max_length=500,
        description="A topic or search: the papers it finds are compared; the whole corpus, as far "
        "as it is read, where neither is given",
    )
    limit: int = Field(default=20, ge=1, le=100, description="How many pairs")


class QuotedSentence(Answer):
    """A sentence of a paper word for word, with its place and why it counts as it does."""

    paper_id: str
    title: str
    year: int | None = None
    passage_id: str | None = None
    section: str = ""
    page: int | None = None
    sentence: str
    confidence: float
    reasons: list[str] = Field(default_factory=list)


class CitedWorkVerdict(Answer):
    """What one cited work alone says of a statement; `paper_id` where the corpus has it."""

    name: str
    title: str
    verdict: VerdictName
    paper_id: str | None = None


class CheckedStatement(Answer):
    """A statement with the verdict of the papers read, for and against side by side.

    `silent`: papers were read and none bears on it. `undecided`: some bear on it, and no side is
    sure.
    """

    statement: str
    verdict: VerdictName
    message: str
    deciding: QuotedSentence | None = None
    supporting: list[QuotedSentence] = Field(default_factory=list)
    contradicting: list[QuotedSentence] = Field(default_factory=list)
    bearing: list[QuotedSentence] = Field(default_factory=list)
    # The sentence that comes nearest in each further paper that was read; it decides nothing.
    nearest: list[QuotedSentence] = Field(default_factory=list)
    cited: list[CitedWorkVerdict] = Field(default_factory=list, exclude_if=lambda value: not value)
    searched_for: list[str] = Field(default_factory=list)
    papers_searched: int = 0
    papers_read: list[str] = Field(default_factory=list)


class ClaimChecked(Answer):
    """Every statement of a text that was checked; `unchecked` names the rest."""

    message: str
    statements: list[CheckedStatement]
    unchecked: list[str] = Field(default_factory=list)
    not_found: list[str] = Field(default_factory=list)
    note_id: str | None = Field(default=None, exclude_if=lambda value: value is None)
    # Retractions and corrections of papers named above, by paper_id.
    notices: dict[str, tuple[WorkNotice, ...]] = Field(
        default_factory=dict, exclude_if=lambda value: not value
    )


class Contradiction(Answer):
    """Two sentences of two papers that deny each other, as far as words tell."""

    one: QuotedSentence
    other: QuotedSentence
    confidence: float
    reasons: list[str]


class ContradictionsFound(Answer):
    """The pairs, the surest first, and what was covered."""

    message: str
    contradictions: list[Contradiction]
    papers_covered: int
    papers_left_out: int
    sentences_compared: int
    pairs_compared: int
    # Retractions and corrections of papers named above, by paper_id.
    notices: dict[str, tuple[WorkNotice, ...]] = Field(
        default_factory=dict, exclude_if=lambda value: not value
    )
