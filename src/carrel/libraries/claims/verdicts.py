"""The verdict of a statement over the papers that were read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from carrel.libraries.claims.records import (
    Finding,
    PaperText,
    RankedSentence,
    Relation,
    Statement,
    StatementCheck,
    Verdict,
)
from carrel.libraries.claims.sentence_ranking import measure_sentences, rank_sentences
from carrel.libraries.claims.stance import compare_sides, judge_stance
from carrel.libraries.claims.weights import load_weights

SENTENCES_PER_PAPER = 3
MAX_FINDINGS = 12


def check_statement(statement: Statement, papers: Sequence[PaperText]) -> StatementCheck:
    """Read the papers for a statement: what speaks for it, what against, and the verdict."""
    findings = [
        Finding(sentence, judge_stance(statement, sentence.text, sentence.title))
        for sentence in _best_of_each(rank_sentences(statement, papers))
    ]
    by_relation = {
        relation: tuple(each for each in findings if each.stance.relation is relation)[
            :MAX_FINDINGS
        ]
        for relation in Relation
    }
    supporting = by_relation[Relation.SUPPORTS]
    contradicting = by_relation[Relation.CONTRADICTS]
    bearing = by_relation[Relation.BEARS_ON]
    verdict = _decide(supporting, contradicting, bearing)
    return StatementCheck(
        statement, verdict, supporting, contradicting, bearing,
        _say_why(verdict, len(papers), supporting, contradicting, bearing), len(papers),
    )  # fmt: skip


def _best_of_each(ranked: Sequence[RankedSentence]) -> list[RankedSentence]:
    taken: Counter[str] = Counter()
    best = []
    for sentence in ranked:
        if taken[sentence.paper_id] < SENTENCES_PER_PAPER:
            taken[sentence.paper_id] += 1
            best.append(sentence)
    return best


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
    read = f"{papers_read} paper{'' if papers_read == 1 else 's'} read"
    if verdict is Verdict.SILENT:
        return (f"{read}, and no sentence of them bears on it",)
    counts = (
        f"{read}: {len(supporting)} sentences for it, {len(contradicting)} against it, "
        f"{len(bearing)} that bear on it"
    )
    best = next(iter((*supporting, *contradicting, *bearing)))
    return (counts, *best.stance.reasons)


def measure_evidence(
    statement: Statement, papers: Sequence[PaperText]
) -> Iterator[tuple[RankedSentence, Mapping[str, float]]]:
    """The best sentence of each paper with the features by which its stance is judged."""
    model = load_weights().sentence
    best: dict[str, tuple[float, RankedSentence, Mapping[str, float]]] = {}
    for paper, number, features in measure_sentences(statement, papers):
        score = model.score(features)
        paper_id = paper.paper.paper_id
        if paper_id not in best or best[paper_id][0] < score:
            text = paper.paper.sentences[number]
            sentence = RankedSentence(paper_id, number, text, score, features["words"] + features["synonyms"], paper.paper.title)
            best[paper_id] = (score, sentence, features)
    for _, sentence, features in best.values():
        yield sentence, {**features, **compare_sides(statement, sentence.text).features}
