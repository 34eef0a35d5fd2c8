"""Labels of regions: the terms by which a region's papers differ from all others."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from carrel.libraries.map_layout.term_vectors import MapText
from carrel.libraries.text.stems import light_stem
from carrel.libraries.text.words import STOP_WORDS

_TERMS_PER_LABEL = 3
# Two words or an author's own keyword name a topic better than one word as frequent.
_PHRASE_BONUS = 1.6
_SHORTEST_WORD = 3
_CAPITALS_FROM = 0.1
# Words of titles that name no topic.
_GENERIC = """
analyses analysis approach approaches based case cases comparison correction corrigendum data
different effect effects end erratum evaluation evidence findings function functions identification
implications index insights levels like long mechanism mechanisms method methods model models new
non novel outcome outcomes overview patient patients potential properties regulates report response
results reveals review risk role roles short specific studies study system systems term three trial
trials two type types use using versus via
"""
# Those that name one only together with another word.
_WIDE = "activity cell cells expression gene genes human protein proteins regulation"
_GENERIC_WORDS = frozenset(_GENERIC.split())
_WIDE_WORDS = frozenset(_WIDE.split())
# How much more a rare term says than a frequent one: study and patients stand everywhere a little.
_RARITY_POWER = 1.7
# A word with what is joined to it by a hyphen: Epstein-Barr, meta-analysis.
_WORD = re.compile(r"[^\W_]+(?:[-\u2010\u2011'\u2019][^\W_]+)*")

_Key = tuple[str, ...]


def label_groups(groups: Sequence[Sequence[MapText]]) -> list[tuple[str, ...]]:
    """For each group of papers up to three terms that set it apart, the strongest first."""
    spellings: dict[_Key, Counter[str]] = {}
    counts = [_count_terms(papers, spellings) for papers in groups]
    overall: Counter[_Key] = Counter()
    for counted in counts:
        overall.update(counted)
    total = sum(len(papers) for papers in groups)
    return [
        _choose(counted, overall, len(papers), total, spellings)
        for counted, papers in zip(counts, groups, strict=True)
    ]


def _count_terms(papers: Sequence[MapText], spellings: dict[_Key, Counter[str]]) -> Counter[_Key]:
    """In how many of the papers each term stands, in its title or among its keywords."""
    counted: Counter[_Key] = Counter()
    for paper in papers:
        found: dict[_Key, str] = {}
        words = _WORD.findall(paper.title)
        names = [[word] for word in words]
        names += [[one, other] for one, other in pairwise(words) if f"{one} {other}" in paper.title]
        names += [_WORD.findall(keyword) for keyword in paper.keywords]
        for name in names:
            if _is_name(name):
                found[_key(name)] = " ".join(name)
        for key, spelling in found.items():
            counted[key] += 1
            spellings.setdefault(key, Counter())[spelling] += 1
    return counted


def _is_name(words: Sequence[str]) -> bool:
    ends = (words[0], words[-1]) if words else ()
    if len(words) == 1 and words[0].lower() in _WIDE_WORDS:
        return False
    return bool(ends) and all(
        len(word) >= _SHORTEST_WORD
        and not word.isdigit()
        and word.lower() not in STOP_WORDS
        and word.lower() not in _GENERIC_WORDS
        for word in ends
    )


def _key(words: Sequence[str]) -> _Key:
    return tuple(light_stem(word.lower()) for word in words)


def _choose(
    counted: Counter[_Key],
    overall: Counter[_Key],
    size: int,
    total: int,
    spellings: dict[_Key, Counter[str]],
) -> tuple[str, ...]:
    least = 1 if size < 20 else 2
    scored = sorted(
        (-_score(key, count, overall[key], size, total), key)
        for key, count in counted.items()
        if count >= least
    )
    chosen: list[_Key] = []
    for score, key in scored:
        if score < 0 and not any(set(key) & set(other) for other in chosen):
            chosen.append(key)
            if len(chosen) == _TERMS_PER_LABEL:
                break
    return tuple(_spell(spellings[key]) for key in chosen)


def _score(key: _Key, count: int, overall: int, size: int, total: int) -> float:
    """How much more of the group than of all has the term (its part of the divergence)."""
    inside, everywhere = count / size, overall / total
    surprise = math.pow(max(0.0, math.log(inside / everywhere)), _RARITY_POWER)
    return inside * surprise * (_PHRASE_BONUS if len(key) > 1 else 1.0)


def _spell(spellings: Counter[str]) -> str:
    """The usual spelling; with capitals inside where some write so, as keywords are often lower."""
    most = max(spellings.values())
    named = [name for name in spellings if any(map(str.isupper, name[1:].replace(" ", "")))]
    capital = max(named, key=lambda name: (spellings[name], name), default="")
    if capital and spellings[capital] >= most * _CAPITALS_FROM and not capital.istitle():
        return capital
    usual = min(name for name, count in spellings.items() if count == most)
    if usual[:1].isupper() and usual[1:].islower() and spellings.get(usual.lower(), 0):
        return usual.lower()
    words = usual.split(" ")
    return " ".join(
        word.lower() if word[1:].islower() and len(words) > 1 else word for word in words
    )
