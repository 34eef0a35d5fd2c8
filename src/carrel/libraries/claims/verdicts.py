"""The verdict of a statement over the papers that were read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from carrel.libraries.claims.matching import load_weights, measure_sentences
from carrel.libraries.claims.records import (
    Finding,
    PaperText,
    RankedSentence,
    Relation,
    Stance,
    Statement,
    StatementCheck,
    Verdict,
)
from carrel.libraries.claims.relation_sides import add_relations, count_sentences
from carrel.libraries.claims.stance import compare_sides, decide_stance

# Of each paper the best sentence takes a side; so many further ones are shown as bearing on it.
FURTHER_SENTENCES = 2
MAX_FINDINGS = 12

_Measured = tuple[RankedSentence, dict[str, float]]


def check_statement(statement: Statement, papers: Sequence[PaperText]) -> StatementCheck:
    """Read the papers for a statement: what speaks for it, what against, and the verdict.

    Words and signed relations are two opinions; where a relation speaks it decides.
    """
    return add_relations(_check_words(statement, papers), papers)


def _check_words(statement: Statement, papers: Sequence[PaperText]) -> StatementCheck:
    findings = list(_judge(statement, papers))
    by_relation = {
        relation: tuple(each for each in findings if each.stance.relation is relation)
        for relation in Relation
    }
    supporting = _by_confidence(by_relation[Relation.SUPPORTS])
    contradicting = _by_confidence(by_relation[Relation.CONTRADICTS])
    bearing = _by_confidence(by_relation[Relation.BEARS_ON])
    verdict = _decide(supporting, contradicting, bearing)
    return StatementCheck(
        statement,
        verdict,
        supporting,
        contradicting,
        bearing,
        _say_why(verdict, len(papers), supporting, contradicting, bearing),
        len(papers),
    )


def measure_evidence(statement: Statement, papers: Sequence[PaperText]) -> Iterator[_Measured]:
    """The best sentence of each paper with the features by which its stance is judged."""
    for measured in _measure_by_paper(statement, papers).values():
        sentence, features = measured[0]
        yield sentence, {**features, **compare_sides(statement, sentence.text).features}


def _judge(statement: Statement, papers: Sequence[PaperText]) -> Iterator[Finding]:
    weights = load_weights()
    for measured in _measure_by_paper(statement, papers).values():
        best, *further = [
            Finding(sentence, decide_stance(statement, sentence.text, features, weights))
            for sentence, features in measured[: 1 + FURTHER_SENTENCES]
        ]
        yield best
        if best.stance.relation is not Relation.UNRELATED:
            yield from (_take_no_side(each) for each in further)


def _take_no_side(finding: Finding) -> Finding:
    """A further sentence of a paper bears on the statement at most."""
    stance = finding.stance
    if stance.relation is Relation.UNRELATED:
        return finding
    return Finding(finding.sentence, Stance(Relation.BEARS_ON, stance.confidence, stance.reasons))


def _measure_by_paper(
    statement: Statement, papers: Sequence[PaperText]
) -> dict[str, list[_Measured]]:
    """The sentences of each paper with their features, the best first."""
    model = load_weights().sentence
    found: dict[str, list[_Measured]] = {}
    for paper, number, features in measure_sentences(statement, papers):
        coverage = features["words"] + features["synonyms"]
        if coverage > 0:
            sentence = RankedSentence(
                paper.paper.paper_id,
                number,
                paper.paper.sentences[number],
                model.score(features),
                coverage,
                paper.paper.title,
            )
            found.setdefault(sentence.paper_id, []).append((sentence, features))
    for measured in found.values():
        measured.sort(key=lambda each: -each[0].score)
    return {
        paper_id: [(sentence, features | gaps) for sentence, features in measured]
        for (paper_id, measured), gaps in zip(found.items(), _measure_gaps(found), strict=True)
    }


def _measure_gaps(found: Mapping[str, list[_Measured]]) -> Iterator[dict[str, float]]:
    """By how much the best sentence of each paper stands out from those of the others."""
    best = [measured[0] for measured in found.values()]
    for at, (sentence, features) in enumerate(best):
        others = best[:at] + best[at + 1 :]
        if not others:
            yield {"ahead_in_score": 0.0, "ahead_in_words": 0.0, "ahead_in_paper": 0.0}
            continue
        yield {
            "ahead_in_score": sentence.score - max(other.score for other, _ in others),
            "ahead_in_words": sentence.coverage - max(other.coverage for other, _ in others),
            "ahead_in_paper": features["whole_paper"]
            - max(other["whole_paper"] for _, other in others),
        }


def _by_confidence(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda each: -each.stance.confidence))[:MAX_FINDINGS]


def _decide(
    supporting: Sequence[Finding], contradicting: Sequence[Finding], bearing: Sequence[Finding]
) -> Verdict:
    if supporting and contradicting:
        return Verdict.MIXED
    if supporting:
        return Verdict.SUPPORTS
    if contradicting:
        return Verdict.CONTRADICTS
    return Verdict.UNDECIDED if bearing else Verdict.SILENT


def _say_why(
    verdict: Verdict,
    papers_read: int,
    supporting: Sequence[Finding],
    contradicting: Sequence[Finding],
    bearing: Sequence[Finding],
) -> tuple[str, ...]:
    if verdict is Verdict.SILENT:
        read = f"{papers_read} paper{'' if papers_read == 1 else 's'} read"
        return (f"{read}, and no sentence of them bears on it",)
    counts = count_sentences(papers_read, len(supporting), len(contradicting), len(bearing))
    best = next(iter((*contradicting, *supporting, *bearing)))
    return (counts, *best.stance.reasons)
