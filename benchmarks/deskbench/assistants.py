"""Assistants that do jobs by themselves: a model behind an API, and a script."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.deskbench.model_assistant import ModelAssistant
from benchmarks.deskbench.runs import Assistant
from benchmarks.deskbench.scripted_assistant import ScriptedAssistant

ASSISTANTS: dict[str, Callable[[], Assistant]] = {
    "openai": ModelAssistant.from_environment,
    "scripted": ScriptedAssistant,
}
