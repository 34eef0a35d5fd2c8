"""The passages that are handed out with a task, searched for within a few seconds."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from carrel.core.errors import CarrelError
from carrel.rooms.research.ports import TaskPassages
from carrel.rooms.research.records import CitedPassage, Hypothesis, UnderstoodAs
from carrel.rooms.research.tasks.plan import PlannedTask, WorkState
from carrel.rooms.research.tasks.records import TaskMaterial

log = logging.getLogger("carrel.research")

# A call answers within ten seconds: the search for passages has the larger part of them.
SEARCH_SECONDS = 6.0
_MOST_PASSAGES = {"generate": 10, "review": 12, "evolve": 8}
_QUERY_CHARACTERS = 400
_KEPT_CHARACTERS = 1500
_WORD = re.compile(r"\w[\w-]*")


@dataclass(frozen=True, slots=True)
class PassageQuery:
    """One search: the words, the papers to look in (all if none), and how many passages."""

    words: str
    count: int
    within: tuple[str, ...] = ()
    first: int = 0


async def gather_material(
    planned: PlannedTask,
    state: WorkState,
    understood: UnderstoodAs | None,
    passages: TaskPassages,
) -> TaskMaterial:
    """The material of a task with its passages; what takes too long is left out."""
    known = [
        passage
        for one in planned.material.hypothesis_ids
        for passage in _find(state, one).draft.passages
    ]
    found = {passage.id: passage for passage in known[:4]}
    most = _MOST_PASSAGES.get(planned.role, 0)
    try:
        async with asyncio.timeout(SEARCH_SECONDS):
            for query in _queries(planned, state, understood):
                for passage in await _search(passages, query):
                    found.setdefault(passage.id, passage)
                if len(found) >= most:
                    break
    except TimeoutError:
        log.warning("the search for passages took too long", extra={"role": planned.role})
    kept = tuple(_shorten(one) for one in list(found.values())[:most])
    return planned.material.model_copy(update={"passages": kept})


async def _search(passages: TaskPassages, query: PassageQuery) -> list[CitedPassage]:
    # Not a query: quotation marks, colons and capital AND must not be taken for operators.
    words = " ".join(_WORD.findall(query.words.lower()))[:_QUERY_CHARACTERS]
    if not words:
        return []
    try:
        found = await passages.search(words, query.within, query.first + query.count)
    except CarrelError as error:
        log.warning("passages cannot be searched", extra={"reason": error.code})
        return []
    return found[query.first :]


def _queries(
    planned: PlannedTask, state: WorkState, understood: UnderstoodAs | None
) -> Iterable[PassageQuery]:
    goal = state.project.goal
    match planned.role:
        case "generate":
            # Every task of generation begins further down, so that they see different papers.
            yield PassageQuery(goal, 5, first=4 * (planned.step.number - 1))
            yield from _of_reading(understood)
            for one in planned.material.supersedes[:3]:
                draft = _find(state, one).draft
                yield PassageQuery(draft.title, 2, draft.citations[:6])
            yield PassageQuery(goal, 12)
        case "review":
            each = 12 // max(1, len(planned.material.hypothesis_ids))
            for one in planned.material.hypothesis_ids:
                yield from _of_hypothesis(_find(state, one), each)
        case "evolve":
            for one in planned.material.hypothesis_ids:
                yield PassageQuery(_find(state, one).draft.title, 3)
        case "compare" | "summarise":
            return


def _of_reading(understood: UnderstoodAs | None) -> Iterable[PassageQuery]:
    """The subjects of the goal, each by its name."""
    names = (understood.start, understood.end, understood.through) if understood else ()
    for name in names:
        if name:
            yield PassageQuery(name, 2)


def _of_hypothesis(hypothesis: Hypothesis, count: int) -> Iterable[PassageQuery]:
    """The statement, its ends, and the papers it rests on."""
    draft = hypothesis.draft
    yield PassageQuery(draft.title, count // 2)
    if draft.connection is not None:
        ends = f"{draft.connection.start.label} {draft.connection.end.label}"
        yield PassageQuery(ends, 2)
    if draft.citations:
        yield PassageQuery(draft.title, 3, draft.citations[:8])
    yield PassageQuery(f"{draft.title} {draft.summary}", count // 2)


def _find(state: WorkState, hypothesis_id: str) -> Hypothesis:
    return next(one for one in state.hypotheses if one.id == hypothesis_id)


def _shorten(passage: CitedPassage) -> CitedPassage:
    return passage.model_copy(update={"text": passage.text[:_KEPT_CHARACTERS]})


def keep_passages(found: Sequence[CitedPassage]) -> list[CitedPassage]:
    """Found passages as they are kept with a task."""
    return [_shorten(one) for one in found]
