"""simple_query_string: words with + | - " * ~ and brackets, read as Lucene's simple parser does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from carrel.libraries.query.elasticsearch.analyzer import analyze_terms, fold_term
from carrel.libraries.query.elasticsearch.clauses import (
    BoolQuery,
    Fuzziness,
    IdsQuery,
    MatchAllQuery,
    MultiMatchQuery,
    MultiPrefixQuery,
    QueryClause,
)
from carrel.libraries.query.errors import invalid_clause

MAX_BRACKETS = 20
Fields = tuple[tuple[str, float], ...]
_Occur = Literal["must", "should"]
_SPACE = " \t\n\r"


@dataclass(slots=True)
class _Level:
    """What one pair of brackets, or the whole, has so far."""

    top: QueryClause | None = None
    current: _Occur | None = None
    previous: _Occur | None = None
    negations: int = 0

    def add(self, branch: QueryClause | None, default: _Occur) -> None:
        if branch is None:
            return
        if self.negations % 2:
            branch = BoolQuery(must_not=(branch,), should=(MatchAllQuery(),))
        if self.top is None:
            self.top = branch
        else:
            occur = self.current or default
            if self.previous != occur or not isinstance(self.top, BoolQuery):
                self.top = _with_clause(BoolQuery(), self.top, occur)
            self.top = _with_clause(self.top, branch, occur)
            self.previous = occur
        self.negations, self.current = 0, None


def _with_clause(query: BoolQuery, clause: QueryClause, occur: _Occur) -> BoolQuery:
    if occur == "must":
        return BoolQuery(must=(*query.must, clause), should=query.should)
    return BoolQuery(must=query.must, should=(*query.should, clause))


@dataclass(slots=True)
class SimpleQueryParser:
    """Reads one text over given fields; words that leave nothing after analysis are passed over."""

    fields: Fields
    needs_all: bool = False
    fuzziness: Fuzziness = field(default_factory=Fuzziness)
    _text: str = ""
    _at: int = 0

    def parse(self, text: str, minimum_should_match: str | int | None = None) -> QueryClause:
        self._text, self._at = text, 0
        if text.strip() == "*":
            return MatchAllQuery()
        found = self._level(0)
        if found is None:
            return IdsQuery(())
        if minimum_should_match is not None and isinstance(found, BoolQuery):
            return BoolQuery(found.must, (), found.should, (), minimum_should_match)
        return found

    @property
    def _default(self) -> _Occur:
        return "must" if self.needs_all else "should"

    def _level(self, depth: int) -> QueryClause | None:
        if depth > MAX_BRACKETS:
            raise invalid_clause(
                "simple_query_string", f"brackets may be nested {MAX_BRACKETS} deep"
            )
        level = _Level()
        while self._at < len(self._text):
            sign = self._text[self._at]
            if sign == ")":
                self._at += 1
                if depth:
                    return level.top
            elif sign == "(":
                self._brackets(level, depth)
            elif sign in {"+", "|"}:
                if level.current is None and level.top is not None:
                    level.current = "must" if sign == "+" else "should"
                self._at += 1
            elif sign == "-":
                level.negations += 1
                self._at += 1
                continue
            elif sign in _SPACE:
                self._at += 1
            elif sign == '"':
                self._phrase(level)
            else:
                level.add(self._word(), self._default)
                continue
            if sign in _SPACE or sign in {"+", "|"}:
                # A minus that no word follows at once negates nothing.
                level.negations = 0
        return level.top

    def _brackets(self, level: _Level, depth: int) -> None:
        close = _closing_bracket(self._text, self._at)
        self._at += 1
        if close is None:
            return
        level.add(self._level(depth + 1), self._default)

    def _phrase(self, level: _Level) -> None:
        end = self._find_unescaped('"', self._at + 1)
        if end is None:
            self._at += 1
            return
        text = _unescape(self._text[self._at + 1 : end])
        self._at = end + 1
        slop = self._take_edits()
        if analyze_terms(text):
            phrase = MultiMatchQuery(
                self.fields, text, "phrase", tie_breaker=1.0, slop=0 if slop is None else slop
            )
            level.add(phrase, self._default)

    def _find_unescaped(self, sign: str, start: int) -> int | None:
        at = start
        while at < len(self._text):
            if self._text[at] == "\\":
                at += 2
                continue
            if self._text[at] == sign:
                return at
            at += 1
        return None

    def _take_edits(self) -> int | None:
        """The number behind a tilde that ends a word or phrase."""
        if self._text[self._at : self._at + 1] != "~":
            return None
        at = self._at + 1
        while at < len(self._text) and self._text[at].isdecimal():
            at += 1
        digits = self._text[self._at + 1 : at]
        if at < len(self._text) and self._text[at] not in _SPACE + '|+()"':
            return None
        self._at = at
        return min(int(digits), 10_000) if digits else 2

    def _word(self) -> QueryClause | None:
        start = self._at
        while self._at < len(self._text) and self._text[self._at] not in _SPACE + '|+()"':
            self._at += 2 if self._text[self._at] == "\\" else 1
        self._at = min(self._at, len(self._text))
        raw = self._text[start : self._at]
        word, tilde, digits = raw.rpartition("~")
        if tilde and word and (not digits or digits.isdecimal()):
            edits = min(int(digits or 2), 2)
            return self._match(
                _unescape(word), Fuzziness(edits, prefix_length=self.fuzziness.prefix_length)
            )
        if raw.endswith("*") and not raw.endswith("\\*") and len(raw) > 1:
            text = fold_term(_unescape(raw[:-1]))
            return MultiPrefixQuery(self.fields, text)
        return self._match(_unescape(raw), None)

    def _match(self, text: str, fuzziness: Fuzziness | None) -> QueryClause | None:
        if not analyze_terms(text):
            return None
        return MultiMatchQuery(
            self.fields, text, needs_all=self.needs_all, tie_breaker=1.0, fuzziness=fuzziness
        )


def _closing_bracket(text: str, start: int) -> int | None:
    depth, at = 0, start
    while at < len(text):
        if text[at] == "\\":
            at += 2
            continue
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return at
        at += 1
    return None


def _unescape(text: str) -> str:
    out, at = [], 0
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text):
            at += 1
        out.append(text[at])
        at += 1
    return "".join(out)
