"""From a parsed query to tantivy's: the words that rank, and the tree that decides what matches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise

import tantivy
from tantivy import Occur

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
from carrel.stores.search.schema import is_common_pair, join_pair, stemmer
from carrel.stores.search.views import View

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
    query: tantivy.Query
    find_anywhere: Callable[[], tantivy.Query]
    terms: tuple[str, ...]


class QueryCompiler:
    """Compiles queries for one view.

    Papers have facets; passages have none, so that `rows_of_facet` finds their papers.
    """

    def __init__(
        self,
        view: View,
        *,
        rows_of_identifiers: RowsOfIdentifiers,
        rows_of_facet: RowsOfFacet | None = None,
        abbreviations: AbbreviationTable | None = None,
    ) -> None:
        self._schema = view.schema
        self._searcher = view.searcher
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

    def exact_phrases(self, phrases: Sequence[Phrase]) -> list[tantivy.Query]:
        """The quoted phrases of several words, scored, so that who has them ranks higher."""
        quoted = [phrase for phrase in phrases if phrase.is_exact and len(phrase.words) > 1]
        return [self._exactly("exact", phrase) for phrase in quoted]

    def neighbours(self, phrases: Sequence[Phrase]) -> list[tantivy.Query]:
        """Each two neighbouring words as typed, weighted; a text that has them side by side says
        more nearly what was asked.
        """
        typed = " ".join(_as_typed(phrase) for phrase in phrases if not phrase.is_prefix)
        pairs = dict.fromkeys(pairwise(exact_words(typed)))
        telling = [pair for pair in pairs if not STOP_WORDS.issuperset(pair)][:MAX_NEIGHBOURS]
        return [self._weighted(self._pair(*pair), NEIGHBOUR_WEIGHT) for pair in telling]

    def _pair(self, one: str, other: str) -> tantivy.Query:
        """Two neighbours; with a stop word they are a term of their own, which costs less."""
        if is_common_pair(one, other):
            return self._term("pairs", join_pair(one, other))
        return tantivy.Query.phrase_query(self._schema, "exact", [one, other])

    def bag(self, words: Sequence[RankedWord]) -> tantivy.Query:
        """Any of the words; single terms only where possible, so that the index skips losers."""
        return any_of([word.query for word in words])

    def filter(self, node: QueryNode) -> tantivy.Query:
        """What a document must fit, without a score."""
        return unscored(self._node(node))

    def rows(self, numbers: Iterable[int]) -> tantivy.Query:
        """The documents of these rows."""
        return unscored(tantivy.Query.term_set_query(self._schema, "row", list(numbers)))

    def titled(self, key: str) -> tantivy.Query:
        """The documents whose whole title has this key."""
        return self._term("title_key", key)

    def titles_beginning(self, key: str, limit: int) -> tantivy.Query:
        """The documents whose title's key begins so."""
        found = self._searcher.terms_with_prefix("title_key", key, limit=limit)
        return any_of([self._term("title_key", title) for title, _ in found])

    def _ranked_word(self, word: AskedWord, times: int) -> RankedWord:
        query = self._weighted(self._word(word), float(times))
        terms = tuple(stem(term) for term in word.terms)
        return RankedWord(word.typed, query, partial(self._has_some_form, word), terms)

    def _abbreviated(self, words: Sequence[AskedWord], expansion: Expansion) -> RankedWord:
        """Words as they were asked, or the short or long form that stands for them."""
        asked = any_of([self._word(word) for word in words])
        other = all_of([self._term("text", stem(term), "freq") for term in expansion.terms], [])
        query = tantivy.Query.disjunction_max_query(
            [asked, tantivy.Query.boost_query(other, expansion.weight)], 0.0
        )

        def find_anywhere() -> tantivy.Query:
            other = all_of([self._has_term(stem(term), term) for term in expansion.terms], [])
            return any_of([other, *(self._has_some_form(word) for word in words)])

        terms = [stem(term) for word in words for term in word.terms]
        typed = " ".join(word.typed for word in words)
        return RankedWord(typed, query, find_anywhere, (*terms, *map(stem, expansion.terms)))

    def _ranked_prefix(self, phrase: Phrase) -> RankedWord:
        typed = f"{' '.join(phrase.words)}*"
        if len(phrase.words) > 1:
            query = self._exactly("exact", phrase)
            return RankedWord(typed, query, lambda: query, ())
        forms = self._beginning_with("exact", phrase.words[0])
        query = any_of([self._term("exact", form, "freq") for form in forms])
        return RankedWord(typed, query, lambda: query, tuple(dict.fromkeys(map(stem, forms))))

    def _word(self, word: AskedWord) -> tantivy.Query:
        """A word in its best form: all forms name the same thing, so it counts about once."""
        if len(word.choices) == 1:
            return any_of([self._term("text", stem(term), "freq") for term in word.choices[0]])
        forms = [self._form(choice) for choice in word.choices]
        return tantivy.Query.disjunction_max_query(forms, OTHER_FORMS)

    def _form(self, terms: Sequence[str]) -> tantivy.Query:
        """A form of a word: its one term, or its parts, of which figures and letters need all."""
        scored = [self._term("text", stem(term), "freq") for term in terms]
        if len(terms) == 1:
            return scored[0]
        weak = [query for term, query in zip(terms, scored, strict=True) if _is_weak(term)]
        strong = [query for term, query in zip(terms, scored, strict=True) if not _is_weak(term)]
        together = [all_of([*map(unscored, strong), *weak], [])] if weak else []
        return tantivy.Query.boost_query(any_of([*strong, *together]), PARTS_WEIGHT)

    def _weighted(self, query: tantivy.Query, weight: float) -> tantivy.Query:
        return query if weight == 1.0 else tantivy.Query.boost_query(query, weight)

    def _node(self, node: QueryNode) -> tantivy.Query:
        match node:
            case Phrase():
                return self._phrase(node)
            case FacetPhrase(category, words, is_prefix):
                if self._rows_of_facet is not None:
                    return self.rows(self._rows_of_facet(node))
                return self._exactly(category, Phrase(words, is_prefix))
            case YearRange(first, last):
                kind = tantivy.FieldType.Unsigned
                return tantivy.Query.range_query(
                    self._schema, "year", kind, max(first or 1, 1), last or 9999
                )
            case WithIdentifier(identifiers):
                return self.rows(self._rows_of_identifiers(identifiers))
            case Not(part):
                return all_of([], [self._node(part)])
            case AllOf(parts):
                return all_of(
                    [self._node(part) for part in parts if not isinstance(part, Not)],
                    [self._node(part.part) for part in parts if isinstance(part, Not)],
                )
            case AnyOf(parts):
                return any_of([self._node(part) for part in parts])

    def _phrase(self, phrase: Phrase) -> tantivy.Query:
        is_plain = not (phrase.is_prefix or phrase.in_title or phrase.is_exact)
        if not is_plain:
            return self._exactly("title" if phrase.in_title else "exact", phrase)
        return all_of([self._has_word(word) for word in analyze_query(_as_typed(phrase))], [])

    def _has_word(self, word: AskedWord) -> tantivy.Query:
        """Documents that have all terms of one of the forms, in what ranks or in the body."""
        return any_of(
            [
                all_of([self._has_term(stem(term), term) for term in choice], [])
                for choice in word.choices
            ]
        )

    def _has_some_form(self, word: AskedWord) -> tantivy.Query:
        """Documents that `_word` finds, and those that have the same in their body."""
        if len(word.choices) == 1:
            return any_of([self._has_term(stem(term), term) for term in word.choices[0]])
        return any_of([self._has_form(choice) for choice in word.choices])

    def _has_form(self, terms: Sequence[str]) -> tantivy.Query:
        """Documents that have a strong part of a form, or all parts where none is strong."""
        strong = [term for term in terms if len(terms) == 1 or not _is_weak(term)]
        if strong:
            return any_of([self._has_term(stem(term), term) for term in strong])
        return all_of([self._has_term(stem(term), term) for term in terms], [])

    def _has_term(self, stemmed: str, term: str) -> tantivy.Query:
        return any_of(
            [
                self._term("text", stemmed),
                self._term("body", stemmed),
                # A stop word asked for alone is in no other field.
                *([self._term("exact", term)] if not self._knows(stemmed) else []),
            ]
        )

    def _knows(self, stemmed: str) -> bool:
        return any(self._searcher.doc_freq(field, stemmed) for field in ("text", "body"))

    def _exactly(self, field: str, phrase: Phrase) -> tantivy.Query:
        """Words as written and in this order; the last may be the beginning of one."""
        words = exact_words(_as_typed(phrase))
        if not words:
            return tantivy.Query.empty_query()
        if len(words) > 1:
            common = self._common_pairs(field, words[:-1] if phrase.is_prefix else words)
            if len(words) == 2 and common:
                return common[0]
            make = (
                tantivy.Query.phrase_prefix_query
                if phrase.is_prefix
                else tantivy.Query.phrase_query
            )
            return all_of([*common, make(self._schema, field, list(words))], [])
        forms = self._beginning_with(field, words[0]) if phrase.is_prefix else words
        return any_of([self._term(field, form) for form in forms])

    def _common_pairs(self, field: str, words: Sequence[str]) -> list[tantivy.Query]:
        """The pairs with a stop word of a phrase: rarer than the word, they end a search sooner."""
        if field != "exact":
            return []
        return [
            unscored(self._term("pairs", join_pair(*pair)))
            for pair in pairwise(words)
            if is_common_pair(*pair)
        ]

    def _beginning_with(self, field: str, typed: str) -> list[str]:
        """The words that most documents have among those with this beginning."""
        words = exact_words(typed)
        if not words:
            return []
        found = self._searcher.terms_with_prefix(field, words[-1], limit=MAX_PREFIX_WORDS)
        return [word for word, _ in found]

    def _term(self, field: str, value: str, option: str = "basic") -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, value, option)


def _is_weak(term: str) -> bool:
    """Whether a part of a word says nothing alone: the 6 of IL-6."""
    return term.isdigit() or len(term) <= 2


def any_of(choices: Sequence[tantivy.Query]) -> tantivy.Query:
    """At least one of the choices; nothing where there are none."""
    if not choices:
        return tantivy.Query.empty_query()
    if len(choices) == 1:
        return choices[0]
    return tantivy.Query.boolean_query([(Occur.Should, choice) for choice in choices])


def all_of(wanted: Sequence[tantivy.Query], unwanted: Sequence[tantivy.Query]) -> tantivy.Query:
    """All that is wanted and nothing unwanted; everything where nothing is wanted."""
    if len(wanted) == 1 and not unwanted:
        return wanted[0]
    signs = [(Occur.Must, part) for part in wanted or [unscored(tantivy.Query.all_query())]]
    return tantivy.Query.boolean_query([*signs, *((Occur.MustNot, part) for part in unwanted)])


def with_scores(filtered: tantivy.Query, scored: tantivy.Query) -> tantivy.Query:
    """What the filter lets through, with the scores of what is scored besides."""
    return tantivy.Query.boolean_query([(Occur.Must, filtered), (Occur.Should, scored)])


def unscored(query: tantivy.Query) -> tantivy.Query:
    return tantivy.Query.const_score_query(query, 0.0)


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
