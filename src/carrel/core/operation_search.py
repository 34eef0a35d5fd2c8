"""Finds operations by plain sentences: words weighed by how few operations share them, and the phrases people use for each."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from carrel.core.operation import Operation

_WORD = re.compile(r"[^\W_]+")
_STOP_WORDS = frozenset(
    [
        "a",
        "about",
        "again",
        "all",
        "also",
        "am",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "been",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "for",
        "from",
        "get",
        "give",
        "had",
        "has",
        "have",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "just",
        "let",
        "like",
        "make",
        "me",
        "my",
        "need",
        "now",
        "of",
        "on",
        "or",
        "our",
        "please",
        "should",
        "show",
        "so",
        "some",
        "something",
        "tell",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "to",
        "us",
        "use",
        "used",
        "want",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "will",
        "with",
        "would",
        "you",
        "your",
    ]
)
# Longer endings first, each with the shortest stem that it may leave.
_ENDINGS = (("ations", 4), ("ation", 4), ("ments", 4), ("ment", 4), ("ings", 3), ("ing", 3), ("ies", 3), ("ied", 3), ("ers", 3),
            ("ed", 3), ("es", 3), ("er", 4), ("ly", 4), ("s", 3), ("e", 3), ("y", 3))  # fmt: skip
# Words that people use for the same thing. A sentence that has another word of a group still meets the operation, for less.
_GROUPS = (
    "delete remove erase drop discard bin throw away trash clear forget",
    "find search look lookup locate seek query",
    "open view display read see",
    "save keep store write record remember jot",
    "change edit correct fix update modify amend repair typo rename",
    "export download output dump",
    "cancel abort stop kill end terminate quit",
    "pause halt suspend hold wait",
    "resume continue restart proceed carry",
    "paper article publication manuscript preprint study",
    "hypothesis hypotheses idea conjecture theory",
    "library bibliography references",
    "cite citation citing quote",
    "corpus collection",
    "summarise summarize summary overview abstract gist digest",
    "add import load insert include upload",
    "history version versions revision revisions earlier previous changed",
    "count many number size big statistics stats",
    "share publish promote release",
    "colleagues team everybody everyone group lab coworkers",
    "compare rank tournament order versus better best strongest",
    "review criticise critique assess evaluate judge check verify",
    "rate score grade stars mark",
    "approve accept endorse agree",
    "reject refuse decline dismiss",
    "improve refine evolve develop sharpen",
    "project research run investigation",
    "progress status far finished done ready",
    "note notes memo knowledge",
    "author authors writer wrote written researcher",
    "journal venue venues conference",
    "attach link file pdf",
    "job task background",
    "keyword keywords tag tags",
    "frequent common top most",
)
_GROUP_WEIGHT = 0.6
# How much a word counts by where it stands; chosen by hand on tests/doors/plain_sentences.tsv.
_NAME_WEIGHT, _TITLE_WEIGHT, _PHRASE_WEIGHT, _DESCRIPTION_WEIGHT, _PARAMETER_WEIGHT = 1.0, 1.0, 1.0, 0.45, 0.2
_WHOLE_PHRASE_WEIGHT = 1.5


def stem(word: str) -> str:
    """A crude English stem: enough for "citing" to meet "citation" and "hypotheses" to meet "hypothesis"."""
    if word.endswith(("sis", "ses")) and len(word) > 5:
        return word[:-3]
    for ending, shortest in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= shortest:
            return word[: -len(ending)]
    return word


def stems(text: str) -> list[str]:
    """The stems of a text's words in order, without words that say nothing."""
    return [stem(word) for word in _WORD.findall(text.replace("_", " ").lower()) if word not in _STOP_WORDS]


_GROUP_OF: dict[str, str] = {stem(word): f"~{group.split()[0]}" for group in _GROUPS for word in group.split()}


def _terms(text: str) -> dict[str, float]:
    """The stems of a text, and the groups that they belong to, with how much each counts."""
    found = dict.fromkeys(stems(text), 1.0)
    return {**{_GROUP_OF[word]: _GROUP_WEIGHT for word in found if word in _GROUP_OF}, **found}


@dataclass(frozen=True, slots=True)
class _Entry:
    operation: Operation[Any]
    weights: Mapping[str, float]
    phrases: tuple[Mapping[str, float], ...]


class OperationSearch:
    """An index over operations. Making it costs milliseconds, asking it less."""

    def __init__(self, operations: Iterable[Operation[Any]], parameters: Mapping[str, str]) -> None:
        self._entries = [_entry(operation, parameters.get(operation.name, "")) for operation in operations]
        frequency = Counter(word for entry in self._entries for word in entry.weights)
        count = len(self._entries)
        self._rarity = {word: math.log(1 + (count - seen + 0.5) / (seen + 0.5)) for word, seen in frequency.items()}

    def find(self, sentence: str, allowed: frozenset[str], limit: int) -> list[Operation[Any]]:
        """Operations that the sentence speaks of, best first; those whose scopes exceed `allowed` are left out."""
        asked = _terms(sentence)
        scored = [
            (score, entry.operation)
            for entry in self._entries
            if entry.operation.scopes <= allowed and (score := self._score(asked, entry)) > 0
        ]
        scored.sort(key=lambda each: -each[0])
        return [operation for _, operation in scored[:limit]]

    def _score(self, asked: Mapping[str, float], entry: _Entry) -> float:
        words = sum(self._rarity[word] * entry.weights[word] * share for word, share in asked.items() if word in entry.weights)
        whole = max((self._likeness(asked, phrase) for phrase in entry.phrases), default=0.0)
        return words + _WHOLE_PHRASE_WEIGHT * whole

    def _likeness(self, asked: Mapping[str, float], phrase: Mapping[str, float]) -> float:
        """How much of the sentence and of the phrase is the same, in rarity."""
        shared = sum(self._rarity.get(word, 0.0) * share for word, share in asked.items() if word in phrase)
        if not shared:
            return 0.0
        of_phrase = sum(self._rarity.get(word, 0.0) * share for word, share in phrase.items())
        of_asked = sum(self._rarity.get(word, 0.0) * share for word, share in asked.items())
        return shared * shared / math.sqrt(of_phrase * of_asked)


def _entry(operation: Operation[Any], parameters: str) -> _Entry:
    weights: dict[str, float] = {}
    for text, weight in (
        (operation.name, _NAME_WEIGHT),
        (operation.title, _TITLE_WEIGHT),
        (" ".join(operation.phrases), _PHRASE_WEIGHT),
        (operation.description, _DESCRIPTION_WEIGHT),
        (parameters, _PARAMETER_WEIGHT),
    ):
        for word in _terms(text):
            weights[word] = max(weights.get(word, 0.0), weight)
    named = (operation.name, operation.title, *operation.phrases)
    return _Entry(operation, weights, tuple(_terms(text) for text in named))
