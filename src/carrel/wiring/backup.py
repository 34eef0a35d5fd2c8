"""Backup and restore of a home folder, with what the settings name outside of it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from carrel.core.progress import Progress
from carrel.services.sentence_vectors import is_installed
from carrel.settings import Settings
from carrel.stores.backup.archive import Manifest
from carrel.stores.backup.places import Places
from carrel.stores.backup.restore import IndexRebuilder, RebuildIndex, restore_backup
from carrel.stores.backup.writer import check_backup, make_backup
from carrel.wiring.papers import snapshot_path
from carrel.wiring.papers_build import embed_papers, index_papers
from carrel.wiring.references import library_path

__all__ = [
    "Manifest", "backup_places", "check_backup", "index_rebuilder", "make_backup", "restore_backup",
]  # fmt: skip


def backup_places(settings: Settings) -> Places:
    """Where everything embedded is, by the settings."""
    static = settings.papers.static or ""
    is_folder = static and not static.startswith(("http://", "https://"))
    return Places(
        home=settings.home,
        snapshot=snapshot_path(settings),
        static=Path(static).expanduser() if is_folder else None,
        library=library_path(settings),
        attachments=settings.references.attachments,
        audit_file=settings.audit_file,
    )


def index_rebuilder(progress: Progress) -> RebuildIndex:
    """Rebuilds the index beside a restored snapshot, with vectors where it had some."""
    embed = partial(embed_papers, progress=progress) if is_installed() else None
    return IndexRebuilder(partial(index_papers, progress=progress), embed).rebuild
