"""The home folder of these settings: its lock and its databases."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from carrel.settings import Settings, SettingsError
from carrel.settings.places import database_files
from carrel.stores.home.databases import EmbeddedDatabases
from carrel.stores.home.local_secret import read_local_secret
from carrel.stores.home.lock import has_unfinished_restore, share_home
from carrel.stores.home.privacy import is_open_to_others, make_private

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
    files = database_files(settings)
    if settings.database.url:
        files = {"knowledge": files["knowledge"]}
    if settings.knowledge_store != "sqlite":
        files.pop("knowledge")
    return EmbeddedDatabases(settings.home, files)


def unserved_files(settings: Settings) -> dict[str, str]:
    """What is in files of the home and not served, because DATABASE_URL was set later; by name."""
    if not settings.database.url:
        return {}
    from carrel.stores.sqlite.schema import holds_rows

    found, files = {}, database_files(settings)
    access, research = files["access"], files["research"]
    if settings.auth.mode in {"builtin", "tokens"} and holds_rows(
        access, ("access_users", "access_tokens")
    ):
        found["users and tokens"] = str(access)
    if "research" in settings.rooms and holds_rows(research, ("research_projects",)):
        found["research projects"] = str(research)
    return found


def refuse_notes_in_file(settings: Settings) -> None:
    """Raises SettingsError where `auto` now means PostgreSQL and there are notes in a file."""
    from carrel.stores.sqlite.schema import holds_rows

    file = database_files(settings)["knowledge"]
    if settings.knowledge.store == "auto" and holds_rows(file, ("notes", "nodes")):
        raise SettingsError(
            f"There are notes in {file}, and DATABASE_URL says that notes are kept in PostgreSQL",
            next_step="Set knowledge.store (CARREL_KNOWLEDGE_STORE) to sqlite to go on with the "
            "file, or to postgres to use the database; carrel knowledge export FOLDER with the "
            "one and carrel knowledge import FOLDER with the other carries notes over.",
            details={"setting": "knowledge.store"},
        )
