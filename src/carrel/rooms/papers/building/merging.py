"""One paper out of what several sources say of it: the best source's word first, the others fill
the gaps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from carrel.core.paper_record import FiledSummary, PaperRecord
from carrel.rooms.papers.building.identity import facet_value

# The reader whose word counts first. A person's or publisher's own text beats a list, a list beats
# what a PDF seems to say.
READERS_BY_TRUST = ("paper_infos", "jats", "markdown", "bibliography", "json_lines", "pdf")


def trust_in(reader: str) -> int:
    return READERS_BY_TRUST.index(reader) if reader in READERS_BY_TRUST else len(READERS_BY_TRUST)


def merge(records: Sequence[PaperRecord]) -> PaperRecord:
    """`records` come best source first, and there is at least one."""
    if len(records) == 1:
        return records[0]
    with_text = next((record for record in records if record.markdown_sha256), None)
    summaries: dict[str, FiledSummary] = {}
    for record in records:
        for summary in record.summaries:
            summaries.setdefault(summary.template, summary)
    return PaperRecord(
        title=next(
            (record.title for record in _stated_first(records, "title") if record.title), ""
        ),
        authors=next((record.authors for record in records if record.authors), ()),
        institutions=_together(record.institutions for record in records),
        venue=_first(record.venue for record in records),
        publication_date=_fullest_date(_stated_first(records, "publication_date")),
        abstract=_first(record.abstract for record in records),
        keywords=_together(record.keywords for record in records),
        tags=_together(record.tags for record in records),
        doi=_first(record.doi for record in records),
        arxiv_id=_first(record.arxiv_id for record in records),
        citation_key=_first(record.citation_key for record in records),
        bibtex=next((record.bibtex for record in records if record.bibtex), None),
        language=_first(record.language for record in records),
        headings=with_text.headings
        if with_text
        else next((record.headings for record in records if record.headings), ()),
        summaries=tuple(summaries.values()),
        source_hash=_first(record.source_hash for record in records),
        markdown_sha256=with_text.markdown_sha256 if with_text else None,
        pdf_sha256=_first(record.pdf_sha256 for record in records),
        translations=tuple(
            dict(pair for record in reversed(records) for pair in record.translations).items()
        ),
        images=with_text.images if with_text else (),
        inferred=_still_inferred(records),
    )


def with_summaries(record: PaperRecord, filed: Sequence[FiledSummary]) -> PaperRecord:
    """The record with summaries that were asked for here; they take the place of those that came
    with a source.
    """
    if not filed:
        return record
    own = {summary.template: summary for summary in filed}
    return replace(
        record,
        summaries=(
            *(summary for summary in record.summaries if summary.template not in own),
            *own.values(),
        ),
    )


def _stated_first(records: Sequence[PaperRecord], field: str) -> list[PaperRecord]:
    """What a source states counts before what another only lets infer."""
    return sorted(records, key=lambda record: field in record.inferred)


def _still_inferred(records: Sequence[PaperRecord]) -> tuple[str, ...]:
    """The inferred fields that no source states."""
    guessed = dict.fromkeys(field for record in records for field in record.inferred)
    return tuple(
        field
        for field in guessed
        if not any(getattr(record, field) and field not in record.inferred for record in records)
    )


def _first(values: Iterable[str | None]) -> str | None:
    return next((value for value in values if value), None)


def _together(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Every value once, as first spelled; two spellings are one when they are one facet."""
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
