"""Backup and restore of a home folder, with what the settings name outside of it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from carrel.core.clock import Clock
from carrel.core.progress import Progress
from carrel.services.sentence_vectors import is_installed
from carrel.settings import Settings
from carrel.settings.store_rules import need_psycopg
from carrel.stores.backup.archive import Manifest
from carrel.stores.backup.database import DatabaseCopies
from carrel.stores.backup.places import Places
from carrel.stores.backup.restore import IndexRebuilder, RebuildIndex, restore_backup
from carrel.stores.backup.writer import check_backup, make_backup
from carrel.wiring.papers import snapshot_path
from carrel.wiring.papers_build import embed_papers, index_papers
from carrel.wiring.references import library_path

__all__ = [
    "Manifest", "backup_name", "backup_places", "check_backup", "index_rebuilder", "kept_elsewhere",
    "make_backup", "open_database_copies", "restore_backup",
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


def open_database_copies(settings: Settings) -> DatabaseCopies | None:
    """What carries the shared database, where one is set."""
    if not settings.database.url:
        return None
    need_psycopg()
    from carrel.stores.postgres.table_copies import PostgresCopies

    return PostgresCopies(settings.database.url)


def index_rebuilder(progress: Progress) -> RebuildIndex:
    """Rebuilds the index beside a restored snapshot, with vectors where it had some."""
    embed = partial(embed_papers, progress=progress) if is_installed() else None
    return IndexRebuilder(partial(index_papers, progress=progress), embed).rebuild


def backup_name(clock: Clock) -> str:
    """The file name of a backup that is made now."""
    return f"carrel-{clock.now():%Y%m%dT%H%M%SZ}.tar.gz"


def kept_elsewhere(settings: Settings, *, has_database: bool = True) -> list[str]:
    """What the settings keep outside of a backup, and the tool for it."""
    found = []
    if settings.papers.corpus_url is not None:
        found.append(
            f"{settings.papers.corpus_url} keeps the papers and uploads: copy the bucket or "
            f"folder with its own tools, and what is below registers/ first."
        )
    if settings.database.url and not has_database:
        found.append(
            "PostgreSQL keeps what people have and do here, and was left out: "
            "pg_dump --format=custom --file=carrel.dump with DATABASE_URL, and pg_restore."
        )
    if settings.knowledge_store == "firestore":
        found.append(
            "Firestore keeps notes and nodes: gcloud firestore export gs://BUCKET, and gcloud "
            "firestore import."
        )
    if settings.elasticsearch.address:
        found.append("Elasticsearch holds copies only: carrel search sync fills it again.")
    if (settings.papers.static or "").startswith(("http://", "https://")):
        found.append(
            f"The texts of the papers are at {settings.papers.static}: whoever serves them keeps "
            f"them."
        )
    home = settings.home.resolve()
    for name, path in (
        ("settings", settings.source),
        ("references.styles", settings.references.styles),
        ("research.vocabulary", settings.research.vocabulary),
    ):
        if path is not None and not path.absolute().resolve().is_relative_to(home):
            found.append(
                f"{path} ({name}) is a file of yours outside the home folder: keep a copy of it."
            )
    return found
