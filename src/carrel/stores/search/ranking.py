"""Ranking of papers by their best passage and their own words, and ranking of passages alone."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from carrel.libraries.query.papers import FacetPhrase, PaperIdentifier, PaperQuery, positive_phrases
from carrel.libraries.text.abbreviations import AbbreviationTable
from carrel.stores.search.compiler import QueryCompiler, RowsOfIdentifiers, stem
from carrel.stores.search.engine import IndexEngine, MatchCount, Query, Searched

# What a paper's own score adds to its best passage's. Chosen on 800 sentences and 278 lists of
# author keywords of 292 eLife full texts, as docs/decisions/0027 says.
PAPER_WEIGHT = 0.15
# Passages and papers whose scores are put together; what is ranked lower follows by its own words.
CANDIDATES = 300
# Of these, the best are looked at once more for neighbouring words.
CLOSER = 50
# Papers that fit a filter, best first, whose passages are looked at.
FILTERED_CANDIDATES = 500
# A facet with more papers than this filters passages by its newest papers only.
MAX_FACET_ROWS = 20_000
# The beginning of a title is recognised from so many characters of its key, and so many titles.
MIN_TITLE_BEGINNING = 15
MAX_TITLES = 50


@dataclass(frozen=True, slots=True)
class RankedPaper:
    """A paper's row, its score, and the number of its best passage where one matched."""

    row: int
    score: float
    passage: int | None = None


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A passage by its paper's row and its number in the paper."""

    row: int
    number: int
    score: float


class AskedQuery:
    """A query compiled for one index: loose words must match, those of the tree only rank."""

    def __init__(self, compiler: QueryCompiler, query: PaperQuery) -> None:
        self._engine = compiler.engine
        phrases = list(positive_phrases(query.strict))
        # An identifier that was pasted whole is not a bag of numbers.
        self.words = [] if query.identifiers else compiler.ranked_words(query.loose)
        self.more_words = compiler.ranked_words(phrases)
        self.phrases = compiler.exact_phrases(phrases)
        self._compiler = compiler
        self._loose = query.loose
        self.filter = None if query.strict is None else compiler.filter(query.strict)

    @property
    def ranks(self) -> bool:
        return bool(self.words or self.more_words)

    @property
    def terms(self) -> list[str]:
        """The terms by which matches are looked for."""
        return [term for word in self.words or self.more_words for term in word.terms]

    @property
    def asks(self) -> bool:
        return self.ranks or self.filter is not None

    @property
    def bag(self) -> Query:
        """Every word that ranks; where all are single terms, the index skips what cannot win."""
        return self._engine.any_of(
            [*(word.query for word in (*self.words, *self.more_words)), *self.phrases]
        )

    def closer(self, rows: Sequence[int]) -> Query | None:
        """The documents of these rows by words and by neighbouring words; None without any."""
        neighbours = [] if not self.words else self._compiler.neighbours(self._loose)
        if not neighbours or not rows:
            return None
        wanted = self._engine.all_of([self.bag, self._compiler.rows(rows)], [])
        return self._engine.with_scores(wanted, self._engine.any_of(neighbours))

    def matches(self) -> Query:
        """What matches anywhere in a document, without a score."""
        wanted = (
            [self._engine.any_of([word.find_anywhere() for word in self.words])]
            if self.words
            else []
        )
        return self._engine.drop_scores(
            self._engine.all_of([*wanted, self.filter] if self.filter is not None else wanted, [])
        )

    def ranked_matches(self) -> Query:
        """What matches, scored by the words."""
        if self.filter is None:
            return self.bag
        return self._engine.with_scores(self.matches(), self.bag) if self.ranks else self.matches()


class _Scores:
    """Scores by row; what was not among the best looked at has at most the lowest of them."""

    def __init__(self, by_row: dict[int, float], wanted: int, found: int | None = None) -> None:
        self.by_row = by_row
        is_cut = (len(by_row) if found is None else found) >= wanted
        self._lowest = min(by_row.values(), default=0.0) if is_cut else 0.0

    def of(self, row: int) -> float:
        return self.by_row.get(row, self._lowest)


class PassageRanking:
    """Ranks passages; many threads may use it at once."""

    def __init__(
        self,
        passages: Searched,
        papers: Searched,
        *,
        deleted: Container[int] = frozenset(),
        rows_of_identifiers: RowsOfIdentifiers | None = None,
        abbreviations: AbbreviationTable | None = None,
    ) -> None:
        """`deleted` rows are left out; `papers` answers filters by author, venue and so on.

        Without `rows_of_identifiers` papers are known by their keys in the index.
        """
        self._engine = passages.engine
        self._papers = papers.engine
        self._deleted = deleted
        known_rows = rows_of_identifiers or rows_by_keys(papers.engine)
        self._of_papers = QueryCompiler(papers, rows_of_identifiers=known_rows)
        self._compiler = QueryCompiler(
            passages,
            rows_of_identifiers=known_rows,
            rows_of_facet=lru_cache(maxsize=64)(self._rows_of_facet),
            abbreviations=abbreviations,
        )

    def search(
        self, query: PaperQuery, within_rows: Sequence[int] | None, first: int, count: int
    ) -> list[RankedPassage]:
        """`count` passages after the `first` best, of these papers or of all."""
        asked = AskedQuery(self._compiler, query)
        if not asked.ranks:
            return []
        found = self._hits(asked.ranked_matches(), within_rows, max(first + count, CLOSER))
        return self._look_closer(asked, found)[first : first + count]

    def count(self, query: PaperQuery, within_rows: Sequence[int] | None = None) -> MatchCount:
        """How many passages have any word of the query and fit its filters."""
        asked = AskedQuery(self._compiler, query)
        if not asked.ranks:
            return MatchCount(0)
        whole = self._engine.all_of([asked.matches(), *self._within(within_rows)], [])
        return self._engine.count_matches(whole, asked.terms)

    def compile(self, query: PaperQuery) -> AskedQuery:
        """The query as passages are asked, to be used more than once."""
        return AskedQuery(self._compiler, query)

    def best(
        self, asked: AskedQuery, count: int, within_rows: Sequence[int] | None = None
    ) -> list[RankedPassage]:
        """The best passages by words alone, whatever the query filters."""
        return self._hits(asked.bag, within_rows, count)

    def closer(self, asked: AskedQuery, rows: Sequence[int]) -> list[RankedPassage]:
        """The best passages of these papers, neighbouring words counted; none without any."""
        closer = asked.closer(rows)
        return [] if closer is None else self._hits(closer, None, CANDIDATES)

    def _look_closer(self, asked: AskedQuery, found: list[RankedPassage]) -> list[RankedPassage]:
        """The first passages ordered anew with neighbouring words counted."""
        head = found[:CLOSER]
        closer = asked.closer(list(dict.fromkeys(passage.row for passage in head)))
        if closer is None:
            return found
        scores = {
            (passage.row, passage.number): passage
            for passage in self._hits(closer, None, CANDIDATES)
        }
        head = [scores.get((passage.row, passage.number), passage) for passage in head]
        head.sort(key=_by_passage_score)
        return head + found[CLOSER:]

    def _within(self, rows: Sequence[int] | None) -> list[Query]:
        return [] if rows is None else [self._compiler.rows(rows)]

    def _hits(
        self, query: Query, within_rows: Sequence[int] | None, wanted: int
    ) -> list[RankedPassage]:
        whole = self._engine.all_of([query, *self._within(within_rows)], [])
        found = [RankedPassage(*hit) for hit in self._engine.hits(whole, wanted, self._deleted)]
        found.sort(key=_by_passage_score)
        return found

    def _rows_of_facet(self, facet: FacetPhrase) -> Sequence[int]:
        fitting = self._of_papers.filter(facet)
        found = self._papers.hits(fitting, MAX_FACET_ROWS, frozenset(), newest_first=True)
        return [hit.row for hit in found]


class PaperRanking:
    """Ranks papers: identifiers and titles first, then best passage and paper together."""

    def __init__(
        self,
        papers: Searched,
        passages: Searched,
        *,
        deleted: Container[int] = frozenset(),
        rows_of_identifiers: RowsOfIdentifiers | None = None,
        abbreviations: AbbreviationTable | None = None,
    ) -> None:
        self._engine = papers.engine
        self._deleted = deleted
        self._rows_of_identifiers = rows_of_identifiers or rows_by_keys(papers.engine)
        self._compiler = QueryCompiler(
            papers, rows_of_identifiers=self._rows_of_identifiers, abbreviations=abbreviations
        )
        self.passages = PassageRanking(
            passages,
            papers,
            deleted=deleted,
            rows_of_identifiers=self._rows_of_identifiers,
            abbreviations=abbreviations,
        )
        # Without full texts every passage is an abstract, and the paper says the same and more.
        self._has_texts = papers.engine.has_bodies()

    @staticmethod
    def stem(word: str) -> str:
        """The stem by which words match, for marking them."""
        return stem(word)

    def search(self, query: PaperQuery, first: int, count: int) -> list[RankedPaper]:
        """`count` papers after the `first` best; newest first where no word ranks."""
        named = self.find_named(query)
        page = named[first : first + count]
        wanted = count - len(page)
        if not wanted:
            return page
        known = {paper.row for paper in named}
        ranked = self.rank(query, max(0, first - len(named)) + wanted, without=known)
        skip = max(0, first - len(named))
        return page + ranked[skip : skip + wanted]

    def find_named(self, query: PaperQuery) -> list[RankedPaper]:
        """The papers whose identifier, whole title or beginning of a title was typed."""
        if query.identifiers:
            rows = dict.fromkeys(self._rows_of_identifiers(query.identifiers))
            return [RankedPaper(row, 0.0) for row in rows if row not in self._deleted]
        if not query.loose or query.strict is not None or not query.title_key:
            return []
        whole = self._rows(self._compiler.titled(query.title_key), MAX_TITLES)
        if len(query.title_key) >= MIN_TITLE_BEGINNING and not whole:
            whole = self._rows(
                self._compiler.titles_beginning(query.title_key, MAX_TITLES), MAX_TITLES
            )
        return [RankedPaper(row, 0.0) for row in whole]

    def rank(
        self, query: PaperQuery, wanted: int, *, without: Collection[int] = frozenset()
    ) -> list[RankedPaper]:
        """The best `wanted` papers by words and filters alone; all that match, if so many are."""
        asked = AskedQuery(self._compiler, query)
        if not asked.asks:
            return []
        if not asked.ranks:
            rows = self._newest(asked.matches(), wanted, without)
            return [RankedPaper(row, 0.0) for row in rows]
        head = [paper for paper in self._head(query, asked) if paper.row not in without]
        if any(phrase.is_prefix for phrase in query.loose):
            # Passages and papers may know other words with this beginning.
            matching = self._matching(asked, [paper.row for paper in head])
            head = [paper for paper in head if paper.row in matching]
        if len(head) >= wanted:
            return head[:wanted]
        seen = {*without, *(paper.row for paper in head)}
        return [*head, *islice(self._tail(asked, wanted, seen), wanted - len(head))]

    def _tail(self, asked: AskedQuery, wanted: int, seen: set[int]) -> Iterator[RankedPaper]:
        """What matches besides: by its own words, then what has words in its body only."""
        queries = [asked.ranked_matches()]
        if asked.filter is None:
            queries.append(asked.matches())
        for query in queries:
            found = [each for each in self._own(query, wanted + len(seen)) if each[0] not in seen]
            yield from (RankedPaper(row, score) for row, score in found)
            seen.update(row for row, _ in found)

    def count(self, query: PaperQuery) -> MatchCount:
        """How many papers `search` gives in all: named, or with a word and fit for the filters.

        Of those that match by words and filters, deleted ones are counted too.
        """
        asked = AskedQuery(self._compiler, query)
        named = [paper.row for paper in self.find_named(query)]
        if not asked.asks:
            return MatchCount(len(named))
        found = self._engine.count_matches(asked.matches(), asked.terms)
        if not found.is_exact or not named:
            return found
        return MatchCount(found.count + len(set(named)) - self.count_among(query, named))

    def count_among(self, query: PaperQuery, rows: Sequence[int]) -> int:
        """How many of these rows match, deleted ones included."""
        asked = AskedQuery(self._compiler, query)
        if not asked.asks or not rows:
            return 0
        among = self._engine.all_of([asked.matches(), self._compiler.rows(rows)], [])
        return self._engine.count(among)

    def _head(self, query: PaperQuery, asked: AskedQuery) -> list[RankedPaper]:
        """The candidates by their best passage with the paper's own score as an addend."""
        if not self._has_texts:
            papers = [RankedPaper(*each) for each in self._own(asked.ranked_matches(), CANDIDATES)]
            return self._look_closer(asked, papers)
        size = CANDIDATES if asked.filter is None else FILTERED_CANDIDATES
        own = _Scores(dict(self._own(asked.ranked_matches(), size)), size)
        in_passages = self.passages.compile(query)
        within = None if asked.filter is None else list(own.by_row)
        best = self.passages.best(in_passages, CANDIDATES, within)
        passages = _Scores(
            {passage.row: passage.score for passage in reversed(best)}, CANDIDATES, len(best)
        )
        numbers = {passage.row: passage.number for passage in reversed(best)}
        papers = [
            RankedPaper(row, passages.of(row) + PAPER_WEIGHT * own.of(row), numbers.get(row))
            for row in own.by_row | passages.by_row
        ]
        papers.sort(key=_by_score)
        closer = self.passages.closer(in_passages, [paper.row for paper in papers[:CLOSER]])
        nearer = {passage.row: passage for passage in reversed(closer)}
        head = [
            RankedPaper(
                paper.row,
                nearer[paper.row].score + PAPER_WEIGHT * own.of(paper.row),
                nearer[paper.row].number,
            )
            if paper.row in nearer
            else paper
            for paper in papers[:CLOSER]
        ]
        return sorted(head, key=_by_score) + papers[CLOSER:]

    def _look_closer(self, asked: AskedQuery, papers: list[RankedPaper]) -> list[RankedPaper]:
        """The first papers ordered anew with neighbouring words counted."""
        closer = asked.closer([paper.row for paper in papers[:CLOSER]])
        if closer is None:
            return papers
        scores = dict(self._own(closer, CLOSER))
        head = [RankedPaper(each.row, scores.get(each.row, each.score)) for each in papers[:CLOSER]]
        return sorted(head, key=_by_score) + papers[CLOSER:]

    def _own(self, query: Query, count: int) -> Iterator[tuple[int, float]]:
        """Rows with their own scores, best first."""
        for row, _, score in self._engine.hits(query, count, self._deleted):
            yield row, score

    def _rows(self, query: Query, count: int) -> list[int]:
        return [hit.row for hit in self._engine.hits(query, count, self._deleted)]

    def _newest(self, query: Query, wanted: int, without: Collection[int]) -> list[int]:
        most = wanted + len(without)
        found = self._engine.hits(query, most, self._deleted, newest_first=True)
        return [hit.row for hit in found if hit.row not in without][:wanted]

    def _matching(self, asked: AskedQuery, rows: Sequence[int]) -> set[int]:
        """Those of the rows that match."""
        if not rows:
            return set()
        within = self._engine.all_of([asked.matches(), self._compiler.rows(rows)], [])
        return set(self._rows(within, len(rows)))


def _by_score(paper: RankedPaper) -> tuple[float, int]:
    return -paper.score, paper.row


def _by_passage_score(passage: RankedPassage) -> tuple[float, int, int]:
    return -passage.score, passage.row, passage.number


def rows_by_keys(papers: IndexEngine) -> RowsOfIdentifiers:
    """Looks identifiers up among the keys of papers: an id as it is, others as `doi:10.1000/x`."""

    def find_rows(identifiers: Sequence[PaperIdentifier]) -> list[int]:
        keys = [
            each.value if each.kind == "paper_id" else f"{each.kind}:{each.value}"
            for each in identifiers
        ]
        return papers.rows_of_keys(keys) if keys else []

    return find_rows
