"""Resources (`research://projects/{project_id}`, `hypothesis://{hypothesis_id}`) and prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from carrel.core.answer import PromptArgument, PromptMessage, PromptText, Text
from carrel.core.caller import Call
from carrel.core.completion import Completion, CompletionRequest
from carrel.core.decorators import prompt, resource
from carrel.core.quoting import delimit_quotation
from carrel.rooms.research.inert_text import inert_text
from carrel.rooms.research.models import ResearchStatus
from carrel.rooms.research.quoting import quoted_in_hypothesis_page, quoted_in_project_page
from carrel.rooms.research.reasoners.prompt_material import prompt_text
from carrel.rooms.research.records import Hypothesis, Project
from carrel.rooms.research.report_references import format_reference
from carrel.rooms.research.service import ResearchRoom

_SHOWN = 10
_RATIONALE = 300


class ResearchResources:
    """The addresses of projects and hypotheses, and the prompts."""

    def __init__(self, research: ResearchRoom) -> None:
        self._research = research

    async def complete_project(self, request: CompletionRequest, call: Call) -> Completion:
        return await self._research.complete_project(request.value, call)

    async def complete_hypothesis(self, request: CompletionRequest, call: Call) -> Completion:
        return await self._research.complete_hypothesis(request.value, call)

    @resource(
        "research://projects/{project_id}",
        name="research-project",
        title="Research project",
        description="A project's goal, status, statistics and leading hypotheses.",
        scopes=frozenset({"research:read"}),
        media_type="text/markdown",
        quotes=quoted_in_project_page,
        complete=complete_project,
    )
    async def research_project(self, variables: Mapping[str, str], call: Call) -> Text:
        found = await self._research.project(variables["project_id"], call)
        status = await self._research.views.status(found)
        hypotheses = await self._research.views.ordered(found)
        return Text(inert_text(project_page(found, status, hypotheses)), "text/markdown")

    @resource(
        "hypothesis://{hypothesis_id}",
        title="Hypothesis",
        description=(
            "A hypothesis in full: rationale, protocol, predictions and the papers it rests on."
        ),
        scopes=frozenset({"hypotheses:read"}),
        media_type="text/markdown",
        quotes=quoted_in_hypothesis_page,
        complete=complete_hypothesis,
    )
    async def hypothesis(self, variables: Mapping[str, str], call: Call) -> Text:
        found, _ = await self._research.hypothesis(variables["hypothesis_id"], call)
        page = hypothesis_page(found, await self._research.views.references([found]))
        return Text(inert_text(page), "text/markdown")

    @prompt(
        name="research-workflow",
        title="Research workflow",
        description=(
            "A whole piece of research, step by step: start, generate, review, rank, evolve, "
            "export."
        ),
        scopes=frozenset({"research:read"}),
    )
    async def research_workflow(self, arguments: Mapping[str, str], call: Call) -> PromptText:
        text = prompt_text("research-workflow")
        return _one_message(text, "From a goal to ranked, reviewed hypotheses")

    @prompt(
        name="hypothesis-analysis",
        title="Hypothesis analysis",
        description=(
            "A close look at one hypothesis: testability, literature, mechanism and impact."
        ),
        scopes=frozenset({"hypotheses:read"}),
        arguments=(PromptArgument("hypothesis_id", "Hypothesis to analyse"),),
        complete=complete_hypothesis,
    )
    async def hypothesis_analysis(self, arguments: Mapping[str, str], call: Call) -> PromptText:
        found, _ = await self._research.hypothesis(arguments["hypothesis_id"], call)
        # The hypothesis goes in last: whatever stands in it is never taken for a place to fill.
        before, _, after = (
            prompt_text("hypothesis-analysis")
            .replace("{hypothesis_id}", found.id)
            .partition("{hypothesis}")
        )
        references = await self._research.views.references([found])
        page = delimit_quotation(hypothesis_page(found, references), "hypothesis")
        return _one_message(before + page + after, f"A close look at {found.id}")

    @prompt(
        name="work-on-research",
        title="Work on research",
        description=(
            "Be the scientist of a project: take its tasks one by one, answer them from the "
            "passages, and hand them in."
        ),
        scopes=frozenset({"research:write", "hypotheses:generate"}),
        arguments=(PromptArgument("research_id", "Project to work on"),),
        complete=complete_project,
    )
    async def work_on_research(self, arguments: Mapping[str, str], call: Call) -> PromptText:
        found = await self._research.project(arguments["research_id"], call)
        text = prompt_text("work-on-research").replace("{research_id}", found.id)
        goal = delimit_quotation(found.goal, "goal")
        return _one_message(f"{text}\n\nIts goal:\n{goal}", f"Work on {found.id}")


def project_page(project: Project, status: ResearchStatus, hypotheses: Sequence[Hypothesis]) -> str:
    average = (
        sum(hypothesis.rating.elo_score for hypothesis in hypotheses) / len(hypotheses)
        if hypotheses
        else 0.0
    )
    rows = [
        f"{number}. **{hypothesis.draft.title}** (ELO: {hypothesis.rating.elo_score:.0f})\n   "
        f"{_short(hypothesis.draft.rationale)}"
        for number, hypothesis in enumerate(hypotheses[:_SHOWN], start=1)
    ]
    more = len(hypotheses) - _SHOWN
    if more > 0:
        rows.append(f"{more} more: list_hypotheses shows them all.")
    going = (
        f" ({status.progress:.0%} complete)"
        if project.status in {"active", "initializing", "paused"}
        else ""
    )
    problem = f"\n{project.problem}" if project.problem else ""
    read = f"\n\n{status.understood_as.says}" if status.understood_as else ""
    return (
        f"# Research Project: {project.id}\n\n## Goal\n{project.goal}{read}\n\n## "
        f"Status\n{project.status}{going}{problem}\n\n"
        f"## Statistics\n- Hypotheses Generated: {len(hypotheses)}\n- Average ELO Score: "
        f"{average:.0f}\n\n"
        "## Top Hypotheses\n" + ("\n\n".join(rows) or "None yet.") + "\n"
    )


def hypothesis_page(hypothesis: Hypothesis, references: Sequence[Mapping[str, Any]]) -> str:
    draft = hypothesis.draft
    predictions = (
        "\n".join(f"{number}. {text}" for number, text in enumerate(draft.predictions, start=1))
        or "None stated."
    )
    # A paper that has left the corpus since is still named, by its id.
    at_hand = {str(item["id"]): format_reference(item) for item in references}
    grounding = [
        f"- paper://{paper_id}/metadata {at_hand.pop(paper_id, '')}".rstrip()
        for paper_id in draft.citations
    ]
    grounding.extend(f"- {line}" for line in at_hand.values())
    return (
        f"# Hypothesis: {draft.title}\n\n**ID**: {hypothesis.id}\n**ELO Score**: "
        f"{hypothesis.rating.elo_score:.0f}\n**Status**: {hypothesis.status}\n"
        f"**Origin**: {draft.origin} ({draft.method})\n**Approval**: "
        f"{hypothesis.decision.approval}\n\n{draft.summary}\n\n"
        f"## Rationale\n{draft.rationale}\n\n## Experimental "
        f"Protocol\n{draft.protocol.as_text()}\n\n"
        f"## Predictions\n{predictions}\n\n## Literature Grounding\n"
        + ("\n".join(grounding) or "- None.")
        + "\n"
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _RATIONALE else line[:_RATIONALE].rsplit(" ", 1)[0] + "…"


def _one_message(text: str, description: str) -> PromptText:
    return PromptText((PromptMessage(Text(text, "text/markdown")),), description)
