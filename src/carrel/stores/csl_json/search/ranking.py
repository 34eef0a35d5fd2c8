"""Search of a library's index: which references match a query, and the best of them first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tantivy

from carrel.libraries.query.language import YearRange
from carrel.libraries.query.papers import parse_identifiers
from carrel.libraries.text.analysis import AskedWord, analyze_query, exact_words
from carrel.libraries.text.folding import fold_text, text_key
from carrel.rooms.references.matching import capital_words, matches
from carrel.rooms.references.queries import (
    CONTENT_FIELDS,
    AllTerms,
    AnyTerm,
    NotTerm,
    ReferenceNode,
    ReferenceQuery,
    ReferenceTerm,
)
from carrel.stores.csl_json.search.entries import CAPITALS, MARK, PLAIN, identifier_key, kind_mark
from carrel.stores.csl_json.search.index import LibraryIndex
from carrel.stores.search.compiler import OTHER_FORMS, stem
from carrel.stores.search.engine import all_of, any_of, drop_scores
from carrel.stores.search.views import View
from carrel.stores.search.vocabulary import Vocabulary

# More words than this with a part in them are looked up by the index itself.
_MAX_WORDS = 2_000
# A query of thousands of words is a pasted text; its first words say what it is about.
_MAX_RANKING_WORDS = 100
_MAX_TITLES = 50
# Of the passages of a page's references, the best.
_MAX_PASSAGES = 200
# Of fewer words all must match; a longer question may have words that no reference has.
_MIN_WORDS = 3
# Above every score: who types a citation key, a DOI or the beginning of a title means that one.
_NAMED = 1_000_000.0
_TITLED = 100_000.0
# The beginning of a title is two words or more: one may begin many, as a part of a longer word.
_MIN_TITLE_WORDS = 2
_CAPITALS = re.compile(r"[A-Z]{2,}")
_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$#&\-~/]")


@dataclass(frozen=True, slots=True)
class RankedRows:
    """One page of the rows that match, and how many match in all."""

    total: int
    rows: Sequence[int]


class ReferenceRanking:
    """Searches one state of an index. Raises ValueError or OSError where it is damaged."""

    def __init__(self, index: LibraryIndex) -> None:
        self._index = index
        self._view: View = index.open_view()
        self._searcher = self._view.searcher
        self._schema = self._view.schema

    def search(self, query: ReferenceQuery, first: int, count: int) -> RankedRows:
        """`count` references after the `first` best; in the library's order where nothing ranks."""
        return self._rank(self._filter(query), query, first, count)

    def search_most(self, query: ReferenceQuery, first: int, count: int) -> RankedRows:
        """The same for references that have at least half of the words of a plain query."""
        terms = query.plain_terms[:_MAX_RANKING_WORDS]
        if len(terms) < _MIN_WORDS:
            return RankedRows(0, ())
        most = tantivy.Query.boolean_query(
            [(tantivy.Occur.Should, self._matching(term)) for term in terms],
            max(2, len(terms) // 2),
        )
        return self._rank(drop_scores(most), query, first, count)

    def _rank(
        self, wanted: tantivy.Query, query: ReferenceQuery, first: int, count: int
    ) -> RankedRows:
        ranked = analyze_query(query.ranking_text)[:_MAX_RANKING_WORDS]
        if not ranked:
            return self._in_order(wanted, first, count)
        whole = tantivy.Query.boolean_query(
            [
                (tantivy.Occur.Must, wanted),
                *((tantivy.Occur.Should, self._word(word)) for word in ranked),
                *((tantivy.Occur.Should, named) for named in self._named(query)),
            ]
        )
        hits = self._searcher.search(whole, max(count, 1), count=False, offset=first).hits
        return RankedRows(self._count(wanted), self._rows(hits[:count]))

    def find_all(self, query: ReferenceQuery) -> Sequence[int]:
        """Every reference that matches, in the library's order."""
        return self._in_order(self._filter(query), 0, self._searcher.num_docs).rows

    def count(self, node: ReferenceNode) -> int:
        """How many references fit a part of a query."""
        return self._count(drop_scores(self._node(node)))

    def suggest(self, word: str) -> list[tuple[str, int]]:
        """Words like a mistyped one, with the number of references that have them."""
        return [
            (known, self._searcher.doc_freq("exact", known))
            for known in Vocabulary(self._view).suggest(word)
        ]

    def best_passages(self, query: ReferenceQuery, rows: Sequence[int]) -> dict[int, int]:
        """The number of the best passage of each of these rows whose attached text has a word."""
        asked = analyze_query(query.ranking_text)[:_MAX_RANKING_WORDS]
        view = self._index.open_passages() if rows and asked else None
        if view is None:
            return {}
        within = tantivy.Query.term_set_query(self._schema, "row", list(rows))
        bag = any_of([self._word(word) for word in asked])
        hits = view.searcher.search(
            all_of([drop_scores(within), bag], []), _MAX_PASSAGES, count=False
        ).hits
        addresses = [address for _, address in hits]
        numbers = view.searcher.fast_field_values("number", addresses)
        best: dict[int, int] = {}
        for row, number in zip(
            view.searcher.fast_field_values("row", addresses), numbers, strict=True
        ):
            best.setdefault(int(row or 0), int(number or 0))
        return best

    def nearest(self, text: str, count: int) -> Sequence[int]:
        """The references that have some of the words, best first."""
        asked = analyze_query(text)[:_MAX_RANKING_WORDS]
        if not asked:
            return ()
        bag = any_of([self._word(word) for word in asked])
        return self._rows(self._searcher.search(bag, count, count=False).hits)

    def _filter(self, query: ReferenceQuery) -> tantivy.Query:
        if query.node is None:
            return drop_scores(tantivy.Query.all_query())
        wanted = drop_scores(self._node(query.node))
        identifiers = [
            identifier_key(field, fold_text(found.value))
            for found in parse_identifiers(query.text)
            for field in ("doi", "id")
        ]
        if identifiers:
            # A whole identifier in any of the forms that people paste.
            wanted = drop_scores(any_of([wanted, *(self._key(key) for key in identifiers)]))
        return wanted

    def _in_order(self, wanted: tantivy.Query, first: int, count: int) -> RankedRows:
        total = self._count(wanted)
        if not total:
            return RankedRows(0, ())
        hits = self._searcher.search(wanted, total, count=False).hits
        places = self._index.places()
        rows = sorted((row for row in self._rows(hits) if row in places), key=places.__getitem__)
        return RankedRows(len(rows), rows[first : first + count])

    def _count(self, query: tantivy.Query) -> int:
        found: Any = self._searcher.search(query, 1, count=True)
        return int(found.count or 0)

    def _rows(self, hits: Sequence[tuple[object, tantivy.DocAddress]]) -> list[int]:
        found = self._searcher.fast_field_values("row", [address for _, address in hits])
        return [int(row or 0) for row in found]

    def _named(self, query: ReferenceQuery) -> list[tantivy.Query]:
        """The references whose key, identifier or title's beginning was typed."""
        typed = fold_text(query.text.strip().strip('"'))
        keys = [identifier_key(field, typed) for field in ("id", "doi", "pmid", "pmcid", "isbn")]
        keys += [
            identifier_key("doi", fold_text(found.value)) for found in parse_identifiers(query.text)
        ]
        named = [tantivy.Query.boost_query(self._constant(self._key(key)), _NAMED) for key in keys]
        title = text_key(query.text)
        titles = {title: 2 * _TITLED} if title else {}
        if len(typed.split()) >= _MIN_TITLE_WORDS and title:
            beginning = self._searcher.terms_with_prefix("title_key", title, limit=_MAX_TITLES)
            titles = {known: _TITLED for known, _ in beginning} | titles
        return named + [
            tantivy.Query.boost_query(self._constant(self._term("title_key", known)), weight)
            for known, weight in titles.items()
        ]

    def _constant(self, query: tantivy.Query) -> tantivy.Query:
        return tantivy.Query.const_score_query(query, 1.0)

    def _word(self, word: AskedWord) -> tantivy.Query:
        """A word in its best form, counted about once."""
        forms = [
            any_of([self._term("text", stem(term), "freq") for term in choice])
            for choice in word.choices
        ]
        return (
            forms[0] if len(forms) == 1 else tantivy.Query.disjunction_max_query(forms, OTHER_FORMS)
        )

    def _node(self, node: ReferenceNode) -> tantivy.Query:
        match node:
            case ReferenceTerm():
                return self._matching(node)
            case YearRange(first, last):
                kind = tantivy.FieldType.Unsigned
                return tantivy.Query.range_query(
                    self._schema, "year", kind, max(first or 1, 1), last or 9999
                )
            case NotTerm(part):
                return all_of([], [self._node(part)])
            case AllTerms(parts):
                return all_of(
                    [self._node(part) for part in parts if not isinstance(part, NotTerm)],
                    [self._node(part.part) for part in parts if isinstance(part, NotTerm)],
                )
            case AnyTerm(parts):
                return any_of([self._node(part) for part in parts])

    def _matching(self, term: ReferenceTerm) -> tantivy.Query:
        if term.field is not None and term.field not in CONTENT_FIELDS:
            return self._key(identifier_key(term.field, term.text))
        name = term.field or PLAIN
        inside = self._with_text(name, term)
        if term.exact_case is not None:
            inside = self._with_case(term, inside)
        if term.field is not None or term.is_beginning:
            return inside
        # In other forms, too, two capitals in a row keep their case.
        capitals = _CAPITALS.findall(term.exact_case or "")
        other = [self._in_other_forms(term), *(self._with_part(CAPITALS, run) for run in capitals)]
        return any_of([inside, all_of(other, [])])

    def _in_other_forms(self, term: ReferenceTerm) -> tantivy.Query:
        """The same words in other spellings and forms, also in an attached text."""
        if term.is_quoted:
            words = exact_words(term.text)
            if len(words) > 1:
                return tantivy.Query.phrase_query(self._schema, "exact", list(words))
            return any_of([self._term("exact", word) for word in words])
        asked = analyze_query(term.text)
        if not asked or any(word.is_stop_word for word in asked):
            return tantivy.Query.empty_query()
        return all_of([self._has_word(word) for word in asked], [])

    def _has_word(self, word: AskedWord) -> tantivy.Query:
        return any_of(
            [
                all_of(
                    [
                        any_of([self._term("text", stem(term)), self._term("body", stem(term))])
                        for term in choice
                    ],
                    [],
                )
                for choice in word.choices
            ]
        )

    def _with_text(self, name: str, term: ReferenceTerm) -> tantivy.Query:
        """The references that have a text in their words of a kind, over spaces as well."""
        words = term.words
        if len(words) > 1:
            kind = _escape(kind_mark(name))
            inside = f"[^{MARK}]*"
            patterns = [
                f"{kind}{inside}{_escape(words[0])}",
                *(f"{kind}{_escape(word)}" for word in words[1:-1]),
                f"{kind}{_escape(words[-1])}{inside}",
            ]
            return tantivy.Query.regex_phrase_query(self._schema, "tokens", list(patterns))
        return self._with_part(name, term.text, is_beginning=term.is_beginning)

    def _with_part(self, name: str, text: str, *, is_beginning: bool = False) -> tantivy.Query:
        kind = kind_mark(name)
        found: list[str] = []
        for word in self._index.words.containing(name, text, is_beginning=is_beginning):
            found.append(kind + word)
            if len(found) > _MAX_WORDS and not is_beginning:
                inside = f"[^{MARK}]*"
                pattern = f"{_escape(kind)}{inside}{_escape(text)}{inside}"
                return tantivy.Query.regex_query(self._schema, "tokens", pattern)
        if not found:
            return tantivy.Query.empty_query()
        return tantivy.Query.term_set_query(self._schema, "tokens", found)

    def _with_case(self, term: ReferenceTerm, inside: tantivy.Query) -> tantivy.Query:
        """Two capitals in a row match with their case."""
        assert term.exact_case is not None
        capital = capital_words(term.exact_case)
        if term.field is None and capital == [term.exact_case]:
            with_case = self._with_part(CAPITALS, term.exact_case, is_beginning=term.is_beginning)
            return all_of([inside, with_case], [])
        likely = all_of([inside, *(self._with_part(CAPITALS, word) for word in capital)], [])
        hits = self._searcher.search(
            drop_scores(likely), max(self._count(likely), 1), count=False
        ).hits
        items = self._index.records.items(self._rows(hits))
        rows = [row for row, item in items.items() if matches(item, term)]
        if not rows:
            return tantivy.Query.empty_query()
        return tantivy.Query.term_set_query(self._schema, "row", rows)

    def _key(self, key: str) -> tantivy.Query:
        return self._term("key", key)

    def _term(self, field: str, value: str, option: str = "basic") -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, value, option)


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)
