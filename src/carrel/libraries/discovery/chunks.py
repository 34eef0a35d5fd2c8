"""Papers read into chunks: the part of indexing that costs time, done apart from the rest and on
any core.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from carrel.libraries.discovery.extraction import concepts_of
from carrel.libraries.discovery.records import Paper
from carrel.libraries.discovery.short_forms import Definition
from carrel.libraries.discovery.vocabulary import Vocabulary

Numbers: TypeAlias = "array[int]"
PAPERS_PER_CHUNK = 500
PAPERS_PER_CHUNK_WITH_VOCABULARY = 4000
"""A vocabulary travels with every chunk to another process, so fewer and larger chunks are sent."""

BREAK = 0
"""Stands in a text where no name crosses; words are numbered from 1."""


@dataclass(frozen=True)
class ChunkDocument:
    """One document of a chunk; `named` and `mentioned` point into the chunk's keys, `text` into its
    words.
    """

    id: str
    year: int | None
    named: Numbers
    mentioned: Numbers
    text: Numbers
    definitions: tuple[Definition, ...]


@dataclass(frozen=True)
class Chunk:
    """What some papers say, read apart from the rest: made in any process, merged in one."""

    keys: tuple[str, ...]
    labels: tuple[str, ...]
    words: tuple[str, ...]
    documents: tuple[ChunkDocument, ...]


def read_chunk(papers: Iterable[Paper], vocabulary: Vocabulary | None = None) -> Chunk:
    """Read papers into a chunk: the part of indexing that costs time, and needs nothing but the
    papers.
    """
    numbers: dict[str, int] = {}
    labels: dict[str, str] = {}
    words: dict[str, int] = {"": BREAK}
    documents = []
    for paper in papers:
        found = concepts_of(paper, vocabulary, labels)
        for key in found.mentioned:
            if key not in numbers:
                numbers[key] = len(numbers)
        for word in found.text:
            if word not in words:
                words[word] = len(words)
        named = array("I", (numbers[key] for key in found.named))
        mentioned = array("I", (numbers[key] for key in found.mentioned))
        text = array("I", map(words.__getitem__, found.text))
        documents.append(
            ChunkDocument(paper.id, paper.year, named, mentioned, text, found.definitions)
        )
    return Chunk(
        tuple(numbers),
        tuple(labels.get(key, key) for key in numbers),
        tuple(words),
        tuple(documents),
    )


class ChunkReader:
    """`read_chunk` with its vocabulary, in a form that crosses to other processes."""

    def __init__(self, vocabulary: Vocabulary | None = None) -> None:
        self._vocabulary = vocabulary

    def __call__(self, papers: Sequence[Paper]) -> Chunk:
        return read_chunk(papers, self._vocabulary)


def in_chunks(papers: Iterable[Paper], size: int = PAPERS_PER_CHUNK) -> Iterator[Sequence[Paper]]:
    """The papers in portions of a size worth sending to another process."""
    supply = iter(papers)
    while chunk := list(islice(supply, size)):
        yield chunk
