"""The word index beside a snapshot, on tantivy: its schema and its search."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import tantivy
from tantivy import Occur

from carrel.core.errors import describe_error
from carrel.libraries.query.papers import (
    AllOf,
    AnyOf,
    FacetPhrase,
    Not,
    PaperQuery,
    QueryNode,
    WithIdentifier,
    YearRange,
    without_stop_words,
)
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.snippets import Stem
from carrel.libraries.text.words import STOP_WORDS, Phrase, is_cjk, split_words
from carrel.stores.sqlite.papers import rows
from carrel.stores.sqlite.papers.index_manifest import index_folder, manifest_file, read_manifest
from carrel.stores.sqlite.papers.rows import ListedPaper

TITLE_TIMES = 3
FACETS = ("author", "venue", "keyword", "institution", "tag")
_MAX_WORD_BYTES = 80


def schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("row", fast=True)
    builder.add_unsigned_field("paper", indexed=True)
    builder.add_unsigned_field("newness", fast=True)
    builder.add_unsigned_field("year", indexed=True, fast=True)
    builder.add_text_field("title_key", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("text", tokenizer_name="stems", index_option="freq")
    builder.add_text_field("full", tokenizer_name="stems", index_option="freq")
    builder.add_text_field("pairs", tokenizer_name="words", index_option="freq")
    for name in ("exact", "title", *FACETS):
        builder.add_text_field(name, tokenizer_name="words", index_option="position")
    return builder.build()


def stemmer() -> tantivy.TextAnalyzer:
    """Cuts words to their English stems; words of other languages mostly stay whole."""
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )


def register(index: tantivy.Index) -> None:
    index.register_tokenizer("stems", stemmer())
    index.register_tokenizer(
        "words", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    )


def exact_words(text: str) -> list[str]:
    """Every word, folded, each CJK character one of them."""
    return [word[:_MAX_WORD_BYTES] for word in split_words(fold_text(text))]


def common_pairs(found: Sequence[str]) -> list[str]:
    """Neighbours of which at least one is a stop word."""
    return [
        f"{one}_{other}"
        for one, other in pairwise(found)
        if one in STOP_WORDS or other in STOP_WORDS
    ]


def ranking_words(found: list[str]) -> list[str]:
    """Words to rank by: CJK in pairs of neighbours, which mean more than single characters."""
    return found if "".join(found).isascii() else list(_paired(found))


def _paired(found: list[str]) -> Iterator[str]:
    for at, word in enumerate(found):
        if not is_cjk(word):
            yield word
        elif at + 1 < len(found) and is_cjk(found[at + 1]):
            yield word + found[at + 1]
        elif at == 0 or not is_cjk(found[at - 1]):
            yield word


log = logging.getLogger("carrel.cache")

_FULL_TEXT_WEIGHT = 0.3
_MAX_PREFIX_WORDS = 60
_MAX_TITLES = 50


def open_paper_index(snapshot: Path, build_id: str) -> TantivyRanking | None:
    """The index beside a snapshot, if it was made from just this snapshot."""
    manifest = read_manifest(snapshot)
    if manifest is None or manifest.snapshot_build_id != build_id:
        return None
    folder = index_folder(snapshot) / manifest.folder
    try:
        return TantivyRanking(folder)
    except (OSError, ValueError) as error:
        # Without its manifest it counts as missing, so that the next build or `carrel papers index`
        # makes it again.
        log.warning(
            "paper index is damaged", extra={"file": folder.name, "cause": describe_error(error)}
        )
        with suppress(OSError):
            manifest_file(snapshot).unlink(missing_ok=True)
        return None


class TantivyRanking:
    """One opened index; many threads may search it at once."""

    name = "fast index of words"

    def __init__(self, folder: Path) -> None:
        self._schema = schema()
        index = tantivy.Index.open(str(folder))
        register(index)
        self._searcher = index.searcher()
        analyzer = stemmer()
        self.stem: Stem = lru_cache(maxsize=20_000)(
            lambda word: (analyzer.analyze(word) or [word])[0]
        )

    def search(
        self, connection: sqlite3.Connection, query: PaperQuery, first: int, count: int
    ) -> list[ListedPaper]:
        named = self.find_named(connection, query)
        page = named[first : first + count]
        if len(page) == count:
            return page
        if not named:
            return rows.papers_of_rows(connection, self.rows(connection, query, first, count))
        # Nobody is listed twice: the named ones are taken out of the ranking before the page is
        # cut.
        known = {paper.paper_id for paper in named}
        ranked = rows.papers_of_rows(connection, self.rows(connection, query, 0, first + count))
        rest = [paper for paper in ranked if paper.paper_id not in known]
        skip = max(0, first - len(named))
        return page + rest[skip : skip + count - len(page)]

    def find_named(self, connection: sqlite3.Connection, query: PaperQuery) -> list[ListedPaper]:
        """The papers whose identifier or whole title was typed."""
        if query.identifiers:
            return rows.listed_papers(
                connection, rows.identified_papers(connection, query.identifiers)
            )
        if not query.loose or query.strict is not None:
            return []
        titled = self._searcher.search(
            self._term("title_key", query.title_key), _MAX_TITLES, count=False
        ).hits
        return rows.papers_of_rows(connection, self._numbers(titled)) if titled else []

    def rows(
        self, connection: sqlite3.Connection, query: PaperQuery, first: int, count: int
    ) -> list[int]:
        """One stretch of the ranking, as rows of the full-text table."""
        return [row for row, _ in self.scored_rows(connection, query, first, count)]

    def scored_rows(
        self, connection: sqlite3.Connection, query: PaperQuery, first: int, count: int
    ) -> list[tuple[int, float]]:
        """One stretch of the ranking with scores; newest first where nothing ranks."""
        question = self._question(connection, query)
        if question is None:
            return []
        order = None if query.phrases else "newness"
        hits = self._searcher.search(
            question, count, count=False, offset=first, order_by_field=order
        ).hits
        return list(zip(self._numbers(hits), (float(score) for score, _ in hits), strict=True))

    def _numbers(self, hits: Sequence[tuple[object, tantivy.DocAddress]]) -> list[int]:
        found = self._searcher.fast_field_values("row", [address for _, address in hits])
        return [int(row or 0) for row in found]

    def _question(self, connection: sqlite3.Connection, query: PaperQuery) -> tantivy.Query | None:
        parts = [] if query.strict is None else [self._node(connection, query.strict)]
        if query.identifiers:
            # An identifier that was pasted whole is not a bag of numbers.
            parts += [self._exactly("exact", phrase) for phrase in query.loose]
        elif query.loose:
            parts.append(self._bag(query.loose))
        if not parts:
            return None
        return (
            parts[0]
            if len(parts) == 1
            else tantivy.Query.boolean_query([(Occur.Must, part) for part in parts])
        )

    def _bag(self, loose: Sequence[Phrase]) -> tantivy.Query:
        """Any of the words; plain terms only, so that the index can skip what cannot win."""
        content = without_stop_words(loose)
        times: dict[str, int] = {}
        choices: list[tantivy.Query] = []
        for phrase in content:
            if phrase.is_prefix or (len(phrase.words) == 1 and is_cjk(phrase.words[0])):
                choices += self._exact_choices(phrase)
                continue
            for word in ranking_words(exact_words(" ".join(phrase.words))):
                if len(phrase.words) == 1 or word not in STOP_WORDS:
                    times[self.stem(word)] = times.get(self.stem(word), 0) + 1
        choices += [
            query for stem, count in times.items() for query in self._ranked_term(stem, count)
        ]
        return _any(choices)

    def _ranked_term(self, stem: str, times: int) -> list[tantivy.Query]:
        text = self._term("text", stem, "freq")
        choices = [text if times == 1 else tantivy.Query.boost_query(text, float(times))]
        if self._searcher.doc_freq("full", stem):
            choices.append(
                tantivy.Query.boost_query(
                    self._term("full", stem, "freq"), _FULL_TEXT_WEIGHT * times
                )
            )
        return choices

    def _exact_choices(self, phrase: Phrase) -> list[tantivy.Query]:
        if len(phrase.words) > 1:
            return [self._exactly("exact", phrase)]
        word = fold_text(phrase.words[0])
        return [
            self._term("exact", known)
            for known in (self._beginning_with("exact", word) if phrase.is_prefix else [word])
        ]

    def _node(self, connection: sqlite3.Connection, node: QueryNode) -> tantivy.Query:
        match node:
            case Phrase(words, is_prefix, in_title, is_exact):
                if len(words) == 1 and not (is_prefix or in_title or is_exact or is_cjk(words[0])):
                    return _any(self._ranked_term(self.stem(fold_text(words[0])), 1))
                return self._exactly("title" if in_title else "exact", node)
            case FacetPhrase(category, words, is_prefix):
                return _unscored(self._exactly(category, Phrase(words, is_prefix)))
            case YearRange(first, last):
                kind = tantivy.FieldType.Unsigned
                return _unscored(
                    tantivy.Query.range_query(
                        self._schema, "year", kind, max(first or 1, 1), last or 9999
                    )
                )
            case WithIdentifier(identifiers):
                numbers = rows.row_numbers(
                    connection, rows.identified_papers(connection, identifiers)
                )
                return _unscored(_any([self._term("paper", number) for number in numbers]))
            case Not():
                return tantivy.Query.boolean_query(
                    [
                        (Occur.Must, _unscored(tantivy.Query.all_query())),
                        (Occur.MustNot, self._node(connection, node.part)),
                    ]
                )
            case AllOf(parts):
                signs = [
                    (Occur.MustNot, self._node(connection, part.part))
                    if isinstance(part, Not)
                    else (Occur.Must, self._node(connection, part))
                    for part in parts
                ]
                if all(isinstance(part, Not) for part in parts):
                    signs.append((Occur.Must, _unscored(tantivy.Query.all_query())))
                return tantivy.Query.boolean_query(signs)
            case AnyOf(parts):
                return _any([self._node(connection, part) for part in parts])

    def _exactly(self, field: str, phrase: Phrase) -> tantivy.Query:
        """Words as written and in this order; the last may be the beginning of one."""
        folded = [word for part in phrase.words for word in exact_words(part)]
        if len(folded) > 1:
            pairs = (
                common_pairs(folded[:-1] if phrase.is_prefix else folded)
                if field == "exact"
                else []
            )
            known = [self._term("pairs", pair, "freq") for pair in pairs]
            if len(known) == 1 and len(folded) == 2:
                return known[0]
            make = (
                tantivy.Query.phrase_prefix_query
                if phrase.is_prefix
                else tantivy.Query.phrase_query
            )
            whole = make(self._schema, field, list(folded))
            return (
                tantivy.Query.boolean_query([(Occur.Must, part) for part in (*known, whole)])
                if known
                else whole
            )
        forms = [
            word
            for part in folded
            for word in (self._beginning_with(field, part) if phrase.is_prefix else [part])
        ]
        return _any([self._term(field, word) for word in forms])

    def _beginning_with(self, field: str, prefix: str) -> list[str]:
        """The words that most papers have among those with this beginning."""
        return [
            word
            for word, _ in self._searcher.terms_with_prefix(field, prefix, limit=_MAX_PREFIX_WORDS)
        ]

    def _term(self, field: str, value: str | int, option: str = "basic") -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, value, option)


def _any(choices: list[tantivy.Query]) -> tantivy.Query:
    if not choices:
        return tantivy.Query.empty_query()
    return (
        choices[0]
        if len(choices) == 1
        else tantivy.Query.boolean_query([(Occur.Should, choice) for choice in choices])
    )


def _unscored(query: tantivy.Query) -> tantivy.Query:
    return tantivy.Query.const_score_query(query, 0.0)
