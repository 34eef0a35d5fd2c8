"""Papers that nobody wrote: words by Zipf's law, as many as asked for, in a snapshot that anybody
could open.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.rooms.papers.snapshots import schema

SEED = 7
_WORDS = 150_000
_SYLLABLES = [
    a + b for a in "bcdfghklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "in", "os")
]
_COMMON = (
    "the",
    "of",
    "and",
    "in",
    "to",
    "a",
    "is",
    "for",
    "with",
    "on",
    "by",
    "that",
    "as",
    "are",
    "from",
    "we",
    "this",
    "an",
)
_BATCH = 5_000


def vocabulary() -> list[str]:
    """The commonest words first: real stop words, then words made of syllables."""
    random = np.random.default_rng(SEED)
    made: dict[str, None] = dict.fromkeys(_COMMON)
    while len(made) < _WORDS:
        for length in random.integers(2, 5, size=20_000):
            made[
                "".join(_SYLLABLES[at] for at in random.integers(0, len(_SYLLABLES), size=length))
            ] = None
    return list(made)[:_WORDS]


def texts(papers: int, words: list[str], seed: int = SEED + 1) -> Iterator[tuple[str, str]]:
    """Titles of about ten and abstracts of about 160 words."""
    random = np.random.default_rng(seed)
    chances = 1.0 / np.arange(1, len(words) + 1) ** 1.05
    cumulative = np.cumsum(chances / chances.sum())
    spoken = np.array(words, dtype=object)
    done = 0
    while done < papers:
        batch = min(_BATCH, papers - done)
        lengths = random.integers(120, 220, size=batch)
        drawn = spoken[np.searchsorted(cumulative, random.random(int(lengths.sum())))]
        at = 0
        for length in lengths:
            piece = drawn[at : at + length].tolist()
            at += int(length)
            yield " ".join(piece[:10]), " ".join(piece[10:])
        done += batch


def full_texts(papers: int, words: list[str], passages: int) -> Iterator[str]:
    """A text of so many paragraphs for each paper, of about 130 words each."""
    paragraphs = (abstract for _, abstract in texts(papers * passages, words, SEED + 4))
    for _ in range(papers):
        yield "\n\n".join(f"{paragraph}." for paragraph in itertools.islice(paragraphs, passages))


def write_synthetic_snapshot(path: Path, papers: int, words: list[str], passages: int = 0) -> None:
    """A snapshot of the newer generation with titles, abstracts, years, authors and keywords.

    With `passages`, every paper has a full text of so many paragraphs.
    """
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.executescript(
        "PRAGMA synchronous = OFF; PRAGMA cache_size = -200000;" + schema("newer")
    )
    connection.execute(
        "INSERT INTO snapshot_meta VALUES ('snapshot_build_id', ?)", (f"{papers:032x}",)
    )
    random = np.random.default_rng(SEED + 2)
    names = [
        f"{first} {last}" for first, last in itertools.product(words[1000:1200], words[2000:2200])
    ]
    keywords = words[100:2100]
    connection.executemany("INSERT INTO author VALUES (?, ?, 0)", enumerate(names, 1))
    connection.executemany("INSERT INTO keyword VALUES (?, ?, 0)", enumerate(keywords, 1))
    numbered = enumerate(texts(papers, words), 1)
    sources = full_texts(papers, words, passages) if passages else itertools.repeat("")
    while batch := list(itertools.islice(numbered, _BATCH)):
        ids = [f"{number:032x}" for number, _ in batch]
        years = random.integers(1980, 2026, size=len(batch))
        authors = random.integers(1, len(names) + 1, size=(len(batch), 3))
        tags = random.zipf(1.4, size=(len(batch), 3)) % len(keywords) + 1
        with connection:
            connection.executemany(
                "INSERT INTO paper (paper_id, paper_key, paper_key_type, title, year, month, "
                "publication_date, venue, "
                "preferred_summary_template, summary_preview, paper_index) "
                "VALUES (?, ?, 'meta', ?, ?, '01', ?, 'venue', 'simple', ?, ?)",
                [
                    (
                        paper_id,
                        f"meta:{paper_id}",
                        title,
                        str(year),
                        str(year),
                        abstract[:300],
                        number,
                    )
                    for paper_id, year, (number, (title, abstract)) in zip(
                        ids, years, batch, strict=True
                    )
                ],
            )
            connection.executemany(
                "INSERT INTO paper_fts (rowid, paper_id, title, summary, source, translated, "
                "metadata) "
                "VALUES (?, ?, ?, ?, ?, '', ?)",
                [
                    (
                        number,
                        paper_id,
                        title,
                        abstract,
                        source,
                        " ".join(names[at - 1] for at in three),
                    )
                    for paper_id, three, (number, (title, abstract)), source in zip(
                        ids,
                        authors.tolist(),
                        batch,
                        itertools.islice(sources, len(batch)),
                        strict=True,
                    )
                ],
            )
            for facet, drawn in (("author", authors), ("keyword", tags)):
                pairs = [
                    (paper_id, at)
                    for paper_id, some in zip(ids, drawn.tolist(), strict=True)
                    for at in set(some)
                ]
                connection.executemany(f"INSERT INTO paper_{facet} VALUES (?, ?)", pairs)
    for facet in ("author", "keyword"):
        connection.execute(
            f"UPDATE {facet} SET paper_count = "
            f"(SELECT count(*) FROM paper_{facet} WHERE paper_{facet}.{facet}_id = "
            f"{facet}.{facet}_id)"
        )
    connection.commit()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def questions(words: list[str], each: int) -> dict[str, list[str]]:
    """Five kinds of question. Phrases and sentences are taken from the corpus itself, so that they
    are found.
    """
    random = np.random.default_rng(SEED + 3)
    sample = [
        f"{title} {abstract}".split()
        for title, abstract in itertools.islice(texts(4_000, words), 4_000)
    ]

    def run(length: int) -> list[str]:
        words_of_one = sample[int(random.integers(0, len(sample)))]
        at = int(random.integers(0, len(words_of_one) - length))
        return words_of_one[at : at + length]

    return {
        "common word": [words[at] for at in random.integers(20, 120, size=each)],
        "three words": [
            " ".join(words[at] for at in random.integers(50, 3_000, size=3)) for _ in range(each)
        ],
        "phrase": ['"' + " ".join(run(2)) + '"' for _ in range(each)],
        "prefix": [words[at][:4] + "*" for at in random.integers(50, 3_000, size=each)],
        "sentence": [" ".join(run(8)) for _ in range(each)],
    }
