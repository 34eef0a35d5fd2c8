"""The English of goals: word sets from `goal_language.toml`, tokens, people and noun phrases."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from carrel.libraries.discovery.concepts.words import FUNCTION_WORDS, normal_word
from carrel.libraries.discovery.tuned import GOALS

_DATA = tomllib.loads(Path(__file__).with_name("goal_language.toml").read_text(encoding="utf-8"))
_IRREGULAR: dict[str, str] = _DATA["irregular_verbs"]
_DOUBLING = frozenset("bdgmnprt")
_VOWELS = frozenset("aeiou")


@dataclass(frozen=True)
class GoalLanguage:
    """Words by what they do in a goal; verbs in every form, nouns in their normal form."""

    verbs: dict[str, str]
    words: dict[str, frozenset[str]]
    senses: dict[str, tuple[str, ...]]
    wordings: dict[str, str]
    asked_for: dict[str, str]

    def has(self, group: str, word: str) -> bool:
        """Whether a word as written, or its normal form, stands in a group of words."""
        plain = word.lower()
        return plain in self.words[group] or normal_word(plain) in self.words[group]


def verb_forms(verb: str) -> frozenset[str]:
    """The forms of a regular verb, or those listed."""
    if verb in _IRREGULAR:
        return frozenset((verb, *_IRREGULAR[verb].split()))
    stem = verb.removesuffix("e")
    forms = {verb, f"{verb}s", f"{stem}ed", f"{stem}ing"}
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        forms.add(f"{verb}es")
    if verb.endswith("y") and verb[-2] not in _VOWELS:
        forms.update((f"{verb[:-1]}ies", f"{verb[:-1]}ied"))
    if verb[-1] in _DOUBLING and verb[-2] in _VOWELS and verb[-3:-2] not in _VOWELS:
        forms.update((f"{verb}{verb[-1]}ed", f"{verb}{verb[-1]}ing"))
    return frozenset(forms)


@lru_cache(maxsize=1)
def goal_language() -> GoalLanguage:
    """The language of goals, read once."""
    verbs: dict[str, str] = {}
    words = {name: frozenset(listed.split()) for name, listed in _DATA["words"].items()}
    others = f"{_DATA['words']['other_verbs']} {_DATA['words']['only_verbs']}"
    groups = {**_DATA["relation_verbs"], "": others}
    for relation, listed in groups.items():
        for verb in listed.split():
            for form in verb_forms(verb):
                verbs.setdefault(form, relation)
    words["only_verbs"] = frozenset(
        form for verb in words["only_verbs"] for form in verb_forms(verb)
    )
    return GoalLanguage(
        verbs,
        words,
        {word: tuple(senses) for word, senses in _DATA["senses"].items()},
        dict(_DATA["wordings"]),
        dict(_DATA["asked_for"]),
    )


_BESIDE_NAMES = {name: words.split() for name, words in _DATA["beside_names"].items()}
SETTINGS = frozenset(_BESIDE_NAMES["settings"])
AUXILIARIES = frozenset(_BESIDE_NAMES["auxiliaries"])
WAYS = frozenset(_BESIDE_NAMES["ways"])
AGENTS = frozenset(_BESIDE_NAMES["agents"])
_ASPECTS = tuple(_BESIDE_NAMES["aspect_endings"])


def _forms(verb: str) -> set[str]:
    stem = verb.removesuffix("e")
    doubled = verb + verb[-1]
    return {
        verb,
        f"{verb}s",
        f"{stem}ed",
        f"{stem}ing",
        f"{verb}d",
        f"{doubled}ed",
        f"{doubled}ing",
    }


RELATING: frozenset[str] = frozenset(
    normal_word(form) for verb in _BESIDE_NAMES["relating"] for form in _forms(verb)
)
ASKING: frozenset[str] = frozenset(normal_word(word) for word in _BESIDE_NAMES["asking"]) | RELATING
GENERIC: frozenset[str] = frozenset(normal_word(word) for word in _BESIDE_NAMES["generic"])
FOREIGN: frozenset[str] = frozenset(
    word for word in _BESIDE_NAMES["foreign"] if word not in FUNCTION_WORDS and word not in ASKING
)


def is_aspect(word: str) -> bool:
    """Whether a word names an aspect (`deficiency`, `growth`) of the thing named before it."""
    return word in GENERIC or (len(word) > 4 and word.endswith(_ASPECTS))


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_BREAK = re.compile(r"[.,;:!?()\[\]{}\"“”/|]|\s[-–—]\s")


@dataclass(frozen=True)
class Token:
    """A word of a goal: its normal form, its spelling, and what its case and punctuation tell."""

    word: str
    text: str
    is_after_break: bool
    is_capital: bool
    begins_sentence: bool

    @property
    def is_small(self) -> bool:
        """Whether it is a function word in English or another language that goals are asked in."""
        plain = self.text.lower()
        return (
            plain in FUNCTION_WORDS
            or self.word in FUNCTION_WORDS
            or plain in FOREIGN
            or self.word in FOREIGN
        )


def tokens_of(text: str) -> list[Token]:
    """The words of a text in their order."""
    found: list[Token] = []
    last = 0
    for match in _WORD.finditer(text):
        gap, written = text[last : match.start()], match[0]
        if gap in {".", ". "} and found and _is_short_genus(found[-1].text, written):
            gap = " "
        begins = not found or bool(re.search(r"[.!?]", gap))
        is_capital = written[0].isupper() and written[1:].islower()
        found.append(
            Token(normal_word(written), written, bool(_BREAK.search(gap)), is_capital, begins)
        )
        last = match.end()
    return found


def _is_short_genus(before: str, word: str) -> bool:
    """Whether a full stop behind a capital shortens a genus (`C. elegans`)."""
    return len(before) == 1 and before.isupper() and word.islower() and len(word) > 2


def looks_foreign(tokens: Sequence[Token]) -> bool:
    """Whether a text has more function words of other languages than English ones."""
    foreign = sum(token.text.lower() in FOREIGN or token.word in FOREIGN for token in tokens)
    english = sum(
        token.is_small and token.text.lower() not in FOREIGN and token.word not in FOREIGN
        for token in tokens
    )
    return foreign >= 2 and foreign > english


def is_title_case(tokens: Sequence[Token]) -> bool:
    """Whether nearly every word is capitalised, so that capitals mark no names."""
    later = [
        token for token in tokens if not token.begins_sentence and token.word not in FUNCTION_WORDS
    ]
    return len(later) > 2 and sum(
        token.text[0].isupper() for token in later
    ) > GOALS.title_case_share * len(later)


# `geographers`, `cardiologists`, `technicians`; no drug or thing ends so.
_PEOPLE_ENDING = re.compile(r"(?:ologist|grapher|ographer|ician|worker|keeper|farmer|scientist)s?$")
_LED_BY = re.compile(r"^(.+?) (?:with|of|from|in|undergoing|receiving) ", re.IGNORECASE)


def is_population(name: str) -> bool:
    """Whether a phrase names people or animals looked at: `older adults`, `patients with X`."""
    lead = _LED_BY.match(f"{name} ")
    head = (lead[1] if lead else name).split(" ")[-1]
    return goal_language().has("people", head) or bool(_PEOPLE_ENDING.search(head.lower()))


class Tag(StrEnum):
    """What a word does in a goal."""

    BREAK = "break"
    SMALL = "small"
    AUXILIARY = "auxiliary"
    PREPOSITION = "preposition"
    VERB = "verb"
    EMPTY = "empty"
    ANSWER = "answer"
    WORD = "word"


@dataclass(frozen=True)
class TaggedWord:
    """A word as written, with its tag; `after` is the preposition before its phrase."""

    text: str
    tag: Tag


@dataclass(frozen=True)
class Phrase:
    """A noun phrase, the preposition before it, and whether a verb stands before it."""

    text: str
    preposition: str
    after_verb: bool
    place: int


# `C. elegans` is one name.
_TOKEN = re.compile(r"\b[A-Z]\. ?[a-z]{3,}\b|[^\W_]+(?:[-'’/.][^\W_]+)*|[,.;:?!()]")
_GROUPS = (
    ("auxiliaries", Tag.AUXILIARY),
    ("prepositions", Tag.PREPOSITION),
    ("determiners", Tag.SMALL),
    ("conjunctions", Tag.SMALL),
    ("pronouns", Tag.SMALL),
    ("adverbs", Tag.SMALL),
    ("ways_in", Tag.SMALL),
    ("empty_adjectives", Tag.EMPTY),
    ("narrowing_adjectives", Tag.EMPTY),
)


_MODALS = frozenset(("will", "would", "can", "could", "might", "may", "should"))


def tag_words(text: str) -> list[TaggedWord]:
    """The words of a goal with their tags, verbs told from nouns by their neighbours."""
    language = goal_language()
    raw = _TOKEN.findall(text)
    tags: list[Tag | None] = []
    for word in raw:
        plain = word.lower()
        tag = Tag.BREAK if not plain[0].isalnum() else None
        for group, value in _GROUPS:
            if tag is None and plain in language.words[group]:
                tag = value
        tags.append(tag)
    return [
        TaggedWord(word, tag if tag is not None else _open_tag(raw, tags, place))
        for place, (word, tag) in enumerate(zip(raw, tags, strict=True))
    ]


def _open_tag(raw: Sequence[str], tags: Sequence[Tag | None], place: int) -> Tag:
    language, word = goal_language(), raw[place].lower()
    if raw[place + 1 : place + 2] == ["than"] and word.endswith("er"):
        return Tag.EMPTY
    if word.endswith("ly") and len(word) > 4 and not language.has("nouns_in_ly", word):
        return Tag.SMALL
    if not place and language.has("asking_verbs", word) and raw[1:2] not in ([","], [":"]):
        # `List options for X`; `Research, design and …` begins otherwise.
        after = tags[1] if len(raw) > 1 else Tag.BREAK
        if word not in language.verbs and after is None:
            return Tag.VERB
    if word in language.verbs and _is_verb(raw, tags, place):
        return Tag.VERB
    return Tag.ANSWER if language.has("answer_nouns", word) else Tag.WORD


def _is_inverted(raw: Sequence[str], place: int) -> bool:
    """Whether an auxiliary opens a question, so that its subject follows."""
    return not place or raw[place - 1].lower() in {"how", "why", "what", "when", "where", "and"}


def _is_verb(raw: Sequence[str], tags: Sequence[Tag | None], place: int) -> bool:
    """Whether a word that can be a verb is one here: what stands on either side tells."""
    language, word = goal_language(), raw[place].lower()
    before = tags[place - 1] if place else Tag.BREAK
    after = tags[place + 1] if place + 1 < len(raw) else Tag.BREAK
    previous = raw[place - 1].lower() if place else ""
    following = raw[place + 1].lower() if place + 1 < len(raw) else ""
    if word in language.words["only_verbs"] and previous not in language.words["determiners"]:
        return True
    is_plain = word.endswith("ss") or not word.endswith(("ed", "ing", "s"))
    if (
        (previous == "to" and is_plain)
        or previous == "not"
        or (previous in _MODALS and not _is_inverted(raw, place - 1))
    ):
        return True
    if word.endswith("ing"):
        return before is Tag.AUXILIARY or previous == "by"
    if word.endswith("ed") and word not in {"need", "speed"}:
        return after in {Tag.PREPOSITION, Tag.BREAK} or before is Tag.AUXILIARY
    if place == 0:
        return language.has("asking_verbs", word) or after is not Tag.PREPOSITION
    if before in {Tag.PREPOSITION, Tag.EMPTY} or (
        before is Tag.SMALL and previous in language.words["determiners"] and previous != "that"
    ):
        return False
    if after is Tag.AUXILIARY:
        return False
    if following in language.verbs:
        # `remote work affect innovation`, but `reduce delays in appeals`.
        third = tags[place + 2] if place + 2 < len(raw) else Tag.BREAK
        return third in {Tag.PREPOSITION, Tag.BREAK, Tag.AUXILIARY} and not after
    if previous in language.verbs and after in {Tag.PREPOSITION, Tag.BREAK}:
        return False
    if after is Tag.BREAK:
        return before is not None and before is not Tag.BREAK
    if after is Tag.PREPOSITION:
        # `how does vowel length change in contact`: a verb only where none comes later.
        return following != "of" and not any(
            later.lower() in language.verbs for later in raw[place + 1 :]
        )
    return True


def find_phrases(words: Sequence[TaggedWord]) -> list[Phrase]:
    """The noun phrases in their order, without empty adjectives and answer nouns at their edges."""
    return list(_find_phrases(words))


def _find_phrases(words: Sequence[TaggedWord]) -> Iterator[Phrase]:
    run: list[TaggedWord] = []
    preposition, after_verb, start = "", False, 0
    for place, word in enumerate((*words, TaggedWord("", Tag.BREAK))):
        if word.tag in {Tag.WORD, Tag.ANSWER, Tag.EMPTY}:
            if not run:
                start = place
            run.append(word)
            continue
        if run:
            text = _trimmed(run)
            if text:
                yield Phrase(text, preposition, after_verb, start)
            run, preposition = [], ""
        if word.tag is Tag.PREPOSITION:
            preposition = word.text.lower()
        elif word.tag is Tag.VERB:
            after_verb, preposition = True, ""
        elif word.tag is Tag.BREAK:
            preposition = ""


def _trimmed(run: Sequence[TaggedWord]) -> str:
    """The run without what only talks about answers; empty where nothing else is in it."""
    kept = list(run)
    while kept and kept[0].tag is not Tag.WORD and (len(kept) == 1 or kept[0].tag is Tag.EMPTY):
        kept.pop(0)
    while kept and kept[-1].tag is Tag.EMPTY:
        kept.pop()
    if not any(word.tag is Tag.WORD for word in kept):
        return ""
    return " ".join(re.sub(r"['’]s$", "", word.text) for word in kept)
