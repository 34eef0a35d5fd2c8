"""One paper from its records: merged fields, summaries, and its published form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from carrel.libraries.text.plain_text import plain_text
from carrel.rooms.papers.building.identity import (
    UNKNOWN,
    Conflict,
    PaperKey,
    facet_value,
    find_month,
    find_year,
)
from carrel.rooms.papers.building.models import (
    FiledSummary,
    Heading,
    KeptImage,
    PaperRecord,
    guessed,
)

# Whose word counts first: a person's or publisher's own text, then a list, then a PDF's layout.
READERS_BY_TRUST = ("paper_infos", "jats", "markdown", "bibliography", "json_lines", "pdf")
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


def merge_records(records: Sequence[PaperRecord]) -> PaperRecord:
    """Merge at least one record, best source first; the others fill its gaps."""
    if len(records) == 1:
        return records[0]
    text = next((record for record in records if record.markdown_sha256), None)
    summaries: dict[str, FiledSummary] = {}
    for record in records:
        for summary in record.summaries:
            summaries.setdefault(summary.template, summary)
    return PaperRecord(
        title=_first(record.title for record in _stated_first(records, "title")) or "",
        authors=next((record.authors for record in records if record.authors), ()),
        institutions=_union(record.institutions for record in records),
        venue=_first(record.venue for record in records),
        publication_date=_fullest_date(_stated_first(records, "publication_date")),
        abstract=_first(record.abstract for record in records),
        keywords=_union(record.keywords for record in records),
        tags=_union(record.tags for record in records),
        doi=_first(record.doi for record in records),
        arxiv_id=_first(record.arxiv_id for record in records),
        citation_key=_first(record.citation_key for record in records),
        bibtex=next((record.bibtex for record in records if record.bibtex), None),
        language=_first(record.language for record in records),
        headings=text.headings
        if text
        else next((record.headings for record in records if record.headings), ()),
        summaries=tuple(summaries.values()),
        source_hash=_first(record.source_hash for record in records),
        markdown_sha256=text.markdown_sha256 if text else None,
        pdf_sha256=_first(record.pdf_sha256 for record in records),
        translations=tuple(
            dict(pair for record in reversed(records) for pair in record.translations).items()
        ),
        images=_images_shown(text, next((each for each in records if each.figures_sha256), None)),
        kind=_first(record.kind for record in records),
        volume=_first(record.volume for record in records),
        issue=_first(record.issue for record in records),
        pages=_first(record.pages for record in records),
        publisher=_first(record.publisher for record in records),
        pmid=_first(record.pmid for record in records),
        pmcid=_first(record.pmcid for record in records),
        isbn=_first(record.isbn for record in records),
        issn=_first(record.issn for record in records),
        url=_first(record.url for record in records),
        affiliations=next((record.affiliations for record in records if record.affiliations), ()),
        related=tuple(dict.fromkeys(related for record in records for related in record.related)),
        references_sha256=_first(record.references_sha256 for record in records),
        figures_sha256=_first(record.figures_sha256 for record in records),
        origin=records[0].origin,
        confidence=records[0].confidence,
        origins=guessed(*_inferred_by_all(records)),
    )


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


def _stated_first(records: Sequence[PaperRecord], field: str) -> list[PaperRecord]:
    """Records that state the field before those that only infer it."""
    return sorted(records, key=lambda record: field in record.inferred)


def _inferred_by_all(records: Sequence[PaperRecord]) -> tuple[str, ...]:
    """The inferred fields that no source states."""
    inferred = dict.fromkeys(field for record in records for field in record.inferred)
    return tuple(
        field
        for field in inferred
        if not any(getattr(record, field) and field not in record.inferred for record in records)
    )


def _images_shown(text: PaperRecord | None, figures: PaperRecord | None) -> tuple[KeptImage, ...]:
    """Images of the text and of the list of figures, each once."""
    images = [image for record in (text, figures) if record for image in record.images]
    return tuple(dict.fromkeys(images))


def _first(values: Iterable[str | None]) -> str | None:
    return next((value for value in values if value), None)


def _union(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Distinct values in their first spelling; values with the same facet are one."""
    seen: dict[str, str] = {}
    for values in lists:
        for value in values:
            if spelled := facet_value(value):
                seen.setdefault(spelled, value)
    return tuple(seen.values())


def _fullest_date(records: Sequence[PaperRecord]) -> str | None:
    """The first source's date, unless another only adds the month to the same year."""
    dates = [record.publication_date for record in records if record.publication_date]
    if not dates:
        return None
    return next((later for later in dates if later.startswith(f"{dates[0]}-")), dates[0])


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
    fields = record.inferred
    return (*fields, "year") if "publication_date" in fields else fields


@dataclass(frozen=True, slots=True)
class PublishedPaper:
    """One paper as written to the snapshot and the static folder."""

    paper_id: str
    paper_index: int
    keys: tuple[PaperKey, ...]
    record: PaperRecord
    summaries: PaperSummaries
    conflicts: tuple[Conflict, ...] = ()

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
