"""Snapshots as other programs write them, in both generations of their schema, made for one
test.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from carrel.libraries.text.words import split_cjk

Generation = Literal["older", "newer"]
FACETS = ("author", "keyword", "institution", "tag", "venue")


@dataclass(frozen=True, eq=False)
class SamplePaper:
    """One paper as its snapshot and its static folder hold it."""

    title: str
    authors: tuple[str, ...] = ()
    year: str = "unknown"
    venue: str = "unknown"
    doi: str | None = None
    arxiv: str | None = None
    keywords: tuple[str, ...] = ()
    institutions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    summaries: Mapping[str, str] = field(default_factory=lambda: {"simple": "A summary."})
    source: str | None = None
    translations: Mapping[str, str] = field(default_factory=dict)
    bibtex: str | None = None

    @property
    def paper_key(self) -> str:
        return (
            f"doi:{self.doi}"
            if self.doi
            else f"arxiv:{self.arxiv}"
            if self.arxiv
            else f"meta:{_hash(self.title)}"
        )

    @property
    def paper_id(self) -> str:
        return _hash(f"v1|{self.paper_key}")[:32]


def write_snapshot(
    folder: Path,
    papers: Iterable[SamplePaper],
    *,
    generation: Generation = "newer",
    build_id: str = "0" * 32,
    name: str = "paper_snapshot.db",
) -> Path:
    """Writes `paper_snapshot.db` and `paper-static/` into the folder; the path of the database is
    returned.
    """
    path = folder / name
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    with connection:
        connection.executescript(schema(generation))
        connection.execute("INSERT INTO snapshot_meta VALUES ('snapshot_build_id', ?)", (build_id,))
        for number, paper in enumerate(papers, start=1):
            _insert(connection, paper, number, generation)
            _write_static(folder / "paper-static", paper)
    connection.close()
    return path


def _insert(
    connection: sqlite3.Connection, paper: SamplePaper, number: int, generation: Generation
) -> None:
    source_hash = _hash(paper.source) if paper.source is not None else None
    preferred = "simple" if "simple" in paper.summaries else min(paper.summaries, default="")
    summary = " ".join(paper.summaries.values())
    columns = {
        "paper_id": paper.paper_id,
        "paper_key": paper.paper_key,
        "paper_key_type": paper.paper_key.split(":")[0],
        "title": paper.title,
        "year": paper.year,
        "month": "unknown",
        "publication_date": paper.year,
        "venue": paper.venue,
        "preferred_summary_template": preferred,
        "summary_preview": summary[:320],
        "paper_index": number,
        "source_md_content_hash": source_hash,
    } | ({"doi": paper.doi} if generation == "newer" else {})
    marks = ", ".join("?" * len(columns))
    connection.execute(
        f"INSERT INTO paper ({', '.join(columns)}) VALUES ({marks})", tuple(columns.values())
    )
    for kind, value in (("doi", paper.doi), ("arxiv", paper.arxiv)):
        if value:
            connection.execute(
                "INSERT INTO paper_key_alias VALUES (?, ?, ?, NULL)",
                (f"{kind}:{value}", paper.paper_id, kind),
            )
    connection.executemany(
        "INSERT INTO paper_summary VALUES (?, ?)",
        [(paper.paper_id, tag) for tag in paper.summaries],
    )
    connection.executemany(
        "INSERT INTO paper_translation VALUES (?, ?, ?)",
        [(paper.paper_id, lang, _hash(text)) for lang, text in paper.translations.items()],
    )
    if paper.bibtex and generation == "newer":
        connection.execute(
            "INSERT INTO paper_bibtex VALUES (?, ?, NULL, NULL)", (paper.paper_id, paper.bibtex)
        )
    values = (paper.authors, paper.keywords, paper.institutions, paper.tags, (paper.venue,))
    for facet, names in zip(FACETS, values, strict=True):
        for name in sorted({" ".join(name.lower().split()) for name in names} - {"", "unknown"}):
            connection.execute(
                f"INSERT INTO {facet}(value, paper_count) VALUES (?, 1) "
                "ON CONFLICT(value) DO UPDATE SET paper_count = paper_count + 1",
                (name,),
            )
            connection.execute(
                f"INSERT INTO paper_{facet} SELECT ?, {facet}_id FROM {facet} WHERE value = ?",
                (paper.paper_id, name),
            )
    metadata = " ".join(
        [
            paper.title,
            *paper.authors,
            paper.venue,
            *paper.keywords,
            *paper.institutions,
            paper.year,
            paper.doi or "",
        ]
    )
    texts = (
        paper.title,
        summary,
        paper.source or "",
        " ".join(paper.translations.values()),
        metadata,
    )
    connection.execute(
        "INSERT INTO paper_fts VALUES (?, ?, ?, ?, ?, ?)",
        (paper.paper_id, *(split_cjk(text) for text in texts)),
    )


def _write_static(folder: Path, paper: SamplePaper) -> None:
    files: dict[str, str] = {}
    if paper.source is not None:
        files[f"md/{_hash(paper.source)}.md"] = paper.source
    for lang, text in paper.translations.items():
        files[f"md_translate/{lang}/{_hash(text)}.md"] = text
    for tag, text in paper.summaries.items():
        body = json.dumps(
            {
                "paper_id": paper.paper_id,
                "paper_authors": paper.authors,
                "template_tag": tag,
                "summary": text,
            },
            ensure_ascii=False,
        )
        files[f"summary/{paper.paper_id}/{tag}.json"] = body
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def schema(generation: Generation) -> str:
    facets = "".join(
        f"""CREATE TABLE {facet} ({facet}_id INTEGER PRIMARY KEY, value TEXT NOT NULL UNIQUE,
            paper_count INTEGER NOT NULL DEFAULT 0);
        CREATE TABLE paper_{facet} (paper_id TEXT NOT NULL, {facet}_id INTEGER NOT NULL, PRIMARY KEY (paper_id, {facet}_id));
        CREATE INDEX idx_paper_{facet}_{facet}_id ON paper_{facet}({facet}_id);"""  # noqa: E501
        for facet in FACETS
    )
    bibtex = (
        "CREATE TABLE paper_bibtex (paper_id TEXT PRIMARY KEY, bibtex_raw TEXT NOT NULL, "
        "bibtex_key TEXT, entry_type TEXT);"
    )
    return f"""
    PRAGMA journal_mode = WAL;
    CREATE TABLE snapshot_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE paper (paper_id TEXT PRIMARY KEY, paper_key TEXT NOT NULL, paper_key_type TEXT NOT NULL,
        {"doi TEXT," if generation == "newer" else ""} title TEXT NOT NULL, year TEXT NOT NULL, month TEXT NOT NULL,
        publication_date TEXT NOT NULL, venue TEXT NOT NULL, preferred_summary_template TEXT NOT NULL,
        summary_preview TEXT NOT NULL, paper_index INTEGER NOT NULL DEFAULT 0, source_hash TEXT, output_language TEXT,
        provider TEXT, model TEXT, prompt_template TEXT, extracted_at TEXT, pdf_content_hash TEXT, source_md_content_hash TEXT);
    CREATE TABLE paper_summary (paper_id TEXT NOT NULL, template_tag TEXT NOT NULL, PRIMARY KEY (paper_id, template_tag));
    CREATE TABLE paper_translation (paper_id TEXT NOT NULL, lang TEXT NOT NULL, md_content_hash TEXT NOT NULL,
        PRIMARY KEY (paper_id, lang));
    CREATE TABLE paper_key_alias (paper_key TEXT PRIMARY KEY, paper_id TEXT NOT NULL, paper_key_type TEXT NOT NULL,
        meta_fingerprint TEXT);
    {bibtex if generation == "newer" else ""}
    {facets}
    CREATE VIRTUAL TABLE paper_fts USING fts5(paper_id UNINDEXED, title, summary, source, translated, metadata,
        tokenize='unicode61');
    CREATE VIRTUAL TABLE paper_fts_trigram USING fts5(paper_id UNINDEXED, title, venue, tokenize='trigram');
    """  # noqa: E501
