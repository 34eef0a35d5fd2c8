"""Read-only views of a research project. The caller has already checked ownership."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from carrel.rooms.research.agents import find_meta_review, find_understanding
from carrel.rooms.research.agents.outside import find_looks
from carrel.rooms.research.agents.supervisor import Supervisor
from carrel.rooms.research.corpus import Corpus
from carrel.rooms.research.hypothesis_views import (
    cited_papers,
    describe_in_results,
    describe_top,
    rank_by_strength,
    sort_by_place,
)
from carrel.rooms.research.jobs import Jobs
from carrel.rooms.research.models import ResearchStatus, Results
from carrel.rooms.research.ports import EvidencePassages, ResearchStore
from carrel.rooms.research.records import (
    Hypothesis,
    Mind,
    Project,
    Record,
    Review,
    StepDone,
    StepKind,
)
from carrel.rooms.research.report import write_html_report
from carrel.rooms.research.report_record import (
    RunRecord,
    StatementEvidence,
    add_passages,
    list_evidence,
    quoted_papers,
)
from carrel.rooms.research.results import (
    choose_aims,
    outside_references,
    write_executive_summary,
    write_markdown,
    write_nih_aims,
)
from carrel.rooms.research.tasks.plan import WorkState, count_left, list_drafts

# What a step of each kind is taken to last before any was ever done, in seconds.
_FIRST_GUESS = {
    StepKind.GENERATE: 2.0,
    StepKind.REVIEW: 0.05,
    StepKind.MATCH: 0.02,
    StepKind.EVOLVE: 0.5,
}
_ANY_STEP = 0.05


class ProjectViews:
    """Status, results, report and export of a project."""

    def __init__(
        self,
        store: ResearchStore,
        corpus: Corpus,
        supervisor: Supervisor,
        jobs: Jobs,
        passages: EvidencePassages,
    ) -> None:
        self._store = store
        self._corpus = corpus
        self._passages = passages
        self._supervisor = supervisor
        self._jobs = jobs

    async def status(self, project: Project) -> ResearchStatus:
        research_id = project.id
        everything = await self._store.hypotheses(research_id)
        hypotheses = [one for one in everything if one.superseded_by is None]
        jobs = await self._store.jobs(research_id)
        run = next((job for job in jobs if job.kind == "research"), None)
        done = await self._store.steps(run.id) if run is not None else []
        calls, cost = await self._store.model_usage(research_id)
        is_going_on = run is not None and project.status in {"initializing", "active"}
        expected = self._supervisor.expected_by_kind(project, done)
        left = remaining_seconds(expected, done, await self._store.mean_step_seconds())
        leaders = rank_by_strength(hypotheses)
        tasks = await self._store.tasks.of_project(research_id)
        state = WorkState(
            project,
            everything,
            await self._store.reviews(research_id),
            tasks,
            list_drafts(done),
            has_run=run is not None,
        )
        is_assistants = project.mind == "assistant"
        tasks_left = count_left(state) if is_assistants else {}
        if is_assistants:
            is_going_on = False
        return ResearchStatus(
            research_id=project.id,
            goal=project.goal,
            status=project.status,
            progress=task_progress(project, state, sum(tasks_left.values()))
            if is_assistants
            else progress(project, expected, done),
            hypotheses_generated=len(hypotheses),
            hypotheses_reviewed=sum(one.review_count > 0 for one in hypotheses),
            hypotheses_in_tournament=sum(one.rating.match_count > 0 for one in hypotheses),
            top_hypothesis=describe_top(leaders[0]) if leaders else None,
            last_update=project.updated_at,
            estimated_completion_minutes=-int(-left // 60) if is_going_on else None,
            stage=done[-1].kind.value if done and is_going_on else None,
            matches_played=len(await self._store.matches(research_id)),
            model_calls=calls,
            cost=cost,
            working_on=[
                *self._reading_progress(),
                *await self._jobs.describe_open(jobs),
                *(
                    f"{task.role}: {task.worker}, until {task.lease_until}"
                    for task in tasks
                    if task.is_held
                ),
            ],
            problem=project.problem,
            understood_as=await find_understanding(self._store, research_id),
            mind=name_mind(project, calls),
            tasks_left=tasks_left,
        )

    def _reading_progress(self) -> list[str]:
        read = self._corpus.reading_progress()
        return [] if read is None else [f"reading the papers, once: {read[0]} of {read[1]}"]

    async def results(self, project: Project, format: str, top_n: int) -> Results:
        research_id, is_detailed = project.id, format == "detailed"
        ordered = await self.ordered(project)
        reviews = [
            one for one in await self._store.reviews(research_id) if one.superseded_by is None
        ]
        calls, _ = await self._store.model_usage(research_id)
        chosen = ordered[:top_n]
        rows = [
            describe_in_results(
                rank,
                one,
                [review for review in reviews if review.hypothesis_id == one.id]
                if is_detailed
                else None,
            )
            for rank, one in enumerate(chosen, start=1)
        ]
        cited = [name for one in chosen for name in cited_papers(one, is_detailed=is_detailed)]
        items = await self._references(cited, chosen)
        aims = None
        if format == "nih_aims":
            behind = [name for one in choose_aims(ordered) for name in one.draft.citations]
            papers = await self._corpus.papers(list(dict.fromkeys(behind)))
            aims = write_nih_aims(project, ordered, papers, reviews)
        summary = await self._executive_summary(project, ordered)
        meta_review = await find_meta_review(self._store, research_id)
        lines = await self._corpus.format_bibliography(items) if items else []
        return Results(
            research_id=project.id,
            goal=project.goal,
            status=project.status,
            format=format,
            understood_as=await find_understanding(self._store, research_id),
            executive_summary=summary,
            top_hypotheses=rows,
            total_hypotheses=len(ordered),
            approved=[one.id for one in ordered if one.decision.approval == "approved"],
            meta_review=meta_review.text,
            nih_aims=aims,
            bibliography=items,
            bibliography_bibtex=await self._corpus.write_bibtex(items) if items else "",
            markdown=write_markdown(
                project,
                summary,
                rows,
                aims,
                meta_review.text,
                lines,
                evidence=await self._evidence(chosen, reviews) if is_detailed else None,
                record=await self.run_record(project, ordered) if is_detailed else None,
            ),
            mind=name_mind(project, calls),
            looked_outside=await find_looks(self._store, project),
        )

    async def html_report(self, project: Project) -> str:
        """The project as a standalone HTML page."""
        ordered = await self.ordered(project)
        meta_review = await find_meta_review(self._store, project.id)
        reviews = [
            one for one in await self._store.reviews(project.id) if one.superseded_by is None
        ]
        evidence = await self._evidence(ordered, reviews)
        cited = [name for one in ordered for name in one.draft.citations]
        quoted = [name for found in evidence.values() for name in quoted_papers(found)]
        return write_html_report(
            project,
            ordered,
            reviews,
            await self._store.matches(project.id),
            references=await self._references([*cited, *quoted], ordered),
            opening=await self._executive_summary(project, ordered),
            meta_review=meta_review.text,
            record=await self.run_record(project, ordered),
            evidence=evidence,
        )

    async def _evidence(
        self, hypotheses: Sequence[Hypothesis], reviews: Sequence[Review]
    ) -> dict[str, list[StatementEvidence]]:
        """The statements of each hypothesis with sentences, each with the passage it stands in."""
        return {
            one.id: await add_passages(list_evidence(one, reviews), self._passages)
            for one in hypotheses
        }

    async def run_record(self, project: Project, ordered: Sequence[Hypothesis]) -> RunRecord:
        """Everything that a report says of how its results came about."""
        store, research_id = self._store, project.id
        jobs = await store.jobs(research_id)
        return RunRecord(
            project,
            ordered,
            await store.reviews(research_id),
            await store.matches(research_id),
            await store.outputs(research_id),
            await store.events(research_id),
            await store.safety(project.owner, research_id),
            [step for job in jobs for step in await store.steps(job.id)],
            await find_understanding(store, research_id),
            await self._corpus.describe_content(),
        )

    async def _executive_summary(self, project: Project, ordered: Sequence[Hypothesis]) -> str:
        live = {one.id for one in ordered}
        superseded = len(await self._store.hypotheses(project.id)) - len(live)
        reviews = [
            one
            for one in await self._store.reviews(project.id)
            if one.superseded_by is None and one.hypothesis_id in live
        ]
        matches = [
            one for one in await self._store.matches(project.id) if {one.first, one.second} <= live
        ]
        summary = write_executive_summary(
            project,
            ordered,
            len(reviews),
            len(matches),
            await find_understanding(self._store, project.id),
            await self._store.events(project.id),
        )
        if not superseded:
            return summary
        return f"{summary} {superseded} drafts were superseded; list_hypotheses still has them."

    async def export(self, project: Project) -> dict[str, Any]:
        """All that is stored of a project, so that every number can be asked why."""
        store, research_id = self._store, project.id
        parts: dict[str, Sequence[Record]] = {
            "hypotheses": await store.hypotheses(research_id),
            "reviews": await store.reviews(research_id),
            "matches": await store.matches(research_id),
            "agent_outputs": await store.outputs(research_id),
            "events": await store.events(research_id),
            "safety": await store.safety(project.owner, research_id),
        }
        exported: dict[str, Any] = {"project": project.model_dump(mode="json")}
        for name, records in parts.items():
            exported[name] = [record.model_dump(mode="json") for record in records]
        return exported

    async def ordered(self, project: Project) -> list[Hypothesis]:
        """A project's hypotheses, best first, without those that were superseded."""
        found = await self._store.hypotheses(project.id)
        return sort_by_place(one for one in found if one.superseded_by is None)

    async def references(self, hypotheses: Sequence[Hypothesis]) -> list[dict[str, Any]]:
        """The distinct works that hypotheses cite, as CSL-JSON."""
        cited = [name for one in hypotheses for name in one.draft.citations]
        return await self._references(cited, hypotheses)

    async def _references(
        self, paper_ids: Sequence[str], hypotheses: Sequence[Hypothesis]
    ) -> list[dict[str, Any]]:
        named = list(dict.fromkeys(paper_ids))
        items = await self._corpus.references(named) if named else []
        return [*items, *(item for one in hypotheses for item in outside_references(one))]


def name_mind(project: Project, model_calls: int) -> Mind:
    """Who thinks; what earlier versions stored does not say, but its calls of models do."""
    return project.mind or ("model" if model_calls else "discovery")


def task_progress(project: Project, state: WorkState, left: int) -> float:
    """The finished share of an assistant's tasks, 1 at the end."""
    if project.status == "completed":
        return 1.0
    done = sum(task.state == "done" for task in state.tasks)
    return round(min(0.99, done / max(1, done + left)), 4)


def remaining_seconds(
    expected: Mapping[StepKind, int],
    done: Sequence[StepDone],
    mean_seconds: Mapping[StepKind, float],
) -> float:
    """Estimated remaining time by this run's mean of each kind, else that of all runs."""
    counts = Counter(step.kind for step in done)
    spent = dict.fromkeys(StepKind, 0.0)
    for step in done:
        spent[step.kind] += step.seconds
    seconds = 0.0
    for kind, count in expected.items():
        each = mean_seconds.get(kind, _weight(kind))
        if counts[kind]:
            each = spent[kind] / counts[kind]
        seconds += max(0, count - counts[kind]) * each
    return seconds


def progress(project: Project, expected: Mapping[StepKind, int], done: Sequence[StepDone]) -> float:
    """The finished share of the run, 1 at its end; weights by kind are fixed, so it never falls."""
    if project.status == "completed":
        return 1.0
    counts = Counter(step.kind for step in done)
    total = sum(_weight(kind) * max(count, counts[kind]) for kind, count in expected.items())
    finished = sum(_weight(kind) * counts[kind] for kind in expected)
    return round(min(0.99, finished / total), 4) if total else 0.0


def _weight(kind: StepKind) -> float:
    return _FIRST_GUESS.get(kind, _ANY_STEP)
