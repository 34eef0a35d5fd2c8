"""The demonstration corpus: essays of our own, built into the home folder on first use."""

from __future__ import annotations

from carrel.settings import Settings
from carrel.wiring.audit import record_command
from carrel.wiring.papers import SNAPSHOT_NAME
from carrel.wiring.papers_build import build_demo


def with_demo(settings: Settings) -> Settings:
    """The settings with the demonstration corpus open, unless the operator has named a corpus."""
    if settings.papers.snapshot is not None:
        return settings
    folder = settings.home / "demo"
    with record_command(settings, "papers:build", f"papers:{folder}", {"sources": ["demo"]}):
        build_demo(folder)
    return settings.model_copy(
        update={"papers": settings.papers.model_copy(update={"snapshot": folder / SNAPSHOT_NAME})}
    )
