"""The research room as the catalogue shows it: every tool described once."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Coroutine
from typing import Any

from carrel.core.answer import Text
from carrel.core.caller import Call
from carrel.core.catalogue import Room
from carrel.core.operation import Effect, Operation, Question
from carrel.core.quoting import Quotes
from carrel.rooms.research import ROOM
from carrel.rooms.research.inert_text import inert_values
from carrel.rooms.research.jobs import OPERATION_OF, SCOPES_OF, JobAnswer
from carrel.rooms.research.models import (
    DecideHypothesis,
    DeleteResearch,
    EvolveHypothesis,
    ExportResearch,
    GenerateHypotheses,
    GetHypothesis,
    GetResearchStatus,
    GetResults,
    HypothesisInFull,
    HypothesisRow,
    HypothesisShown,
    ImportHypotheses,
    ImportReport,
    ListHypotheses,
    ListResearchProjects,
    OneProject,
    ProjectChanged,
    ProjectSummary,
    RankHypotheses,
    RateHypothesis,
    ResearchStatus,
    Results,
    ReviewHypothesis,
    ReviewShown,
    StartedResearch,
    StartResearch,
    SubmitHypothesis,
)
from carrel.rooms.research.phrases import PHRASES, UNLISTED
from carrel.rooms.research.quoting import (
    quoted_in_hypotheses,
    quoted_in_results,
    quoted_in_status,
    quoted_project,
)
from carrel.rooms.research.resources import prompts, resources
from carrel.rooms.research.service import ResearchRoom

_PATIENT_SECONDS = 120.0


def room(service: ResearchRoom) -> Room:
    """The room over one service."""

    async def start(question: StartResearch, call: Call) -> StartedResearch:
        return await service.start(question.goal, question.domain, question.hypothesis_count, call)

    async def status(question: GetResearchStatus, call: Call) -> ResearchStatus:
        return await service.status(question.research_id, call)

    async def projects(question: ListResearchProjects, call: Call) -> list[ProjectSummary]:
        return await service.projects(question.status, question.limit, call)

    async def generate(question: GenerateHypotheses, call: Call) -> JobAnswer:
        return await service.generate(question.research_id, question.count, question.method, call)

    async def evolve(question: EvolveHypothesis, call: Call) -> JobAnswer:
        return await service.evolve(question.hypothesis_id, question.strategy, call)

    async def hypotheses(question: ListHypotheses, call: Call) -> list[HypothesisRow]:
        return await service.list_hypotheses(
            question.research_id, question.status, question.min_elo, question.limit, call
        )

    async def review(question: ReviewHypothesis, call: Call) -> JobAnswer:
        return await service.review(question.hypothesis_id, question.review_type, call)

    async def rank(question: RankHypotheses, call: Call) -> JobAnswer:
        return await service.rank(question.research_id, question.method, call)

    async def results(question: GetResults, call: Call) -> Results:
        return await service.results(question.research_id, question.format, question.top_n, call)

    async def hypothesis(question: GetHypothesis, call: Call) -> HypothesisInFull:
        return await service.in_full(question.hypothesis_id, call)

    async def submit(question: SubmitHypothesis, call: Call) -> HypothesisShown:
        return await service.submit(question, call)

    async def rate(question: RateHypothesis, call: Call) -> ReviewShown:
        return await service.rate(question.hypothesis_id, question.score, question.comment, call)

    async def approve(question: DecideHypothesis, call: Call) -> HypothesisRow:
        return await service.decide(question.hypothesis_id, question.reason, call, is_approved=True)

    async def reject(question: DecideHypothesis, call: Call) -> HypothesisRow:
        return await service.decide(
            question.hypothesis_id, question.reason, call, is_approved=False
        )

    async def pause(question: OneProject, call: Call) -> ProjectChanged:
        return await service.pause(question.research_id, call)

    async def resume(question: OneProject, call: Call) -> ProjectChanged:
        return await service.resume(question.research_id, call)

    async def cancel(question: OneProject, call: Call) -> ProjectChanged:
        return await service.cancel(question.research_id, call)

    async def delete(question: DeleteResearch, call: Call) -> ProjectChanged:
        return await service.delete(question.research_id, call, is_forced=question.force)

    async def take_in(question: ImportHypotheses, call: Call) -> ImportReport:
        return await service.import_earlier(question.hypotheses, question.goal, call)

    async def export(question: ExportResearch, call: Call) -> Text:
        match question.format:
            case "json":
                whole = await service.everything(question.research_id, call)
                return Text(
                    json.dumps(inert_values(whole), ensure_ascii=False, indent=1),
                    "application/json",
                )
            case "markdown":
                return Text(
                    (await service.results(question.research_id, "detailed", 200, call)).markdown,
                    "text/markdown",
                )
            case "html":
                return Text(await service.page(question.research_id, call), "text/html")

    return Room(
        ROOM,
        operations=(
            _operation(
                "start_research",
                "Start research",
                "Start a project on a goal: hypotheses are generated, reviewed, ranked in a "
"tournament and the best evolved, in the "
                "background. Answers at once with research_id; follow it with get_research_status.",
                StartResearch, StartedResearch, start, {"research:write"}, Effect.WRITES,
                command="start",
            ),
            _operation(
                "get_research_status",
                "Get research status",
                "How far a project is: progress, counts, the leading hypothesis, time left.",
                GetResearchStatus, ResearchStatus, status, {"research:read"}, command="status",
                quotes=quoted_in_status,
            ),
            _operation(
                "list_research_projects",
                "List research projects",
                "Your projects, newest first.",
                ListResearchProjects, list[ProjectSummary], projects, {"research:read"},
                command="list",
            ),
            _operation(
                "generate_hypotheses",
                "Generate hypotheses",
                "New hypotheses with summary, rationale, protocol and the papers they rest on. "
"Waits for them; a long job answers "
                "with what is done and a job_id.",
                GenerateHypotheses, list[HypothesisShown], generate, SCOPES_OF["generate"],
                Effect.WRITES, command="generate",
                quotes=quoted_in_hypotheses,
            ),
            _operation(
                "evolve_hypothesis",
                "Evolve a hypothesis",
                "A new hypothesis made from one; the original stays for comparison.",
                EvolveHypothesis, HypothesisShown, evolve, SCOPES_OF["evolve"], Effect.WRITES,
                command="evolve",
                quotes=quoted_in_hypotheses,
            ),
            _operation(
                "list_hypotheses",
                "List hypotheses",
                "A project's hypotheses by Elo, best first, in short; get_hypothesis has one in "
"full.",
                ListHypotheses, list[HypothesisRow], hypotheses,
                {"hypotheses:read", "research:read"}, command="hypotheses",
                quotes=quoted_in_hypotheses,
            ),
            _operation(
                "get_hypothesis",
                "Get a hypothesis",
                "One in full: rationale, protocol, the sentences it rests on, every review and "
"match with its reasons.",
                GetHypothesis, HypothesisInFull, hypothesis, {"hypotheses:read"},
                command="hypothesis",
                quotes=quoted_in_hypotheses,
            ),
            _operation(
                "review_hypothesis",
                "Review a hypothesis",
                "Review for plausibility, novelty, testability and safety: scores from 0 to 1 "
"with their reasons and citations.",
                ReviewHypothesis, ReviewShown, review, SCOPES_OF["review"], Effect.WRITES,
                command="review",
                quotes=quoted_in_hypotheses,
            ),
            _operation(
                "rank_hypotheses",
                "Rank hypotheses",
                "Compare a project's hypotheses pair by pair; answers all with new Elo scores, "
"best first. Review before ranking.",
                RankHypotheses, list[HypothesisRow], rank, SCOPES_OF["rank"], Effect.WRITES,
                command="rank",
                quotes=quoted_in_hypotheses,
            ),
            _operation(
                "get_results",
                "Get results",
                "What a project found, as fields and as Markdown, with its bibliography as "
"CSL-JSON and BibTeX.",
                GetResults, Results, results, {"research:read", "hypotheses:generate"},
                command="results", quotes=quoted_in_results,
            ),
            _operation(
                "submit_hypothesis",
                "Submit a hypothesis",
                "Add a person's own hypothesis to a project; it is reviewed and ranked like the "
"others.",
                SubmitHypothesis, HypothesisShown, submit, {"hypotheses:generate"}, Effect.WRITES,
                command="submit",
            ),
            _operation(
                "rate_hypothesis", "Rate a hypothesis",
                "A person's own score for a hypothesis, kept as a review.",
                RateHypothesis, ReviewShown, rate, {"reviews:write"}, Effect.WRITES, command="rate",
            ),
            _operation(
                "approve_hypothesis", "Approve a hypothesis", "A person approves; results say so.",
                DecideHypothesis, HypothesisRow, approve, {"reviews:write"}, Effect.WRITES,
                command="approve",
            ),
            _operation(
                "reject_hypothesis", "Reject a hypothesis",
                "A person rejects; it stays visible and plays no more.",
                DecideHypothesis, HypothesisRow, reject, {"reviews:write"}, Effect.WRITES,
                command="reject",
            ),
            _operation(
                "pause_research", "Pause research",
                "Stop a project's work after its last finished step.",
                OneProject, ProjectChanged, pause, {"research:write"}, Effect.WRITES,
                command="pause",
            ),
            _operation(
                "resume_research", "Resume research", "Go on with a paused or failed project.",
                OneProject, ProjectChanged, resume, {"research:write"}, Effect.WRITES,
                command="resume",
            ),
            _operation(
                "cancel_research", "Cancel research", "End a project's work; what was found stays.",
                OneProject, ProjectChanged, cancel, {"research:write"}, Effect.WRITES,
                command="cancel",
            ),
            _operation(
                "delete_research", "Delete research",
                "Delete a project for good. Needs force: true.",
                DeleteResearch, ProjectChanged, delete, {"research:write"}, Effect.DESTROYS,
                command="delete",
            ),
            _operation(
                "export_research", "Export research",
                "All of a project: json with every step, or a markdown or "
"html report.",
                ExportResearch, Text, export, {"research:read", "hypotheses:read", "reviews:read"},
                command="export", quotes=quoted_project,
            ),
            _operation(
                "import_hypotheses", "Import hypotheses",
                "Hypotheses of the earlier system become a project; Elo "
"is kept.",
                ImportHypotheses, ImportReport, take_in, {"research:write", "hypotheses:generate"},
                Effect.WRITES,
            ),
        ),
        resources=resources(service),
        prompts=prompts(service),
        jobs=service.jobs,
    )  # fmt: skip


def _operation(
    name: str,
    title: str,
    description: str,
    question: type[Question],
    answer: Any,
    run: Callable[[Any, Call], Coroutine[Any, Any, Any]],
    scopes: Collection[str],
    effect: Effect = Effect.READS,
    command: str | None = None,
    quotes: Quotes | None = None,
) -> Operation[Any]:
    return Operation(
        name=name,
        room="research",
        title=title,
        description=description,
        question=question,
        answer=answer,
        run=run,
        scopes=frozenset(scopes),
        effect=effect,
        timeout_seconds=_PATIENT_SECONDS,
        command=command,
        quotes=quotes,
        may_outlast_call=name in OPERATION_OF.values(),
        is_listed=name not in UNLISTED,
        phrases=PHRASES.get(name, ()),
    )
