"""Judges found works by a query, for what a service could not express or read otherwise.

A work is left out only where what is known of it contradicts the query. What its record does not
say (no abstract, no venue) is told as unchecked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from carrel.libraries.literature.records import Author, MergedWork, WorkIds, WorkRecord
from carrel.libraries.query.papers import (
    AllOf,
    AnyOf,
    FacetPhrase,
    Not,
    PaperIdentifier,
    PaperQuery,
    QueryNode,
    WithIdentifier,
    YearRange,
)
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.stems import light_stem
from carrel.libraries.text.words import Phrase, split_words

# True, False, or None where the record does not say enough.
Verdict = bool | None
# Journals are written in full and shortened: a word fits where one begins like the other.
_SHORTEST_ABBREVIATION = 3


@dataclass(frozen=True, slots=True)
class QueryJudgement:
    """Whether a work stays, and the parts of the query that nothing decided."""

    is_kept: bool
    unchecked: tuple[str, ...] = ()


def judge_work(query: PaperQuery, found: MergedWork, expressing: Collection[str]) -> QueryJudgement:
    """Judge a work; `expressing` are the services that could express the whole query.

    Where one of those found the work, its own reading of words is trusted, and only years and
    excluded words are looked at again.
    """
    if query.strict is None:
        return QueryJudgement(is_kept=True)
    is_trusted = any(record.service in expressing for record in found.records)
    judge = _Judge(found, is_trusted)
    verdict = judge.decide(query.strict)
    if verdict is False:
        return QueryJudgement(is_kept=False)
    unchecked = () if verdict or is_trusted else tuple(dict.fromkeys(judge.undecided))
    return QueryJudgement(is_kept=True, unchecked=unchecked)


@dataclass(slots=True)
class _Judge:
    found: MergedWork
    is_trusted: bool
    undecided: list[str] = field(default_factory=list)

    def decide(self, node: QueryNode) -> Verdict:
        match node:
            case AllOf(parts):
                return _all([self.decide(part) for part in parts])
            case AnyOf(parts):
                return _any([self.decide(part) for part in parts])
            case Not(part):
                inner = self.decide(part)
                return None if inner is None else not inner
            case _:
                verdict = self._decide_leaf(node)
                if verdict is None:
                    self.undecided.append(describe_node(node))
                return verdict

    def _decide_leaf(self, node: Phrase | FacetPhrase | YearRange | WithIdentifier) -> Verdict:
        match node:
            case YearRange():
                return self._decide_years(node)
            case WithIdentifier(identifiers):
                return _has_identifier(self.found.work.ids, identifiers)
            case FacetPhrase():
                return self._trust(_has_facet(self.found.work, node))
            case Phrase():
                return self._trust(_has_phrase(self.found.work, node))

    def _decide_years(self, asked: YearRange) -> Verdict:
        """Records of one work differ in years, by print and on line: any of them may fit."""
        years = {self.found.work.year, *(record.work.year for record in self.found.records)}
        known = years - {None}
        return any(asked.has(year) for year in known) if known else None

    def _trust(self, verdict: Verdict) -> Verdict:
        """A service that read the whole query may know more than the record shows."""
        return None if self.is_trusted and verdict is False else verdict


def _all(verdicts: Sequence[Verdict]) -> Verdict:
    if False in verdicts:
        return False
    return None if None in verdicts else True


def _any(verdicts: Sequence[Verdict]) -> Verdict:
    if True in verdicts:
        return True
    return None if None in verdicts else False


def _has_identifier(ids: WorkIds, asked: Sequence[PaperIdentifier]) -> Verdict:
    known = {each.kind: getattr(ids, each.kind, None) for each in asked}
    for each in asked:
        value = known[each.kind]
        if value is not None and value.lower() == each.value.lower():
            return True
    return False if any(value is not None for value in known.values()) else None


def _has_phrase(work: WorkRecord, phrase: Phrase) -> Verdict:
    if phrase.in_title:
        return _is_in(work.title, phrase) if work.title else None
    texts = (work.title, work.abstract, *work.keywords)
    if any(_is_in(text, phrase) for text in texts if text):
        return True
    return False if work.abstract else None


def _is_in(text: str, phrase: Phrase) -> bool:
    """Whether the words stand in the text one after the other, in any inflection unless exact."""
    words = [fold_text(word) for word in split_words(text)]
    wanted = [fold_text(word) for word in phrase.words]
    if not phrase.is_exact:
        words, wanted = [light_stem(word) for word in words], [light_stem(word) for word in wanted]
    count = len(wanted)
    for at in range(len(words) - count + 1):
        if words[at : at + count - 1] != wanted[:-1]:
            continue
        last = words[at + count - 1]
        if last == wanted[-1] or (phrase.is_prefix and last.startswith(wanted[-1])):
            return True
    return False


def _has_facet(work: WorkRecord, facet: FacetPhrase) -> Verdict:
    wanted = [fold_text(word) for word in facet.words]
    match facet.category:
        case "author":
            if not work.authors:
                return None
            is_found = any(_is_name(author, wanted, facet.is_prefix) for author in work.authors)
            return True if is_found else (None if work.is_authors_cut else False)
        case "venue":
            names = [work.venue.name, work.venue.abbreviation]
            return _fits_any([name for name in names if name], wanted)
        case "keyword":
            return _fits_any([*work.keywords, *work.subjects], wanted) or None
        case "institution":
            return _fits_any(work.institutions, wanted) or None
        case "tag":
            # Tags are the desk's own; nobody outside has them.
            return None


def _is_name(author: Author, wanted: Sequence[str], is_prefix: bool) -> bool:
    """Whether each word is one of the name's; an initial stands for a whole name and back."""
    parts = f"{author.given} {author.family} {author.literal}"
    words = [fold_text(word) for word in split_words(parts)]
    family = [fold_text(word) for word in split_words(author.family or author.literal)]
    if not any(_is_same_name(word, each, is_prefix) for each in family for word in wanted):
        return False
    return all(
        any(_is_same_name(word, each, is_prefix) or _is_initial(word, each) for each in words)
        for word in wanted
    )


def _is_same_name(wanted: str, word: str, is_prefix: bool) -> bool:
    return wanted == word or (is_prefix and word.startswith(wanted))


def _is_initial(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    # Services join initials: "Smith JA".
    return longer.startswith(shorter[0]) and len(shorter) <= 2


def _fits_any(values: Sequence[str], wanted: Sequence[str]) -> Verdict:
    if not values:
        return None
    return any(_fits(value, wanted) for value in values)


def _fits(value: str, wanted: Sequence[str]) -> bool:
    """Whether a name has all the words, shortened or not, or is their initials."""
    words = [fold_text(word) for word in split_words(value)]
    initials = "".join(word[0] for word in words if len(word) > _SHORTEST_ABBREVIATION)
    if len(wanted) == 1 and len(wanted[0]) >= _SHORTEST_ABBREVIATION and wanted[0] == initials:
        return True
    return all(any(_is_short_for(word, each) for each in words) for word in wanted)


def _is_short_for(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    is_abbreviation = len(shorter) == 1 or len(shorter) >= _SHORTEST_ABBREVIATION
    return shorter == longer or (is_abbreviation and longer.startswith(shorter))


def describe_node(node: Phrase | FacetPhrase | YearRange | WithIdentifier) -> str:
    """A part of a query as it may be typed."""
    match node:
        case YearRange(first, last):
            return f"year:{'' if first is None else first}..{'' if last is None else last}"
        case WithIdentifier(identifiers):
            return f"id:{identifiers[0].value}"
        case FacetPhrase(category, words):
            return f"{category}:{_quote(words)}"
        case Phrase(words, in_title=True):
            return f"title:{_quote(words)}"
        case Phrase(words):
            return _quote(words)


def _quote(words: Iterable[str]) -> str:
    text = " ".join(words)
    return f'"{text}"' if " " in text else text
