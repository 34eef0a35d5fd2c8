"""Papers read into chunks: the part of indexing that costs time, done apart from the rest and on any core."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from carrel.rooms.research.discovery.extraction import concepts_of
from carrel.rooms.research.discovery.records import Paper
from carrel.rooms.research.discovery.vocabulary import Vocabulary

Numbers: TypeAlias = "array[int]"
PAPERS_PER_CHUNK = 500
PAPERS_PER_CHUNK_WITH_VOCABULARY = 4000
"""A vocabulary travels with every chunk to another process, so fewer and larger chunks are sent."""


@dataclass(frozen=True)
class ChunkDocument:
    """One document of a chunk; the numbers point into the chunk's keys."""

    id: str
    year: int | None
    named: Numbers
    mentioned: Numbers


@dataclass(frozen=True)
class Chunk:
    """Concepts of some papers, read apart from the rest: made in any process, merged in one."""

    keys: tuple[str, ...]
    labels: tuple[str, ...]
    documents: tuple[ChunkDocument, ...]


def read_chunk(papers: Iterable[Paper], vocabulary: Vocabulary | None = None) -> Chunk:
    """Read papers into a chunk: the part of indexing that costs time, and needs nothing but the papers."""
    numbers: dict[str, int] = {}
    labels: list[str] = []
    documents = []
    for paper in papers:
        found = concepts_of(paper, vocabulary)
        for key in found.mentioned:
            if key not in numbers:
                numbers[key] = len(numbers)
                labels.append(found.labels.get(key, key))
        named = array("I", (numbers[key] for key in found.named))
        mentioned = array("I", (numbers[key] for key in found.mentioned))
        documents.append(ChunkDocument(paper.id, paper.year, named, mentioned))
    return Chunk(tuple(numbers), tuple(labels), tuple(documents))


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
