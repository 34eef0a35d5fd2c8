"""The home folder of these settings: its lock, its databases, its backup and its restore."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.core.clock import Clock
from carrel.core.errors import NotFoundError
from carrel.core.progress import Progress
from carrel.settings import Settings
from carrel.stores.home.databases import EmbeddedDatabases
from carrel.stores.home.local_secret import read_local_secret
from carrel.stores.home.lock import has_unfinished_restore, share_home
from carrel.stores.home.privacy import is_open_to_others, make_private

if TYPE_CHECKING:
    from carrel.stores.backup.archive import Manifest
    from carrel.stores.backup.places import Places
    from carrel.stores.backup.restore import Restored

__all__ = ["is_open_to_others", "read_local_secret"]


def hold_home(home: Path) -> AbstractContextManager[None]:
    """The home, closed to other accounts, shared with other commands and kept from any restore."""
    if home.is_dir():
        make_private(home)
    return share_home(home)


def finish_restore(home: Path) -> str | None:
    """Finishes a restore that was killed half-way; how it ended, or None where there was none."""
    if not has_unfinished_restore(home):
        return None
    # Imported only then: starting must be fast, and this hardly ever happens.
    from carrel.stores.backup.restore_journal import recover

    return recover(home)


def embedded_databases(settings: Settings) -> EmbeddedDatabases:
    """The databases that are in files with these settings."""
    home = settings.home
    files = {}
    if settings.knowledge_store == "sqlite":
        files["knowledge"] = home / "knowledge.sqlite"
    if not settings.database.url:
        files["access"] = home / "access.sqlite"
        files["research"] = home / "research" / "research.db"
        files["jobs"] = home / "jobs" / "jobs.db"
    return EmbeddedDatabases(home, files)


def unserved_files(settings: Settings) -> dict[str, str]:
    """What is in files of the home and not served, because DATABASE_URL was set later; by name."""
    if not settings.database.url:
        return {}
    from carrel.stores.sqlite.schema import holds_rows

    found = {}
    access = settings.home / "access.sqlite"
    if settings.auth.mode in {"builtin", "tokens"} and holds_rows(
        access, ("access_users", "access_tokens")
    ):
        found["users and tokens"] = str(access)
    research = settings.home / "research" / "research.db"
    if "research" in settings.rooms and holds_rows(research, ("research_projects",)):
        found["research projects"] = str(research)
    return found


def backup_places(settings: Settings) -> Places:
    """Where everything embedded is, by the settings."""
    from carrel.stores.backup.places import Places
    from carrel.wiring.papers import snapshot_path
    from carrel.wiring.references import library_path

    static = settings.papers.static
    return Places(
        home=settings.home,
        snapshot=snapshot_path(settings),
        static=Path(static).expanduser()
        if static and not static.startswith(("http://", "https://"))
        else None,
        library=library_path(settings),
        attachments=settings.references.attachments,
        audit_file=settings.audit_file,
    )


def make_backup(
    settings: Settings,
    target: Path,
    *,
    elsewhere: list[str],
    may_replace: bool,
    progress: Progress,
    clock: Clock,
) -> Manifest:
    """Writes everything embedded into one file; `elsewhere` says what is kept outside."""
    from carrel.stores.backup.writer import make_backup

    if not settings.home.is_dir():
        raise NotFoundError(
            "Home folder", str(settings.home), next_step="Name it with --home; no backup was made."
        )
    places = backup_places(settings)
    # Without this the file would lack what is gone, and be named as the newest backup to restore
    # it from.
    embedded_databases(settings).refuse_replaced()
    return make_backup(
        places,
        target,
        elsewhere=elsewhere,
        may_replace=may_replace,
        progress=progress,
        clock=clock,
    )


def check_backup(file: Path, progress: Progress) -> Manifest:
    """Reads all of a backup and compares every file with its hash."""
    from carrel.stores.backup.writer import check_backup

    return check_backup(file, progress)


def restore_backup(
    settings: Settings, file: Path, *, may_move_aside: bool, progress: Progress, clock: Clock
) -> Restored:
    """Puts a backup in place, whole or not at all."""
    from carrel.stores.backup.restore import restore_backup
    from carrel.wiring.papers_index import (
        add_meaning,
        bring_index_up_to_date,
        has_meaning,
        shown_by,
    )

    def rebuild_index(snapshot: Path, has_vectors: bool) -> list[str]:
        shown_by(progress, "indexing", partial(bring_index_up_to_date, snapshot))
        if has_vectors and has_meaning():
            shown_by(progress, "embedding", partial(add_meaning, snapshot))
        elif has_vectors:
            return [
                "The vectors of meaning were not made again: carrel papers index --meaning, with "
                "the extra semantic."
            ]
        return []

    return restore_backup(
        backup_places(settings),
        file,
        rebuild_index=rebuild_index,
        may_move_aside=may_move_aside,
        progress=progress,
        clock=clock,
    )
