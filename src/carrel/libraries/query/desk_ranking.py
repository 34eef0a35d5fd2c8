"""One order for hits of several rooms, whose own scores cannot be compared.

A hit counts by how much of the question its title and best passage cover, words that few of the
hits have counting more; then by its place in its own room. What was named exactly comes first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from carrel.libraries.text.analysis import AskedWord, analyze_document, analyze_query
from carrel.libraries.text.folding import text_key
from carrel.libraries.text.stems import light_stem

# What the parts count, fitted by `python -m benchmarks.tuning.desk` on known items of its own.
_TITLE = 0.5
_TITLE_SHARE = 0.2
_PLACE = 0.3
_PLACE_DECAY = 0.5
_ASKED_ROOM = 0.25
# Words that say which room is meant, not what it should hold.
ROOM_WORDS: dict[str, str] = {
    "note": "knowledge",
    "jotted": "knowledge",
    "paper": "papers",
    "article": "papers",
    "reference": "references",
    "citation": "references",
    "bibliography": "references",
    "hypothesis": "research",
    "hypotheses": "research",
}
_ROOM_WORD_WEIGHT = 0.2


@dataclass(frozen=True, slots=True)
class RoomHit:
    """A hit of one room: its place there, from 0, and the words it is judged by."""

    room: str
    place: int
    title: str
    text: str
    is_named: bool = False


def rank_hits(query: str, hits: Sequence[RoomHit]) -> list[int]:
    """The numbers of the hits, best first."""
    asked = analyze_query(query)
    titles = [_stems(hit.title) for hit in hits]
    texts = [title | _stems(hit.text) for title, hit in zip(titles, hits, strict=True)]
    weights = [_weight(word, texts) for word in asked]
    wanted_rooms = {ROOM_WORDS[word.typed] for word in asked if word.typed in ROOM_WORDS} | {
        ROOM_WORDS[stem] for word in asked if (stem := light_stem(word.typed)) in ROOM_WORDS
    }
    key = text_key(query)
    total = sum(weights) or 1.0

    def score(at: int) -> tuple[int, float]:
        hit = hits[at]
        if hit.is_named:
            return 2, -hit.place
        tier = 1 if key and text_key(hit.title) == key else 0
        covered = _covered(asked, weights, texts[at]) / total
        in_title = _covered(asked, weights, titles[at]) / total
        share = in_title * len(asked) / max(len(asked), len(titles[at]), 1)
        found = covered + _TITLE * in_title + _TITLE_SHARE * share
        found += _PLACE / (1 + _PLACE_DECAY * hit.place)
        return tier, found + (_ASKED_ROOM if hit.room in wanted_rooms else 0.0)

    return sorted(range(len(hits)), key=lambda at: (*(-part for part in score(at)), at))


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(light_stem, analyze_document(text)))


def _has(word: AskedWord, stems: frozenset[str]) -> bool:
    return any(all(light_stem(term) in stems for term in choice) for choice in word.choices)


def _weight(word: AskedWord, texts: Sequence[frozenset[str]]) -> float:
    """How rare the word is among the hits; a word that no hit has is like one of a single hit."""
    having = max(1, sum(_has(word, text) for text in texts))
    rarity = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
    is_room_word = word.typed in ROOM_WORDS or light_stem(word.typed) in ROOM_WORDS
    return max(rarity, 0.05) * (_ROOM_WORD_WEIGHT if is_room_word else 1.0)


def _covered(asked: Sequence[AskedWord], weights: Sequence[float], stems: frozenset[str]) -> float:
    return sum(weight for word, weight in zip(asked, weights, strict=True) if _has(word, stems))
