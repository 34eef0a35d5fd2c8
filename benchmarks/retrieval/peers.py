"""The same documents in plain FTS5, in tuned FTS5 and in raw tantivy."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.retrieval.data import Document
from benchmarks.retrieval.measures import Ask

DEPTH = 100
TUNED_TITLE_WEIGHT = 5.0  # facts/engines.md: the best of ×1 to ×8 on SciFact, Cranfield and CISI
_WRITER_BYTES = 64_000_000
# The usual English list of search engines (Lucene's, with question words), not one of ours.
_STOP_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "but",
        "by",
        "can",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "how",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "no",
        "not",
        "of",
        "on",
        "or",
        "over",
        "such",
        "than",
        "that",
        "the",
        "their",
        "then",
        "there",
        "these",
        "they",
        "this",
        "through",
        "to",
        "was",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "why",
        "will",
        "with",
    ]
)


@dataclass(frozen=True, slots=True)
class Engine:
    """One way to search the documents, with what it cost to build."""

    label: str
    ask: Ask
    documents_per_second: float
    size_bytes: int


def build_peers(documents: Sequence[Document], folder: Path) -> Iterator[Engine]:
    folder.mkdir(parents=True, exist_ok=True)
    yield _build_fts5("plain FTS5 (unicode61)", documents, folder / "plain.db", "unicode61")
    yield _build_fts5(
        "tuned FTS5 (porter, stop words, title ×5)",
        documents,
        folder / "tuned.db",
        "porter unicode61",
        stop_words=_STOP_WORDS,
        title_weight=TUNED_TITLE_WEIGHT,
    )
    yield _build_tantivy("raw tantivy (stemmed, its parser, OR)", documents, folder / "tantivy")


def _build_fts5(
    label: str,
    documents: Sequence[Document],
    path: Path,
    tokenizer: str,
    *,
    stop_words: frozenset[str] = frozenset(),
    title_weight: float = 1.0,
) -> Engine:
    """What anybody would write first: one table, all words joined by OR, its own bm25."""
    start = time.perf_counter()
    connection = sqlite3.connect(path)
    connection.execute(
        f"CREATE VIRTUAL TABLE item USING fts5(name UNINDEXED, title, text, tokenize='{tokenizer}')"
    )
    connection.executemany(
        "INSERT INTO item VALUES (?, ?, ?)",
        ((document.name, document.title, document.text) for document in documents),
    )
    connection.commit()
    seconds = time.perf_counter() - start

    def ask(text: str) -> list[str]:
        words = [word for word in re.findall(r"\w+", text) if word.lower() not in stop_words]
        found = connection.execute(
            "SELECT name FROM item WHERE item MATCH ? AND rank MATCH "
            f"'bm25(0.0, {title_weight}, 1.0)' ORDER BY rank LIMIT ?",
            (" OR ".join(f'"{word}"' for word in words) or '""', DEPTH),
        )
        return [row[0] for row in found]

    return Engine(label, ask, len(documents) / seconds, path.stat().st_size)


def _build_tantivy(label: str, documents: Sequence[Document], folder: Path) -> Engine:
    import tantivy

    folder.mkdir()
    start = time.perf_counter()
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("name", stored=True, tokenizer_name="raw")
    schema.add_text_field("title", tokenizer_name="en_stem")
    schema.add_text_field("text", tokenizer_name="en_stem")
    index = tantivy.Index(schema.build(), path=str(folder))
    writer = index.writer(_WRITER_BYTES, 1)
    for document in documents:
        writer.add_document(
            tantivy.Document(name=document.name, title=document.title, text=document.text)
        )
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    seconds = time.perf_counter() - start
    searcher = index.searcher()

    def ask(text: str) -> list[str]:
        query = index.parse_query(" ".join(re.findall(r"\w+", text)).lower(), ["title", "text"])
        hits = searcher.search(query, DEPTH).hits
        return [str(searcher.doc(address)["name"][0]) for _, address in hits]

    return Engine(label, ask, len(documents) / seconds, folder_bytes(folder))


def folder_bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
