"""BM25 over passages at hand, for texts that no index of passages covers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from carrel.libraries.text.tokenizer import index_terms
from carrel.libraries.text.words import STOP_WORDS

# The same as in the index (tantivy), so that both orders agree.
_K1 = 1.2
_B = 0.75


def rank_passages(words: Iterable[str], passages: Sequence[str]) -> list[tuple[int, float]]:
    """The numbers of the passages that have one of the words, with their scores, best first."""
    asked = Counter(term for word in words for term in index_terms(word))
    wanted = {term: count for term, count in asked.items() if term not in STOP_WORDS} or asked
    counts = [Counter(index_terms(passage)) for passage in passages]
    lengths = [max(1, found.total()) for found in counts]
    average = sum(lengths) / len(lengths) if lengths else 1.0
    scores = [0.0] * len(passages)
    for term, times in wanted.items():
        having = [at for at, found in enumerate(counts) if term in found]
        if not having:
            continue
        rarity = math.log(1 + (len(passages) - len(having) + 0.5) / (len(having) + 0.5))
        for at in having:
            count = counts[at][term]
            norm = _K1 * (1 - _B + _B * lengths[at] / average)
            scores[at] += times * rarity * count * (_K1 + 1) / (count + norm)
    ranked = [(at, score) for at, score in enumerate(scores) if score > 0]
    return sorted(ranked, key=lambda each: (-each[1], each[0]))
