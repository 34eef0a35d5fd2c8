"""What was read of some thousand papers, sorted and put aside, so that no corpus fills memory."""

from __future__ import annotations

import heapq
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import orjson

from carrel.libraries.discovery.concepts.extraction import Chunk
from carrel.libraries.discovery.concepts.words import has_capitals, normal_word
from carrel.libraries.discovery.records import Numbers
from carrel.stores.concepts.sections import NumberSink

# About 8,000 abstracts; measured: 60 MB while such a run is gathered.
_KEYS_OF_A_RUN = 250_000
# Every run is a file that the merge holds open, so that runs grow where there are very many papers.
_RUNS_OF_A_SIZE = 100
_ROWS_OF_A_BLOCK = 1000


@dataclass(frozen=True)
class RunDocument:
    """One document of a run; its numbers are ranks among the run's keys and words."""

    id: str
    fingerprint: str
    year: int | None
    named: Numbers
    mentioned: Numbers
    text: Numbers
    definitions: Numbers


class RunWriter:
    """Takes chunks and writes runs: sorted keys, words and definitions, and their documents."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.runs: list[Path] = []
        self._clear()

    def _clear(self) -> None:
        self._keys: dict[str, int] = {}
        self._labels: list[str | None] = []
        self._counts: list[int] = []
        self._named_in: list[int] = []
        self._words: dict[str, int] = {"": 0}
        self._definitions: Counter[tuple[str, str]] = Counter()
        self._documents: list[RunDocument] = []

    def add(self, chunk: Chunk, fingerprints: Mapping[str, str]) -> None:
        """Take the documents of a chunk."""
        keys = array("I", map(self._key, chunk.keys, chunk.labels))
        words = array("I", map(self._word, chunk.words))
        counts, named_in = self._counts, self._named_in
        for read in chunk.documents:
            named, mentioned = _renumber(read.named, keys), _renumber(read.mentioned, keys)
            for number in mentioned:
                counts[number] += 1
            for number in named:
                named_in[number] += 1
            self._definitions.update(read.definitions)
            definitions = array("I", (self._key(key, None) for d in read.definitions for key in d))
            text = _renumber(read.text, words)
            self._documents.append(
                RunDocument(
                    read.id, fingerprints[read.id], read.year, named, mentioned, text, definitions
                )
            )
        if len(self._keys) >= _KEYS_OF_A_RUN * (1 + len(self.runs) // _RUNS_OF_A_SIZE):
            self.flush()

    def _key(self, key: str, label: str | None) -> int:
        number = self._keys.setdefault(key, len(self._keys))
        if number == len(self._labels):
            self._labels.append(label)
            self._counts.append(0)
            self._named_in.append(0)
        elif self._labels[number] is None:
            self._labels[number] = label
        return number

    def _word(self, word: str) -> int:
        if has_capitals(word):
            plain = normal_word(word)
            self._words.setdefault(plain, len(self._words))
        return self._words.setdefault(word, len(self._words))

    def flush(self) -> None:
        """Write what was gathered as one run."""
        if not self._documents:
            return
        run = self._folder / f"run-{len(self.runs):05d}"
        run.mkdir()
        keys, key_ranks = _ranked(self._keys)
        words, word_ranks = _ranked(self._words)
        places = (self._keys[key] for key in keys)
        _write_rows(
            run / "keys",
            (
                (key, self._labels[place], self._counts[place], self._named_in[place])
                for key, place in zip(keys, places, strict=True)
            ),
        )
        _write_rows(run / "words", ((word,) for word in words))
        _write_rows(
            run / "definitions",
            ((*pair, self._definitions[pair]) for pair in sorted(self._definitions)),
        )
        self._write_documents(run, key_ranks, word_ranks)
        self.runs.append(run)
        self._clear()

    def _write_documents(self, run: Path, keys: Numbers, words: Numbers) -> None:
        numbers = NumberSink(run, "numbers")
        facts = []
        for document in self._documents:
            parts = (
                _renumber(document.named, keys),
                _renumber(document.mentioned, keys),
                _renumber(document.text, words),
                _renumber(document.definitions, keys),
            )
            for part in parts:
                numbers.extend(part)
            facts.append(
                (document.id, document.fingerprint, document.year, [len(part) for part in parts])
            )
        numbers.close()
        _write_rows(run / "documents", iter(facts))


def read_documents(run: Path, keys: Numbers, words: Numbers) -> Iterator[RunDocument]:
    """The documents of a run with the numbers that keys and words have in the whole corpus."""
    with (run / "numbers").open("rb") as file:

        def part(length: int, ranks: Numbers) -> Numbers:
            numbers = array("I")
            numbers.fromfile(file, length)
            return _renumber(numbers, ranks)

        for paper_id, fingerprint, year, lengths in _read_rows(run / "documents"):
            named, mentioned, text, definitions = map(part, lengths, (keys, keys, words, keys))
            yield RunDocument(paper_id, fingerprint, year, named, mentioned, text, definitions)


def merge_keys(runs: Sequence[Path]) -> Iterator[tuple[str, str, int, int]]:
    """Every key of all runs, sorted, with its first label and its counts.

    Leaves in each run, under `key_ranks`, the numbers that its keys have among all.
    """
    for key, rows in _merge(runs, "keys"):
        label = next((row[1] for row in rows if row[1] is not None), key)
        yield key, label, sum(row[2] for row in rows), sum(row[3] for row in rows)


def merge_words(runs: Sequence[Path]) -> Iterator[str]:
    """Every word of all runs, sorted; leaves their numbers in each run under `word_ranks`."""
    return (word for word, _ in _merge(runs, "words"))


def merge_definitions(runs: Sequence[Path]) -> Iterator[tuple[str, dict[str, int]]]:
    """Every short form, sorted, with how many documents define it as what."""
    streams = [_read_rows(run / "definitions") for run in runs]
    for short, rows in groupby(heapq.merge(*streams), key=itemgetter(0)):
        counts: Counter[str] = Counter()
        for _, long, count in rows:
            counts[long] += count
        yield short, dict(counts)


def load_ranks(run: Path, name: str) -> Numbers:
    """The numbers in the whole corpus of a run's keys or words."""
    ranks = array("I")
    path = run / name
    with path.open("rb") as file:
        ranks.fromfile(file, path.stat().st_size // ranks.itemsize)
    return ranks


def _merge(runs: Sequence[Path], name: str) -> Iterator[tuple[str, list[Any]]]:
    with ExitStack() as opened:
        ranks = [NumberSink(run, f"{name.removesuffix('s')}_ranks") for run in runs]
        for sink in ranks:
            opened.callback(sink.close)
        streams = [_placed_rows(run / name, place) for place, run in enumerate(runs)]
        merged = groupby(heapq.merge(*streams), key=itemgetter(0))
        for number, (text, rows) in enumerate(merged):
            held = []
            for _, place, row in rows:
                ranks[place].append(number)
                held.append(row)
            yield text, held


def _placed_rows(path: Path, place: int) -> Iterator[tuple[str, int, Any]]:
    return ((row[0], place, row) for row in _read_rows(path))


def _renumber(numbers: Numbers, known: Numbers) -> Numbers:
    return array("I", map(known.__getitem__, numbers))


def _ranked(numbers: Mapping[str, int]) -> tuple[list[str], Numbers]:
    every = sorted(numbers)
    ranks = array("I", bytes(4 * len(every)))
    for rank, text in enumerate(every):
        ranks[numbers[text]] = rank
    return every, ranks


def _write_rows(path: Path, rows: Iterator[Any]) -> None:
    with path.open("wb") as file:
        block: list[Any] = []
        for row in rows:
            block.append(row)
            if len(block) == _ROWS_OF_A_BLOCK:
                file.write(orjson.dumps(block) + b"\n")
                block.clear()
        file.write(orjson.dumps(block) + b"\n")


def _read_rows(path: Path) -> Iterator[Any]:
    with path.open("rb") as file:
        for line in file:
            yield from orjson.loads(line)
