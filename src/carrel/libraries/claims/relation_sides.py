"""Whether two sentences relate the same two things, and on the same or on opposite sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from carrel.libraries.claims.matching import (
    WeighedStatement,
    measure_synonyms,
    measure_words,
    weigh_evenly,
)
from carrel.libraries.claims.readings import read_sentence
from carrel.libraries.claims.records import (
    TITLE,
    Finding,
    PaperText,
    RankedSentence,
    Stance,
    StatementCheck,
    StatementKind,
    Verdict,
)
from carrel.libraries.claims.records import Relation as StanceRelation
from carrel.libraries.relations import Argument, Relation, RelationKind, extract_relations
from carrel.libraries.text.analysis import analyze_document
from carrel.libraries.text.stems import light_stem
from carrel.libraries.text.words import STOP_WORDS

# Relations of sentences that were read lately.
_CACHED = 8_192
# The share of the words of the shorter subject, and of the shorter object, that both must have.
_LEAST_SHARED = 0.6
_LONGEST_SENTENCE = 1_000
# What is said of a pair on the same two things is right so often, as measured above.
_RELATION_TRUST = 0.9
# A sentence that relates the same two things decides only with this share of the statement: chosen
# on the first half of SciFact's claims, where 4 of 6 below it were wrong and none of 17 above.
LEAST_COVERAGE = 0.42
_UNSIGNED = {RelationKind.ASSOCIATES, RelationKind.PREDICTS, RelationKind.IS_PART_OF}


@dataclass(frozen=True, slots=True)
class SignedLink:
    """What a sentence says of two things: their words, the sign, and whether it is denied."""

    subject: frozenset[str]
    object: frozenset[str]
    kind: RelationKind
    sign: int
    is_denied: bool
    is_hedged: bool
    verb: str


@dataclass(frozen=True, slots=True)
class SidesCompared:
    """Two sentences on the same two things; `share` is how much of both they have in common."""

    is_opposite: bool
    share: float
    reason: str


@lru_cache(_CACHED)
def read_links(sentence: str) -> tuple[SignedLink, ...]:
    """The relations of a sentence that it states or denies."""
    return tuple(_links(sentence[:_LONGEST_SENTENCE]))


def compare_sides(one: str, other: str) -> SidesCompared | None:
    """How two sentences stand to one another; None where they relate not the same two things.

    Only relations with a sign count. Given the deciding sentences of SciFact's training claims, 21
    of 23 that were found on the same side support the claim, and 11 of 12 on the opposite deny it.
    """
    found = [
        compared
        for mine in read_links(one)
        for theirs in read_links(other)
        if (compared := compare_links(mine, theirs)) is not None
    ]
    return max(found, key=lambda each: each.share, default=None)


def add_relations(check: StatementCheck, papers: Sequence[PaperText]) -> StatementCheck:
    """The check with what relations decide: sentences on the same two things, and their side."""
    if check.statement.kind is not StatementKind.CLAIM:
        return check
    weighed = weigh_evenly(check.statement)
    found = {
        (paper.paper_id, number): _decide(paper, number, text, compared)
        for paper in papers
        for number, text in _list_sentences(paper)
        if (compared := compare_sides(check.statement.text, text)) is not None
        and _measure_coverage(weighed, text) >= LEAST_COVERAGE
    }
    if not found:
        return check

    def merge(findings: Sequence[Finding], relation: StanceRelation) -> tuple[Finding, ...]:
        own = [each for each in found.values() if each.stance.relation is relation]
        others = [
            each for each in findings if (each.sentence.paper_id, each.sentence.number) not in found
        ]
        return (*own, *others)

    supporting = merge(check.supporting, StanceRelation.SUPPORTS)
    contradicting = merge(check.contradicting, StanceRelation.CONTRADICTS)
    bearing = merge(check.bearing, StanceRelation.BEARS_ON)
    verdict = (
        Verdict.MIXED
        if supporting and contradicting
        else Verdict.SUPPORTS
        if supporting
        else Verdict.CONTRADICTS
    )
    counts = count_sentences(len(papers), len(supporting), len(contradicting), len(bearing))
    first = max(found.values(), key=lambda each: each.stance.confidence)
    return replace(
        check,
        verdict=verdict,
        supporting=supporting,
        contradicting=contradicting,
        bearing=bearing,
        reasons=(counts, *first.stance.reasons),
    )


def count_sentences(papers: int, supporting: int, contradicting: int, bearing: int) -> str:
    """What was read, and how many sentences take each side."""
    sentences = f"{supporting} sentence{'' if supporting == 1 else 's'} for it"
    return (
        f"{papers} paper{'' if papers == 1 else 's'} read: {sentences}, {contradicting} against "
        f"it, {bearing} that bear on it and decide nothing"
    )


def _list_sentences(paper: PaperText) -> Iterator[tuple[int, str]]:
    """Title and sentences; a title that stands among the sentences is not read twice."""
    if paper.title not in paper.sentences:
        yield TITLE, paper.title
    yield from enumerate(paper.sentences)


def _measure_coverage(statement: WeighedStatement, sentence: str) -> float:
    said = read_sentence(sentence)
    return measure_words(statement, said.terms) + measure_synonyms(
        statement, said.terms, said.classes
    )


def _decide(paper: PaperText, number: int, text: str, compared: SidesCompared) -> Finding:
    relation = StanceRelation.CONTRADICTS if compared.is_opposite else StanceRelation.SUPPORTS
    confidence = round(_RELATION_TRUST * compared.share, 3)
    sentence = RankedSentence(
        paper.paper_id, number, text, compared.share, compared.share, paper.title
    )
    return Finding(sentence, Stance(relation, confidence, (compared.reason,)))


def _links(sentence: str) -> Iterator[SignedLink]:
    for relation in extract_relations(sentence):
        # "diet-induced" says what sort a thing is, not what was found.
        if relation.asked or "-" in relation.verb:
            continue
        subject, object_ = _words(relation.subject), _words(relation.object)
        if subject and object_:
            yield SignedLink(
                subject, object_, relation.kind, _sign(relation), relation.negated,
                relation.hedged, relation.verb,
            )  # fmt: skip


def _sign(relation: Relation) -> int:
    return 0 if relation.kind in _UNSIGNED else relation.sign


def _words(argument: Argument) -> frozenset[str]:
    """The stems of an argument without the words that raise or lower it."""
    text = argument.text
    for operation in sorted(argument.operations, key=lambda each: -each.start):
        first, last = operation.start - argument.start, operation.end - argument.start
        if 0 <= first < last <= len(text):
            text = f"{text[:first]} {text[last:]}"
    return frozenset(map(light_stem, analyze_document(text))) - STOP_WORDS


def compare_links(one: SignedLink, other: SignedLink) -> SidesCompared | None:
    """Whether two relations say the same or the opposite of the same two things."""
    subjects, objects = _share(one.subject, other.subject), _share(one.object, other.object)
    if min(subjects, objects) < _LEAST_SHARED or not (one.sign and other.sign):
        return None
    is_turned = one.sign != other.sign
    if is_turned and (one.is_denied or other.is_denied):
        # "does not raise" beside "lowers" may be both true.
        return None
    is_opposite = is_turned or one.is_denied != other.is_denied
    if one.is_denied and other.is_denied:
        is_opposite = False
    reason = (
        f"of the same two things one says “{one.verb}”, the other “{other.verb}”"
        if is_turned
        else f"of the same two things one says “{one.verb}”, the other denies it"
        if is_opposite and other.is_denied
        else f"of the same two things one denies what the other says: “{other.verb}”"
        if is_opposite
        else f"both say the same of the same two things: “{other.verb}”"
    )
    hedge = 0.8 if one.is_hedged or other.is_hedged else 1.0
    return SidesCompared(is_opposite, hedge * subjects * objects, reason)


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / min(len(one), len(other))
