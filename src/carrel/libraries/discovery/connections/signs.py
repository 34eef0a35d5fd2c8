"""Signs of links: which of two things raises or lowers the other, as sentences say."""

import re
from collections.abc import Iterable, Sequence

from carrel.libraries.discovery.connections.candidates import SentenceRelation, SignCount
from carrel.libraries.discovery.connections.sentences import Sentence
from carrel.libraries.relations import (
    Argument,
    Relation,
    extract_relations,
    standard_lexicon,
)

SENTENCES_REMEMBERED = 20_000

# A thing named after one of these is where something happens, not what it happens to.
_PLACE = re.compile(
    r"(?<!increase )(?<!decrease )(?<!reduction )(?<!decline )(?<!rise )(?<!defects )(?<!deficits )"
    r"\b(in|during|from|with|within|for|by|via|through|at|on|after|under|among|between|than)\b",
    re.IGNORECASE,
)

_HYPHENS = ("-", "‐", "–", "/")
_WORD = re.compile(r"[^\W_][\w-]*")

Spans = Sequence[tuple[int, int]]


class RelationReader:
    """Reads the relations of sentences; cached."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Relation, ...]] = {}

    def relation(
        self,
        sentence: Sentence,
        bridge: Sequence[str],
        other: Sequence[str],
        *,
        bridge_acts: bool | None = None,
    ) -> SentenceRelation | None:
        """What a sentence says of a bridge and another thing, given by their names; or None.

        With `bridge_acts` only relations of that direction are looked at.
        """
        relations = self._relations(sentence.text)
        if not relations:
            return None
        first, second = _spans(sentence, bridge), _spans(sentence, other)
        found = [
            said
            for relation in relations
            for said in _between(relation, sentence.text, first, second)
            if bridge_acts is None or said.bridge_acts is bridge_acts
        ]
        return max(found, key=_tells, default=None)

    def has_any(self, sentence: Sentence) -> bool:
        """Whether a sentence says any relation at all."""
        return bool(self._relations(sentence.text))

    def _relations(self, text: str) -> tuple[Relation, ...]:
        known = self._known.get(text)
        if known is None:
            if len(self._known) >= SENTENCES_REMEMBERED:
                self._known.clear()
            known = self._known[text] = extract_relations(text)
        return known


def _tells(said: SentenceRelation) -> tuple[bool, bool, bool]:
    return said.sign != 0, not said.is_asked, not said.is_denied


def _spans(sentence: Sentence, names: Sequence[str]) -> list[tuple[int, int]]:
    return [span for name in names for span in sentence.spans(name)]


def _between(
    relation: Relation, text: str, bridge: Spans, other: Spans
) -> Iterable[SentenceRelation]:
    acting = _named_in(relation.subject, text, bridge), _named_in(relation.object, text, other)
    acted_on = _named_in(relation.subject, text, other), _named_in(relation.object, text, bridge)
    if all(acting):
        yield _said(relation, relation.sign_between(*acting), bridge_acts=True)
    if all(acted_on):
        yield _said(relation, relation.sign_between(*acted_on), bridge_acts=False)


def _named_in(argument: Argument, text: str, spans: Spans) -> list[tuple[int, int]]:
    return [
        (start, end)
        for start, end in spans
        if argument.start <= start
        and end <= argument.end
        and not _PLACE.search(text[argument.start : start])
        and _is_named_itself(text, start, min(argument.end, len(text)), end)
    ]


def _is_named_itself(text: str, start: int, until: int, end: int) -> bool:
    # "breast cancer risk", "breast cancer cell growth" are about breast cancer; "breast cancer
    # cells", "anti-obesity" are not.
    if text[max(0, start - 1) : start] in _HYPHENS or text[end : end + 1] in _HYPHENS:
        return False
    words = [found[0].lower() for found in _WORD.finditer(text, end, until)][:2]
    lexicon = standard_lexicon()
    if words and words[0] in ("cell", "cells"):
        return words[-1] in lexicon.aspects
    return (
        not words
        or lexicon.classes.get(words[0], "noun") != "noun"
        or words[0] in lexicon.aspects
        or words[0] in lexicon.lowering_nouns
        or words[0].endswith("ly")
    )


def _said(relation: Relation, sign: int, *, bridge_acts: bool) -> SentenceRelation:
    return SentenceRelation(
        relation.kind.value,
        relation.verb,
        sign,
        bridge_acts,
        relation.negated,
        relation.hedged,
        relation.asked,
    )


def count_signs(said: Iterable[SentenceRelation]) -> SignCount:
    """Count what papers say, one relation for each; questions and unsigned ones do not."""
    raises = lowers = denied_raises = denied_lowers = 0
    for one in said:
        if one.is_asked:
            continue
        if one.is_denied:
            denied_raises += one.sign > 0
            denied_lowers += one.sign < 0
        else:
            raises += one.sign > 0
            lowers += one.sign < 0
    return SignCount(raises, lowers, denied_raises, denied_lowers)
