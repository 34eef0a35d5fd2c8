"""From a goal in a person's words to the concepts of the corpus it is about."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import log

from carrel.rooms.research.discovery.errors import GoalNotInCorpusError
from carrel.rooms.research.discovery.function_words import FUNCTION_WORDS, NEEDS_COMPANY
from carrel.rooms.research.discovery.literatures import Literature, Reader
from carrel.rooms.research.discovery.records import Concept, Standing
from carrel.rooms.research.discovery.vocabulary import Sphere
from carrel.rooms.research.discovery.words import normal_word, words_of

LEAST_DOCUMENTS = 3
_LONGEST_WORDS = 6

# Words goals are made of, whatever they are about.
_ASKING_WORDS = """
    find discover identify investigate explore examine understand develop design propose search look determine uncover reveal
    elucidate study research generate suggest predict explain improve enhance reduce prevent treat cure help want need better
    novel new potential possible promising effective innovative alternative hidden unknown unexplored candidate idea hypothesis
    hypothesi option way approach strategy target targets therapeutic therapy treatment intervention drug repurposing repurpose
    mechanism cause pathway role link connection association relationship factor biomarker marker goal question
"""
_ASKING = frozenset(_ASKING_WORDS.split())
_WANTS_SUBSTANCE = re.compile(
    r"\b(drugs?|compounds?|substances?|repurpos\w+|supplements?|molecules?|inhibitors?|treatments?|therap\w+)\b", re.IGNORECASE
)
_JOINS = re.compile(
    r"\b(between|link\w*|connect\w*|relat\w+|affects?|effects? of|influences?|role of|helps?|treats?|causes?|benefits?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class GoalReading:
    """What a goal is about: where to start, what else it names, and whether it asks after one certain pair."""

    goal: str
    start: Literature
    start_concept: Concept
    others: tuple[int, ...]
    pair: int | None
    wanted: Sphere | None
    searched: tuple[str, ...]


@dataclass(frozen=True)
class _Match:
    number: int
    words: int
    weight: float


def read_goal(reader: Reader, goal: str) -> GoalReading:
    """The goal's concepts, by the longest match against the index, rarest and longest first."""
    words = [normal_word(word) for word in words_of(goal)]
    matches = sorted(_matches(reader, words), key=lambda match: (match.weight, match.number), reverse=True)
    enough = [match for match in matches if reader.index.frequency(match.number) >= LEAST_DOCUMENTS] or matches
    searched = tuple(word for word in words if word not in FUNCTION_WORDS and word not in _ASKING)
    if not enough:
        raise GoalNotInCorpusError(goal, searched)
    best = enough[0]
    others = [match for match in enough[1:] if not reader.are_close(match.number, best.number)]
    start = _start(reader, best, others)
    pair = next((match.number for match in others if _can_pair(reader, match.number)), None) if _JOINS.search(goal) else None
    wanted = Sphere.CHEMICAL if reader.index.vocabulary and _WANTS_SUBSTANCE.search(goal) else None
    concept = reader.index.concept(best.number)
    return GoalReading(goal, start, concept, tuple(match.number for match in others), pair, wanted, searched)


def _matches(reader: Reader, words: list[str]) -> Iterator[_Match]:
    # Names someone gave come before loose phrases, long ones before short; what one has taken no other may.
    spans = sorted(_spans(reader, words), key=lambda span: (not span[0], -(span[2] - span[1]), span[1]))
    taken: set[int] = set()
    for _, start, end, number in spans:
        if not taken.intersection(range(start, end)):
            taken.update(range(start, end))
            yield _Match(number, end - start, _weight(reader, words[start:end], number))


def _spans(reader: Reader, words: list[str]) -> Iterator[tuple[bool, int, int, int]]:
    index = reader.index
    for start in range(len(words)):
        for end in range(start + 1, min(start + _LONGEST_WORDS, len(words)) + 1):
            number = index.number(" ".join(words[start:end])) if _says_something(words[start:end]) else None
            if number is not None and index.frequency(number):
                yield index.standing(number) in {Standing.TERM, Standing.NAMED}, start, end, number


def _weight(reader: Reader, run: list[str], number: int) -> float:
    index = reader.index
    specific = sum(word not in NEEDS_COMPANY and word not in _ASKING for word in run)
    rarity = log(1 + len(index) / index.frequency(number))
    trust = 1.0 if index.standing(number) in {Standing.TERM, Standing.NAMED} else 0.5
    return rarity * trust * (1 + 0.5 * (specific - 1))


def _says_something(run: list[str]) -> bool:
    if run[0] in FUNCTION_WORDS or run[-1] in FUNCTION_WORDS:
        return False
    return any(word not in FUNCTION_WORDS and word not in _ASKING and word not in NEEDS_COMPANY and len(word) > 1 for word in run)


def _start(reader: Reader, best: _Match, others: list[_Match]) -> Literature:
    whole = reader.literature([reader.index.key(best.number)])
    assert whole is not None
    # A single loose word is read together with what else the goal names, where papers do speak of both.
    if best.words == 1 and reader.index.standing(best.number) is Standing.WORD and others:
        joint = reader.joint_literature([reader.index.key(best.number), reader.index.key(others[0].number)])
        if joint is not None and len(joint.documents) >= LEAST_DOCUMENTS:
            return joint
    return whole


def _can_pair(reader: Reader, number: int) -> bool:
    return reader.rank_of_kind(number) == 2 and reader.index.frequency(number) >= LEAST_DOCUMENTS
