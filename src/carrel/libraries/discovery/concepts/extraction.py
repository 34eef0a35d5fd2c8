"""From a paper to the concepts it mentions and the short forms it defines, read in chunks."""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TypeVar

from carrel.libraries.discovery.concepts.vocabulary import Vocabulary, natural_order
from carrel.libraries.discovery.concepts.words import (
    EXPRESSIONS,
    FUNCTION_WORDS,
    LONGEST_SHORT_FORM,
    NEEDS_COMPANY,
    is_shouted,
    may_end_a_concept,
    normal_phrase,
    normal_word,
    short_form,
    words_and_gaps,
    words_of,
)
from carrel.libraries.discovery.records import Numbers, Paper
from carrel.libraries.discovery.tuned import MEANINGS, TERMS

Definition = tuple[str, str]
"""A short form and the key of what it stands for."""

Meaning = tuple[str, str, tuple[str, ...]]
"""A short form, the key of what papers agree it stands for, and other wordings of that."""


_IN_BRACKETS = re.compile(r"\(([^()\s;,]{2,14})(?:[;,][^()]*)?\)")
# No definition crosses the end of a sentence, a comma or a bracket.
_SENTENCE_BREAK = re.compile(r"[.;:,!?()\[\]]\s*")


def defined_in(text: str) -> Iterator[tuple[str, str]]:
    """The short forms a text defines in brackets, with their long forms as written before them."""
    for found in _IN_BRACKETS.finditer(text):
        short = _as_short_form(found[1])
        if short is None:
            continue
        before = _SENTENCE_BREAK.split(text[max(0, found.start() - 120) : found.start()])[-1]
        long = _long_form(
            found[1].removesuffix("s") if short != found[1] else found[1], before.rstrip()
        )
        if long is not None:
            yield short, long


def _as_short_form(written: str) -> str | None:
    words = words_of(written)
    if not words or len(written) > LONGEST_SHORT_FORM + 2:
        return None
    if len(words) == 1:
        return short_form(words[0]) if words[0] == written else None
    # With hyphens it is known by its normal form (`sars cov 2`), which no ordinary word can be.
    return normal_phrase(written) if sum(letter.isupper() for letter in written) >= 2 else None


def _long_form(short: str, before: str) -> str | None:
    """The shortest run of words ending `before` that has the short form's letters in order."""
    letters = [letter for letter in short.casefold() if letter.isalnum()]
    text = before.casefold()
    place = len(text)
    for position in range(len(letters) - 1, -1, -1):
        place -= 1
        while place >= 0 and not (
            text[place] == letters[position]
            and (position or place == 0 or not text[place - 1].isalnum())
        ):
            place -= 1
        if place < 0:
            return None
    long = before[place:]
    count = len(words_of(long))
    is_told = len(long) > len(short) and count <= min(len(letters) + 5, 2 * len(letters))
    return (
        long
        if is_told
        and (count > 1 or len(letters) <= MEANINGS.short_of_a_word * len(long))
        and short not in words_of(long)
        else None
    )


class ShortForms:
    """Counts definitions by document and resolves short forms on which the papers agree."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = {}
        self.generation = 0

    def add(self, definitions: Iterable[Definition]) -> None:
        """Add the definitions of one document."""
        for short, long in definitions:
            self._counts.setdefault(short, Counter())[long] += 1
            self.generation += 1

    def remove(self, definitions: Iterable[Definition]) -> None:
        """Remove the definitions of one document."""
        for short, long in definitions:
            counts = self._counts[short]
            counts[long] -= 1
            if not counts[long]:
                del counts[long]
            if not counts:
                del self._counts[short]
            self.generation += 1

    def is_defined(self, short: str) -> bool:
        """Whether any document says what a short form stands for."""
        return short in self._counts

    def meanings(self) -> Iterator[Meaning]:
        """Every unambiguous short form, with its meaning and the variants of that."""
        for short in sorted(self._counts):
            meaning = agreed_meaning(short, self._counts[short])
            if meaning is not None:
                yield meaning


def agreed_meaning(short: str, counts: Mapping[str, int]) -> Meaning | None:
    """What a short form stands for by the documents that define it; None where they differ."""
    total = sum(counts.values())
    if total < MEANINGS.least_definitions:
        return None
    long = max(counts, key=lambda key: (counts[key], key))
    agreeing = sum(count for other, count in counts.items() if _is_reworded(long, other))
    if counts[long] < MEANINGS.least_definitions or agreeing < MEANINGS.one_meaning_share * total:
        return None
    others = sorted(key for key in counts if key != long and _is_same_wording(long, key))
    return short, long, tuple(others)


def _is_same_wording(one: str, other: str) -> bool:
    # `epithelial to mesenchymal transition` and `epithelial mesenchymal transition`, `myeloid` and
    # `myelogenous`.
    first, second = (
        [word[:4] for word in key.split(" ") if word not in FUNCTION_WORDS] for key in (one, other)
    )
    return first == second


def _is_reworded(one: str, other: str) -> bool:
    # `acute myelogenous leukemia` is no second meaning of AML: more than half of the words are the
    # same.
    first, second = set(one.split(" ")), set(other.split(" "))
    return 2 * len(first & second) > max(len(first), len(second))


# A full stop behind a single capital (`E. coli`) ends no phrase.
_SHORT_GENUS = re.compile(r"([A-Z])\. ?([a-z]+)")
# So does markup of formulas: a command of TeX, a subscript or an exponent is no word of a phrase.
_FORMULA = re.compile(r"\\[a-zA-Z]*|[$^_~]+")
_BREAK = re.compile(r"(?:[,;:!?()\[\]{}\"“”/|<>=+*–—]|(?<!\b[A-Z])\.|\.(?!\s?[a-z]))+|\s-\s")
_EXPRESSION = re.compile(rf"\b(?:{'|'.join(map(re.escape, EXPRESSIONS))})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Mentions:
    """Concept keys of a paper: `named` in keywords and headings, `mentioned` anywhere (a superset).

    Short forms keep their capitals (`AML`) and abbreviated genera their full stop (`e. coli`): only
    the whole corpus tells what they mean. `text` is the words in order, "" at phrase ends.
    """

    named: tuple[str, ...]
    mentioned: tuple[str, ...]
    text: tuple[str, ...]
    definitions: tuple[Definition, ...]


def concepts_of(paper: Paper, vocabulary: Vocabulary | None, labels: dict[str, str]) -> Mentions:
    """The concepts of one paper, each once; adds labels as written for keys that have none."""
    keywords = (name if name.count(", ") > 1 else natural_order(name) for name in paper.keywords)
    headings = (natural_order(name.strip().rstrip("*")) for name in paper.headings)
    named = dict.fromkeys(
        key for name in (*keywords, *headings) if (key := _named(name, vocabulary, labels))
    )
    mentioned = dict.fromkeys(named)
    said: list[str] = []
    for text, longest in ((paper.title, 3), (paper.abstract, 2)):
        for key in _in_text(text, longest, vocabulary, labels, said):
            mentioned[key] = None
    definitions = []
    for short, written in dict(defined_in(paper.abstract) if "(" in paper.abstract else ()).items():
        long = normal_phrase(written)
        if long.count(" ") < TERMS.longest_name_words:
            meant = (vocabulary.preferred(long) if vocabulary else None) or long
            mentioned[meant] = None
            labels.setdefault(meant, _as_written(words_and_gaps(written)))
            definitions.append((short, meant))
    return Mentions(tuple(named), tuple(mentioned), tuple(said), tuple(definitions))


def _named(name: str, vocabulary: Vocabulary | None, labels: dict[str, str]) -> str | None:
    plain = name.strip()
    key = normal_phrase(plain)
    if not key or key.count(" ") >= TERMS.longest_name_words:
        return None
    preferred = (
        vocabulary.preferred(key) if vocabulary and not vocabulary.is_short_form(key) else None
    )
    if preferred:
        return preferred
    if genus := _SHORT_GENUS.fullmatch(plain):
        key = _short_species(genus[1], genus[2])
    key = short_form(plain) or key
    labels.setdefault(key, plain)
    return key


def _in_text(
    text: str, longest: int, vocabulary: Vocabulary | None, labels: dict[str, str], said: list[str]
) -> Iterator[str]:
    shouted = is_shouted(text)
    if "\\" in text or "$" in text or "_" in text or "^" in text:
        text = _FORMULA.sub("|", text)
    for segment in _BREAK.split(_EXPRESSION.sub("|", text)):
        pieces = words_and_gaps(segment)
        written = pieces[1::2]
        words = [normal_word(word) for word in written]
        taken: set[int] = set()
        if vocabulary:
            for start, end, key in vocabulary.matches(words):
                taken.update(range(start, end))
                yield key
        if "." in segment:
            for found in _SHORT_GENUS.finditer(segment):
                labels.setdefault(key := _short_species(found[1], found[2]), found[0])
                yield key
        shorts = [None if shouted or len(word) < 3 else short_form(word) for word in written]
        for short in shorts:
            if short:
                labels.setdefault(short, short)
                yield short
        said.extend(short or word for short, word in zip(shorts, words, strict=True))
        said.append("")
        yield from _free_phrases(pieces, words, shorts, longest, taken, labels)


def _short_species(letter: str, species: str) -> str:
    return f"{letter.lower()}. {normal_word(species)}"


def _free_phrases(
    pieces: Sequence[str],
    words: Sequence[str],
    shorts: Sequence[str | None],
    longest: int,
    taken: set[int],
    labels: dict[str, str],
) -> Iterator[str]:
    count = len(words)
    for start in range(count):
        first = words[start]
        if first in FUNCTION_WORDS or first.isdigit():
            continue
        is_free = start not in taken and shorts[start] is None
        if is_free and first not in NEEDS_COMPANY and len(first) > 2 and may_end_a_concept(first):
            if first not in labels:
                labels[first] = _as_written(pieces[2 * start + 1 : 2 * start + 2])
            yield first
        if first.endswith("ly"):
            continue
        needs_more = first in NEEDS_COMPANY
        for end in range(start + 2, min(start + longest, count) + 1):
            last = words[end - 1]
            if last in FUNCTION_WORDS:
                break
            if needs_more and (last in NEEDS_COMPANY or last.isdigit()):
                # `cell cycle` is a name, `cell type` and `level 2` are not.
                continue
            if (last.isdigit() or may_end_a_concept(last)) and not all(
                place in taken for place in range(start, end)
            ):
                key = " ".join(words[start:end])
                if key not in labels:
                    labels[key] = _as_written(pieces[2 * start + 1 : 2 * end])
                yield key


@lru_cache(maxsize=200_000)
def _in_running_text(piece: str) -> str:
    # `T cell`, `vitamin D`; but an article that opens a title is no letter of a name.
    keeps_capitals = (len(piece) == 1 and piece not in "AI") or any(
        letter.isupper() for letter in piece[1:]
    )
    return piece if keeps_capitals else piece.lower()


def _as_written(pieces: Sequence[str]) -> str:
    return (
        " ".join("".join(map(_in_running_text, pieces)).split())
        .removesuffix("'s")
        .removesuffix("’s")
    )


PAPERS_PER_CHUNK = 500
PAPERS_PER_CHUNK_WITH_VOCABULARY = 4000
"""A vocabulary travels with every chunk to another process, so fewer and larger chunks are sent."""

ItemT = TypeVar("ItemT")
BREAK = 0
"""Stands in a text where no name crosses; words are numbered from 1."""


@dataclass(frozen=True)
class ChunkDocument:
    """One document of a chunk; its numbers are positions in the chunk's keys and words."""

    id: str
    year: int | None
    named: Numbers
    mentioned: Numbers
    text: Numbers
    definitions: tuple[Definition, ...]


@dataclass(frozen=True)
class Chunk:
    """Concepts extracted from some papers, in any process; merged into one index."""

    keys: tuple[str, ...]
    labels: tuple[str, ...]
    words: tuple[str, ...]
    documents: tuple[ChunkDocument, ...]


def read_chunk(papers: Iterable[Paper], vocabulary: Vocabulary | None = None) -> Chunk:
    """Extract the concepts of papers: the slow part of indexing, independent of the index."""
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


def in_chunks(work: Iterable[ItemT], size: int = PAPERS_PER_CHUNK) -> Iterator[Sequence[ItemT]]:
    """Papers, or what stands for them, in portions worth sending to another process."""
    supply = iter(work)
    while chunk := list(islice(supply, size)):
        yield chunk
