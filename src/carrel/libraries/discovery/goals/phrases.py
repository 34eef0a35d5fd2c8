"""Noun phrases of a goal, found by the words between them, without any corpus."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from carrel.libraries.discovery.goals.goal_language import goal_language


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
