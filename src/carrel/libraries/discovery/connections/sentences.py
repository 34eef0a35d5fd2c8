"""Papers of the corpus read sentence by sentence, and which thing raises or lowers which."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from carrel.libraries.discovery.concepts.words import normal_phrase, normal_word
from carrel.libraries.discovery.connections.candidates import SentenceRelation, SignCount
from carrel.libraries.discovery.records import Corpus, Paper, Place
from carrel.libraries.relations import (
    Argument,
    Relation,
    extract_relations,
    standard_lexicon,
)

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


SENTENCES_REMEMBERED = 20_000

# A thing named after one of these is where something happens, not what it happens to.
_PLACE = re.compile(
    r"(?<!increase )(?<!decrease )(?<!reduction )(?<!decline )(?<!rise )(?<!defects )(?<!deficits )"
    r"\b(in|during|from|with|within|for|by|via|through|at|on|after|under|among|between|than)\b",
    re.IGNORECASE,
)

# `Mycobacterium tuberculosis` is no disease.
_GENUS = re.compile(r"\b(?:[A-Z]\.|[A-Z][a-z]+(?:um|us|is|ella|ia|er|cter|monas|coccus)) $")
_HYPHENS = ("-", "‐", "–", "/")
_WORD = re.compile(r"[^\W_][\w-]*")

Spans = Sequence[tuple[int, int]]


class RelationReader:
    """Reads the relations of sentences; cached."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Relation, ...]] = {}

    def relation(
        self,
        sentence: Sentence,
        bridge: Sequence[str],
        other: Sequence[str],
        *,
        bridge_acts: bool | None = None,
    ) -> SentenceRelation | None:
        """What a sentence says of a bridge and another thing, given by their names; or None.

        With `bridge_acts` only relations of that direction are looked at.
        """
        relations = self._relations(sentence.text)
        if not relations:
            return None
        first, second = _spans(sentence, bridge), _spans(sentence, other)
        found = [
            said
            for relation in relations
            for said in _between(relation, sentence.text, first, second)
            if bridge_acts is None or said.bridge_acts is bridge_acts
        ]
        return max(found, key=_tells, default=None)

    def has_any(self, sentence: Sentence) -> bool:
        """Whether a sentence says any relation at all."""
        return bool(self._relations(sentence.text))

    def _relations(self, text: str) -> tuple[Relation, ...]:
        known = self._known.get(text)
        if known is None:
            if len(self._known) >= SENTENCES_REMEMBERED:
                self._known.clear()
            known = self._known[text] = extract_relations(text)
        return known


def _tells(said: SentenceRelation) -> tuple[bool, bool, bool]:
    return said.sign != 0, not said.is_asked, not said.is_denied


def _spans(sentence: Sentence, names: Sequence[str]) -> list[tuple[int, int]]:
    return [span for name in names for span in sentence.spans(name)]


def _between(
    relation: Relation, text: str, bridge: Spans, other: Spans
) -> Iterable[SentenceRelation]:
    acting = _named_in(relation.subject, text, bridge), _named_in(relation.object, text, other)
    acted_on = _named_in(relation.subject, text, other), _named_in(relation.object, text, bridge)
    if all(acting):
        yield _said(relation, relation.sign_between(*acting), bridge_acts=True)
    if all(acted_on):
        yield _said(relation, relation.sign_between(*acted_on), bridge_acts=False)


def _named_in(argument: Argument, text: str, spans: Spans) -> list[tuple[int, int]]:
    return [
        (start, end)
        for start, end in spans
        if argument.start <= start
        and end <= argument.end
        and not _PLACE.search(text[argument.start : start])
        and _is_named_itself(text, start, min(argument.end, len(text)), end)
    ]


def _is_named_itself(text: str, start: int, until: int, end: int) -> bool:
    # "breast cancer risk", "breast cancer cell growth" are about breast cancer; "breast cancer
    # cells", "anti-obesity" are not.
    if text[max(0, start - 1) : start] in _HYPHENS or text[end : end + 1] in _HYPHENS:
        return False
    if _GENUS.search(text, 0, start) and text[start:end].islower():
        return False
    words = [found[0].lower() for found in _WORD.finditer(text, end, until)][:2]
    lexicon = standard_lexicon()
    if words and words[0] in ("cell", "cells"):
        return words[-1] in lexicon.aspects
    return (
        not words
        or lexicon.classes.get(words[0], "noun") != "noun"
        or words[0] in lexicon.aspects
        or words[0] in lexicon.lowering_nouns
        or words[0].endswith("ly")
    )


def _said(relation: Relation, sign: int, *, bridge_acts: bool) -> SentenceRelation:
    return SentenceRelation(
        relation.kind.value,
        relation.verb,
        sign,
        bridge_acts,
        relation.negated,
        relation.hedged,
        relation.asked,
    )


def count_signs(said: Iterable[SentenceRelation]) -> SignCount:
    """Count what papers say, one relation for each; questions and unsigned ones do not."""
    raises = lowers = denied_raises = denied_lowers = 0
    for one in said:
        if one.is_asked:
            continue
        if one.is_denied:
            denied_raises += one.sign > 0
            denied_lowers += one.sign < 0
        else:
            raises += one.sign > 0
            lowers += one.sign < 0
    return SignCount(raises, lowers, denied_raises, denied_lowers)
