"""Candidate term spans in a text, and suggestions for names the corpus does not have."""

import heapq
import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from carrel.libraries.discovery.concepts.words import (
    FUNCTION_WORDS,
    NEEDS_COMPANY,
    normal_phrase,
    nouns_behind,
    words_of,
)
from carrel.libraries.discovery.goals.goal_language import (
    ASKING,
    GENERIC,
    Token,
    goal_language,
    is_aspect,
)
from carrel.libraries.discovery.goals.records import GoalStatement
from carrel.libraries.discovery.paths.literatures import Reader
from carrel.libraries.discovery.records import Concepts, Standing, Tier
from carrel.libraries.discovery.tuned import GOALS


@dataclass(frozen=True)
class Span:
    """Words that form a concept; strong where papers are about it, thin where hardly any is."""

    start: int
    end: int
    number: int
    is_strong: bool
    is_thin: bool


def spans_in(
    reader: Reader,
    tokens: Sequence[Token],
    subjects: Collection[str] = (),
    verbs: Collection[str] = (),
) -> Iterator[Span]:
    """The concepts that stand in a text; `subjects` and `verbs` are what its grammar tells."""
    for start in range(len(tokens)):
        for end in range(start + 1, min(start + GOALS.longest_words, len(tokens)) + 1):
            if end > start + 1 and tokens[end - 1].is_after_break:
                break
            row = tokens[start:end]
            words = [token.word for token in row]
            is_subject = " ".join(words) in subjects
            is_phrase = len(words) > 1 and is_subject
            if row[0].is_small or row[-1].is_small:
                continue
            if len(words) > 1 and not is_phrase and row[0].text.lower() in verbs:
                # `extend lifespan` is what is to be done to the lifespan.
                continue
            if not is_phrase and not _says_something(words):
                continue
            number = _known(reader, words)
            # `the drug rapamycin` is no name of its own; `drug resistance`, which authors call
            # their subject, is.
            is_asked = len(words) > 1 and (words[0] in ASKING or words[-1] in ASKING)
            is_named = is_phrase and _is_own_name(reader, words, number)
            if number is not None and (
                not is_asked or is_named or reader.rank_of_kind(number) == 2
            ):
                yield Span(
                    start,
                    end,
                    number,
                    (is_asked and is_named)
                    or _is_strong(reader, words, number)
                    or (is_subject and _is_typed_name(reader, words, number))
                    or _is_typed_subject(reader, words, number, subjects),
                    reader.index.frequency(number) < GOALS.enough_documents,
                )


def _is_typed_subject(
    reader: Reader, words: list[str], number: int, subjects: Collection[str]
) -> bool:
    """Whether a single word is a subject although no paper was given it as a keyword.

    Where nobody gave keywords, a word that the grammar tells as a subject is one if papers say it.
    """
    if len(words) > 1 or reader.has_given_names or is_aspect(words[0]) or words[0] in ASKING:
        return False
    is_known = reader.index.tier(number) > Tier.NEITHER or words[0] in subjects
    return is_known and reader.index.frequency(number) >= GOALS.enough_documents


def _is_typed_name(reader: Reader, words: list[str], number: int) -> bool:
    """Whether a word that the grammar tells is a subject may be one: in some papers, not in most.

    Nobody who names `memory` must be told that it is too common a word.
    """
    papers = reader.index.frequency(number)
    return (
        papers >= GOALS.enough_documents
        and papers <= GOALS.most_papers * len(reader.index)
        and not all(word in GENERIC or word in ASKING for word in words)
    )


def _is_own_name(reader: Reader, words: list[str], number: int | None) -> bool:
    """Whether a phrase with an asking word is a name: the word ends it, or hardly stands apart."""
    if number is None or reader.index.frequency(number) < GOALS.enough_documents:
        return False
    language = goal_language()
    if not language.has("answer_nouns", words[0]) and not language.has(
        "empty_adjectives", words[0]
    ):
        return True
    head = reader.index.number(words[-1])
    return head is None or reader.index.frequency(
        number
    ) >= GOALS.cohesive * reader.index.frequency(head)


def _known(reader: Reader, words: list[str]) -> int | None:
    index = reader.index
    number = index.number(" ".join(words))
    if number is not None and not index.frequency(number):
        number = None
    if len(words) == 1 and (number is None or index.standing(number) is Standing.WORD):
        # An adjective stands for its noun where the two are nearly one word (`astrocytic`:
        # `astrocyte`).
        for noun in nouns_behind(words[0]):
            behind = index.number(noun)
            if (
                noun[: len(words[0]) - 2] == words[0][:-2]
                and behind is not None
                and _is_strong(reader, [noun], behind)
            ):
                return behind
    return number


def _says_something(words: list[str]) -> bool:
    return any(
        word not in FUNCTION_WORDS
        and word not in ASKING
        and word not in NEEDS_COMPANY
        and len(word) > 1
        for word in words
    )


def _is_strong(reader: Reader, words: list[str], number: int) -> bool:
    """Whether a concept is a subject of papers, not merely a word in them."""
    index = reader.index
    if len(words) == 1 and (words[0] in GENERIC or words[0] in ASKING):
        return False
    is_subject = index.standing(number) is Standing.TERM or reader.rank_of_kind(number) == 2
    if len(words) > 1:
        tells = any(
            word not in GENERIC and word not in ASKING and word not in NEEDS_COMPANY
            for word in words
        )
        return tells and (is_subject or not reader.is_broad(number))
    is_named = index.named_in(number) >= GOALS.enough_documents and not reader.is_broad(
        number, GOALS.named_may_be_broader
    )
    return is_subject or (is_named and not is_aspect(words[0]))


def chosen(spans: list[Span]) -> list[Span]:
    # What one span has taken no other may; what hardly any paper knows comes after what several do.
    spans.sort(
        key=lambda span: (not span.is_strong, span.is_thin, -(span.end - span.start), span.start)
    )
    taken: set[int] = set()
    kept = []
    for span in spans:
        if not taken.intersection(range(span.start, span.end)):
            taken.update(range(span.start, span.end))
            kept.append(span)
    return sorted(kept, key=lambda span: span.start)


NEAR_NAMES = 3


def papers_with_phrase(index: Concepts, text: str) -> int:
    """How many papers have these words in a row, in title or abstract."""
    return len(index.documents_with(normal_phrase(text)))


def common_subjects(reader: Reader, most: int = 3) -> tuple[str, ...]:
    """Labels of the most frequent subjects that are not too broad: examples for a goal."""
    index = reader.index
    subjects = [
        number
        for number in range(index.size)
        if index.named_in(number) > 1 and not reader.is_broad(number, 2.0)
    ]
    if subjects or reader.has_given_names:
        able = heapq.nlargest(most, subjects, key=lambda number: (index.named_in(number), -number))
    else:
        able = list(itertools.islice(_subjects_of_texts(reader), most))
    return tuple(index.label(number) for number in able)


def _subjects_of_texts(reader: Reader) -> Iterator[int]:
    """Where nobody gave keywords: what texts use as subjects, the most frequent first."""
    index = reader.index
    by_frequency = sorted(
        (
            number
            for number in range(index.size)
            if index.frequency(number) >= GOALS.enough_documents
        ),
        key=lambda number: (-index.frequency(number), number),
    )
    for number in by_frequency:
        if not reader.is_broad(number, 2.0) and index.tier(number) is Tier.END:
            yield number


def counted(count: int, noun: str) -> str:
    """`1 paper`, `2 papers`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def near_names(reader: Reader, names: Sequence[str]) -> list[tuple[str, ...]]:
    """For each name, names of the corpus that share a word or are spelled nearly alike."""
    index = reader.index
    known = [number for number in range(index.size) if index.named_in(number)]
    if not known:
        known = [n for n in range(index.size) if index.frequency(n) >= GOALS.enough_documents]
    keys = [index.key(number) for number in known]
    found = []
    for name in names:
        small = GENERIC | FUNCTION_WORDS | ASKING
        words = {
            word for word in normal_phrase(name).split(" ") if word not in small and len(word) > 2
        }
        holding = [
            number
            for number, key in zip(known, keys, strict=True)
            if not words.isdisjoint(key.split(" "))
        ]
        holding.sort(key=lambda number: (-index.frequency(number), number))
        alike = [
            one
            for word in sorted(words)
            if index.number(word) is None
            for one in _spelled_like(word, keys)
        ]
        numbers = dict.fromkeys(
            (*(number for key in alike if (number := index.number(key)) is not None), *holding)
        )
        chosen = list(numbers)[:NEAR_NAMES]
        found.append(
            tuple(
                f"{index.label(number)} ({counted(index.frequency(number), 'paper')})"
                for number in chosen
            )
        )
    return found


def _spelled_like(word: str, keys: Sequence[str]) -> list[str]:
    near = [key for key in keys if key[:2] == word[:2] and abs(len(key) - len(word)) <= 2]
    return get_close_matches(word, near, NEAR_NAMES, GOALS.near_spelling)


def adopt_whole_names(index: Concepts, statement: GoalStatement) -> None:
    """Make concepts of the names in a goal that extraction cuts, where papers have them."""
    named = (name for one in statement.constraints for name in one.names)
    for name in dict.fromkeys((*statement.subjects, *named)):
        for words in _cut_names(index, words_of(name)):
            index.adopt(normal_phrase(" ".join(words)), " ".join(words), GOALS.enough_documents)


def _cut_names(index: Concepts, words: Sequence[str]) -> Iterator[Sequence[str]]:
    for place, word in enumerate(words):
        if not place or not (len(word) == 1 or word.isdigit() or _is_code(word)):
            continue
        pair, triple = words[place - 1 : place + 1], words[place - 1 : place + 2]
        yield pair
        if len(triple) == 3 and not is_aspect(normal_phrase(triple[-1])):
            longer, shorter = (len(_papers(index, row)) for row in (triple, pair))
            if longer >= GOALS.one_name_share * shorter:
                yield triple


def _is_code(word: str) -> bool:
    """`K2`, `B12`, `1a`: a letter with digits."""
    return len(word) <= 3 and any(letter.isdigit() for letter in word)


def _papers(index: Concepts, words: Sequence[str]) -> list[int]:
    return index.documents_with(normal_phrase(" ".join(words)))
