"""Briefs: what a worker is told of a task, complete, and never longer than a client can take."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, takewhile

from carrel.libraries.text.sentences import sentence_ends
from carrel.rooms.research.records import CitedPassage, Hypothesis, Review
from carrel.rooms.research.tasks.answers import answer_shape
from carrel.rooms.research.tasks.materials import content_stems
from carrel.rooms.research.tasks.models import (
    HandedPassage,
    KnownHypothesis,
    NextTask,
    PairShown,
)
from carrel.rooms.research.tasks.plan import WorkState, count_left
from carrel.rooms.research.tasks.records import MOST_FAILURES, Pair, ResearchTask, Role

# The longest brief that clients take without turning it into a file, as JSON, and what each
# role is planned with, so that five hypotheses cost under 40,000 tokens (characters/4).
MOST_CHARACTERS = 10_000
_PLANNED_CHARACTERS: dict[Role, int] = {
    "generate": 7900,
    "review": 8200,
    "compare": 7600,
    "evolve": 7700,
    "summarise": 6500,
}
# About what an answer takes, in characters: the mean of a run of five hypotheses by an assistant.
_ANSWER_CHARACTERS = 3000
CRITERIA = (
    "Answers the goal; a mechanism that the passages bear out; not said already by a paper; "
    "specific enough to be wrong; an experiment could refute it; safe."
)
_DO: dict[Role, str] = {
    "generate": (
        "Write {count} new hypotheses for the goal, different from each other and from known. "
        "Each: a title that states the claim, the mechanism in the rationale, predictions, what "
        "would refute it, an experiment in steps; cite at least one passage that it rests on, by "
        "its id. More passages: find_passages(query, task_id={task_id})."
    ),
    "review": (
        "Review the hypotheses in known against the passages: does a passage say it already "
        "(then novelty is low), support it, or contradict it? verdict is what the passages say "
        "together; silent if none bears on it. Scores from 0 to 1. Look for what would deny it: "
        "find_passages(query, task_id={task_id}). Cite passages by id."
    ),
    "compare": (
        "For each pair say which hypothesis serves the goal better by the criteria: A, B, or draw; "
        "margin clear or slight; why in a sentence. The order is random; judge what is written."
    ),
    "evolve": (
        "Write {count} better hypotheses from those in known: refine one, combine two, simplify, "
        "or shift the paradigm; name their ids in parents. Meet the remarks of the reviews. Cite "
        "passages by id; more: find_passages(query, task_id={task_id})."
    ),
    "summarise": (
        "Sum up for the person who set the goal: what the leading hypotheses have in common, which "
        "to test first and why, what remains weak. strong and weak: subjects to follow or to leave."
    ),
}
_NO_PASSAGES = (
    "No passage was found for this in the papers at hand: search in other words with find_passages "
    "and the task_id. Without any, leave the citations empty and say that it rests on none."
)
_PASSAGE, _LEAST_PASSAGE = 700, 160
# What a place at the end of a passage is worth, in words of the goal: abstracts end with what was
# found. Set by hand.
_LAST_PLACE = 1.0
_MOST_KNOWN_TITLES = 24


def write_brief(task: ResearchTask, state: WorkState, understood: str) -> NextTask:
    """The brief of a leased task, its texts shortened until it fits."""
    # Pairs have no passages beside them: more of each text is shown where few are compared.
    scale = 1.6 if task.role == "compare" else 1.0
    while True:
        brief = _write(task, state, understood, scale)
        if measure(brief) <= _PLANNED_CHARACTERS[task.role] or scale < 0.02:
            return brief
        scale *= 0.92


def measure(brief: NextTask) -> int:
    """Characters of the brief as JSON."""
    return len(json.dumps(brief.model_dump(mode="json", by_alias=True), ensure_ascii=False))


def shorten(text: str, most: int) -> str:
    """Cut at the end of a sentence if that keeps half, else between words."""
    plain = " ".join(text.split())
    if len(plain) <= most:
        return plain
    cut = plain[: max(1, most - 1)]
    # Ends of the whole text: what is cut off tells an abbreviation ("E. coli") from an end.
    ends = list(takewhile(lambda end: end <= len(cut), sentence_ends(plain, 0, len(plain))))
    if ends and 2 * ends[-1] >= len(cut):
        return cut[: ends[-1]].strip()
    return f"{cut.rpartition(' ')[0] or cut}…"


def excerpt(text: str, wanted: Collection[str], most: int) -> str:
    """The sentences in a row that have the most of the wanted stems, word for word; `…` where some
    were left out before them.
    """
    plain = " ".join(text.split())
    if len(plain) <= most:
        return plain
    ends, stems = _read_sentences(plain)
    starts = (0, *ends[:-1])
    best, start_of_best, end_of_best = -1.0, 0, 0
    for first, start in enumerate(starts):
        last = bisect_right(ends, start + most - 2)
        if last > first:
            there = frozenset[str]().union(*stems[first:last])
            score = len(there.intersection(wanted)) + _LAST_PLACE * start / len(plain)
            if score > best:
                best, start_of_best, end_of_best = score, start, ends[last - 1]
    if not end_of_best:
        return shorten(plain, most)
    before = "… " if start_of_best else ""
    return before + plain[start_of_best:end_of_best].strip()


# A brief that is too long is written again, shorter, from the same passages: of a dozen there are
# this many at most.
@lru_cache(maxsize=32)
def _read_sentences(plain: str) -> tuple[tuple[int, ...], tuple[frozenset[str], ...]]:
    """Where each sentence ends, and its stems."""
    ends = tuple(sentence_ends(plain, 0, len(plain)))
    return ends, tuple(content_stems(plain[start:end]) for start, end in pairwise((0, *ends)))


def _write(task: ResearchTask, state: WorkState, understood: str, scale: float) -> NextTask:
    material, left = task.material, count_left(state)
    count = material.count or len(material.pairs) or len(material.hypothesis_ids)
    passages = [*material.passages, *material.found]
    shown = passages[: max(2, round(len(passages) * min(1.0, scale * 1.4)))]
    titles = [one.draft.title for one in state.hypotheses if one.id in material.hypothesis_ids]
    wanted = content_stems(" ".join((state.project.goal, *titles)))
    return NextTask(
        task_id=task.handed_id,
        role=task.role,
        worker=task.worker,
        lease_until=task.lease_until,
        goal=shorten(state.project.goal, max(200, round(800 * scale))),
        understood=shorten(understood, max(80, round(400 * scale))),
        criteria=CRITERIA,
        do=_DO[task.role].format(count=count, task_id=task.handed_id),
        passages=[_show_passage(one, wanted, scale) for one in shown],
        known=list(_known(task, state, scale)),
        pairs=[
            _show_pair(number, pair, state, scale)
            for number, pair in enumerate(material.pairs, start=1)
        ],
        answer_shape=answer_shape(
            task.role, len(material.pairs) or count, has_passages=bool(passages)
        ),
        why="" if passages or task.role in {"compare", "summarise"} else _NO_PASSAGES,
        left=dict(left),
        budget=_budget(task, left),
    )


def _budget(task: ResearchTask, left: Mapping[Role, int]) -> dict[str, int]:
    """About how many calls and tokens what is left takes with `and_next`, and how many answers to
    this task are read.
    """
    characters = sum(
        count * (_PLANNED_CHARACTERS[role] + _ANSWER_CHARACTERS) for role, count in left.items()
    )
    tries = MOST_FAILURES - task.failures
    return {"calls": sum(left.values()), "tokens": characters // 4, "tries": tries}


def _show_passage(passage: CitedPassage, wanted: Collection[str], scale: float) -> HandedPassage:
    return HandedPassage(
        id=passage.id,
        paper=shorten(passage.title, max(40, round(140 * scale))),
        year=passage.year,
        section=shorten(passage.section, 60),
        text=excerpt(passage.text, wanted, max(_LEAST_PASSAGE, round(_PASSAGE * scale))),
    )


def _known(task: ResearchTask, state: WorkState, scale: float) -> Iterable[KnownHypothesis]:
    """What a worker must know of: the hypotheses of its task, else the titles there are."""
    by_id = {one.id: one for one in state.hypotheses}
    chosen = [by_id[one] for one in task.material.hypothesis_ids if one in by_id]
    match task.role:
        case "generate":
            titles = [one.draft.title for one in reversed(state.live.values())]
            for title in titles[: max(3, round(_MOST_KNOWN_TITLES * scale))]:
                yield KnownHypothesis(title=shorten(title, max(60, round(200 * scale))))
        case "review":
            for one in chosen:
                # What is judged is cut less than what it is judged by.
                yield show_hypothesis(one, scale**0.5, with_id=True)
        case "evolve":
            for one in chosen:
                remarks = _remarks(one, state.reviews, scale)
                shown = show_hypothesis(one, 0.8 * scale**0.5, with_id=True)
                yield shown.model_copy(update={"remarks": remarks})
        case "summarise":
            for one in chosen[: max(3, round(10 * scale))]:
                yield KnownHypothesis(
                    id=one.id,
                    title=shorten(one.draft.title, max(60, round(200 * scale))),
                    summary=shorten(one.draft.summary, round(250 * scale)),
                    remarks=_remarks(one, state.reviews, scale),
                )
        case "compare":
            return


def _remarks(hypothesis: Hypothesis, reviews: Sequence[Review], scale: float) -> list[str]:
    own = [
        one for one in reviews if one.hypothesis_id == hypothesis.id and one.superseded_by is None
    ]
    said = [line for one in own for line in (*one.weaknesses[:2], *one.recommendations[:1])]
    return [shorten(line, max(60, round(200 * scale))) for line in said[:3]]


def show_hypothesis(hypothesis: Hypothesis, scale: float, *, with_id: bool) -> KnownHypothesis:
    """What it says, without its author, rating, reviews or decision."""
    draft = hypothesis.draft

    def lines(texts: Iterable[str], most: int) -> list[str]:
        return [shorten(text, max(40, round(160 * scale))) for text in texts][:most]

    return KnownHypothesis(
        id=hypothesis.id if with_id else "",
        title=shorten(draft.title, max(120, round(300 * scale))),
        summary=shorten(draft.summary, max(60, round(450 * scale))),
        rationale=shorten(draft.rationale, max(60, round(550 * scale))),
        predictions=lines(draft.predictions, 2),
        refutations=lines(draft.refutations, 1),
        experiment=lines(draft.protocol.methodology, 3) if with_id else [],
    )


def _show_pair(number: int, pair: Pair, state: WorkState, scale: float) -> PairShown:
    by_id = {one.id: one for one in state.hypotheses}
    first, second = by_id[pair.first], by_id[pair.second]
    if pair.kind == "broken":
        second = break_hypothesis(first, second)
    shown = [show_hypothesis(one, scale * 0.6, with_id=False) for one in (first, second)]
    a, b = reversed(shown) if pair.is_swapped else shown
    return PairShown(pair=number, a=a, b=b)


def break_hypothesis(hypothesis: Hypothesis, other: Hypothesis) -> Hypothesis:
    """The hypothesis with the reasons and tests of another, which do not bear it out."""
    texts = {
        "rationale": other.draft.rationale,
        "predictions": other.draft.predictions,
        "refutations": other.draft.refutations,
        "protocol": other.draft.protocol,
    }
    return hypothesis.model_copy(update={"draft": hypothesis.draft.model_copy(update=texts)})
