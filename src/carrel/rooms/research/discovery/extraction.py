"""From a paper to the concepts it speaks of: what it was given as keywords and headings, and what its text mentions."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from carrel.rooms.research.discovery.function_words import FUNCTION_WORDS, NEEDS_COMPANY
from carrel.rooms.research.discovery.records import Paper
from carrel.rooms.research.discovery.vocabulary import Vocabulary, natural_order
from carrel.rooms.research.discovery.words import may_end_a_concept, normal_phrase, normal_word, words_of

LONGEST_NAME_WORDS = 6
_BREAK = re.compile(r"[.,;:!?()\[\]{}\"“”/|<>=+*–—]+|\s-\s")


@dataclass(frozen=True)
class Mentions:
    """A paper's concepts by key: `named` by its keywords and headings, `mentioned` anywhere (the named among them)."""

    named: tuple[str, ...]
    mentioned: tuple[str, ...]
    labels: dict[str, str]


def concepts_of(paper: Paper, vocabulary: Vocabulary | None) -> Mentions:
    """Everything one paper speaks of, each concept once."""
    labels: dict[str, str] = {}
    named = dict.fromkeys(key for name in (*paper.keywords, *paper.headings) if (key := _named(name, vocabulary, labels)))
    mentioned = dict.fromkeys(named)
    for text, longest in ((paper.title, 3), (paper.abstract, 2)):
        for key in _in_text(text, longest, vocabulary, labels):
            mentioned[key] = None
    return Mentions(tuple(named), tuple(mentioned), labels)


def _named(name: str, vocabulary: Vocabulary | None, labels: dict[str, str]) -> str | None:
    plain = natural_order(name.strip().rstrip("*"))
    key = normal_phrase(plain)
    if not key or key.count(" ") >= LONGEST_NAME_WORDS:
        return None
    preferred = vocabulary.preferred(key) if vocabulary else None
    if preferred:
        return preferred
    labels.setdefault(key, plain)
    return key


def _in_text(text: str, longest: int, vocabulary: Vocabulary | None, labels: dict[str, str]) -> Iterator[str]:
    for segment in _BREAK.split(text):
        written = words_of(segment)
        words = [normal_word(word) for word in written]
        taken: set[int] = set()
        if vocabulary:
            for start, end, key in vocabulary.matches(words):
                taken.update(range(start, end))
                yield key
        yield from _free_phrases(written, words, longest, taken, labels)


def _free_phrases(
    written: Sequence[str], words: Sequence[str], longest: int, taken: set[int], labels: dict[str, str]
) -> Iterator[str]:
    count = len(words)
    for start in range(count):
        first = words[start]
        if first in FUNCTION_WORDS or first.isdigit():
            continue
        if start not in taken and first not in NEEDS_COMPANY and len(first) > 2 and may_end_a_concept(first):
            labels.setdefault(first, _as_written(written[start : start + 1]))
            yield first
        if first in NEEDS_COMPANY or len(first) < 2 or first.endswith("ly"):
            continue
        for end in range(start + 2, min(start + longest, count) + 1):
            last = words[end - 1]
            if last in FUNCTION_WORDS:
                break
            if (last.isdigit() or may_end_a_concept(last)) and not all(place in taken for place in range(start, end)):
                key = " ".join(words[start:end])
                if key not in labels:
                    labels[key] = _as_written(written[start:end])
                yield key


def _as_written(words: Sequence[str]) -> str:
    return " ".join(word if any(letter.isupper() for letter in word[1:]) else word.lower() for word in words)
