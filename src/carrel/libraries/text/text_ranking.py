"""BM25 over texts at hand, for those that no index covers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from carrel.libraries.text.analysis import analyze_document, analyze_query
from carrel.libraries.text.stems import light_stem

# The same as in the index (tantivy), so that both orders agree.
_K1 = 1.2
_B = 0.75


def rank_texts(query: str, texts: Sequence[str]) -> list[tuple[int, float]]:
    """The numbers of the texts that have one of the words, with their scores, best first."""
    asked = Counter(light_stem(term) for word in analyze_query(query) for term in word.choices[0])
    counts = [Counter(map(light_stem, analyze_document(text))) for text in texts]
    lengths = [max(1, found.total()) for found in counts]
    average = sum(lengths) / len(lengths) if lengths else 1.0
    scores = [0.0] * len(texts)
    for term, times in asked.items():
        having = [at for at, found in enumerate(counts) if term in found]
        if not having:
            continue
        rarity = math.log(1 + (len(texts) - len(having) + 0.5) / (len(having) + 0.5))
        for at in having:
            count = counts[at][term]
            norm = _K1 * (1 - _B + _B * lengths[at] / average)
            scores[at] += times * rarity * count * (_K1 + 1) / (count + norm)
    ranked = [(at, score) for at, score in enumerate(scores) if score > 0]
    return sorted(ranked, key=lambda each: (-each[1], each[0]))
