"""What the papers room is asked about citations inside the corpus, and what it answers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AliasChoices, BeforeValidator, Field, model_validator

from carrel.core.operation import Answer, Question
from carrel.rooms.papers.models import (
    MAX_QUERY_CHARACTERS,
    MAX_WITHIN,
    Limit,
    OnePaper,
    Page,
    PaperId,
)
from carrel.rooms.papers.outside_citations import OutsideCitationAnswer

# How a reference met a paper: by an identifier, as another version of it, or by title, first author
# and year.
LinkKind = Literal["doi", "version", "arxiv", "pmid", "openalex", "title"]
Direction = Literal["both", "out", "in"]
Follow = Literal["any", "out", "in"]
RankingMeasure = Literal["pagerank", "cited_by"]

MAX_STEPS = 10
MAX_ROUNDS = 10
MAX_SNOWBALL_PAPERS = 5_000
MAX_DRAWN = 50

Papers = Annotated[
    list[PaperId],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    Field(min_length=1, max_length=MAX_WITHIN),
]
Year = Annotated[int, Field(ge=1000, le=3000)]
Query = Annotated[str, Field(max_length=MAX_QUERY_CHARACTERS)]


class GetCitations(OnePaper):
    """The references of a paper, the papers that cite it, or both."""

    direction: Annotated[Direction, Field(description="out: what it cites; in: what cites it")] = (
        "both"
    )
    in_corpus: Annotated[bool, Field(description="Only references that are papers here")] = False
    outside: Annotated[bool, Field(description="Also ask services; needs literature:read")] = False
    limit: Limit = 20
    page: Page = 1


class FindRelatedPapers(Question):
    """Papers near some others by what they cite or who cites them."""

    papers: Annotated[
        Papers,
        Field(
            validation_alias=AliasChoices("papers", "paper_id", "paper_ids"),
            description="Ids, DOIs or arXiv ids",
        ),
    ]
    by: Annotated[
        Literal["coupling", "co-citation"],
        Field(description="coupling: they cite the same works; co-citation: cited together"),
    ] = "coupling"
    limit: Limit = 10


class FindCitationPath(Question):
    """Two papers between which a chain of citations is sought."""

    from_paper: Annotated[PaperId, Field(validation_alias=AliasChoices("from_paper", "from"))]
    to_paper: Annotated[PaperId, Field(validation_alias=AliasChoices("to_paper", "to"))]
    max_steps: Annotated[int, Field(ge=1, le=MAX_STEPS)] = 6
    direction: Annotated[
        Follow,
        Field(description="out: each cites the next; in: each is cited by the next; any: either"),
    ] = "any"


class RankPapers(Question):
    """The most important papers by PageRank or by how many cite them."""

    by: Annotated[
        RankingMeasure, Field(description="cited_by: by how many papers here cite it")
    ] = "pagerank"

    query: Annotated[
        Query | None, Field(description="Only papers that match; ranked in the whole corpus")
    ] = None
    limit: Limit = 20


class SnowballPapers(Question):
    """Papers to start from, where to go on, and when to stop."""

    seeds: Annotated[Papers, Field(description="Ids, DOIs or arXiv ids to start from")]
    direction: Annotated[
        Direction, Field(description="out: backward to what is cited; in: forward to who cites")
    ] = "both"
    rounds: Annotated[int, Field(ge=1, le=MAX_ROUNDS)] = 2
    min_new_share: Annotated[
        float, Field(ge=0, le=1, description="Stop when a smaller share of the finds is new")
    ] = 0.0
    max_papers: Annotated[
        int, Field(ge=1, le=MAX_SNOWBALL_PAPERS, description="Stop at so many papers")
    ] = 500
    year_from: Year | None = None
    year_to: Year | None = None
    query: Annotated[Query | None, Field(description="Keep only papers that match")] = None
    limit: Limit = 50
    page: Page = 1

    @model_validator(mode="after")
    def _check_years(self) -> SnowballPapers:
        if self.year_from and self.year_to and self.year_from > self.year_to:
            raise ValueError(
                f"year_from {self.year_from} is after year_to {self.year_to}: no year is in between"
            )
        return self


class DrawCitations(OnePaper):
    """The neighbourhood of a paper as text that drawing tools read."""

    format: Literal["mermaid", "dot"] = "mermaid"
    limit: Annotated[int, Field(ge=1, le=MAX_DRAWN, description="Papers on each side")] = 15


class BriefPaper(Answer):
    """Enough of a paper to recognise it."""

    paper_id: str
    title: str
    authors: tuple[str, ...]
    year: str
    doi: str | None


class ListedReference(Answer):
    """One entry of a reference list.

    `paper_id` is the paper of the corpus that it is, and `linked_by` how that is known; where
    papers fit and nothing decides, `may_be` names them and `paper_id` is null.
    """

    number: int
    label: str | None = Field(default=None, exclude_if=lambda value: value is None)
    text: str
    year: int | None
    doi: str | None
    paper_id: str | None
    linked_by: LinkKind | None
    may_be: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)


class CitingPaper(BriefPaper):
    """A paper that cites: by which entry of its list, how they met, and which version it names."""

    number: int
    linked_by: LinkKind
    cites: str


class CitationAnswer(Answer):
    """Citations of one paper inside the corpus.

    A list is null where it was not asked for or nothing is known; `message` says which.
    `references_known` is false where nobody has read the paper's reference list. `cited_by` counts
    only the `papers_with_references` of all `papers` whose lists are known; `unclear_count` of
    them may cite this paper or another of the same title. Citations of the `versions` count too.
    """

    paper_id: str
    title: str
    message: str
    references_known: bool
    reference_count: int | None
    linked_count: int | None
    references: list[ListedReference] | None
    cited_by_count: int | None
    cited_by: list[CitingPaper] | None
    unclear_count: int = Field(default=0, exclude_if=lambda value: not value)
    versions: list[BriefPaper] = Field(default=[], exclude_if=lambda value: not value)
    papers_with_references: int
    papers: int
    # Where a paper has a text and no list is known, none was found in the text.
    papers_with_text: int = 0
    outside: OutsideCitationAnswer | None = Field(
        default=None, exclude_if=lambda value: value is None
    )


class RelatedPaper(BriefPaper):
    """A paper near others; `shared` counts the works both cite, or the papers that cite both.

    `similarity` is that count over the geometric mean of the two lists.
    """

    shared: int
    similarity: float


class PathStep(BriefPaper):
    """A paper on the way; `cites_next` is null at the end, false where the next one cites it."""

    cites_next: bool | None


class CitationPath(Answer):
    """A shortest chain of citations; null where there is none of at most `max_steps`."""

    steps: list[PathStep] | None
    message: str


class RankedCitedPaper(BriefPaper):
    """A paper with its place; `pagerank` is in parts per million of the corpus."""

    rank: int
    pagerank: float
    cited_by_count: int


class SnowballRound(Answer):
    """One round: papers followed, links met, and what became of the papers they lead to."""

    round: int
    followed: int
    without_references: int
    links: int
    duplicates: int
    excluded_by_year: int
    excluded_by_query: int
    new: int


class FoundBySnowball(BriefPaper):
    """A paper found, in which round and from which paper; `cites_origin` false: it is cited."""

    round: int
    origin: str | None
    cites_origin: bool | None


class MissingWork(Answer):
    """A work that the found papers cite and the corpus does not have."""

    cited_by: int
    text: str
    title: str | None
    year: int | None
    doi: str | None
    arxiv_id: str | None
    pmid: str | None


class PrismaCounts(Answer):
    """The boxes of a PRISMA 2020 flow diagram; null is what only the reviewers know."""

    identified_from_databases: int | None = None
    identified_from_registers: int | None = None
    identified_from_citation_searching: int
    identified_from_other_methods: int | None = None
    removed_as_duplicates: int
    removed_by_automation_tools: int
    removed_for_other_reasons: int | None = None
    left_to_screen: int
    screened: int | None = None
    excluded: int | None = None
    sought_for_retrieval: int | None = None
    not_retrieved: int | None = None
    assessed_for_eligibility: int | None = None
    excluded_with_reasons: int | None = None
    included_studies: int | None = None
    included_reports: int | None = None


class Snowball(Answer):
    """Papers found by citations from the seeds, a page of them, and the counts of every round.

    `may_be_in_corpus_count` works are in neither list: title and author alone do not decide.
    """

    seeds: int
    stopped: Literal["nothing new", "few new", "papers", "rounds"]
    message: str
    rounds: list[SnowballRound]
    prisma: PrismaCounts
    paper_count: int
    papers: list[FoundBySnowball]
    not_in_corpus_count: int
    not_in_corpus: list[MissingWork]
    may_be_in_corpus_count: int = Field(default=0, exclude_if=lambda value: not value)
