"""Whether two sentences deny each other: the same effect on the same thing, stated and denied."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from carrel.libraries.claims.matching import measure_generality
from carrel.libraries.claims.readings import DATA, stem_word
from carrel.libraries.relations import Argument, Relation, RelationKind, extract_relations
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.words import STOP_WORDS

MAX_SENTENCE_CHARACTERS = 1_000
_CACHED_SENTENCES = 8_192
# A subject needs a word that all fields use at most this often, in half octaves above one text in
# 5,000: what "the protein" of another paper does denies nothing.
MOST_GENERAL_SUBJECT = 7
MOST_GENERAL_OBJECT = 11
# A condition is looked for so many characters behind the object.
_CONDITION_REACH = 60
# Objects that differ must share so many words: "growth" may be another than "tumour growth".
_LEAST_SHARED = 2
_UNSIGNED = {RelationKind.ASSOCIATES, RelationKind.PREDICTS, RelationKind.IS_PART_OF}
_WORD = re.compile(r"[^\W_]+")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_SHORT_FORM = re.compile(r"\s*\(([^()\s]{2,12})\)")
_ITEM_BORDER = re.compile(r",\s*(?:and |or )?|\s+(?:and|or|as well as)\s+")
# A relative clause between subject and object, or the title of another paper.
_RELATIVE = re.compile(r"\b(?:which|who|that)\b|[‘“\"«„]", re.IGNORECASE)
_EXCEPTION = re.compile(r"\bnot\s+(?:\w+\s+)?$", re.IGNORECASE)
_EXCEPTION_REACH = 24
_TOGETHER = re.compile(r"\b(?:combin\w+|together|plus|between|ratio)\b", re.IGNORECASE)
_CORE_END = re.compile(
    r"\b(?:in|on|by|with|for|to|from|at|during|after|before|through|via|between|among|under|within|"
    r"upon|against|into|across|towards?|due|that|which|when|while|as|than|per|over|using)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class NamedThing:
    """One thing of a subject or object: the stems of its name, its head, its words as typed.

    `factor` is -1 where less of it is spoken of.
    """

    words: frozenset[str]
    head: str
    name: str
    factor: int = 1

    @property
    def keys(self) -> tuple[str, str]:
        """What is equal for two things of the same name: the words in any order, or joined."""
        return " ".join(sorted(self.words)), self.name.replace(" ", "")

    def is_same(self, other: NamedThing) -> bool:
        """Whether both have the same name."""
        return bool({*self.keys} & {*other.keys})

    def is_kind_of(self, other: NamedThing) -> bool:
        """Whether one is the other with something added in front: accurate segregation."""
        one, two = self.words, other.words
        return self.is_same(other) or (self.head == other.head and (one <= two or two <= one))


@dataclass(frozen=True, slots=True)
class StatedEffect:
    """What a sentence states or denies; `sign` is 0 where it says that there is no effect."""

    subject: NamedThing
    object: NamedThing
    sign: int
    is_denied: bool
    verb: str


@dataclass(frozen=True, slots=True)
class Denial:
    """Why two effects cannot both hold. Not sure where one object is only a part of the other."""

    reason: str
    is_sure: bool


@dataclass(frozen=True, slots=True)
class _DenialWords:
    neutral: frozenset[str]
    pointing: frozenset[str]
    acting: frozenset[str]
    nouns: frozenset[str]
    leaves_room: re.Pattern[str]
    conditions: re.Pattern[str]
    opinions: re.Pattern[str]

    def is_verb(self, word: str) -> bool:
        """Whether a trigger says what was found: "diet-induced" says what sort a thing is."""
        return "-" not in word and word.lower() not in self.nouns


@lru_cache(1)
def _load_words() -> _DenialWords:
    table = tomllib.loads((DATA / "denials.toml").read_text(encoding="utf-8"))
    return _DenialWords(
        frozenset(map(stem_word, table["neutral"].split())),
        frozenset(table["pointing"].split()),
        frozenset(map(stem_word, table["acting"].split())),
        frozenset(table["nouns"].split()),
        _match_any(table["leaves_room"].split()),
        _match_any(table["conditions"]),
        _match_any(table["opinions"]),
    )


def _match_any(phrases: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, phrases))})(?!\w)", re.IGNORECASE)


@lru_cache(_CACHED_SENTENCES)
def read_effects(sentence: str) -> tuple[StatedEffect, ...]:
    """The effects that a sentence states or denies without hedge, condition or opinion."""
    sentence = sentence[:MAX_SENTENCE_CHARACTERS]
    if _load_words().opinions.search(sentence):
        return ()
    return tuple(_read_effects(sentence, extract_relations(sentence)))


def compare_effects(one: StatedEffect, other: StatedEffect) -> Denial | None:
    """The denial of one effect by another; None where both can hold or speak of other things."""
    if not (one.subject.is_same(other.subject) and one.object.is_kind_of(other.object)):
        return None
    reason = _explain(one, other)
    if reason is None:
        return None
    shared = one.object.words & other.object.words
    is_sure = one.object.is_same(other.object) or len(shared) >= _LEAST_SHARED
    return Denial(f"of the same two things {reason}", is_sure)


def _explain(one: StatedEffect, other: StatedEffect) -> str | None:
    if one.is_denied and other.is_denied:
        return None
    if one.is_denied or other.is_denied:
        stated, denied = (other, one) if one.is_denied else (one, other)
        if denied.sign == 0:
            return f"one says “{stated.verb}”, the other that it has no effect"
        # "does not raise" beside "lowers" may both be true.
        is_same = denied.sign == stated.sign
        return f"one says “{stated.verb}”, the other denies it" if is_same else None
    if one.sign == other.sign:
        return None
    return f"one says “{one.verb}”, the other “{other.verb}”"


def _read_effects(sentence: str, relations: Sequence[Relation]) -> Iterator[StatedEffect]:
    for relation in relations:
        sign = _sign(relation)
        if sign is None or not _is_plain(sentence, relation):
            continue
        for subject in _read_things(sentence, relation.subject, MOST_GENERAL_SUBJECT):
            for thing in _read_things(sentence, relation.object, MOST_GENERAL_OBJECT):
                net = sign * subject.factor * thing.factor
                yield StatedEffect(subject, thing, net, relation.negated, relation.verb)


def _sign(relation: Relation) -> int | None:
    """The verb's sign, 0 for "has no effect", None where nothing is said that could be denied."""
    if relation.kind not in _UNSIGNED:
        return relation.verb_sign if relation.sign else None
    is_acting = stem_word(fold_text(relation.verb.split()[0])) in _load_words().acting
    return 0 if relation.negated and is_acting else None


def _is_plain(sentence: str, relation: Relation) -> bool:
    """Whether it is said of all cases: not hedged, asked, qualified or on a condition."""
    words = _load_words()
    # In "KLF10-deficient cells" there is less of what the name leaves out.
    operations = (*relation.subject.operations, *relation.object.operations)
    if relation.hedged or relation.asked or not words.is_verb(relation.verb):
        return False
    if any(operation.has_owner for operation in operations):
        return False
    start = min(relation.subject.start, relation.object.start)
    end = max(relation.subject.end, relation.object.end)
    # In "A lowers B, which raises C" what raises is not told, nor in "in A but not B raises C".
    before = sentence[max(0, start - _EXCEPTION_REACH) : start]
    if _RELATIVE.search(sentence[start:end]) or _EXCEPTION.search(before):
        return False
    clause = sentence[start : end + _CONDITION_REACH]
    if relation.negated and words.leaves_room.search(clause):
        return False
    return words.conditions.search(clause) is None


def _read_things(sentence: str, argument: Argument, most_general: int) -> Iterator[NamedThing]:
    """The things that an argument names, one alone also by the short form behind it."""
    spans = [
        (operation.start - argument.start, operation.end - argument.start)
        for operation in argument.operations
    ]
    core = argument.text
    for start, end in spans:
        core = f"{core[:start]}{' ' * (end - start)}{core[end:]}"
    core = _BRACKETS.sub(_blank, core)
    ended = _CORE_END.search(core)
    if ended:
        core = core[: ended.start()]
    is_one = _TOGETHER.search(argument.text) is not None
    borders = [] if is_one else [each.span() for each in _ITEM_BORDER.finditer(core)]
    starts = [0, *(end for _, end in borders)]
    ends = [*(start for start, _ in borders), len(core)]
    is_lowered_before = False
    for start, end in zip(starts, ends, strict=True):
        lowering = sum(start <= first < end for first, _ in spans)
        # Whether "loss of A and B" is the loss of both is not told.
        if lowering > 1 or (is_lowered_before and not lowering):
            continue
        is_lowered_before = is_lowered_before or lowering > 0
        # Behind "folding in the reticulum (ER)" it is short for the last thing alone.
        is_whole = not (borders or ended or " of " in core)
        short = _SHORT_FORM.match(sentence, argument.end) if is_whole else None
        for name in (core[start:end], *([short[1]] if short else [])):
            thing = _read_thing(name, most_general, -1 if lowering else 1)
            if thing is not None:
                yield thing


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _read_thing(text: str, most_general: int, factor: int) -> NamedThing | None:
    lists = _load_words()
    typed = _WORD.findall(fold_text(text))
    if any(word in lists.pointing for word in typed):
        return None
    words = [word for word in typed if word not in STOP_WORDS]
    naming = [word for word in words if stem_word(word) not in lists.neutral] or words
    stems = [stem_word(word) for word in naming]
    if all(stem.isdigit() or measure_generality(stem) > most_general for stem in stems):
        return None
    return NamedThing(frozenset(stems), _find_head(typed, stems), " ".join(naming), factor)


def _find_head(typed: Sequence[str], stems: Sequence[str]) -> str:
    """The last word of the name, in "growth of tumours" the last before "of"."""
    if "of" in typed:
        before = {stem_word(word) for word in typed[: typed.index("of")]}
        heads = [stem for stem in stems if stem in before]
        if heads:
            return heads[-1]
    return stems[-1]
