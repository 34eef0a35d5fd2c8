"""What a corpus could be asked instead: names that resemble one it does not have, and what most of
its papers are about.
"""

import heapq
from collections.abc import Sequence
from difflib import get_close_matches

from carrel.libraries.discovery.function_words import FUNCTION_WORDS
from carrel.libraries.discovery.goal_words import ASKING, GENERIC
from carrel.libraries.discovery.literatures import Reader
from carrel.libraries.discovery.words import normal_phrase

NEAR_NAMES = 3


def common_subjects(reader: Reader, most: int = 3) -> tuple[str, ...]:
    """What most papers are about without nearly all of them being about it: examples of what can be
    asked.
    """
    index = reader.index
    subjects = (
        number
        for number in range(index.size)
        if index.named_in(number) > 1 and not reader.is_broad(number, 2.0)
    )
    able = heapq.nlargest(most, subjects, key=lambda number: (index.named_in(number), -number))
    return tuple(index.label(number) for number in able)


def counted(count: int, noun: str) -> str:
    """`1 paper`, `2 papers`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def near_names(reader: Reader, names: Sequence[str]) -> list[tuple[str, ...]]:
    """For each name, those of the corpus that contain a word of it, or are spelled nearly like a
    word that is not there.
    """
    index = reader.index
    known = [number for number in range(index.size) if index.named_in(number)]
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
    return get_close_matches(word, near, NEAR_NAMES, 0.8)
