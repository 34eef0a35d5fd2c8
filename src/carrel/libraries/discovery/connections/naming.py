"""Concepts spelt as their authors spell them, and of what kind they are."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from carrel.libraries.discovery.concepts.kinds import kind_by_trees, kind_in_company
from carrel.libraries.discovery.concepts.vocabulary import natural_order
from carrel.libraries.discovery.concepts.words import (
    BEFORE_PLACES,
    FUNCTION_WORDS,
    NAME_HEADS,
    PLACES,
    general_level,
    normal_phrase,
    normal_word,
    words_of,
)
from carrel.libraries.discovery.connections.sentences import PaperReader, Sentence
from carrel.libraries.discovery.paths.literatures import spread
from carrel.libraries.discovery.records import (
    Concept,
    Concepts,
    Kind,
    Place,
)
from carrel.libraries.discovery.tuned import CONNECTIONS

_NEXT_WORD = re.compile(r"[\s’'-]*([^\W_]+)")
_WORD_BEHIND = re.compile(r"\s+([^\W_]+)")
_CAPITALISED = re.compile(r"[A-Z][a-z]+(?:[A-Z][a-z]+)?")
# `Terborgh (1999)`, `Schwartzman et al.`; within a sentence `Journal of International Trade`.
_CITED_BEHIND = re.compile(r"\s+et al\b|,?\s+\(?(?:1[89]|20)\d\d\b")
_PART_OF_NAME_BEFORE = re.compile(r"\S\s+[A-Z][a-z]+\s+(?:of|for|on|and|&)\s+(?:the\s+)?$")
_WORD_BEFORE = re.compile(r"([^\W_]+)\s+$")


class Namer:
    """Finds how authors write a concept; cached."""

    def __init__(self, index: Concepts, papers: PaperReader) -> None:
        self._index = index
        self._papers = papers
        self._known: dict[int, Concept] = {}
        self._named: dict[int, bool] = {}

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

    def is_name(self, number: int) -> bool:
        """Whether papers write a concept as the name of a place, person or body; cached."""
        found = self._named.get(number)
        if found is None:
            key = self._index.key(number)
            said = self._sentences(number, (key,))
            is_defined = any(form in initials(key) for form in self._index.forms(number)[1:])
            found = self._named[number] = is_proper_name(
                self.concept(number).label
            ) or is_name_in_use(said, key, is_defined=is_defined)
        return found

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
        for document in spread(self._index.documents(number), CONNECTIONS.papers_read_for_name):
            read = self._papers.paper(self._index.id_of(document))
            for sentence in read.sentences if read else ():
                if any(f" {name} " in sentence.normal for name in names):
                    yield sentence


def is_proper_name(label: str) -> bool:
    """Whether a label alone tells a name of a place, person, body or journal: no mechanism."""
    words = [word for word in words_of(label) if word.lower() not in FUNCTION_WORDS]
    if not words or not all(word[0].isupper() for word in words):
        return False
    plain = [normal_word(word) for word in words]
    if any(word in PLACES for word in plain):
        return True
    written = [word for word in words if word[1:].islower()]
    if len(words) == 1:
        # `Frontiers` and `Director` are words of all texts, in capitals only as names.
        return bool(written) and general_level(plain[0]) >= CONNECTIONS.ordinary_word
    return len(written) == len(words) and plain[-1] in NAME_HEADS


def initials(key: str) -> tuple[str, str]:
    """The first letters of a phrase's words, with and without those of function words."""
    words = key.split(" ")
    every = "".join(word[0] for word in words)
    return every, "".join(word[0] for word in words if word not in FUNCTION_WORDS)


def is_name_in_use(said: Iterable[Sentence], key: str, *, is_defined: bool = False) -> bool:
    """Whether sentences write a phrase in capitals as names of people, bodies and places are.

    Names stand beside other names (`Katherine McCarter`), or behind `in`, `at` or `from` with no
    noun after them (`in Milwaukee`). Terms in capitals (`Notch signaling`) do not, or are as often
    written in small letters. A phrase that is always in capitals (`Political Economy`) is a title,
    unless papers shorten it (`is_defined`: `Large Language Models (LLM)`).
    """
    written = named = seen = 0
    for sentence in said:
        if sentence.place is not Place.ABSTRACT:
            continue
        for start, end in sentence.spans(key):
            if start == 0:
                continue
            seen += 1
            words = [word for word in words_of(sentence.text[start:end]) if len(word) > 1]
            if not words or not all(map(_CAPITALISED.fullmatch, words)):
                continue
            written += 1
            named += _is_used_as_name(sentence.text, start, end)
    if not 0 < CONNECTIONS.capital_share * seen <= written:
        return False
    if " " in key and written == seen > 1 and not is_defined:
        return True
    return named >= CONNECTIONS.name_share * written


def _is_used_as_name(text: str, start: int, end: int) -> bool:
    before = _WORD_BEFORE.search(text, 0, start)
    behind = _WORD_BEHIND.match(text, end)
    if any(one is not None and _CAPITALISED.fullmatch(one[1]) for one in (before, behind)):
        # A capital at the head of the sentence tells nothing, unless of a rare word (`David`).
        return not (
            before
            and before.start() == 0
            and not behind
            and general_level(normal_word(before[1])) >= CONNECTIONS.ordinary_word
        )
    if _CITED_BEHIND.match(text, end) or _PART_OF_NAME_BEFORE.search(text, 0, start):
        return True
    stands_free = behind is None or behind[1].lower() in FUNCTION_WORDS
    words = words_of(text[start:end])
    if len(words) > 1 and all(
        general_level(normal_word(word)) < CONNECTIONS.ordinary_word for word in words
    ):
        # Two rare words in capitals (`Elizabeth Biggs`); before a noun they may be what it is
        # called after (`Monte Carlo methods`).
        return stands_free
    return before is not None and before[1].lower() in BEFORE_PLACES and stands_free


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
