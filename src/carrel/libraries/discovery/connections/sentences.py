"""Papers of the corpus, read sentence by sentence."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from carrel.libraries.discovery.concepts.words import normal_phrase, normal_word
from carrel.libraries.discovery.records import Corpus, Paper, Place

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
