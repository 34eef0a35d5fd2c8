"""Evidence in a text: concepts of lexicon.txt, near one another and in their clauses, and words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from carrel.rooms.research.safety.wording import FIGURES, clause_roles, plain_wording, sentence_form

_HEAD = re.compile(r"\[(\w+)(?: (\w+))?\] (.+)")
_GAP = "~"


@dataclass(frozen=True)
class Slot:
    """One place of an expression: whole words or stems, after at most so many other words."""

    words: frozenset[str]
    stems: tuple[str, ...]
    gap: int

    def fits(self, word: str) -> bool:
        """Whether a word matches this slot."""
        return word in self.words or (bool(self.stems) and word.startswith(self.stems))


@dataclass(frozen=True)
class Expression:
    """A pattern for a concept: one word, or several in order."""

    concept: str
    slots: tuple[Slot, ...]


@dataclass(frozen=True)
class Found:
    """A concept in a text, from its first word to after its last."""

    concept: str
    start: int
    end: int


class Lexicon:
    """All expressions, found by the first word."""

    def __init__(self, text: str) -> None:
        self.labels: dict[str, str] = {}
        self.groups: dict[str, str] = {}
        self._by_word: dict[str, list[Expression]] = {}
        self._by_stem: dict[str, list[Expression]] = {}
        concept = ""
        for line in text.splitlines():
            if head := _HEAD.fullmatch(line):
                concept = head.group(1)
                self.groups[concept] = head.group(2) or ""
                self.labels[concept] = head.group(3)
            elif line and not line.startswith("#"):
                for part in line.split(","):
                    self._learn(Expression(concept, _slots(part.split())))
        self._shortest = min(map(len, self._by_stem))
        self._longest = max(map(len, self._by_stem))

    def _learn(self, expression: Expression) -> None:
        for word in expression.slots[0].words:
            self._by_word.setdefault(word, []).append(expression)
        for stem in expression.slots[0].stems:
            self._by_stem.setdefault(stem, []).append(expression)

    def find(self, words: Sequence[str]) -> list[Found]:
        """Every concept a sentence names, in order."""
        return [
            Found(expression.concept, start, end)
            for start, word in enumerate(words)
            for expression in self._beginning(word)
            if (end := _end(expression.slots, words, start))
        ]

    def knows(self, word: str) -> bool:
        """Whether an expression may start with this word."""
        return next(self._beginning(word), None) is not None

    def _beginning(self, word: str) -> Iterator[Expression]:
        yield from self._by_word.get(word, ())
        for length in range(self._shortest, min(len(word), self._longest) + 1):
            yield from self._by_stem.get(word[:length], ())


def _slots(parts: list[str]) -> tuple[Slot, ...]:
    found: list[Slot] = []
    gap = 0
    for part in parts:
        if part.startswith(_GAP):
            gap = int(part.removeprefix(_GAP))
            continue
        choices = part.split("|")
        stems = tuple(choice.removesuffix("*") for choice in choices if choice.endswith("*"))
        found.append(
            Slot(frozenset(choice for choice in choices if not choice.endswith("*")), stems, gap)
        )
        gap = 0
    return tuple(found)


def _end(slots: tuple[Slot, ...], words: Sequence[str], start: int) -> int:
    """The end of the expression that begins here; 0 without a match."""
    at = start + 1
    for slot in slots[1:]:
        for place in range(at, min(at + slot.gap + 1, len(words))):
            if slot.fits(words[place]):
                at = place + 1
                break
        else:
            return 0
    return at


@cache
def lexicon() -> Lexicon:
    """Loaded at the first check: most sessions never make one."""
    return Lexicon((Path(__file__).parent / "lexicon.txt").read_text(encoding="utf-8"))


_TOKEN = re.compile(r"[a-z0-9]+(?:'[a-z]+)?|[.!?;:](?=\s|$)")
_ENDS = frozenset(".!?;:")
_ENDINGS = (
    "ations", "ation", "ingly", "ings", "ing", "ies", "ied", "edly", "ed", "es", "ly", "s",
    "e", "y",
)  # fmt: skip
_SHORTEST_STEM = 3
_SHORTEST_DISGUISED = 4
_NEAR = 7
_LONGEST = 120
_USUAL_PAIRS = 40
_PASSAGE = 80


@dataclass(frozen=True)
class Shown:
    """One piece of evidence: its share, its concepts, and the words found."""

    share: float
    concepts: tuple[str, ...]
    words: tuple[str, ...]


Evidence = dict[str, Shown]


def read(text: str) -> Evidence:
    """The evidence in a text of ordinary length."""
    return _shown(sentences(text))


def read_passages(text: str) -> list[Evidence]:
    """The evidence in each passage: in a long text, evidence would add up by mere length."""
    passages: list[list[list[str]]] = [[]]
    length = 0
    for words in sentences(text):
        if length and length + len(words) > _PASSAGE:
            passages.append([])
            length = 0
        passages[-1].append(words)
        length += len(words)
    return [_shown(passage) for passage in passages]


def _shown(passage: list[list[str]]) -> Evidence:
    # The more pairs of concepts there are, the less each of them says.
    shown: Evidence = {}
    pairs: Evidence = {}
    for words in passage:
        found = lexicon().find(words)
        for one in found:
            shown.setdefault(one.concept, Shown(1.0, (one.concept,), (_said(words, one),)))
        _read_pairs(words, found, pairs)
        _read_clauses(words, found, shown)
        _read_words(words, shown)
    share = min(2.0, (_USUAL_PAIRS / len(pairs)) ** 0.5) if pairs else 0.0
    shown.update((name, Shown(share, pair.concepts, pair.words)) for name, pair in pairs.items())
    return shown


def sentences(text: str) -> list[list[str]]:
    """The words of each sentence, without disguise and in small letters."""
    plain = (
        plain_wording(text)
        .lower()
        .replace("won't", "will not")
        .replace("can't", "cannot")
        .replace("n't", " not")
    )
    found: list[list[str]] = [[]]
    for token in _TOKEN.findall(plain):
        if token in _ENDS or len(found[-1]) >= _LONGEST:
            found.append([])
        if token not in _ENDS:
            found[-1].append(_undisguised(token.removesuffix("'s")))
    return [words for words in found if words]


def stem(word: str) -> str:
    """A word without its ending, near enough that forms of one word meet."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


def _undisguised(word: str) -> str:
    """Undo leetspeak (`v4ccin3`) if the result is a word of the lexicon."""
    if word.isalpha() or len(word) < _SHORTEST_DISGUISED:
        return word
    lettered = word.translate(FIGURES)
    return lettered if lettered.isalpha() and lexicon().knows(lettered) else word


def _read_pairs(words: list[str], found: list[Found], pairs: Evidence) -> None:
    for place, first in enumerate(found):
        for second in found[place + 1 :]:
            if second.start - first.end > _NEAR:
                break
            name = f"{first.concept}>{second.concept}"
            if first.end <= second.start and first.concept != second.concept and name not in pairs:
                pairs[name] = Shown(
                    0.0,
                    (first.concept, second.concept),
                    (_said(words, first), _said(words, second)),
                )


def _read_clauses(words: list[str], found: list[Found], shown: Evidence) -> None:
    """Concepts and their groups by the form of the sentence and the part their clause plays."""
    form, roles = sentence_form(words), clause_roles(words)
    shown.setdefault(f"c:{form}", Shown(1.0, (), ()))
    groups = lexicon().groups
    for one in found:
        role, group = roles[one.start], groups[one.concept]
        piece = Shown(1.0, (one.concept,), (_said(words, one),))
        for name in (
            f"c:{form}&{one.concept}",
            f"c:{role}&{one.concept}",
            f"c:{form}&{group}",
            f"c:{role}&{group}",
            f"c:{form}&{role}&{group}",
        ):
            shown.setdefault(name, piece)


def _read_words(words: list[str], shown: Evidence) -> None:
    before = ""
    for word in words:
        now = stem(word)
        shown.setdefault(f"w:{now}", Shown(1.0, (), (word,)))
        if before:
            shown.setdefault(f"w:{before} {now}", Shown(1.0, (), (word,)))
        before = now


def _said(words: list[str], found: Found) -> str:
    return " ".join(words[found.start : found.end])
