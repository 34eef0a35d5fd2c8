"""Reads of the snapshot's tables: one paper, many papers, facets."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from carrel.libraries.query.papers import FacetCategory, PaperIdentifier
from carrel.libraries.query.suggestions import candidate_prefixes
from carrel.libraries.text.folding import fold_in_place, text_key
from carrel.libraries.text.words import is_cjk, join_cjk
from carrel.rooms.papers.models import (
    SHOWN_AUTHORS,
    CorpusStatistics,
    FacetCount,
    Paper,
    PaperMetadata,
    YearCount,
)
from carrel.stores.sqlite.papers.snapshot import SnapshotVersion

NEWEST_FIRST = (
    "CASE WHEN paper.year GLOB '[0-9]*' THEN paper.year ELSE '' END DESC, "
    "paper.paper_index, paper.paper_id"
)


# The commonest words with a beginning that a mistyped word is compared with.
_MOST_WORDS_LIKE = 3_000


class ListedPaper(NamedTuple):
    """What a result list shows of a paper, its full-text row, and the first texts for snippets.

    `passage` is the part of its full text by which it was found, where an index tells.
    """

    row: int
    paper_id: str
    title: str
    year: str
    venue: str
    preview: str
    summary: str
    passage: str = ""


_LISTED = "paper.paper_id, paper.title, paper.year, paper.venue, paper.summary_preview"


def listed_papers(connection: sqlite3.Connection, paper_ids: Sequence[str]) -> list[ListedPaper]:
    """These papers in this order, with summaries where both tables number papers alike."""
    found = connection.execute(
        f"SELECT paper.rowid, {_LISTED}, coalesce(paper_fts.summary, '') FROM paper "
        "LEFT JOIN paper_fts ON paper_fts.rowid = paper.rowid AND paper_fts.paper_id = "
        "paper.paper_id "
        "WHERE paper.paper_id IN (SELECT value FROM json_each(?))",
        (json.dumps(paper_ids),),
    )
    by_id = {row[1]: ListedPaper(*row) for row in found}
    return [by_id[paper_id] for paper_id in paper_ids if paper_id in by_id]


def papers_of_rows(connection: sqlite3.Connection, numbers: Sequence[int]) -> list[ListedPaper]:
    """The papers of these full-text rows, in this order."""
    by_row = _joined(
        connection, "paper.rowid = paper_fts.rowid AND paper.paper_id = paper_fts.paper_id", numbers
    )
    missing = [number for number in numbers if number not in by_row]
    if missing:
        by_row |= _joined(connection, "paper.paper_id = paper_fts.paper_id", missing)
    return [by_row[number] for number in numbers if number in by_row]


def _joined(
    connection: sqlite3.Connection, join: str, numbers: Sequence[int]
) -> dict[int, ListedPaper]:
    found = connection.execute(
        f"SELECT paper_fts.rowid, {_LISTED}, paper_fts.summary FROM paper_fts CROSS JOIN paper ON "
        f"{join} "
        "WHERE paper_fts.rowid IN (SELECT value FROM json_each(?))",
        (json.dumps(numbers),),
    )
    return {row[0]: ListedPaper(*row) for row in found}


def indexed_texts(connection: sqlite3.Connection, paper: ListedPaper) -> Iterator[str]:
    """What of a paper is indexed, piece by piece, read only as far as somebody asks."""
    if paper.passage:
        yield paper.passage
    yield paper.summary
    for column in ("source", "translated", "metadata"):
        found = connection.execute(
            f"SELECT paper_id, {column} FROM paper_fts WHERE rowid = ?", (paper.row,)
        ).fetchone()
        if found is None or found[0] != paper.paper_id:
            break
        yield str(found[1] or "")
    yield paper.preview
    yield paper.title


def row_numbers(connection: sqlite3.Connection, paper_ids: Sequence[str]) -> list[int]:
    """The rows of these papers in the table `paper`."""
    found = connection.execute(
        "SELECT rowid FROM paper WHERE paper_id IN (SELECT value FROM json_each(?))",
        (json.dumps(paper_ids),),
    )
    return [int(row[0]) for row in found]


def identified_papers(
    connection: sqlite3.Connection, identifiers: Sequence[PaperIdentifier]
) -> list[str]:
    """Papers of these names, by the tables that have an index for them."""
    found: dict[str, None] = {}
    for identifier in identifiers:
        if identifier.kind == "paper_id":
            rows = connection.execute(
                "SELECT paper_id FROM paper WHERE paper_id = ?", (identifier.value,)
            )
        else:
            name = f"{identifier.kind}:{identifier.value}"
            rows = connection.execute(
                "SELECT paper_id FROM paper_key_alias WHERE paper_key = ?", (name,)
            )
        found.update((row[0], None) for row in rows)
    return list(found)


def facet_counts(
    connection: sqlite3.Connection, category: FacetCategory, count: int
) -> list[FacetCount]:
    rows = connection.execute(
        f"SELECT value, paper_count FROM {category} ORDER BY paper_count DESC, value LIMIT ?",
        (count,),
    )
    return [FacetCount(value=value, paper_count=papers) for value, papers in rows]


def bibtex(connection: sqlite3.Connection, paper_id: str) -> str | None:
    row = connection.execute(
        "SELECT bibtex_raw FROM paper_bibtex WHERE paper_id = ?", (paper_id,)
    ).fetchone()
    return str(row[0]) if row else None


class HitFacts(NamedTuple):
    """What a hit shows beside a listed paper's own fields."""

    authors: tuple[str, ...] = ()
    doi: str | None = None
    inferred: tuple[str, ...] = ()


def hit_facts(
    connection: sqlite3.Connection, generation: SnapshotVersion, papers: Sequence[ListedPaper]
) -> dict[str, HitFacts]:
    """The first authors, the DOI and the inferred fields of papers by their id."""
    ids = json.dumps([paper.paper_id for paper in papers])
    dois: dict[str, str | None] = {}
    if generation.has_doi:
        among = "SELECT paper_id, doi FROM paper WHERE paper_id IN (SELECT value FROM json_each(?))"
        dois = dict(connection.execute(among, (ids,)).fetchall())
    inferred = inferred_fields(connection, generation, [paper.paper_id for paper in papers])
    found: dict[str, HitFacts] = {}
    for paper in papers:
        authors, _ = _authors(connection, paper.paper_id, paper.title, paper.row)
        found[paper.paper_id] = HitFacts(
            authors[:SHOWN_AUTHORS],
            dois.get(paper.paper_id) or None,
            inferred.get(paper.paper_id, ()),
        )
    return found


def preview(connection: sqlite3.Connection, paper_id: str) -> str | None:
    """The beginning of the abstract or summary, else the title; None without such a paper."""
    row = connection.execute(
        "SELECT summary_preview, title FROM paper WHERE paper_id = ?", (paper_id,)
    ).fetchone()
    return None if row is None else str(row[0] or row[1])


def inferred_fields(
    connection: sqlite3.Connection, generation: SnapshotVersion, paper_ids: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """The inferred fields of those papers that have some; others' snapshots do not say."""
    if not generation.has_inferred or not paper_ids:
        return {}
    found: dict[str, tuple[str, ...]] = {}
    select = (
        "SELECT paper_id, field FROM paper_inferred WHERE paper_id IN (SELECT value FROM "
        "json_each(?)) ORDER BY field"
    )
    for paper_id, field in connection.execute(select, (json.dumps(paper_ids),)):
        found[paper_id] = (*found.get(paper_id, ()), field)
    return found


def read_paper(
    connection: sqlite3.Connection, generation: SnapshotVersion, paper_id: str
) -> Paper | None:
    doi = "doi" if generation.has_doi else "NULL"
    row = connection.execute(
        "SELECT title, year, publication_date, venue, preferred_summary_template, "
        "source_md_content_hash, "
        f"{doi}, paper_key, rowid FROM paper WHERE paper_id = ?",
        (paper_id,),
    ).fetchone()
    if row is None:
        return None
    title, year, date, venue, preferred, source_hash, doi_value, paper_key, number = row
    authors, has_order = _authors(connection, paper_id, str(title), number)
    templates = _column(
        connection,
        "SELECT template_tag FROM paper_summary WHERE paper_id = ? ORDER BY template_tag",
        paper_id,
    )
    translations = connection.execute(
        "SELECT lang, md_content_hash FROM paper_translation WHERE paper_id = ? ORDER BY lang",
        (paper_id,),
    )
    hashes = tuple((str(language), str(value)) for language, value in translations)
    metadata = PaperMetadata(
        paper_id=paper_id,
        title=title,
        authors=authors,
        year=year,
        publication_date=date,
        venue=venue,
        doi=doi_value,
        arxiv_id=_arxiv_id(connection, paper_id, str(paper_key)),
        keywords=_facet(connection, "keyword", paper_id),
        institutions=_facet(connection, "institution", paper_id),
        tags=_facet(connection, "tag", paper_id),
        preferred_summary_template=preferred,
        available_summary_templates=templates,
        available_translations=tuple(language for language, _ in hashes),
        has_source=bool(source_hash),
        has_bibtex=generation.has_bibtex and bibtex(connection, paper_id) is not None,
        inferred=inferred_fields(connection, generation, [paper_id]).get(paper_id, ()),
    )
    return Paper(metadata, has_order, source_hash or None, hashes)


def papers_by_keys(
    connection: sqlite3.Connection, generation: SnapshotVersion, keys: Sequence[str]
) -> dict[str, str]:
    """Ids by key, from a paper's own key, its aliases and its DOI in any spelling."""
    wanted = json.dumps(list(keys))
    among = "IN (SELECT value FROM json_each(:wanted))"
    parts = [f"SELECT lower(paper_key), paper_id FROM paper WHERE lower(paper_key) {among}"]
    if "paper_key_alias" in generation.tables:
        parts.append(f"SELECT paper_key, paper_id FROM paper_key_alias WHERE paper_key {among}")
    if generation.has_doi:
        parts.append(
            f"SELECT 'doi:' || lower(doi), paper_id FROM paper WHERE doi IS NOT NULL AND 'doi:' "
            f"|| lower(doi) {among}"
        )
    found: dict[str, str] = {}
    for part in parts:
        for name, paper_id in connection.execute(part, {"wanted": wanted}):
            found.setdefault(str(name), str(paper_id))
    return found


def _column(connection: sqlite3.Connection, sql: str, paper_id: str) -> tuple[str, ...]:
    return tuple(str(row[0]) for row in connection.execute(sql, (paper_id,)))


def _facet(
    connection: sqlite3.Connection, category: FacetCategory, paper_id: str
) -> tuple[str, ...]:
    sql = (
        f"SELECT value FROM {category} JOIN paper_{category} USING ({category}_id) WHERE "
        f"paper_id = ? ORDER BY {category}_id"
    )
    return _column(connection, sql, paper_id)


def _arxiv_id(connection: sqlite3.Connection, paper_id: str, paper_key: str) -> str | None:
    keys = (
        paper_key,
        *_column(
            connection,
            "SELECT paper_key FROM paper_key_alias WHERE paper_id = ? ORDER BY paper_key",
            paper_id,
        ),
    )
    return next(
        (value.removeprefix("arxiv:") for value in keys if value.startswith("arxiv:")), None
    )


def _authors(
    connection: sqlite3.Connection, paper_id: str, title: str, number: int
) -> tuple[tuple[str, ...], bool]:
    """Author facets spelled and ordered as in the indexed metadata, and whether that worked."""
    values = _facet(connection, "author", paper_id)
    if len(values) == 0:
        return values, True
    row = connection.execute(
        "SELECT paper_id, metadata FROM paper_fts WHERE rowid = ?", (number,)
    ).fetchone()
    if row is None or row[0] != paper_id:
        return values, False
    text = join_cjk(str(row[1]))
    start = len(title) if text_key(text).startswith(text_key(title)) else 0
    folded = fold_in_place(text)
    places = [_place(folded, fold_in_place(value), start) for value in values]
    if None in places:
        return values, False
    ordered = sorted(
        (place, len(value))
        for place, value in zip(places, values, strict=True)
        if place is not None
    )
    return tuple(text[place : place + length] for place, length in ordered), True


def _place(text: str, value: str, start: int) -> int | None:
    edges = ("", "") if is_cjk(value) else (r"(?<!\w)", r"(?!\w)")
    found = re.compile(edges[0] + re.escape(value) + edges[1]).search(text, start)
    return found.start() if found else None


def list_ids(connection: sqlite3.Connection, first: int, count: int) -> list[str]:
    """Ids of papers, newest first."""
    found = connection.execute(
        f"SELECT paper_id FROM paper ORDER BY {NEWEST_FIRST} LIMIT ? OFFSET ?", (count, first)
    )
    return [str(row[0]) for row in found]


def words_like(connection: sqlite3.Connection, word: str) -> list[tuple[str, int]]:
    """Indexed words that begin as a mistyped one may, and how many papers have them."""
    found: dict[str, int] = {}
    for prefix in candidate_prefixes(word):
        found |= connection.execute(
            "SELECT term, doc FROM temp.paper_words WHERE term >= ? AND term < ? "
            "ORDER BY doc DESC LIMIT ?",
            (prefix, f"{prefix}\U0010ffff", _MOST_WORDS_LIKE),
        ).fetchall()
    return list(found.items())


def ids_like(connection: sqlite3.Connection, text: str, count: int) -> tuple[list[str], int]:
    """Ids with this beginning, then of papers with such a word in the title, and their number."""
    start = f"{_literal_pattern(text)}%"
    names = {"id": start, "title": start, "word": f"% {start}", "count": count}
    fits = (
        "FROM paper WHERE paper_id LIKE :id ESCAPE '!' OR title LIKE :title ESCAPE '!' OR "
        "title LIKE :word ESCAPE '!'"
    )
    total = int(connection.execute(f"SELECT count(*) {fits}", names).fetchone()[0])
    order = f"paper_id LIKE :id ESCAPE '!' DESC, {NEWEST_FIRST}"
    found = connection.execute(f"SELECT paper_id {fits} ORDER BY {order} LIMIT :count", names)
    return [str(row[0]) for row in found], total


def _literal_pattern(text: str) -> str:
    """A text for LIKE with `!` as its escape, so that its own signs mean themselves."""
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def statistics(
    connection: sqlite3.Connection, generation: SnapshotVersion, index: str
) -> CorpusStatistics:
    """What the whole snapshot holds, from its counts."""

    def count(question: str) -> int:
        return int(connection.execute(f"SELECT count(*) FROM {question}").fetchone()[0])

    built = None
    if "snapshot_meta" in generation.tables:
        built = connection.execute(
            "SELECT value FROM snapshot_meta WHERE key = 'built_at'"
        ).fetchone()
    years = (
        connection.execute("SELECT year, paper_count FROM year_count ORDER BY year DESC")
        if "year_count" in generation.tables
        else ()
    )
    return CorpusStatistics(
        papers=count("paper"),
        with_doi=count("paper WHERE doi IS NOT NULL AND doi <> ''") if generation.has_doi else 0,
        with_source=count(
            "paper WHERE source_md_content_hash IS NOT NULL AND source_md_content_hash <> ''"
        ),
        with_bibtex=count("paper_bibtex") if generation.has_bibtex else 0,
        with_translation=count("(SELECT DISTINCT paper_id FROM paper_translation)")
        if "paper_translation" in generation.tables
        else 0,
        authors=count("author"),
        venues=count("venue"),
        keywords=count("keyword"),
        years=[YearCount(year=str(year), paper_count=int(number)) for year, number in years],
        build_id=generation.build_id,
        built_at=None if built is None else str(built[0]),
        index=index,
    )
