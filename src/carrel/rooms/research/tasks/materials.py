"""The passages that are handed out with a task, searched for within a few seconds and chosen by
how many of the goal's subjects they are about.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from carrel.core.errors import CarrelError
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.sentences import sentence_ends
from carrel.libraries.text.stems import light_stem
from carrel.libraries.text.words import STOP_WORDS, split_words
from carrel.rooms.research.ports import TaskPassages
from carrel.rooms.research.records import CitedPassage, Hypothesis, UnderstoodAs
from carrel.rooms.research.tasks.plan import PlannedTask, WorkState
from carrel.rooms.research.tasks.records import TaskMaterial

log = logging.getLogger("carrel.research")

# A call answers within ten seconds: the search for passages has the larger part of them.
SEARCH_SECONDS = 6.0
_MOST_PASSAGES = {"generate": 10, "review": 12, "evolve": 8}
# So many candidates for each place, and so many passages of one paper at most. Set by hand on
# briefs read over 4,000 eLife papers.
_CANDIDATES_EACH, _MOST_OF_A_PAPER = 3, 2
_MOST_SUBJECTS = 4
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
    seconds: float = SEARCH_SECONDS,
) -> TaskMaterial:
    """The material of a task with its passages; what takes too long is left out."""
    most = _MOST_PASSAGES.get(planned.role, 0)
    drafts = [_find(state, one).draft for one in planned.material.hypothesis_ids]
    own = {one.id: one for draft in drafts for one in draft.passages[: 4 // len(drafts)]}
    found: dict[str, CitedPassage] = {}
    try:
        async with asyncio.timeout(seconds):
            for query in _queries(planned, state, understood):
                for passage in await _search(passages, query):
                    found.setdefault(passage.id, passage)
                if len(found) >= _CANDIDATES_EACH * most:
                    break
    except TimeoutError:
        log.warning("the search for passages took too long", extra={"role": planned.role})
    subjects = _subjects(understood) or [state.project.goal]
    if planned.role != "generate":
        subjects = [draft.title for draft in drafts]
    others = [one for one in found.values() if one.id not in own]
    # Another task of generation is to look elsewhere: what was handed out before comes last.
    before = {one.id for task in state.tasks for one in task.material.passages}
    known = before if planned.role == "generate" else set()
    new = choose_passages([one for one in others if one.id not in known], subjects, most)
    again = choose_passages([one for one in others if one.id in known], subjects, most)
    kept = [*own.values(), *new, *again][:most]
    return planned.material.model_copy(update={"passages": tuple(_shorten(one) for one in kept)})


def choose_passages(
    found: Sequence[CitedPassage], subjects: Sequence[str], most: int
) -> list[CitedPassage]:
    """Those that are about the most subjects, each subject by one of them at least if there is one;
    few of one paper. Else in the order in which they were found.
    """
    wanted = [content_stems(subject) for subject in subjects]
    shares = {one.id: _shares(one, wanted) for one in found}
    ranked = sorted(found, key=lambda one: -sum(shares[one.id]))
    chosen: dict[str, CitedPassage] = {}
    for number in range(len(wanted)):
        best = max(ranked, key=lambda one: shares[one.id][number], default=None)
        if best is not None and shares[best.id][number] > 0:
            chosen[best.id] = best
    for one in ranked:
        of_paper = sum(one.paper_id == other.paper_id for other in chosen.values())
        if len(chosen) < most and of_paper < _MOST_OF_A_PAPER:
            chosen.setdefault(one.id, one)
    return [one for one in ranked if one.id in chosen][:most]


def _shares(passage: CitedPassage, wanted: Sequence[frozenset[str]]) -> list[float]:
    """Of each subject, the share of its words that the passage or its paper's title has."""
    there = content_stems(f"{passage.title} {passage.section} {passage.text}")
    return [len(words & there) / len(words) if words else 0.0 for words in wanted]


def content_stems(text: str) -> frozenset[str]:
    """The stems of a text's words that are not stop words."""
    words = split_words(fold_text(text))
    return frozenset(light_stem(word) for word in words if word not in STOP_WORDS)


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
            yield from _of_goal(_subjects(understood), planned.step.number - 1)
            for one in planned.material.supersedes[:3]:
                draft = _find(state, one).draft
                yield PassageQuery(draft.title, 2, draft.citations[:6])
            yield PassageQuery(goal, 12, first=4 * (planned.step.number - 1))
            yield PassageQuery(goal, 12)
        case "review":
            each = 2 * _MOST_PASSAGES["review"] // max(1, len(planned.material.hypothesis_ids))
            for one in planned.material.hypothesis_ids:
                yield from _of_hypothesis(_find(state, one), each)
        case "evolve":
            for one in planned.material.hypothesis_ids:
                yield PassageQuery(_find(state, one).draft.title, 3)
        case "compare" | "summarise":
            return


def _subjects(understood: UnderstoodAs | None) -> list[str]:
    """What the goal names, in its own words."""
    if understood is None:
        return []
    named = [subject.name for subject in understood.subjects]
    named = named or [understood.start or "", understood.through or "", understood.end or ""]
    return [one for one in dict.fromkeys(named) if one][:_MOST_SUBJECTS]


def _of_goal(subjects: Sequence[str], earlier: int) -> Iterable[PassageQuery]:
    """All subjects together, each two, each alone; every task of generation begins further down, so
    that they see different papers.
    """
    if len(subjects) > 1:
        yield PassageQuery(" ".join(subjects), 6, first=4 * earlier)
    if len(subjects) > 2:
        for pair in combinations(subjects, 2):
            yield PassageQuery(" ".join(pair), 4, first=2 * earlier)
    for subject in subjects:
        yield PassageQuery(subject, 4, first=2 * earlier)


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
    # What would deny it is often told in other words than what it claims.
    yield PassageQuery(" ".join(draft.refutations[:1]), count // 4)


def _find(state: WorkState, hypothesis_id: str) -> Hypothesis:
    return next(one for one in state.hypotheses if one.id == hypothesis_id)


def _shorten(passage: CitedPassage) -> CitedPassage:
    """The passage with whole sentences of its text, where one ends in time."""
    text = passage.text
    if len(text) <= _KEPT_CHARACTERS:
        return passage
    ends = [end for end in sentence_ends(text, 0, len(text)) if end <= _KEPT_CHARACTERS]
    return passage.model_copy(update={"text": text[: ends[-1] if ends else _KEPT_CHARACTERS]})


def keep_passages(found: Sequence[CitedPassage]) -> list[CitedPassage]:
    """Found passages as they are kept with a task."""
    return [_shorten(one) for one in found]
