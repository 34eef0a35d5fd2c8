"""The agent that looks beyond the corpus: before the first hypothesis, and for each review."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence

from carrel.core.errors import CarrelError
from carrel.libraries.discovery.goals.statement import parse_goal
from carrel.libraries.text.words import split_words
from carrel.rooms.research.agents import AgentContext, StepResult
from carrel.rooms.research.outside_models import (
    LookedUpWork,
    OutsideLook,
    OutsideLooks,
    describe_look,
)
from carrel.rooms.research.ports import FoundOutside, OutsideLiterature, ResearchStore
from carrel.rooms.research.reasoners import Brief
from carrel.rooms.research.records import Changes, Draft, Hypothesis, Project

# Names that the papers on a goal lead to, strongest first, at most so many.
FindBridges = Callable[[str, int], Awaitable[Sequence[str]]]
OUTSIDE = "literature outside"
# Works asked for at most: for each question about the goal, and for one hypothesis.
_WORKS_FOR_GOAL = 50
_WORKS_FOR_HYPOTHESIS = 20
_MOST_SUBJECTS = 3
_MOST_BRIDGES = 5
_WORKS_FOR_BRIDGE = 25
_MOST_TITLE_WORDS = 12
_WORD = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*")


async def find_looks(store: ResearchStore, project: Project) -> list[OutsideLook]:
    """Every question of a project to services outside, oldest first."""
    if not project.looks_outside:
        return []
    outputs = await store.outputs(project.id, agent=OUTSIDE)
    findings = (output.finding for output in outputs)
    return [look for one in findings if isinstance(one, OutsideLooks) for look in one.looks]


async def survey(
    context: AgentContext, outside: OutsideLiterature, find_bridges: FindBridges, brief: Brief
) -> StepResult:
    """Look for the subjects of the goal, then for what their papers lead to; all joins the corpus.

    A hypothesis links two literatures through a third thing: papers on the subject alone hold
    nothing to link it to.
    """
    goal = brief.project.goal
    asked = _goal_terms(goal)
    looks = [await _look(outside, brief, terms, _WORKS_FOR_GOAL, joins_all=True) for terms in asked]
    if any(look.found for look in looks):
        for bridge in await find_bridges(goal, _MOST_BRIDGES):
            if (bridge,) not in asked:
                look = await _look(outside, brief, (bridge,), _WORKS_FOR_BRIDGE, joins_all=True)
                looks.append(look)
    return StepResult(_changes(context, brief, looks))


async def look_for_hypothesis(
    outside: OutsideLiterature, brief: Brief, hypothesis: Hypothesis
) -> OutsideLook:
    """Whether works outside name what a hypothesis links; those that do join the corpus."""
    terms = _hypothesis_terms(hypothesis.draft)
    look = await _look(outside, brief, terms, _WORKS_FOR_HYPOTHESIS, joins_all=False)
    return look.model_copy(update={"hypothesis_id": hypothesis.id})


def outside_changes(context: AgentContext, brief: Brief, look: OutsideLook) -> Changes:
    """What is stored of a look beside the review that it was made for."""
    return _changes(context, brief, [look])


async def _look(
    outside: OutsideLiterature, brief: Brief, terms: tuple[str, ...], limit: int, *, joins_all: bool
) -> OutsideLook:
    query = _write_query(terms)
    try:
        found = await outside.search(query, brief.project.owner, limit)
        naming = [one for one in found.works if _names_all(one, terms)]
        chosen = found.works if joins_all else naming
        papers = await outside.add_to_corpus([one.key for one in chosen], brief.project.owner)
    except CarrelError as error:
        # The run goes on with what the corpus has; the report says what could not be asked.
        return OutsideLook(query=query, terms=terms, problem=error.message)
    return OutsideLook(
        query=query,
        terms=terms,
        services=found.services,
        found=len(found.works),
        naming_all=tuple(
            LookedUpWork(
                title=one.title,
                year=one.year,
                doi=one.doi,
                paper_id=papers.ids.get(one.key),
                is_retracted=one.is_retracted,
            )
            for one in naming
        ),
        added=papers.added,
        problem=papers.problem,
    )


def _changes(context: AgentContext, brief: Brief, looks: Sequence[OutsideLook]) -> Changes:
    finding = OutsideLooks(looks=tuple(looks))
    given = "; ".join(look.query for look in looks)
    says = " ".join(map(describe_look, looks))
    return Changes(
        outputs=(context.output(brief, OUTSIDE, given, finding.model_dump_json(), finding),),
        events=(context.event(brief, "looked_outside", says),),
    )


def _goal_terms(goal: str) -> list[tuple[str, ...]]:
    """All subjects together first, then each alone."""
    subjects = list(parse_goal(goal).subjects[:_MOST_SUBJECTS])
    if not subjects:
        return [tuple(_WORD.findall(goal)[:_MOST_TITLE_WORDS])]
    alone: list[tuple[str, ...]] = [(subject,) for subject in subjects]
    return alone if len(subjects) == 1 else [tuple(subjects), *alone]


def _hypothesis_terms(draft: Draft) -> tuple[str, ...]:
    """The two things that it links, or the words of its title."""
    if draft.connection is not None:
        return (draft.connection.start.label, draft.connection.end.label)
    subjects = parse_goal(draft.title).subjects[:_MOST_SUBJECTS]
    return tuple(subjects) or tuple(_WORD.findall(draft.title)[:_MOST_TITLE_WORDS])


def _write_query(terms: Sequence[str]) -> str:
    """The terms in our query language: neighbours, all of them."""
    quoted = ['"' + " ".join(_WORD.findall(term)) + '"' for term in terms if _WORD.search(term)]
    return " AND ".join(quoted)


def _names_all(work: FoundOutside, terms: Sequence[str]) -> bool:
    text = f" {' '.join(split_words(f'{work.title} {work.abstract}'))}"
    return all(f" {' '.join(split_words(term))}" in text for term in terms)
