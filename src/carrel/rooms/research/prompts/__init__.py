"""Guided work that a person starts from their assistant, with the texts as files beside this
one.
"""

from __future__ import annotations

from collections.abc import Mapping

from carrel.core.answer import PromptArgument, PromptMessage, PromptText, Text
from carrel.core.caller import Call
from carrel.core.completion import Completion, CompletionRequest
from carrel.core.operation import Prompt
from carrel.core.quoting import delimit_quotation
from carrel.rooms.research.prompts.texts import text_of
from carrel.rooms.research.resources import hypothesis_page
from carrel.rooms.research.service import ResearchRoom


def prompts(service: ResearchRoom) -> tuple[Prompt, ...]:
    async def workflow(arguments: Mapping[str, str], call: Call) -> PromptText:
        return _told(text_of("research-workflow"), "From a goal to ranked, reviewed hypotheses")

    async def analysis(arguments: Mapping[str, str], call: Call) -> PromptText:
        found, _ = await service.hypothesis(arguments["hypothesis_id"], call)
        # The hypothesis goes in last, so that whatever stands in it is never taken for a place to
        # fill.
        before, _, after = (
            text_of("hypothesis-analysis")
            .replace("{hypothesis_id}", found.id)
            .partition("{hypothesis}")
        )
        page = delimit_quotation(
            hypothesis_page(found, await service.telling.references([found])), "hypothesis"
        )
        return _told(before + page + after, f"A close look at {found.id}")

    async def complete_hypothesis(request: CompletionRequest, call: Call) -> Completion:
        return await service.complete_hypothesis(request.value, call)

    return (
        Prompt(
            name="research-workflow",
            room="research",
            title="Research workflow",
            description="A whole piece of research, step by step: start, generate, review, rank, "
            "evolve, export.",
            arguments=(),
            expand=workflow,
            scopes=frozenset({"research:read"}),
        ),
        Prompt(
            name="hypothesis-analysis",
            room="research",
            title="Hypothesis analysis",
            description="A close look at one hypothesis: testability, literature, mechanism and "
            "impact.",
            arguments=(PromptArgument("hypothesis_id", "Hypothesis to analyse"),),
            expand=analysis,
            scopes=frozenset({"hypotheses:read"}),
            complete=complete_hypothesis,
        ),
    )


def _told(text: str, description: str) -> PromptText:
    return PromptText((PromptMessage(Text(text, "text/markdown")),), description)
