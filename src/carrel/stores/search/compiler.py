"""From a parsed query to an engine's: the words that rank, the tree that decides what matches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise

import tantivy

from carrel.libraries.query.papers import (
    AllOf,
    AnyOf,
    FacetPhrase,
    Not,
    PaperIdentifier,
    QueryNode,
    WithIdentifier,
    YearRange,
)
from carrel.libraries.text.abbreviations import AbbreviationTable, Expansion
from carrel.libraries.text.analysis import AskedWord, analyze_query, exact_words
from carrel.libraries.text.words import STOP_WORDS, Phrase, is_cjk
from carrel.stores.search.engine import FrequencyOption, Query, Searched
from carrel.stores.search.schema import is_common_pair, join_pair, stemmer

# Of the words with a beginning, the commonest are asked for.
MAX_PREFIX_WORDS = 60
# A query of thousands of words is a pasted text; its first words say what it is about.
MAX_RANKING_WORDS = 250
# The numbers below were chosen on the 809 SciFact train claims and 800 sentences of 292 eLife full
# texts (docs/decisions/0027); `make bench-retrieval` measures the result. What the second best
# form of a word adds to the best one: `il6` beside `il` and `6`.
OTHER_FORMS = 0.2
# What the parts of a word count beside its form in one word.
PARTS_WEIGHT = 0.8
# What two neighbouring words of the query count beside the words themselves, where they stand side
# by side, and how many pairs of a long text are looked for.
NEIGHBOUR_WEIGHT = 0.05
MAX_NEIGHBOURS = 40

RowsOfIdentifiers = Callable[[Sequence[PaperIdentifier]], Sequence[int]]
RowsOfFacet = Callable[[FacetPhrase], Sequence[int]]


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The stem by which words match."""
    return (_stemmer().analyze(word) or [word])[0]


@lru_cache(maxsize=1)
def _stemmer() -> tantivy.TextAnalyzer:
    return stemmer()


@dataclass(frozen=True, slots=True)
class RankedWord:
    """A word to rank by: its scored query, what has it anywhere, and terms to count documents."""

    typed: str
    query: Query
    find_anywhere: Callable[[], Query]
    terms: tuple[str, ...]


class QueryCompiler:
    """Compiles queries for one view.

    Papers have facets; passages have none, so that `rows_of_facet` finds their papers.
    """

    def __init__(
        self,
        view: Searched,
        *,
        rows_of_identifiers: RowsOfIdentifiers,
        rows_of_facet: RowsOfFacet | None = None,
        abbreviations: AbbreviationTable | None = None,
    ) -> None:
        self.engine = view.engine
        self._rows_of_identifiers = rows_of_identifiers
        self._rows_of_facet = rows_of_facet
        self._abbreviations = abbreviations

    def ranked_words(self, phrases: Sequence[Phrase]) -> list[RankedWord]:
        """The words of these phrases, to be ranked by."""
        some = phrases[:MAX_RANKING_WORDS]
        typed = " ".join(_as_typed(phrase) for phrase in some if not phrase.is_prefix)
        asked = analyze_query(typed)[:MAX_RANKING_WORDS]
        expansions = self._abbreviations.expand(asked) if self._abbreviations else []
        found = [self._ranked_prefix(phrase) for phrase in some if phrase.is_prefix]
        place = 0
        plain: list[AskedWord] = []
        while place < len(asked):
            expansion = next((each for each in expansions if each.first == place), None)
            if expansion is None:
                plain.append(asked[place])
                place += 1
            else:
                found.append(self._abbreviated(asked[place : expansion.end], expansion))
                place = expansion.end
        return found + [self._ranked_word(word, times) for word, times in _count(plain).items()]

    def exact_phrases(self, phrases: Sequence[Phrase]) -> list[Query]:
        """The quoted phrases of several words, scored, so that who has them ranks higher."""
        quoted = [phrase for phrase in phrases if phrase.is_exact and len(phrase.words) > 1]
        return [self._exactly("exact", phrase) for phrase in quoted]

    def neighbours(self, phrases: Sequence[Phrase]) -> list[Query]:
        """Each two neighbouring words as typed, weighted; a text that has them side by side says
        more nearly what was asked.
        """
        typed = " ".join(_as_typed(phrase) for phrase in phrases if not phrase.is_prefix)
        pairs = dict.fromkeys(pairwise(exact_words(typed)))
        telling = [pair for pair in pairs if not STOP_WORDS.issuperset(pair)][:MAX_NEIGHBOURS]
        return [self._weighted(self._pair(*pair), NEIGHBOUR_WEIGHT) for pair in telling]

    def _pair(self, one: str, other: str) -> Query:
        """Two neighbours; with a stop word they are a term of their own, which costs less."""
        if is_common_pair(one, other):
            return self._term("pairs", join_pair(one, other))
        return self.engine.phrase("exact", [one, other])

    def bag(self, words: Sequence[RankedWord]) -> Query:
        """Any of the words; single terms only where possible, so that the index skips losers."""
        return self.engine.any_of([word.query for word in words])

    def filter(self, node: QueryNode) -> Query:
        """What a document must fit, without a score."""
        return self.engine.drop_scores(self._node(node))

    def rows(self, numbers: Iterable[int]) -> Query:
        """The documents of these rows."""
        return self.engine.rows(numbers)

    def titled(self, key: str) -> Query:
        """The documents whose whole title has this key."""
        return self._term("title_key", key)

    def titles_beginning(self, key: str, limit: int) -> Query:
        """The documents whose title's key begins so."""
        return self.engine.beginning("title_key", key, limit)[0]

    def _ranked_word(self, word: AskedWord, times: int) -> RankedWord:
        query = self._weighted(self._word(word), float(times))
        terms = tuple(stem(term) for term in word.terms)
        return RankedWord(word.typed, query, partial(self._has_some_form, word), terms)

    def _abbreviated(self, words: Sequence[AskedWord], expansion: Expansion) -> RankedWord:
        """Words as they were asked, or the short or long form that stands for them."""
        asked = self.engine.any_of([self._word(word) for word in words])
        other = self.engine.all_of(
            [self._term("text", stem(term), "freq") for term in expansion.terms], []
        )
        query = self.engine.best_of([asked, self.engine.boost(other, expansion.weight)], 0.0)

        def find_anywhere() -> Query:
            other = self.engine.all_of(
                [self._has_term(stem(term), term) for term in expansion.terms], []
            )
            return self.engine.any_of([other, *(self._has_some_form(word) for word in words)])

        terms = [stem(term) for word in words for term in word.terms]
        typed = " ".join(word.typed for word in words)
        return RankedWord(typed, query, find_anywhere, (*terms, *map(stem, expansion.terms)))

    def _ranked_prefix(self, phrase: Phrase) -> RankedWord:
        typed = f"{' '.join(phrase.words)}*"
        if len(phrase.words) > 1:
            query = self._exactly("exact", phrase)
            return RankedWord(typed, query, lambda: query, ())
        query, forms = self._beginning_with("exact", phrase.words[0], "freq")
        return RankedWord(typed, query, lambda: query, tuple(dict.fromkeys(map(stem, forms))))

    def _word(self, word: AskedWord) -> Query:
        """A word in its best form: all forms name the same thing, so it counts about once."""
        if len(word.choices) == 1:
            return self.engine.any_of(
                [self._term("text", stem(term), "freq") for term in word.choices[0]]
            )
        forms = [self._form(choice) for choice in word.choices]
        return self.engine.best_of(forms, OTHER_FORMS)

    def _form(self, terms: Sequence[str]) -> Query:
        """A form of a word: its one term, or its parts, of which figures and letters need all."""
        scored = [self._term("text", stem(term), "freq") for term in terms]
        if len(terms) == 1:
            return scored[0]
        weak = [query for term, query in zip(terms, scored, strict=True) if _is_weak(term)]
        strong = [query for term, query in zip(terms, scored, strict=True) if not _is_weak(term)]
        together = (
            [self.engine.all_of([*map(self.engine.drop_scores, strong), *weak], [])] if weak else []
        )
        return self.engine.boost(self.engine.any_of([*strong, *together]), PARTS_WEIGHT)

    def _weighted(self, query: Query, weight: float) -> Query:
        return query if weight == 1.0 else self.engine.boost(query, weight)

    def _node(self, node: QueryNode) -> Query:
        match node:
            case Phrase():
                return self._phrase(node)
            case FacetPhrase(category, words, is_prefix):
                if self._rows_of_facet is not None:
                    return self.rows(self._rows_of_facet(node))
                return self._exactly(category, Phrase(words, is_prefix))
            case YearRange(first, last):
                return self.engine.years(first, last)
            case WithIdentifier(identifiers):
                return self.rows(self._rows_of_identifiers(identifiers))
            case Not(part):
                return self.engine.all_of([], [self._node(part)])
            case AllOf(parts):
                return self.engine.all_of(
                    [self._node(part) for part in parts if not isinstance(part, Not)],
                    [self._node(part.part) for part in parts if isinstance(part, Not)],
                )
            case AnyOf(parts):
                return self.engine.any_of([self._node(part) for part in parts])

    def _phrase(self, phrase: Phrase) -> Query:
        is_plain = not (phrase.is_prefix or phrase.in_title or phrase.is_exact)
        if not is_plain:
            return self._exactly("title" if phrase.in_title else "exact", phrase)
        return self.engine.all_of(
            [self._has_word(word) for word in analyze_query(_as_typed(phrase))], []
        )

    def _has_word(self, word: AskedWord) -> Query:
        """Documents that have all terms of one of the forms, in what ranks or in the body."""
        return self.engine.any_of(
            [
                self.engine.all_of([self._has_term(stem(term), term) for term in choice], [])
                for choice in word.choices
            ]
        )

    def _has_some_form(self, word: AskedWord) -> Query:
        """Documents that `_word` finds, and those that have the same in their body."""
        if len(word.choices) == 1:
            return self.engine.any_of(
                [self._has_term(stem(term), term) for term in word.choices[0]]
            )
        return self.engine.any_of([self._has_form(choice) for choice in word.choices])

    def _has_form(self, terms: Sequence[str]) -> Query:
        """Documents that have a strong part of a form, or all parts where none is strong."""
        strong = [term for term in terms if len(terms) == 1 or not _is_weak(term)]
        if strong:
            return self.engine.any_of([self._has_term(stem(term), term) for term in strong])
        return self.engine.all_of([self._has_term(stem(term), term) for term in terms], [])

    def _has_term(self, stemmed: str, term: str) -> Query:
        return self.engine.any_of(
            [
                self._term("text", stemmed),
                self._term("body", stemmed),
                # A stop word asked for alone is in no other field.
                *([self._term("exact", term)] if not self._knows(stemmed) else []),
            ]
        )

    def _knows(self, stemmed: str) -> bool:
        return any(self.engine.is_known(field, stemmed) for field in ("text", "body"))

    def _exactly(self, field: str, phrase: Phrase) -> Query:
        """Words as written and in this order; the last may be the beginning of one."""
        words = exact_words(_as_typed(phrase))
        if not words:
            return self.engine.any_of([])
        if len(words) > 1:
            common = self._common_pairs(field, words[:-1] if phrase.is_prefix else words)
            if len(words) == 2 and common:
                return common[0]
            make = self.engine.phrase_beginning if phrase.is_prefix else self.engine.phrase
            return self.engine.all_of([*common, make(field, words)], [])
        if phrase.is_prefix:
            return self._beginning_with(field, words[0])[0]
        return self._term(field, words[0])

    def _common_pairs(self, field: str, words: Sequence[str]) -> list[Query]:
        """The pairs with a stop word of a phrase: rarer than the word, they end a search sooner."""
        if field != "exact":
            return []
        return [
            self.engine.drop_scores(self._term("pairs", join_pair(*pair)))
            for pair in pairwise(words)
            if is_common_pair(*pair)
        ]

    def _beginning_with(
        self, field: str, typed: str, option: FrequencyOption = "basic"
    ) -> tuple[Query, list[str]]:
        """The words that most documents have among those with this beginning."""
        words = exact_words(typed)
        if not words:
            return self.engine.any_of([]), []
        return self.engine.beginning(field, words[-1], MAX_PREFIX_WORDS, option)

    def _term(self, field: str, value: str, option: FrequencyOption = "basic") -> Query:
        return self.engine.term(field, value, option)


def _is_weak(term: str) -> bool:
    """Whether a part of a word says nothing alone: the 6 of IL-6."""
    return term.isdigit() or len(term) <= 2


def _as_typed(phrase: Phrase) -> str:
    """The words of a phrase as one chunk, as they were typed or nearly so."""
    if phrase.is_exact or phrase.in_title:
        return " ".join(phrase.words)
    return ("" if is_cjk(phrase.words[0]) else "-").join(phrase.words)


def _count(words: Sequence[AskedWord]) -> dict[AskedWord, int]:
    counted: dict[AskedWord, int] = {}
    for word in words:
        counted[word] = counted.get(word, 0) + 1
    return counted
