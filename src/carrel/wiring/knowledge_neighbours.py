"""What the knowledge room's search shows of the rooms beside it: papers, and everybody's own
references.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from carrel.core.caller import LOCAL_USER, library_name
from carrel.rooms.knowledge.documents import DocumentSource, PersonalSource
from carrel.settings import Settings
from carrel.stores.csl_json.library import LIBRARY_NAME
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot
from carrel.wiring.papers import snapshot_path
from carrel.wiring.references import library_path, users_folder


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Sources of the rooms that are open, with what closes them."""

    sources: tuple[DocumentSource, ...] = ()
    personal: tuple[PersonalSource, ...] = ()
    closing: tuple[Callable[[], Awaitable[None]], ...] = ()

    async def close(self) -> None:
        for close in self.closing:
            await close()


def embedded_neighbours(settings: Settings, snapshot: PaperSnapshot) -> Neighbours:
    """For the embedded search, which reads a library when its owner asks."""
    found = Neighbours()
    if "papers" in settings.rooms:
        from carrel.stores.sqlite.papers.documents import SnapshotDocuments

        found = Neighbours((SnapshotDocuments(snapshot).source,))
    if "references" in settings.rooms and settings.keeps_home:
        from carrel.stores.csl_json.search_documents import PersonalReferences

        references = PersonalReferences(lambda name: _library(settings, name))
        found = Neighbours(found.sources, (references,), (*found.closing, references.close))
    return found


def synced_neighbours(settings: Settings, snapshot: PaperSnapshot) -> Neighbours:
    """For a cluster, which is told of all libraries at once, and of the words that search_papers
    ranks by.
    """
    found = Neighbours()
    if "papers" in settings.rooms:
        from carrel.stores.elasticsearch.papers import RankedPapers

        found = Neighbours((RankedPapers(snapshot),))
    if "references" in settings.rooms and settings.keeps_home:
        from carrel.stores.csl_json.search_documents import AllReferences

        references = AllReferences(_libraries(settings))
        found = Neighbours(
            (*found.sources, references.source), closing=(*found.closing, references.close)
        )
    return found


def has_papers(settings: Settings) -> bool:
    """Whether a snapshot is set, or one was made in the home folder."""
    return settings.papers.snapshot is not None or snapshot_path(settings).exists()


def _library(settings: Settings, name: str) -> Path:
    is_local = name == library_name(LOCAL_USER)
    return library_path(settings) if is_local else users_folder(settings) / name / LIBRARY_NAME


def _libraries(settings: Settings) -> dict[str, Path]:
    others = {file.parent.name: file for file in users_folder(settings).glob(f"*/{LIBRARY_NAME}")}
    local = library_name(LOCAL_USER)
    return {**others, local: _library(settings, local)}
