"""Ranks notes by their best passage and by how many of the asked words the whole note has."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import tantivy
from tantivy import Occur

from carrel.libraries.query.papers import (
    FacetPhrase,
    PaperQuery,
    QueryNode,
    WithIdentifier,
    positive_phrases,
)
from carrel.libraries.text.analysis import analyze_query, exact_words
from carrel.rooms.knowledge.notes import Order
from carrel.stores.search.compiler import QueryCompiler
from carrel.stores.search.engine import Query, all_of, any_of, drop_scores
from carrel.stores.search.notes.documents import IS_DONE, IS_NOTE, IS_PASSAGE, link_key, tag_key
from carrel.stores.search.views import View
from carrel.stores.search.vocabulary import Vocabulary

# Fitted on the 42 questions of benchmarks/tuning/note_questions.tsv and on half A of the blind
# ones, by `python -m benchmarks.tune_notes`: the right note first in .75 of half A without the
# three, in .80 with them. Half B was only measured.
# What a word adds for being in the note at all, in units of its weight.
COVERAGE = 1.25
# What two neighbouring words of the question add for standing side by side in the passage.
NEAR = 0.1
# What a word adds for being in the front matter only (aliases, keywords, organisms).
PROPERTY = 0.2
# Passages whose notes are compared in full.
CANDIDATES = 300
# Notes that fit a filter, best first, whose passages are looked at.
FILTERED = 1_000
MAX_NEAR_PAIRS = 40
# Different tags among which the most frequent are looked for.
MAX_COUNTED_TAGS = 20_000


@dataclass(frozen=True, slots=True)
class NoteCondition:
    """What notes must fit, and what ranks them."""

    words: PaperQuery
    tags: tuple[str, ...] = ()
    title_prefix: str = ""
    link_terms: tuple[str, ...] = ()
    hides_done: bool = False


@dataclass(frozen=True, slots=True)
class RankedNote:
    """A note found, with the number of its best passage; 0 where none was compared."""

    id: str
    rank: float
    passage: int = 0


@dataclass(frozen=True, slots=True)
class _NoteWord:
    """A word of a question: what ranks by it, which notes have it, and its weight."""

    typed: str
    ranks: tantivy.Query
    has: tantivy.Query
    weight: float


class NoteRanking:
    """Answers conditions on one view; many threads may use it at once."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._searcher = view.searcher
        self._schema = view.schema
        self._vocabulary = Vocabulary(view)
        self._compiler = _NoteCompiler(view, rows_of_identifiers=lambda _: ())

    def search(self, condition: NoteCondition, order: Order, count: int) -> list[RankedNote]:
        """The best or the newest notes that fit."""
        words = self._words(condition.words)
        must = self._filters(condition)
        if condition.words.strict is not None:
            must.append(self._compiler.filter(condition.words.strict))
        if not words:
            return self._newest(must, count)
        if order == "newest":
            every = [self._has_word(word) for word in words]
            return self._newest([*must, *every], count) or self._newest(
                [*must, any_of(every)], count
            )
        return self._best(words, must, condition, count)

    def tagged(self, tag: str, hides_done: bool, count: int) -> list[RankedNote]:
        """The newest notes with this very tag or one below it."""
        condition = NoteCondition(PaperQuery(""), (tag,), hides_done=hides_done)
        return self._newest(self._filters(condition), count)

    def count(self, condition: NoteCondition, tag: str = "") -> int:
        """How many notes fit, by any word, by the beginning of the title, or by the tag."""
        return self._count(self._notes(self._fitting(condition, tag)))

    def list_newest(
        self, condition: NoteCondition, tag: str, count: int, offset: int
    ) -> list[RankedNote]:
        """The newest of the notes that are counted, after the first `offset` of them."""
        return self._newest(self._fitting(condition, tag), count, offset)

    def count_tags(self, condition: NoteCondition, tag: str, limit: int) -> list[tuple[str, int]]:
        """The most frequent tags of the notes that are counted, with those above them."""
        if not limit:
            return []
        fitting = self._notes(self._fitting(condition, tag))
        prefix = tag_key("")
        terms = self._searcher.terms_with_prefix("key", prefix, fitting, MAX_COUNTED_TAGS)
        counted = [(term.removeprefix(prefix), count) for term, count in terms if count]
        return sorted(counted, key=lambda each: (-each[1], each[0]))[:limit]

    def _fitting(self, condition: NoteCondition, tag: str) -> list[tantivy.Query]:
        words = self._words(condition.words)
        must = self._filters(condition)
        choices = [self._has_word(word) for word in words]
        if condition.words.strict is not None:
            strict = self._compiler.filter(condition.words.strict)
            choices = [all_of([strict, any_of(choices)], [])] if choices else [strict]
        if condition.title_prefix:
            choices.append(self._title_begins(condition.title_prefix))
        if tag:
            choices.append(self._key(tag_key(tag)))
        return [*must, any_of(choices)] if choices else must

    def count_word(self, word: _NoteWord) -> int:
        return self._count(self._notes([self._has_word(word)]))

    def count_tag(self, tag: str) -> int:
        return self._count(self._notes([self._unscored_key(tag_key(tag))]))

    def count_notes(self, hides_done: bool) -> int:
        return self._count(self._notes(_without([self._key(IS_DONE)] if hides_done else [])))

    def words_of(self, condition: NoteCondition) -> list[_NoteWord]:
        return self._words(condition.words)

    def pointing_at(self, terms: Iterable[str], hides_done: bool, count: int) -> list[RankedNote]:
        """The newest notes with a link to one of these."""
        links = any_of([self._key(link_key(term)) for term in terms])
        unwanted = [self._key(IS_DONE)] if hides_done else []
        return self._newest([drop_scores(links), *_without(unwanted)], count)

    def suggest(self, word: str) -> list[str]:
        """Words of visible notes that a mistyped one is nearest to."""
        return self._vocabulary.suggest(word)

    def known_tags(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        terms = self._searcher.terms_with_prefix("key", tag_key(prefix), limit=limit)
        return [(term.removeprefix("tag:"), count) for term, count in terms]

    def _best(
        self,
        words: list[_NoteWord],
        must: list[tantivy.Query],
        condition: NoteCondition,
        count: int,
    ) -> list[RankedNote]:
        wanted = max(CANDIDATES, 3 * count)
        rows: list[int] | None = None
        coverage = self._coverage(words)
        if condition.words.strict is not None:
            fitting = self._notes(
                [*must, any_of([*coverage, drop_scores(tantivy.Query.all_query())])]
            )
            rows = self._rows(fitting, FILTERED)
        passages = self._passages(words, must if rows is None else [], rows, wanted)
        if rows is not None:
            for row in rows:
                passages.setdefault(row, (0.0, 0))
        if not passages:
            return []
        covered = self._notes([self._compiler.rows(passages), any_of(coverage)])
        found = []
        hits = self._searcher.search(covered, len(passages), False).hits
        facts = zip(hits, self._values("row", hits), self._values("newness", hits), strict=True)
        for (score, address), row, new in facts:
            best, number = passages[row]
            found.append((best + float(score), new, address, number))
        found.sort(key=lambda each: (-each[0], -each[1]))
        return [
            RankedNote(self._id(address), rank, number)
            for rank, _, address, number in found[:count]
        ]

    def _passages(
        self,
        words: list[_NoteWord],
        must: list[tantivy.Query],
        rows: list[int] | None,
        count: int,
    ) -> dict[int, tuple[float, int]]:
        """The score and number of the best passage of each note."""
        choices = [any_of([word.ranks for word in words]), *self._near(words)]
        choices += self._properties(words)
        whole = [any_of(choices), self._unscored_key(IS_PASSAGE), *must]
        if rows is not None:
            whole.append(self._compiler.rows(rows))
        hits = self._searcher.search(all_of(whole, []), count, False).hits
        best: dict[int, tuple[float, int]] = {}
        facts = zip(hits, self._values("row", hits), self._values("number", hits), strict=True)
        for (score, _), row, number in facts:
            best.setdefault(row, (float(score), number))
        return best

    def _near(self, words: list[_NoteWord]) -> list[tantivy.Query]:
        """Neighbouring words of the question that stand side by side in a passage."""
        found = []
        for one, other in pairwise(words):
            pair = [*exact_words(one.typed), *exact_words(other.typed)]
            if one.typed.endswith("*") or other.typed.endswith("*") or len(pair) < 2:
                continue
            phrase = tantivy.Query.phrase_query(self._schema, "exact", list(pair))
            found.append(
                tantivy.Query.const_score_query(phrase, NEAR * (one.weight + other.weight))
            )
        return found[:MAX_NEAR_PAIRS]

    def _properties(self, words: list[_NoteWord]) -> list[tantivy.Query]:
        return [
            tantivy.Query.const_score_query(self._in_properties(word), PROPERTY * word.weight)
            for word in words
        ]

    def _in_properties(self, word: _NoteWord) -> tantivy.Query:
        terms = exact_words(word.typed)
        if len(terms) > 1:
            return tantivy.Query.phrase_query(self._schema, "keyword", list(terms))
        return any_of([self._term("keyword", term) for term in terms])

    def _coverage(self, words: list[_NoteWord]) -> list[tantivy.Query]:
        return [
            tantivy.Query.const_score_query(word.has, COVERAGE * word.weight) for word in words
        ] + self._properties(words)

    def _has_word(self, word: _NoteWord) -> tantivy.Query:
        return drop_scores(any_of([word.has, self._in_properties(word)]))

    def _words(self, query: PaperQuery) -> list[_NoteWord]:
        """The words that rank: loose ones, and those that the tree asks for."""
        return [
            _NoteWord(word.typed, word.query, word.find_anywhere(), self._weight(word.typed))
            for word in self._compiler.ranked_words([*query.loose, *positive_phrases(query.strict)])
        ]

    def _weight(self, typed: str) -> float:
        """The inverse document frequency of a word, as BM25 has it."""
        total = self._view.document_count
        holding = max(map(self._vocabulary.count, analyze_query(typed)), default=0)
        return math.log(1.0 + (max(total - holding, 0) + 0.5) / (holding + 0.5))

    def _filters(self, condition: NoteCondition) -> list[tantivy.Query]:
        must = [self._unscored_key(tag_key(tag)) for tag in condition.tags]
        return must + _without([self._key(IS_DONE)] if condition.hides_done else [])

    def _title_begins(self, prefix: str) -> tantivy.Query:
        pattern = re.escape(f"title:{prefix}")
        return drop_scores(tantivy.Query.regex_query(self._schema, "key", f"{pattern}.*"))

    def _newest(self, must: list[tantivy.Query], count: int, offset: int = 0) -> list[RankedNote]:
        found = self._searcher.search(
            self._notes(must), count, False, order_by_field="newness", offset=offset
        ).hits
        return [RankedNote(self._id(address), 0.0) for _, address in found]

    def _rows(self, query: tantivy.Query, count: int) -> list[int]:
        return self._values("row", self._searcher.search(query, count, False).hits)

    def _count(self, query: tantivy.Query) -> int:
        found: Any = self._searcher.search(query, 1, count=True)
        return int(found.count)

    def _values(self, field: str, hits: Sequence[Any]) -> list[int]:
        addresses = [address for _, address in hits]
        return [int(value or 0) for value in self._searcher.fast_field_values(field, addresses)]

    def _notes(self, must: list[tantivy.Query]) -> tantivy.Query:
        return all_of([self._unscored_key(IS_NOTE), *must], [])

    def _unscored_key(self, key: str) -> tantivy.Query:
        return drop_scores(self._key(key))

    def _key(self, key: str) -> tantivy.Query:
        return self._term("key", key)

    def _term(self, field: str, value: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, value, "basic")

    def _id(self, address: tantivy.DocAddress) -> str:
        return str(self._searcher.doc(address)["id"][0])


class _NoteCompiler(QueryCompiler):
    """Queries over notes, whose tags are trees."""

    def _node(self, node: QueryNode) -> Query:
        match node:
            case FacetPhrase("tag", words, False):
                below = self._term("key", tag_key(" ".join(words)))
                return any_of([below, super()._node(node)])
            case WithIdentifier(identifiers):
                links = [f"{each.kind}:{each.value}" for each in identifiers]
                return any_of([self._term("key", link_key(link)) for link in links])
            case _:
                return super()._node(node)


def _without(unwanted: Sequence[tantivy.Query]) -> list[tantivy.Query]:
    """A condition that none of these fits."""
    if not unwanted:
        return []
    everything = (Occur.Must, drop_scores(tantivy.Query.all_query()))
    return [
        drop_scores(
            tantivy.Query.boolean_query([everything, *((Occur.MustNot, each) for each in unwanted)])
        )
    ]
