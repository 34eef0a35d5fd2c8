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
class Weights:
    """What the parts of a hit's score count beside the share of the question that it covers."""

    title: float
    title_share: float
    place: float
    place_decay: float
    asked_room: float


# Fitted by `python -m benchmarks.tuning.desk ../shared/data`; half or double of each changes the
# share of right hits among the first three by less than .02.
WEIGHTS = Weights(title=0.5, title_share=0.2, place=0.2, place_decay=0.5, asked_room=0.25)
# Hits that cover less than this share of what the best one covers are left out,
_LEAST_SHARE = 0.3
# but the first ones of each room, which may have been found by meaning or by another spelling.
_ALWAYS_SHOWN = 3
# What a word counts that all hits have.
_LEAST_RARITY = 0.05


@dataclass(frozen=True, slots=True)
class RoomHit:
    """A hit of one room: its place there, from 0, and the words it is judged by."""

    room: str
    place: int
    title: str
    text: str
    is_named: bool = False


def rank_hits(query: str, hits: Sequence[RoomHit], weights: Weights = WEIGHTS) -> list[int]:
    """The numbers of the hits worth showing, best first."""
    asked = analyze_query(query)
    titles = [_stems(hit.title) for hit in hits]
    texts = [title | _stems(hit.text) for title, hit in zip(titles, hits, strict=True)]
    rarities = [_rarity(word, texts) for word in asked]
    total = sum(rarities) or 1.0
    covered = [_covered(asked, rarities, text) / total for text in texts]
    rooms = {ROOM_WORDS[name] for word in asked for name in _room_names(word)}
    key = text_key(query)

    def score(at: int) -> tuple[int, float]:
        hit = hits[at]
        if hit.is_named:
            return 2, -hit.place
        in_title = _covered(asked, rarities, titles[at]) / total
        share = in_title * len(asked) / max(len(asked), len(titles[at]), 1)
        found = covered[at] + weights.title * in_title + weights.title_share * share
        found += weights.place / (1 + weights.place_decay * hit.place)
        found += weights.asked_room if hit.room in rooms else 0.0
        return int(bool(key) and text_key(hit.title) == key), found

    least = _LEAST_SHARE * max(covered, default=0.0)
    worth = [
        at
        for at, hit in enumerate(hits)
        if hit.is_named or hit.place < _ALWAYS_SHOWN or covered[at] >= least
    ]
    return sorted(worth, key=lambda at: (*(-part for part in score(at)), at))


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(light_stem, analyze_document(text)))


def _has(word: AskedWord, stems: frozenset[str]) -> bool:
    return any(all(light_stem(term) in stems for term in choice) for choice in word.choices)


def _room_names(word: AskedWord) -> list[str]:
    return [name for name in {word.typed, light_stem(word.typed)} if name in ROOM_WORDS]


def _rarity(word: AskedWord, texts: Sequence[frozenset[str]]) -> float:
    """How rare the word is among the hits; a word that no hit has is like one of a single hit."""
    having = max(1, sum(_has(word, text) for text in texts))
    rarity = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
    return max(rarity, _LEAST_RARITY) * (_ROOM_WORD_WEIGHT if _room_names(word) else 1.0)


def _covered(asked: Sequence[AskedWord], rarities: Sequence[float], stems: frozenset[str]) -> float:
    return sum(rarity for word, rarity in zip(asked, rarities, strict=True) if _has(word, stems))
