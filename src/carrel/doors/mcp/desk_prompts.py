"""Prompts for whole jobs across rooms, told as far as their tools are offered to the caller."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from carrel.core.answer import PromptMessage, PromptText, Text
from carrel.core.caller import Call
from carrel.core.catalogue import Catalogue
from carrel.core.completion import (
    NO_COMPLETION,
    Complete,
    Completion,
    CompletionRequest,
    complete_from,
)
from carrel.core.errors import InvalidInputError
from carrel.core.operation import Operation, Prompt
from carrel.core.quoting import delimit_quotation
from carrel.doors.mcp.desk_jobs import COMMON_STYLES, DESK_JOBS, DeskJob, Step

MAX_ARGUMENT_CHARACTERS = 1_000
MAX_TEXT_CHARACTERS = 20_000

_CALL = re.compile(r"`(\w+)\(")
_PLACE = re.compile(r"\{(\w+)\}")
_PAPER_ADDRESS = "paper://{paper_id}/metadata"


def offers_desk_prompts(rooms: Collection[str]) -> bool:
    """Whether a desk with these rooms has prompts for whole jobs."""
    return any(job.rooms <= set(rooms) for job in DESK_JOBS)


def desk_prompts(
    catalogue: Catalogue, listed: Collection[str], *, is_compact: bool
) -> tuple[Prompt, ...]:
    """The prompts of the jobs whose rooms are open; `listed` are the tools that clients see."""
    rooms = {room.name for room in catalogue.rooms}
    return tuple(
        DeskPrompts(catalogue, frozenset(listed), is_compact=is_compact).prompt_of(job)
        for job in DESK_JOBS
        if job.rooms <= rooms
    )


def called_tools(step: Step) -> tuple[str, ...]:
    """The tools that a step calls, in its order."""
    return tuple(dict.fromkeys(_CALL.findall(step.text)))


class DeskPrompts:
    """Writes the prompts of one endpoint."""

    def __init__(self, catalogue: Catalogue, listed: frozenset[str], *, is_compact: bool) -> None:
        self._operations: Mapping[str, Operation[Any]] = catalogue.operations
        self._listed = listed
        self._is_compact = is_compact
        paper = catalogue.resources.get(_PAPER_ADDRESS)
        self._complete_paper: Complete | None = None if paper is None else paper.complete

    def prompt_of(self, job: DeskJob) -> Prompt:
        async def expand(arguments: Mapping[str, str], call: Call) -> PromptText:
            return PromptText(
                (PromptMessage(Text(self._write(job, arguments, call))),), job.description
            )

        return Prompt(
            name=job.name,
            room="desk",
            title=job.title,
            description=job.description,
            arguments=job.arguments,
            expand=expand,
            scopes=job.scopes,
            complete=self._complete,
        )

    async def _complete(self, request: CompletionRequest, call: Call) -> Completion:
        if request.argument == "style":
            return complete_from(COMMON_STYLES, request.value)
        if request.argument == "paper_id" and self._complete_paper is not None:
            return await self._complete_paper(replace(request, given={}), call)
        return NO_COMPLETION

    def _write(self, job: DeskJob, arguments: Mapping[str, str], call: Call) -> str:
        given = _check_arguments(job, arguments)
        steps = [step for step in job.steps if self._is_possible(step, call)]
        lines = [_fill_in(job.task, given)]
        lines += [
            f"## {number}. {step.title}\n{step.text}" for number, step in enumerate(steps, start=1)
        ]
        lines.append(f"## Answer\n{job.answer}")
        lines.append(self._how_to_call(steps))
        lines += [delimit_quotation(given[name], name) for name in sorted(job.quoted)]
        return "\n\n".join(line for line in lines if line)

    def _is_possible(self, step: Step, call: Call) -> bool:
        tools = [self._operations.get(name) for name in called_tools(step)]
        return all(tool is not None and tool.scopes <= call.caller.scopes for tool in tools)

    def _how_to_call(self, steps: Collection[Step]) -> str:
        """How tools are called that the client does not see in its list."""
        if self._is_compact:
            return (
                "Run every tool named here through `carrel`, with run=<its name> and "
                "arguments=<its parameters>."
            )
        named = dict.fromkeys(name for step in steps for name in called_tools(step))
        hidden = [name for name in named if name not in self._listed]
        if not hidden:
            return ""
        return (
            f"Not in the tool list, so call them with run_operation, name=<the tool> and "
            f"arguments=<its parameters>: {', '.join(hidden)}."
        )


def _check_arguments(job: DeskJob, arguments: Mapping[str, str]) -> dict[str, str]:
    """The arguments, trimmed and with defaults. Raises InvalidInputError."""
    given = dict(job.defaults)
    for argument in job.arguments:
        value = arguments.get(argument.name, "").strip()
        longest = MAX_TEXT_CHARACTERS if argument.name in job.quoted else MAX_ARGUMENT_CHARACTERS
        if len(value) > longest:
            raise InvalidInputError(
                f"{argument.name} has {len(value)} characters; at most {longest} are allowed",
                next_step=f"Send a shorter {argument.name}, or a part of it.",
            )
        if value:
            given[argument.name] = value
        elif argument.is_required:
            raise InvalidInputError(
                f"{argument.name} is required: {argument.description}",
                next_step=f"Ask the person for {argument.name}, then try again.",
            )
    return given


def _fill_in(task: str, given: Mapping[str, str]) -> str:
    """The task with its values on one line each; braces in a value stay as they are."""
    return _PLACE.sub(lambda found: " ".join(given[found[1]].split()), task)
