"""Papers of a corpus by id, key, row and age, and what the papers room shows of them."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from typing import NamedTuple

from carrel.libraries.query.papers import PaperIdentifier
from carrel.rooms.papers.building.paper_keys import KeyKind, facet_value
from carrel.rooms.papers.building.paper_records import CITED_FIELDS, PaperRecord
from carrel.rooms.papers.building.papers import inferred_names, shown_name
from carrel.rooms.papers.models import (
    FetchedTextOrigin,
    Paper,
    PaperMetadata,
    RelatedVersion,
    ShownOrigin,
)
from carrel.rooms.papers.paper_names import former_id_key
from carrel.stores.corpus.folder import CorpusSession, LiveSegment, SegmentReader
from carrel.stores.corpus.records import StoredPaper, read_stored
from carrel.stores.corpus.schema import LATEST_INDEX

# What a value list may hold for one question; more are asked in several.
_VALUES_AT_ONCE = 5_000


class FoundPaper(NamedTuple):
    """A paper, the number of its present version, and the segment that holds it."""

    row: int
    segment: LiveSegment
    paper: StoredPaper


def find_paper(session: CorpusSession, paper_id: str) -> FoundPaper | None:
    """The paper of that id in its present version."""
    for segment in reversed(session.version.segments):
        reader = session.reader(segment)
        found = reader.one("SELECT row, record FROM paper WHERE paper_id = ?", (paper_id,))
        if found is not None and found[0] not in segment.deleted:
            return FoundPaper(found[0], segment, decode_record(reader, found[1]))
    return None


def find_papers(session: CorpusSession, paper_ids: Sequence[str]) -> list[FoundPaper]:
    """Those of the papers that exist, in the order asked for."""
    wanted, found = json.dumps(list(paper_ids)), dict[str, FoundPaper]()
    for segment, reader in session.readers():
        rows = reader.all(
            "SELECT row, record FROM paper WHERE paper_id IN (SELECT value FROM json_each(?))",
            (wanted,),
        )
        for row, record in rows:
            if row not in segment.deleted:
                paper = decode_record(reader, record)
                found[paper.paper_id] = FoundPaper(row, segment, paper)
    return [found[paper_id] for paper_id in paper_ids if paper_id in found]


def papers_of_rows(session: CorpusSession, rows: Sequence[int]) -> list[FoundPaper]:
    """Those of the rows that count, in this order."""
    found: dict[int, FoundPaper] = {}
    for segment in session.version.segments:
        here = [row for row in rows if segment.may_have(row)]
        if not here:
            continue
        reader = session.reader(segment)
        for row, record in reader.all(
            "SELECT row, record FROM paper WHERE row IN (SELECT value FROM json_each(?))",
            (json.dumps(here),),
        ):
            found[row] = FoundPaper(row, segment, decode_record(reader, record))
    return [found[row] for row in rows if row in found]


def rows_by_keys(session: CorpusSession, keys: Sequence[str]) -> dict[str, int]:
    """The rows of papers by keys such as `doi:10.1000/x`."""
    wanted, found = json.dumps(list(keys)), dict[str, int]()
    for segment, reader in session.readers():
        for key, row in reader.all(
            "SELECT key, row FROM paper_key WHERE key IN (SELECT value FROM json_each(?))",
            (wanted,),
        ):
            if row not in segment.deleted:
                found.setdefault(str(key), row)
    return found


def ids_by_keys(session: CorpusSession, keys: Sequence[str]) -> dict[str, str]:
    """The ids of papers by key, in the order of the keys."""
    rows = rows_by_keys(session, keys)
    ids = ids_of_rows(session, list(rows.values()))
    return {key: ids[rows[key]] for key in keys if rows.get(key) in ids}


def ids_of_rows(session: CorpusSession, rows: Sequence[int]) -> dict[int, str]:
    """The ids of the rows that count."""
    found: dict[int, str] = {}
    for segment in session.version.segments:
        here = [row for row in rows if segment.may_have(row)]
        for first in range(0, len(here), _VALUES_AT_ONCE):
            part = json.dumps(here[first : first + _VALUES_AT_ONCE])
            found.update(
                session.reader(segment).all(
                    "SELECT row, paper_id FROM paper WHERE row IN (SELECT value FROM json_each(?))",
                    (part,),
                )
            )
    return found


def identified_rows(session: CorpusSession, identifiers: Sequence[PaperIdentifier]) -> list[int]:
    """The rows of papers by what was typed: an id of ours, a DOI, an arXiv id."""
    keys = [f"{each.kind}:{each.value}" for each in identifiers if each.kind != "paper_id"]
    by_key = rows_by_keys(session, keys) if keys else {}
    found: dict[int, None] = {}
    for identifier in identifiers:
        if identifier.kind == "paper_id":
            paper = find_paper(session, identifier.value)
            row = None if paper is None else paper.row
        else:
            row = by_key.get(f"{identifier.kind}:{identifier.value}")
        if row is not None:
            found[row] = None
    return list(found)


def newest_rows(session: CorpusSession) -> Iterator[int]:
    """Every row that counts, newest first, read only as far as somebody asks."""
    streams = [_newest_of(segment, reader) for segment, reader in session.readers()]
    return (row for _, row in heapq.merge(*streams))


def rows_by_arrival(session: CorpusSession) -> list[int]:
    """Every row that counts, in the order in which their papers first came in."""
    found = [
        (LATEST_INDEX - newness % LATEST_INDEX, row)
        for segment, reader in session.readers()
        for newness, row in reader.each("SELECT newness, row FROM paper ORDER BY newness DESC")
        if row not in segment.deleted
    ]
    return [row for _, row in sorted(found)]


def list_ids(session: CorpusSession, first: int, count: int) -> list[str]:
    """Ids of `count` papers after the `first`, newest first."""
    rows = list(islice(newest_rows(session), first, first + count))
    ids = ids_of_rows(session, rows)
    return [ids[row] for row in rows]


def sort_by_year(session: CorpusSession, rows: Iterable[int]) -> list[int]:
    """The rows that count, newest first, those of one year by id.

    Rows themselves change whenever a paper is written again, so they order nothing.
    """
    wanted = list(rows)
    keyed: list[tuple[int, str, int]] = []
    for segment in session.version.segments:
        here = [row for row in wanted if segment.may_have(row)]
        for first in range(0, len(here), _VALUES_AT_ONCE):
            part = json.dumps(here[first : first + _VALUES_AT_ONCE])
            keyed += session.reader(segment).all(
                "SELECT -year, paper_id, row FROM paper "
                "WHERE row IN (SELECT value FROM json_each(?))",
                (part,),
            )
    return [row for _, _, row in sorted(keyed)]


def ids_beginning_with(session: CorpusSession, text: str, count: int) -> tuple[list[int], int]:
    """The newest rows whose id has this beginning, and how many there are."""
    start = text.lower()
    keyed: list[tuple[int, int]] = []
    for segment, reader in session.readers():
        found = reader.all(
            "SELECT -newness, row FROM paper WHERE paper_id >= ? AND paper_id < ?",
            (start, f"{start}\U0010ffff"),
        )
        keyed += [pair for pair in found if pair[1] not in segment.deleted]
    return [row for _, row in heapq.nsmallest(count, keyed)], len(keyed)


def stored_papers(session: CorpusSession, after: int = -1) -> Iterator[tuple[int, StoredPaper]]:
    """Every paper whose row is above `after`, in the order of rows."""
    for row, reader, record in packed_papers(session, after):
        yield row, decode_record(reader, record)


def packed_papers(
    session: CorpusSession, after: int = -1
) -> Iterator[tuple[int, SegmentReader, bytes]]:
    """The same with packed records, for who needs only some of them."""
    return heapq.merge(
        *(_packed_of(segment, reader, after) for segment, reader in session.readers()),
        key=lambda each: each[0],
    )


def shown_paper(stored: StoredPaper) -> Paper:
    """A stored paper as the papers room knows it."""
    record = stored.record
    translations = tuple(sorted(record.translations))
    metadata = PaperMetadata(
        paper_id=stored.paper_id,
        title=record.title,
        authors=distinct_names(record.authors),
        year=stored.year,
        publication_date=record.publication_date or "unknown",
        venue=record.venue or "",
        doi=record.doi,
        arxiv_id=_arxiv_id(stored),
        keywords=facet_values(record.keywords),
        institutions=facet_values(record.institutions),
        tags=facet_values(record.tags),
        preferred_summary_template=stored.preferred,
        available_summary_templates=stored.templates,
        available_translations=tuple(language for language, _ in translations),
        has_source=bool(record.markdown_sha256),
        has_bibtex=record.bibtex is not None,
        type=record.kind,
        volume=record.volume,
        issue=record.issue,
        pages=record.pages,
        publisher=record.publisher,
        editors=record.editors,
        pmid=record.pmid,
        pmcid=record.pmcid,
        isbn=record.isbn,
        issn=record.issn,
        url=record.url,
        language=record.language,
        license=record.license,
        text_origin=None
        if record.text_origin is None
        else FetchedTextOrigin(**asdict(record.text_origin)),
        inferred=shown_inferred(record),
        origin=None if record.origin == "list" else record.origin,
        origins=_shown_origins(record),
        overruled=tuple(shown_name(name) for name in record.overruled),
        former_ids=former_ids(stored),
        versions=tuple(
            RelatedVersion(
                relation=each.relation, paper_id=each.paper_id or None, doi=each.doi or None
            )
            for each in record.related
        ),
    )
    return Paper(
        metadata,
        True,
        record.markdown_sha256 or None,
        translations,
        record.references_sha256,
        record.figures_sha256,
        pdf_hash=record.pdf_sha256,
    )


def other_texts(session: CorpusSession, found: FoundPaper) -> tuple[str, ...]:
    """Hashes of texts that only some sources of the paper have and that it does not show."""
    shown = f"md/{found.paper.record.markdown_sha256}.md"
    rows = session.reader(found.segment).all(
        "SELECT name FROM asset JOIN paper_asset ON paper_asset.asset = asset.number "
        "WHERE row = ? AND name LIKE 'md/%' AND name <> ? ORDER BY name",
        (found.row, shown),
    )
    return tuple(str(name).removeprefix("md/").removesuffix(".md") for (name,) in rows)


def former_ids(stored: StoredPaper) -> tuple[str, ...]:
    """Ids of ours that the paper had, or that papers had that became part of it."""
    own = former_id_key(stored.paper_id)
    return tuple(
        key.value.partition(":")[2]
        for key in stored.keys
        if key.kind is KeyKind.ID and key.value != own
    )


def _shown_origins(record: PaperRecord) -> dict[str, ShownOrigin]:
    """The fields whose origin is not the record's own; all of them where that is no sure one.

    A field that a person cleared is named as well: it is not unknown for want of a source.
    """
    names = [
        name
        for name in (*CITED_FIELDS, "bibtex")
        if (getattr(record, name) or record.origin_of(name).origin == "person")
        and (record.confidence < 1 or any(each.field == name for each in record.origins))
    ]
    found = {name: record.origin_of(name) for name in names}
    return {
        shown_name(name): ShownOrigin(origin=each.origin, confidence=round(each.confidence, 2))
        for name, each in found.items()
    }


def facet_values(names: Iterable[str]) -> tuple[str, ...]:
    """Names as facets are counted: in lower case, each once."""
    return tuple(dict.fromkeys(value for name in names if (value := facet_value(name))))


def shown_inferred(record: PaperRecord) -> tuple[str, ...]:
    """The names of the fields that no source states, sorted."""
    return tuple(sorted(inferred_names(record)))


def distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names as they are spelled, those that differ only in case once."""
    seen: dict[str, str] = {}
    for name in names:
        if value := facet_value(name):
            seen.setdefault(value, " ".join(name.split()))
    return tuple(seen.values())


def _arxiv_id(stored: StoredPaper) -> str | None:
    keys = sorted(key.value for key in stored.keys[1:])
    return next(
        (
            value.removeprefix("arxiv:")
            for value in (*(key.value for key in stored.keys[:1]), *keys)
            if value.startswith(f"{KeyKind.ARXIV.name.lower()}:")
        ),
        None,
    )


def _newest_of(segment: LiveSegment, reader: SegmentReader) -> Iterator[tuple[int, int]]:
    for newness, row in reader.each("SELECT newness, row FROM paper ORDER BY newness DESC, row"):
        if row not in segment.deleted:
            yield -newness, row


def _packed_of(
    segment: LiveSegment, reader: SegmentReader, after: int
) -> Iterator[tuple[int, SegmentReader, bytes]]:
    rows = reader.each("SELECT row, record FROM paper WHERE row > ? ORDER BY row", (after,))
    for row, record in rows:
        if row not in segment.deleted:
            yield row, reader, record


def decode_record(reader: SegmentReader, record: bytes) -> StoredPaper:
    """A packed record; SnapshotUnavailableError where it is damaged."""
    try:
        return read_stored(record)
    except (ValueError, KeyError, TypeError) as error:
        raise reader.file.damaged() from error
