"""Finds operations by plain sentences, weighting rare words and known phrases."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from carrel.core.operation import Operation
from carrel.core.sentence_kinds import SentenceKinds, recognize_kinds

_WORDS_THAT_SAY_NOTHING = (
    "a about again all also am an and any are as at be been by can could did do does for from "
    "get give had has have how i if in into is it its just let like make me my need now of on "
    "or our please should show so some something tell than that the their them then there these "
    "they this those to us use used want was we were what when where which who will with would "
    "you your got gotten im ive dont cant whats thanks thank hi hello hey maybe perhaps really "
    "quickly kindly ll ve re here yet"
)
_STOP_WORDS = frozenset(_WORDS_THAT_SAY_NOTHING.split())
# Words for the same thing: a sentence with another word of a group meets the operation, for less.
_GROUPS = (
    "delete remove erase drop discard bin throw away trash clear forget purge scrap wipe strike "
    "eliminate",
    "find search look lookup locate seek query hunt discover",
    "open view display read see",
    "save keep store write record remember jot capture create",
    "change edit correct fix update modify amend repair typo rename adjust alter overwrite rewrite "
    "replace fill assign set",
    "wrong mistaken incorrect misspelt misspelled mistake error false",
    "undo revert restore reverse regret unmerge",
    "export download output dump convert produce",
    "cancel abort stop kill end terminate quit",
    "pause halt suspend hold wait freeze interrupt break rest",
    "resume continue restart proceed carry unpause",
    "paper article publication manuscript preprint study literature trial document",
    "hypothesis hypotheses idea conjecture theory",
    "library bibliography references",
    "cite citation citing quote",
    "corpus collection",
    "summarise summarize summary overview abstract gist digest tldr nutshell brief briefly",
    "add import load insert include upload ingest",
    "history version versions revision revisions earlier previous changed trail log original "
    "originally old former",
    "count many number numbers size big statistics stats",
    "share publish promote release visible",
    "colleagues team everybody everyone group lab coworkers supervisor",
    "compare rank tournament order versus better best strongest",
    "review criticise critique assess evaluate judge check verify",
    "weakness weaknesses flaw flaws hole holes problem problems",
    "rate score grade stars mark",
    "approve accept endorse agree confirm",
    "reject refuse decline dismiss veto disagree",
    "improve refine evolve develop sharpen strengthen enhance",
    "project research run investigation",
    "progress status far finished done ready complete",
    "note notes memo memos knowledge notebook annotation annotate comment remark",
    "author authors writer wrote written researcher",
    "journal venue venues conference",
    "attach file pdf",
    "link links connect associate tie relate refer",
    "job task background pending",
    "keyword keywords tag tags label labels categorise categorize classify",
    "topic topics subject subjects theme themes",
    "frequent common commonest top most",
    "start begin launch initiate commence examine explore",
    "generate brainstorm invent create",
    "detach unlink unattach",
    "duplicate duplicates copy copies twice double same",
    "missing incomplete lack lacking lacks absent",
    "similar related alike recommend resemble",
    "draw visualise visualize diagram plot chart",
    "figure figures illustration image picture chart plot",
    "passage passages paragraph paragraphs sentence statement statements claim claims",
    "everything anything across everywhere",
    "important influential seminal landmark classic classics key foundational",
    "style styles format formatting chicago harvard apa vancouver ieee mla",
    "merge join combine unite",
    "section sections chapter methods discussion introduction",
)
# A verb and its particle, which may stand some words apart, by the word they mean together.
_PHRASAL_VERBS_BY_MEANING = {
    "add": "put … in, put … into",
    "approve": "sign … off",
    "cancel": "call … off",
    "convert": "turn … into",
    "export": "write … out",
    "generate": "come … up with, think … up",
    "import": "bring … in",
    "pause": "put … on hold",
    "reject": "rule … out, turn … down",
    "remove": (
        "cross … out, get … rid of, take … back, take … off, take … out, throw … away, throw … out"
    ),
    "resume": "bring … back, carry … on, go … ahead, go … on, keep … going, pick … up",
    "save": "jot … down, keep … in mind, note … down, write … down",
    "search": "look … for, look … up",
    "start": "kick … off, set … up",
    "status": "check … on, check … up on",
    "submit": "hand … in",
    "summarise": "sum … up",
}

_WORD = re.compile(r"[^\W_]+")
# Longer endings first, each with the shortest stem that it may leave.
_ENDINGS = (("ations", 4), ("ation", 4), ("ments", 4), ("ment", 4), ("ings", 3), ("ing", 3), ("ies", 3), ("ied", 3), ("ers", 3),  # noqa: E501
            ("ed", 3), ("es", 3), ("er", 4), ("ly", 4), ("s", 3), ("e", 3), ("y", 3))  # fmt: skip
# Chosen by hand on tests/doors/plain_sentences.tsv and the even halves of researcher_sentences.tsv
# and later_sentences.tsv beside it; tests/doors/test_operation_tools.py has the figures.
_GROUP_WEIGHT = 0.6
_TOPIC_WEIGHT = 0.6
_NAME_WEIGHT, _TITLE_WEIGHT, _PHRASE_WEIGHT, _DESCRIPTION_WEIGHT, _PARAMETER_WEIGHT = (
    1.0,
    1.0,
    1.0,
    0.45,
    0.2,
)
_WHOLE_PHRASE_WEIGHT = 1.5
_OTHER_EFFECT_WEIGHT, _OTHER_ROOM_WEIGHT = 0.75, 0.75
# Shorter words are too near to others for a typing error to be guessed.
_SHORTEST_MISTYPED = 5
_SHORTEST_TOPIC = 3

# In a phrase: whatever the sentence is about; in a sentence: words that no operation uses.
_TOPIC_SIGN, _TOPIC = "…", "~topic"
# What follows is what is not to happen: "remove the file but keep the reference".
_EXCEPTION = re.compile(r"\b(?:but|without|instead of|rather than|except)\b")


def _phrasal_verb(verb: str, particle: str) -> re.Pattern[str]:
    between = r"((?:\s+[\w'-]+){0,5}?)\s+"
    return re.compile(rf"\b{verb}(?:s|ed|ing)?\b{between}{particle.replace(' ', chr(92) + 's+')}\b")


def stem(word: str) -> str:
    """A crude English stem: "citing" matches "citation", "hypotheses" matches "hypothesis"."""
    if word.endswith(("sis", "ses")) and len(word) > 5:
        return word[:-3]
    for ending, shortest in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= shortest:
            return word[: -len(ending)]
    return word


_PHRASAL_VERBS: dict[str, list[tuple[re.Pattern[str], str]]] = {}
for _meaning, _verbs in _PHRASAL_VERBS_BY_MEANING.items():
    for _verb, _, _particle in (each.partition(" … ") for each in _verbs.split(", ")):
        _PHRASAL_VERBS.setdefault(stem(_verb), []).append(
            (_phrasal_verb(_verb, _particle), rf"{_meaning}\1")
        )


def _words(text: str) -> list[str]:
    """The words of a text in order, phrasal verbs joined, without stop words."""
    plain = text.replace("_", " ").lower()
    wanted = _EXCEPTION.split(plain, maxsplit=1)[0]
    plain = wanted if _WORD.search(wanted) else plain
    for word in {stem(word) for word in _WORD.findall(plain)} & _PHRASAL_VERBS.keys():
        for pattern, meaning in _PHRASAL_VERBS[word]:
            plain = pattern.sub(meaning, plain)
    return [word for word in _WORD.findall(plain) if word not in _STOP_WORDS]


_GROUPS_OF: dict[str, set[str]] = {}
for _group in _GROUPS:
    for _word in _group.split():
        _GROUPS_OF.setdefault(stem(_word), set()).add(f"~{_group.split()[0]}")


def _terms(words: Iterable[str]) -> dict[str, float]:
    """The stems of words and the groups they belong to, with their weights."""
    found = dict.fromkeys(map(stem, words), 1.0)
    groups = {group: _GROUP_WEIGHT for word in found for group in _GROUPS_OF.get(word, ())}
    return {**groups, **found}


def _phrase_terms(text: str) -> dict[str, float]:
    terms = _terms(_words(text))
    return {**terms, _TOPIC: _TOPIC_WEIGHT} if _TOPIC_SIGN in text else terms


@dataclass(frozen=True, slots=True)
class _Entry:
    operation: Operation[Any]
    weights: Mapping[str, float]
    phrases: tuple[Mapping[str, float], ...]


class OperationSearch:
    """An index over operations. Making it costs milliseconds, asking it less."""

    def __init__(self, operations: Iterable[Operation[Any]], parameters: Mapping[str, str]) -> None:
        listed = list(operations)
        self._entries = [
            _entry(operation, parameters.get(operation.name, "")) for operation in listed
        ]
        frequency = Counter(word for entry in self._entries for word in entry.weights)
        count = len(self._entries)
        self._rarity = {
            word: math.log(1 + (count - seen + 0.5) / (seen + 0.5))
            for word, seen in frequency.items()
        }
        self._spellings = _spellings(listed)

    def find(self, sentence: str, allowed: frozenset[str], limit: int) -> list[Operation[Any]]:
        """The best matching operations first, without those whose scopes exceed `allowed`."""
        return [operation for _, operation in self.find_scored(sentence, allowed, limit)]

    def find_scored(
        self, sentence: str, allowed: frozenset[str], limit: int
    ) -> list[tuple[float, Operation[Any]]]:
        """What `find` answers, each with how well it matches; one that is named comes first."""
        asked = self._asked(sentence)
        kinds = recognize_kinds(sentence)
        scored = [
            (score * _weigh_kinds(kinds, entry.operation), entry.operation)
            for entry in self._entries
            if entry.operation.scopes <= allowed and (score := self._score(asked, entry)) > 0
        ]
        name = sentence.strip()
        scored.sort(key=lambda each: (each[1].name != name, -each[0]))
        return scored[:limit]

    def _asked(self, sentence: str) -> dict[str, float]:
        """The weighted terms of a sentence: typos corrected, unknown words as one topic term."""
        words = [self._spelled(word) for word in _words(sentence)]
        known = {term: share for term, share in _terms(words).items() if term in self._rarity}
        has_topic = any(
            word.isalpha() and len(word) >= _SHORTEST_TOPIC and stem(word) not in self._rarity
            for word in words
        )
        return {**known, _TOPIC: _TOPIC_WEIGHT} if known and has_topic else known

    def _spelled(self, word: str) -> str:
        if len(word) < _SHORTEST_MISTYPED or stem(word) in self._rarity or not word.isalpha():
            return word
        return next(
            (self._spellings[key] for key in _without_one_letter(word) if key in self._spellings),
            word,
        )

    def _score(self, asked: Mapping[str, float], entry: _Entry) -> float:
        words = sum(
            self._rarity[word] * entry.weights[word] * share
            for word, share in asked.items()
            if word in entry.weights
        )
        whole = max((self._likeness(asked, phrase) for phrase in entry.phrases), default=0.0)
        return words + _WHOLE_PHRASE_WEIGHT * whole

    def _likeness(self, asked: Mapping[str, float], phrase: Mapping[str, float]) -> float:
        """The overlap of sentence and phrase, weighted by rarity."""
        shared = sum(
            self._rarity.get(word, 0.0) * share for word, share in asked.items() if word in phrase
        )
        if not shared:
            return 0.0
        of_phrase = sum(self._rarity.get(word, 0.0) * share for word, share in phrase.items())
        of_asked = sum(self._rarity.get(word, 0.0) * share for word, share in asked.items())
        return shared * shared / math.sqrt(of_phrase * of_asked)


def _weigh_kinds(kinds: SentenceKinds, operation: Operation[Any]) -> float:
    """Less for an operation that changes where the sentence asks, or of a room it does not name."""
    effect = 1.0 if kinds.suits_effect(operation.effect) else _OTHER_EFFECT_WEIGHT
    return effect * (1.0 if kinds.suits_room(operation.room) else _OTHER_ROOM_WEIGHT)


def _entry(operation: Operation[Any], parameters: str) -> _Entry:
    weights: dict[str, float] = {}
    for texts, weight in (
        ((operation.name,), _NAME_WEIGHT),
        ((operation.title,), _TITLE_WEIGHT),
        (operation.phrases, _PHRASE_WEIGHT),
        ((operation.description,), _DESCRIPTION_WEIGHT),
        ((parameters,), _PARAMETER_WEIGHT),
    ):
        for text in texts:
            for word in _phrase_terms(text):
                weights[word] = max(weights.get(word, 0.0), weight)
    named = (operation.name, operation.title, *operation.phrases)
    return _Entry(operation, weights, tuple(_phrase_terms(text) for text in named))


def _spellings(operations: Iterable[Operation[Any]]) -> dict[str, str]:
    """The long words that operations go by, under each of their spellings with a letter missing."""
    texts = [
        *_GROUPS,
        *(text for each in operations for text in (each.name, each.title, *each.phrases)),
    ]
    words = sorted(
        {word for text in texts for word in _words(text) if len(word) >= _SHORTEST_MISTYPED}
    )
    return {key: word for word in words for key in _without_one_letter(word)}


def _without_one_letter(word: str) -> Iterator[str]:
    """The word and each form with one letter deleted; words one typing error apart share a form."""
    yield word
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]
