"""Read-only views of a research project."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from carrel.rooms.research.agents import last_meta_review
from carrel.rooms.research.agents.reflection import understanding
from carrel.rooms.research.agents.supervisor import Supervisor
from carrel.rooms.research.hypothesis_views import (
    by_place,
    cited,
    in_full,
    in_results,
    leading,
    top,
    understood_as,
)
from carrel.rooms.research.jobs import Jobs
from carrel.rooms.research.models import HypothesisInFull, ResearchStatus, Results
from carrel.rooms.research.ports import ContextMemory, Corpus
from carrel.rooms.research.records import Hypothesis, Pace, Project, StepDone
from carrel.rooms.research.report import html_report
from carrel.rooms.research.results import (
    aims_of,
    executive_summary,
    markdown,
    nih_aims,
    outside_references,
)

# What a step of each kind is taken to last before any was ever done, in seconds.
_FIRST_GUESS = {"generate": 2.0, "review": 0.05, "match": 0.02, "evolve": 0.5}
_ANY_STEP = 0.05


def remaining_seconds(
    expected: Mapping[str, int], done: Sequence[StepDone], pace: Mapping[str, Pace]
) -> float:
    """What is left to do, kind by kind, at the pace of this run where it has one, else of earlier
    ones.
    """
    counts = Counter(step.kind for step in done)
    spent: dict[str, float] = {}
    for step in done:
        spent[step.kind] = spent.get(step.kind, 0.0) + step.seconds
    seconds = 0.0
    for kind, count in expected.items():
        left = max(0, count - counts[kind])
        if counts[kind]:
            seconds += left * spent[kind] / counts[kind]
        elif kind in pace:
            seconds += left * pace[kind].seconds
        else:
            seconds += left * _FIRST_GUESS.get(kind, _ANY_STEP)
    return seconds


def progress(project: Project, expected: Mapping[str, int], done: Sequence[StepDone]) -> float:
    """How much of the run is behind it, each step weighed by what its kind usually takes; 1 only
    when all of it is.

    The weights are fixed, so that what is learned on the way never takes a share back that was
    shown.
    """
    if project.status == "completed":
        return 1.0
    counts = Counter(step.kind for step in done)
    whole = sum(_weight(kind) * max(count, counts[kind]) for kind, count in expected.items())
    behind = sum(_weight(kind) * counts[kind] for kind in expected)
    return round(min(0.99, behind / whole), 4) if whole else 0.0


def _weight(kind: str) -> float:
    return _FIRST_GUESS.get(kind, _ANY_STEP)


class Telling:
    """Reads, and changes nothing. Whose a project is has been settled by whoever asks."""

    def __init__(
        self, memory: ContextMemory, corpus: Corpus, supervisor: Supervisor, jobs: Jobs
    ) -> None:
        self._memory = memory
        self._corpus = corpus
        self._supervisor = supervisor
        self._jobs = jobs

    async def status(self, project: Project) -> ResearchStatus:
        research_id = project.id
        hypotheses = await self._memory.hypotheses(research_id)
        jobs = await self._memory.jobs(research_id)
        run = next((job for job in jobs if job.kind == "research"), None)
        done = await self._memory.steps(run.id) if run is not None else []
        calls = await self._memory.outputs(research_id, only_model_calls=True)
        is_going_on = run is not None and project.status in {"initializing", "active"}
        expected = self._supervisor.expected_by_kind(project, done)
        left = remaining_seconds(expected, done, await self._memory.pace())
        leaders = leading(hypotheses)
        return ResearchStatus(
            research_id=project.id,
            goal=project.goal,
            status=project.status,
            progress=progress(project, expected, done),
            hypotheses_generated=len(hypotheses),
            hypotheses_reviewed=sum(made.review_count > 0 for made in hypotheses),
            hypotheses_in_tournament=sum(made.standing.matches > 0 for made in hypotheses),
            top_hypothesis=top(leaders[0]) if leaders else None,
            last_update=project.updated_at,
            estimated_completion_minutes=-int(-left // 60) if is_going_on else None,
            stage=done[-1].kind if done and is_going_on else None,
            matches_played=len(await self._memory.matches(research_id)),
            model_calls=len(calls),
            cost=sum(output.cost for output in calls),
            working_on=[*self._being_read(), *await self._jobs.working_on(jobs)],
            problem=project.problem,
            understood_as=understood_as(await understanding(self._memory, research_id)),
        )

    def _being_read(self) -> list[str]:
        read = self._corpus.being_read()
        return [] if read is None else [f"reading the papers, once: {read[0]} of {read[1]}"]

    async def in_full(self, found: Hypothesis, project: Project) -> HypothesisInFull:
        """Everything there is of one, so that every number of it can be asked why."""
        return in_full(
            found, await self._memory.reviews(project.id), await self._memory.matches(project.id)
        )

    async def results(self, project: Project, form: str, top_n: int) -> Results:
        research_id = project.id
        ordered = by_place(await self._memory.hypotheses(research_id))
        reviews, matches = (
            await self._memory.reviews(research_id),
            await self._memory.matches(research_id),
        )
        chosen = ordered[:top_n]
        rows = [
            in_results(
                rank,
                made,
                [review for review in reviews if review.hypothesis_id == made.id]
                if form == "detailed"
                else None,
            )
            for rank, made in enumerate(chosen, start=1)
        ]
        is_detailed = form == "detailed"
        named = list(
            dict.fromkeys(
                paper_id for made in chosen for paper_id in cited(made, is_detailed=is_detailed)
            )
        )
        items = await self._corpus.references(named) if named else []
        items.extend(item for made in chosen for item in outside_references(made))
        aims = None
        if form == "nih_aims":
            behind = list(
                dict.fromkeys(
                    paper_id for made in aims_of(ordered) for paper_id in made.draft.citations
                )
            )
            aims = nih_aims(project, ordered, await self._corpus.papers(behind), reviews)
        read = await understanding(self._memory, research_id)
        events = await self._memory.events(research_id)
        summary = executive_summary(project, ordered, reviews, matches, read, events)
        told = await last_meta_review(self._memory, research_id)
        lines = await self._corpus.rendered(items) if items else []
        return Results(
            research_id=project.id,
            goal=project.goal,
            status=project.status,
            format=form,
            understood_as=understood_as(read),
            executive_summary=summary,
            top_hypotheses=rows,
            total_hypotheses=len(ordered),
            approved=[made.id for made in ordered if made.decision.approval == "approved"],
            meta_review=told,
            nih_aims=aims,
            bibliography=items,
            bibliography_bibtex=await self._corpus.bibtex(items) if items else "",
            markdown=markdown(project, summary, rows, aims, told, lines),
        )

    async def page(self, project: Project) -> str:
        """The project as an HTML page of its own."""
        research_id, ordered = project.id, await self.ordered(project)
        reviews, matches = (
            await self._memory.reviews(research_id),
            await self._memory.matches(research_id),
        )
        return html_report(
            project,
            ordered,
            reviews,
            matches,
            references=await self.references(ordered),
            opening=executive_summary(
                project,
                ordered,
                reviews,
                matches,
                await understanding(self._memory, research_id),
                await self._memory.events(research_id),
            ),
            meta_review=await last_meta_review(self._memory, research_id),
        )

    async def everything(self, project: Project) -> dict[str, Any]:
        """All that is remembered of a project, so that every number can be asked why."""
        research_id = project.id
        return {
            "project": project.model_dump(mode="json"),
            "hypotheses": [
                made.model_dump(mode="json") for made in await self._memory.hypotheses(research_id)
            ],
            "reviews": [
                review.model_dump(mode="json") for review in await self._memory.reviews(research_id)
            ],
            "matches": [
                match.model_dump(mode="json") for match in await self._memory.matches(research_id)
            ],
            "agent_outputs": [
                output.model_dump(mode="json") for output in await self._memory.outputs(research_id)
            ],
            "events": [
                event.model_dump(mode="json") for event in await self._memory.events(research_id)
            ],
            "safety": [
                one.model_dump(mode="json")
                for one in await self._memory.safety(project.owner)
                if one.research_id == research_id
            ],
        }

    async def ordered(self, project: Project) -> list[Hypothesis]:
        """A project's hypotheses, best first."""
        return by_place(await self._memory.hypotheses(project.id))

    async def references(self, hypotheses: Sequence[Hypothesis]) -> list[dict[str, Any]]:
        """The works that hypotheses cite, as CSL-JSON, each once."""
        named = list(
            dict.fromkeys(paper_id for made in hypotheses for paper_id in made.draft.citations)
        )
        items = await self._corpus.references(named) if named else []
        return [*items, *(item for made in hypotheses for item in outside_references(made))]
