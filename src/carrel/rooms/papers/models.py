"""What the papers room is asked and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field

from carrel.core.note_links import NoteLink
from carrel.core.operation import Answer, Question
from carrel.core.work_notices import WorkNotice
from carrel.rooms.papers.paper_names import MAX_NAME_CHARACTERS, check_paper_name

MAX_QUERY_CHARACTERS = 500
MAX_PAGE_SIZE = 100
MAX_DEPTH = 10_000
DEFAULT_MAX_CHARS = 50_000
_MAX_MARKDOWN_CHARACTERS = 5_000_000
_MAX_PDF_CHARACTERS = 280_000_000

MAX_PASSAGE_QUERY_CHARACTERS = 2_000
MAX_QUOTE_CHARACTERS = 4_000
MAX_PASSAGES = 50
MAX_NEIGHBOURS = 10
MAX_WITHIN = 50
# How many papers an export can name one by one.
MAX_EXPORTED_IDS = 200
# How many authors a hit names.
SHOWN_AUTHORS = 3

PaperId = Annotated[
    str,
    AfterValidator(check_paper_name),
    Field(min_length=1, max_length=MAX_NAME_CHARACTERS, description="paper_id, DOI or arXiv id"),
]
Within = Annotated[
    list[PaperId],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    Field(max_length=MAX_WITHIN, description="Only in these papers"),
]
Limit = Annotated[
    int, Field(ge=1, le=MAX_PAGE_SIZE, validation_alias=AliasChoices("limit", "page_size"))
]
Page = Annotated[int, Field(ge=1, description=f"From 1; page × limit ≤ {MAX_DEPTH}")]
MaxChars = Annotated[int, Field(ge=1, description="All if absent")]
Inferred = Annotated[
    tuple[str, ...],
    Field(
        description="Fields that no source states; worked out from layout or a file name",
        exclude_if=lambda fields: not fields,
    ),
]
# Retractions and corrections, the gravest first.
Notices = Annotated[tuple[WorkNotice, ...], Field(exclude_if=lambda notices: not notices)]
# A field that is left out where nothing says it.
Unknown = Annotated[str | None, Field(exclude_if=lambda value: value is None)]
Offset = Annotated[int, Field(ge=0, description="Start at this character")]


class SearchPapers(Question):
    """A full-text search."""

    query: str = Field(max_length=MAX_QUERY_CHARACTERS)
    limit: Limit = 10
    page: Page = 1


class ExportPapers(Question):
    """Papers to write out."""

    format: Literal["jsonl", "bibtex", "csl-json", "ris"] = "jsonl"
    query: str | None = Field(
        default=None,
        max_length=MAX_QUERY_CHARACTERS,
        description="Only papers that match; all without it",
    )
    ids: list[Annotated[str, Field(max_length=MAX_NAME_CHARACTERS)]] = Field(
        default_factory=list,
        max_length=MAX_EXPORTED_IDS,
        description="Only these: paper ids, DOIs or arXiv ids",
    )
    limit: int = Field(default=100, ge=1, le=1000)
    page: int = Field(default=1, ge=1)


class NoQuestion(Question):
    """Asks nothing in particular."""


class SearchPapersByKeyword(Question):
    """A search among keywords and tags."""

    keyword: str = Field(max_length=MAX_QUERY_CHARACTERS)
    limit: Limit = 10
    page: Page = 1


class OnePaper(Question):
    """A question about one paper."""

    paper_id: PaperId


class GetPaperSummary(OnePaper):
    """Which summary, and which part of it."""

    template: str | None = Field(
        default=None, max_length=64, description="Of available_summary_templates"
    )
    max_chars: MaxChars | None = None
    offset: Offset = 0


class GetPaperSource(OnePaper):
    """Which part of a paper's text."""

    section: str | None = Field(
        default=None, min_length=1, max_length=300, description="A heading, or its number: 2.1"
    )
    outline: bool = Field(default=False, description="Only the headings")
    max_chars: MaxChars | None = None
    offset: Offset = 0


class FindPassages(Question):
    """A search for passages."""

    query: str = Field(max_length=MAX_PASSAGE_QUERY_CHARACTERS, description="Question or words")
    within: Within = Field(default_factory=list)
    limit: Annotated[int, Field(ge=1, le=MAX_PASSAGES)] = 10
    page: Annotated[int, Field(ge=1)] = 1
    task_id: str | None = Field(
        default=None, min_length=1, max_length=100, description="Of a research task"
    )


class ReadPassage(Question):
    """One passage, with some of its neighbours."""

    passage_id: Annotated[
        str,
        Field(
            description="From find_passages or locate_quote",
            min_length=1,
            max_length=MAX_NAME_CHARACTERS,
            validation_alias=AliasChoices("passage_id", "id"),
        ),
    ]
    before: Annotated[int, Field(ge=0, le=MAX_NEIGHBOURS, description="Passages before it")] = 0
    after: Annotated[int, Field(ge=0, le=MAX_NEIGHBOURS, description="Passages after it")] = 0


class LocateQuote(Question):
    """A quotation whose source is sought."""

    text: str = Field(
        min_length=1, max_length=MAX_QUOTE_CHARACTERS, description="The quotation, word for word"
    )
    within: Within = Field(default_factory=list)


ListedCategory = Literal["author", "venue", "keyword", "institution", "tag", "year"]


class ListTopFacets(Question):
    """The most frequent values of one kind."""

    category: ListedCategory
    limit: int = Field(default=20, ge=1, le=MAX_PAGE_SIZE)


class AddPaper(Question):
    """One paper, in exactly one of five forms; a path may name a folder of papers."""

    path: Annotated[
        str | None,
        Field(min_length=1, max_length=4096, description="File or folder on the server's machine"),
    ] = None
    upload_id: Annotated[
        str | None, Field(max_length=100, description="A file sent to /uploads")
    ] = None
    identifier: Annotated[
        str | None, Field(max_length=500, description="DOI or arXiv id, looked up")
    ] = None
    markdown: Annotated[
        str | None,
        Field(
            max_length=_MAX_MARKDOWN_CHARACTERS,
            description="Text, with YAML front matter (title, authors, year, doi) if known",
        ),
    ] = None
    pdf_base64: Annotated[
        str | None, Field(max_length=_MAX_PDF_CHARACTERS, description="PDF with a text layer")
    ] = None


class AddedPaper(Answer):
    """One of several papers that were added at once."""

    paper_id: str
    title: str
    is_new: bool


class PaperAdded(Answer):
    """The paper as the corpus now has it; `is_new` is false where the corpus had it before.

    Where a folder or a list gave several, this is the first, `papers` names the first hundred and
    `count` says how many there are. While `job_id` is still at work, `paper_id` is empty.
    """

    paper_id: str
    title: str
    is_new: bool
    notes: list[str]
    papers: list[AddedPaper] = Field(default=[], exclude_if=lambda papers: not papers)
    count: int = Field(default=1, exclude_if=lambda count: count == 1)
    job_id: str | None = Field(default=None, exclude_if=lambda job_id: job_id is None)
    next_step: str = Field(default="", exclude_if=lambda step: not step)


class PaperRemoved(Answer):
    """The paper that left the corpus; `decision` is the number to undo it by."""

    paper_id: str
    title: str
    decision: int


class PaperHit(Answer):
    """One paper found. `year` is the snapshot's own text, 'unknown' where nobody knew.

    `authors` are the first few, `total` counts the papers that the search finds in all.
    """

    paper_id: str
    title: str
    year: str
    venue: str
    snippet_markdown: str
    authors: tuple[str, ...] = ()
    doi: str | None = None
    total: int | None = None
    inferred: Inferred = ()
    notices: Notices = ()


class PassageHit(Answer):
    """A passage found, word for word; `start` and `end` are its place in the paper's source."""

    passage_id: str
    paper_id: str
    title: str
    authors: tuple[str, ...]
    year: str
    doi: str | None
    section: str
    page: int | None
    start: int
    end: int
    text: str
    inferred: Inferred = ()
    notices: Notices = ()


class PassageText(Answer):
    """One passage; `is_asked` tells it from its neighbours."""

    passage_id: str
    section: str
    page: int | None
    start: int
    end: int
    text: str
    is_asked: bool


class PassageInContext(Answer):
    """A passage with its neighbours, in the order of the text."""

    paper_id: str
    title: str
    authors: tuple[str, ...]
    year: str
    doi: str | None
    passages: list[PassageText]
    inferred: Inferred = ()


class QuoteDifference(Answer):
    """Words of the quotation, and what the text has in their place."""

    quoted: str
    stored: str


class QuotePlace(Answer):
    """Where a quotation stands: the stored text there word for word, and its whole sentences."""

    paper_id: str
    title: str
    authors: tuple[str, ...]
    year: str
    doi: str | None
    passage_id: str | None
    section: str
    page: int | None
    start: int
    end: int
    exactness: Literal["exact", "same words", "near"]
    similarity: float
    text: str
    differences: list[QuoteDifference]
    inferred: Inferred = ()
    sentence: str = ""


class LocatedQuote(Answer):
    """Every place of a quotation, best first, and the nearest ones of those that are others."""

    is_found: bool
    message: str
    places: list[QuotePlace]
    nearest: list[QuotePlace]


class FacetCount(Answer):
    """One facet value and how many papers have it."""

    value: str
    paper_count: int


class ShownOrigin(Answer):
    """Where a field's value comes from (person, publisher, list, layout, guess), and how sure."""

    origin: str
    confidence: float


class FetchedTextOrigin(Answer):
    """Where a paper's text was fetched; `version` is published, accepted or submitted."""

    url: str
    format: str
    version: Unknown = None
    licence: Unknown = None
    service: Unknown = None
    sha256: str
    retrieved_at: str


class RelatedVersion(Answer):
    """Another version, correction or comment: what this paper is to it (`preprint_of`,
    `published_as`, `version_of`, `correction_of` …), and its paper_id here or its DOI.
    """

    relation: str
    paper_id: Unknown = None
    doi: Unknown = None


class PaperMetadata(Answer):
    """Everything known about a paper but its texts.

    `origin` is that of most fields, none if somebody's list or front matter states them; `origins`
    names the fields that are otherwise. `type` is CSL's.
    """

    paper_id: str
    title: str
    authors: tuple[str, ...]
    year: str
    publication_date: str
    venue: str
    doi: str | None
    arxiv_id: str | None
    keywords: tuple[str, ...]
    institutions: tuple[str, ...]
    tags: tuple[str, ...]
    preferred_summary_template: str
    available_summary_templates: tuple[str, ...]
    available_translations: tuple[str, ...]
    has_source: bool
    has_bibtex: bool
    type: Unknown = None
    volume: Unknown = None
    issue: Unknown = None
    pages: Unknown = None
    publisher: Unknown = None
    editors: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)
    pmid: Unknown = None
    pmcid: Unknown = None
    isbn: Unknown = None
    issn: Unknown = None
    url: Unknown = None
    language: Unknown = None
    license: Unknown = None
    # Where the text was fetched, if it was.
    text_origin: FetchedTextOrigin | None = Field(default=None, exclude_if=lambda value: not value)
    inferred: Inferred = ()
    origin: Unknown = None
    origins: dict[str, ShownOrigin] = Field(default={}, exclude_if=lambda value: not value)
    # Fields that the stored BibTeX entry has otherwise and a better source decides; not shown.
    overruled: tuple[str, ...] = Field(default=(), exclude=True)
    # How many figures and tables, and entries of its reference list, are known.
    figures: int | None = Field(default=None, exclude_if=lambda value: not value)
    references: int | None = Field(default=None, exclude_if=lambda value: not value)
    # Works that are linked with this one and stay papers of their own.
    versions: tuple[RelatedVersion, ...] = Field(default=(), exclude_if=lambda value: not value)
    # Ids of papers that became part of this one; they lead here.
    former_ids: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)
    notices: Notices = ()
    # The newest notes that point at the paper and that the caller may see.
    notes: tuple[NoteLink, ...] = Field(default=(), exclude_if=lambda value: not value)


class YearCount(Answer):
    year: str
    paper_count: int


class CorpusStatistics(Answer):
    """How large the corpus is and what it holds."""

    papers: int
    with_doi: int
    with_source: int
    with_bibtex: int
    with_translation: int
    authors: int
    venues: int
    keywords: int
    years: list[YearCount]
    build_id: str
    built_at: str | None
    index: str


@dataclass(frozen=True, slots=True)
class Paper:
    """A stored paper: its metadata, and the hashes of its texts.

    `other_texts` are those of papers that became part of this one, which shows another.
    """

    metadata: PaperMetadata
    has_author_order: bool
    source_hash: str | None
    translation_hashes: tuple[tuple[str, str], ...]
    references_hash: str | None = None
    figures_hash: str | None = None
    other_texts: tuple[str, ...] = ()
    # Of the PDF that the paper was read from, or that lay beside its source.
    pdf_hash: str | None = None
