"""A paper as it is published: its record, its summaries and its facets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from carrel.libraries.text.plain_text import plain_text
from carrel.rooms.papers.building.paper_groups import Conflict
from carrel.rooms.papers.building.paper_keys import (
    UNKNOWN,
    PaperKey,
    facet_value,
    find_month,
    find_year,
)
from carrel.rooms.papers.building.paper_records import (
    FiledSummary,
    Heading,
    PaperRecord,
    PossibleTwin,
)

# Whose word counts first: a person's or publisher's own text, then a list, then a PDF's layout.
READERS_BY_TRUST = (
    *("paper_infos", "jats", "markdown", "bibliography", "json_lines", "pdf"),
    # Dumps fill gaps, in the order of the facts sheet of literature services, section 8.
    *("crossref_dump", "pubmed_dump", "arxiv_dump", "openalex_dump"),
)
SIMPLE = "simple"
NO_MODEL_NOTE = (
    "*No language model wrote this: it is the paper's own abstract and the outline of "
    "its sections.*"
)
_NO_ABSTRACT = "The source gives no abstract."
_NOT_IN_A_TAG = re.compile(r"[^a-z0-9_-]")
_PREVIEW_CHARACTERS = 320
_MAX_OUTLINE_HEADINGS = 200


def reader_rank(reader: str) -> int:
    return READERS_BY_TRUST.index(reader) if reader in READERS_BY_TRUST else len(READERS_BY_TRUST)


def asset_paths(record: PaperRecord) -> list[str]:
    """The names of the texts and files of a record."""
    return [
        *([f"md/{record.markdown_sha256}.md"] if record.markdown_sha256 else []),
        *([f"pdf/{record.pdf_sha256}.pdf"] if record.pdf_sha256 else []),
        *(f"md_translate/{language}/{sha256}.md" for language, sha256 in record.translations),
        *(image.static_path for image in record.images if image.sha256),
        *([f"references/{record.references_sha256}.json"] if record.references_sha256 else []),
        *([f"figures/{record.figures_sha256}.json"] if record.figures_sha256 else []),
    ]


def add_summaries(record: PaperRecord, filed: Sequence[FiledSummary]) -> PaperRecord:
    """The record with summaries written here, which replace those of the source."""
    by_template = {summary.template: summary for summary in (*record.summaries, *filed)}
    return replace(record, summaries=tuple(by_template.values())) if filed else record


def _first(values: Iterable[str | None]) -> str | None:
    return next((value for value in values if value), None)


@dataclass(frozen=True, slots=True)
class PaperSummaries:
    """A paper's summaries sorted by template, the preferred one, and their words for the index."""

    all: tuple[FiledSummary, ...]
    preferred: FiledSummary
    preview: str
    searchable: str

    @property
    def templates(self) -> tuple[str, ...]:
        return tuple(summary.template for summary in self.all)


def template_tag(name: str) -> str:
    """A template's name as it appears in file names and in the snapshot."""
    return _NOT_IN_A_TAG.sub("_", name.strip().lower())[:64] or SIMPLE


def collect_summaries(paper: PaperRecord) -> PaperSummaries:
    """Filed summaries; without a filed `simple` it is made of abstract and outline."""
    filed = {
        tag: replace(summary, template=tag)
        for summary in paper.summaries
        for tag in [template_tag(summary.template)]
    }
    words = {tag: plain_text(summary.markdown) for tag, summary in filed.items()}
    if SIMPLE not in filed:
        filed[SIMPLE] = FiledSummary(SIMPLE, simple_summary(paper), language=paper.language)
        words[SIMPLE] = _own_words(paper)
    asked = _first(summary.prompt_template for summary in filed.values())
    preferred = template_tag(asked) if asked and template_tag(asked) in filed else SIMPLE
    ordered = [preferred, *(tag for tag in sorted(filed) if tag != preferred)]
    return PaperSummaries(
        tuple(filed[tag] for tag in sorted(filed)),
        filed[preferred],
        words[preferred][:_PREVIEW_CHARACTERS],
        " ".join(words[tag] for tag in ordered if words[tag]),
    )


def simple_summary(paper: PaperRecord) -> str:
    """Abstract and outline, and the note that this is all it is."""
    pieces = ["## Abstract", paper.abstract or _NO_ABSTRACT]
    if outline := _outline(paper.headings):
        pieces += ["## Outline", outline]
    return "\n\n".join([*pieces, NO_MODEL_NOTE])


def _outline(headings: tuple[Heading, ...]) -> str:
    top = min((heading.level for heading in headings), default=0)
    return "\n".join(
        f"{'  ' * (heading.level - top)}- {heading.title}"
        for heading in headings[:_MAX_OUTLINE_HEADINGS]
    )


def _own_words(paper: PaperRecord) -> str:
    """The searchable text, without our own note and labels."""
    headings = (heading.title for heading in paper.headings[:_MAX_OUTLINE_HEADINGS])
    return " ".join([plain_text(paper.abstract or ""), *headings]).strip()


def inferred_names(record: PaperRecord) -> tuple[str, ...]:
    """The displayed names of fields that no source states."""
    fields = tuple(shown_name(name) for name in record.inferred)
    return (*fields, "year") if "publication_date" in fields else fields


def shown_name(field: str) -> str:
    """The name under which answers show a field of a record."""
    return "type" if field == "kind" else field


@dataclass(frozen=True, slots=True)
class PublishedPaper:
    """One paper as written to the snapshot and the static folder.

    `sources` are the names of its files where something in it is doubtful.
    """

    paper_id: str
    paper_index: int
    keys: tuple[PaperKey, ...]
    record: PaperRecord
    summaries: PaperSummaries
    conflicts: tuple[Conflict, ...] = ()
    sources: tuple[str, ...] = ()
    twins: tuple[PossibleTwin, ...] = ()

    @property
    def year(self) -> str:
        return find_year(self.record.publication_date)

    @property
    def month(self) -> str:
        return find_month(self.record.publication_date)

    @property
    def publication_date(self) -> str:
        return self.record.publication_date or UNKNOWN

    @property
    def inferred(self) -> tuple[str, ...]:
        """The displayed names of fields that no source states."""
        return inferred_names(self.record)

    @property
    def venue(self) -> str:
        return self.record.venue or ""

    def facets(self) -> list[tuple[str, str]]:
        """All distinct pairs of facet and value."""
        record, preferred = self.record, self.summaries.preferred
        pairs: list[tuple[str, str | None]] = [
            *(("author", name) for name in record.authors),
            *(("keyword", name) for name in record.keywords),
            *(("institution", name) for name in record.institutions),
            *(("tag", name) for name in record.tags),
            ("venue", record.venue),
            ("year", self.year),
            ("month", self.month),
            *(("summary_template", tag) for tag in self.summaries.templates),
            ("output_language", preferred.language),
            ("provider", preferred.provider),
            ("model", preferred.model),
            ("prompt_template", preferred.prompt_template),
            *(("translation_lang", language) for language, _ in record.translations),
        ]
        return list(
            dict.fromkeys((facet, value) for facet, text in pairs if (value := facet_value(text)))
        )


@dataclass(frozen=True, slots=True)
class PaperVersion:
    """A paper, the number of this version of it, and assets that only its sources name."""

    row: int
    paper: PublishedPaper
    more_assets: tuple[str, ...] = ()
