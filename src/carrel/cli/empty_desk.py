"""What a command says of a desk that has nothing yet, beside an answer that is only empty."""

from __future__ import annotations

import argparse
from typing import Any

from carrel.cli.command_names import in_commands
from carrel.cli.options import place_flags
from carrel.core.operation import Effect, Operation
from carrel.rooms.papers.errors import NO_PAPERS_YET
from carrel.settings import read_settings
from carrel.wiring.papers import has_corpus


def describe_empty_desk(operation: Operation[Any], options: argparse.Namespace) -> str:
    """That there are no papers yet and how to add them; empty where there are some."""
    if operation.room != "papers" or operation.is_local or operation.effect is not Effect.READS:
        return ""
    settings = read_settings(place_flags(options), config=options.config)
    if settings.papers.snapshot is not None or has_corpus(settings):
        return ""
    return in_commands(NO_PAPERS_YET)
