"""Sentences of papers, and concepts spelt as their authors spell them."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from carrel.libraries.discovery.concepts.general_words import general_level
from carrel.libraries.discovery.concepts.kinds import is_method_name, kind_by_trees, kind_in_company
from carrel.libraries.discovery.concepts.ports import Concepts
from carrel.libraries.discovery.concepts.vocabulary import natural_order
from carrel.libraries.discovery.concepts.words import (
    FUNCTION_WORDS,
    PLACES,
    normal_phrase,
    normal_word,
    words_of,
)
from carrel.libraries.discovery.connections.candidates import Place
from carrel.libraries.discovery.paths.literatures import spread
from carrel.libraries.discovery.records import Concept, Corpus, Kind, Paper, Standing

MOST_REMEMBERED = 4000

_SENTENCE_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bcf)(?<!\bvs)(?<!\bal)(?<!\bFig)(?<!\b[A-Z])([.!?])\s+(?=[A-Z0-9(\[“\"])"
)
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_SHORT_FORM = re.compile(r"[’']?s?\s*\(([A-Za-zα-ωΑ-Ω][\w-]{1,9})(?:\)|[;,]\s)")


def sentences(text: str) -> list[str]:
    """Split a text into sentences, each exactly as written."""
    marked = _SENTENCE_END.sub(lambda found: found[1] + "\n", text.strip())
    return [sentence.strip() for sentence in marked.split("\n") if sentence.strip()]


@dataclass(frozen=True)
class Sentence:
    """A sentence and its place; `normal` is its normal words with single spaces, ends included."""

    place: Place
    number: int
    text: str
    normal: str

    def spans(self, key: str) -> Iterator[tuple[int, int]]:
        """Where in the text a name stands, by its normal form."""
        if f" {key} " not in self.normal:
            return
        wanted = key.split(" ")
        tokens = [
            (normal_word(found[0]), found.start(), found.end())
            for found in _TOKEN.finditer(self.text)
        ]
        for first in range(len(tokens) - len(wanted) + 1):
            if all(tokens[first + place][0] == word for place, word in enumerate(wanted)):
                yield tokens[first][1], tokens[first + len(wanted) - 1][2]


@dataclass(frozen=True)
class ReadPaper:
    """A paper with its title and the sentences of its abstract."""

    paper: Paper
    sentences: tuple[Sentence, ...]

    @cached_property
    def normal(self) -> str:
        """All text of the paper in normal form, keywords included; `|` separates sentences."""
        named = (
            f" {normal_phrase(name)} " for name in (*self.paper.keywords, *self.paper.headings)
        )
        return "|".join((*(sentence.normal for sentence in self.sentences), *named))

    def names_of(self, key: str) -> tuple[str, ...]:
        """The key and the short forms that the paper defines for it, in normal form."""
        short: dict[str, None] = {}
        for sentence in self.sentences:
            if "(" not in sentence.text:
                continue
            for _, end in sentence.spans(key):
                found = _SHORT_FORM.match(sentence.text, end)
                if found and _is_short_for(found[1], key):
                    short[normal_phrase(found[1])] = None
        return (key, *short)


def _is_short_for(short: str, key: str) -> bool:
    # `LTP` after `long-term potentiation`: it begins as the name does, and is written as no other
    # word is. A place in brackets is neither.
    is_written_short = sum(letter.isupper() for letter in short) > 1 or any(
        letter.isdigit() for letter in short
    )
    return is_written_short and normal_phrase(short)[:1] == key[:1]


class PaperReader:
    """Reads papers of a corpus; caches the latest."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._read: dict[str, ReadPaper] = {}

    def paper(self, id: str) -> ReadPaper | None:
        """The paper with this id, or None where the corpus no longer has it."""
        known = self._read.get(id)
        if known is not None:
            return known
        paper = self._corpus.paper(id)
        if paper is None:
            return None
        if len(self._read) >= MOST_REMEMBERED:
            self._read.clear()
        read = self._read[id] = ReadPaper(paper, tuple(_sentences(paper)))
        return read


def _sentences(paper: Paper) -> Iterator[Sentence]:
    yield Sentence(Place.TITLE, 0, paper.title, f" {normal_phrase(paper.title)} ")
    for number, sentence in enumerate(sentences(paper.abstract), start=1):
        yield Sentence(Place.ABSTRACT, number, sentence, f" {normal_phrase(sentence)} ")


PAPERS_READ = 24
ORDINARY_WORD = 4
"""The level of general English from which on a word in capitals is part of a proper name."""

_NEXT_WORD = re.compile(r"[\s’'-]*([^\W_]+)")
_WORD_BEFORE = re.compile(r"([^\W_]+)\s+$")


class Namer:
    """Finds how authors write a concept; cached."""

    def __init__(self, index: Concepts, papers: PaperReader) -> None:
        self._index = index
        self._papers = papers
        self._known: dict[int, Concept] = {}

    def concept(self, number: int) -> Concept:
        """A concept with its most frequent label, its kind, and whether it takes an article."""
        known = self._known.get(number)
        if known is None:
            known = self._known[number] = self._read(self._index.concept(number), number)
        return known

    def _read(self, concept: Concept, number: int) -> Concept:
        names = self._names(concept.key)
        said = list(self._sentences(number, names))
        label, takes_article = _written(said, concept, names)
        return replace(
            concept, label=label, takes_article=takes_article, kind=self._kind(concept, label, said)
        )

    def _kind(self, concept: Concept, label: str, said: list[Sentence]) -> Kind:
        vocabulary = self._index.vocabulary
        term = vocabulary.term(concept.key) if vocabulary else None
        told = kind_by_trees(term.trees) if term else Kind.UNKNOWN
        return (
            told
            if told is not Kind.UNKNOWN
            else kind_in_company(concept.key, label, (one.normal for one in said))
        )

    def _names(self, key: str) -> tuple[str, ...]:
        # A vocabulary's own label is seldom what authors write: `Leukemia, Myeloid, Acute` is told
        # as they tell it.
        vocabulary = self._index.vocabulary
        term = vocabulary.term(key) if vocabulary else None
        if vocabulary is None or term is None:
            return (key,)
        forms = (
            normal_phrase(form) for name in term.synonyms for form in (name, natural_order(name))
        )
        return tuple(
            dict.fromkeys(
                (
                    key,
                    *(
                        form
                        for form in forms
                        if len(form) > 2 and vocabulary.preferred(form) == key
                    ),
                )
            )
        )

    def _sentences(self, number: int, names: tuple[str, ...]) -> Iterator[Sentence]:
        for document in spread(self._index.documents(number), PAPERS_READ):
            read = self._papers.paper(self._index.id_of(document))
            for sentence in read.sentences if read else ():
                if any(f" {name} " in sentence.normal for name in names):
                    yield sentence


def is_proper_name(label: str) -> bool:
    """Whether a label is a name of a place, person, body or journal, which explains nothing."""
    words = [word for word in words_of(label) if word.lower() not in FUNCTION_WORDS]
    if not words or not all(word[0].isupper() for word in words):
        return False
    plain = [normal_word(word) for word in words]
    if any(word in PLACES for word in plain):
        return True
    written = [word for word in words if word[1:].islower()]
    if len(words) == 1:
        # `Frontiers` and `Director` are words of all texts, in capitals only as names.
        return bool(written) and general_level(plain[0]) >= ORDINARY_WORD
    return len(written) == len(words)


def is_part_of_a_method(index: Concepts, sentence: Sentence, key: str) -> bool:
    """Whether a sentence has the name only within names of methods (`calcium imaging`)."""
    return all(is_method_name(longer) for longer in _longer_names(index, sentence, key))


def is_part_of_a_longer_name(index: Concepts, sentence: Sentence, key: str) -> bool:
    """Whether a sentence has the name only as the beginning of longer names in the index."""
    return all(_longer_names(index, sentence, key))


def _longer_names(index: Concepts, sentence: Sentence, key: str) -> Iterator[str]:
    # For every place the name stands in: the longer name that begins with it, or nothing.
    place = sentence.normal.find(f" {key} ")
    while place >= 0:
        following = sentence.normal[place + len(key) + 2 :].split(" ", 2)
        names = (f"{key} {' '.join(following[:count])}".rstrip() for count in (2, 1))
        yield next((name for name in names if name != key and _is_known(index, name)), "")
        place = sentence.normal.find(f" {key} ", place + 1)


def _is_known(index: Concepts, name: str) -> bool:
    number = index.number(name)
    if number is None:
        return False
    return index.standing(number) is Standing.TERM or index.named_in(number) > 1


def _written(said: list[Sentence], concept: Concept, names: tuple[str, ...]) -> tuple[str, bool]:
    free: Counter[str] = Counter()
    bound: Counter[str] = Counter()
    with_article = 0
    for sentence in said:
        if sentence.place is not Place.ABSTRACT:
            continue
        for start, end in (span for name in names for span in sentence.spans(name)):
            # At the head of a sentence every name has a capital: only one with more of them tells
            # how it is written.
            if start == 0:
                continue
            follows = _NEXT_WORD.match(sentence.text, end)
            stands_free = (
                follows is None
                or normal_word(follows[1]) in FUNCTION_WORDS
                or follows[0][:1] not in " -"
            )
            (free if stands_free else bound)[sentence.text[start:end]] += 1
            before = _WORD_BEFORE.search(sentence.text, 0, start)
            with_article += stands_free and before is not None and before[1].lower() == "the"
    votes = free or bound
    if votes:
        label = max(votes.items(), key=lambda vote: (vote[1], -len(vote[0]), vote[0]))[0]
        return " ".join(label.split()), 2 * with_article > free.total() > 0
    return _as_keyword(concept, said), False


def _as_keyword(concept: Concept, said: list[Sentence]) -> str:
    # Never in running text: a title may still show its capitals (`NPY`), else the label stands as
    # the index has it.
    label = natural_order(concept.label)
    for sentence in said:
        for start, end in sentence.spans(concept.key):
            written = sentence.text[start:end]
            if sum(letter.isupper() for letter in written) > 1 and not written.istitle():
                return written
    return (
        " ".join(word.lower() if word.istitle() else word for word in label.split())
        if normal_phrase(label)
        else concept.key
    )
