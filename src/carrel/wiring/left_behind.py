"""Embedded databases that hold something and are not served, because DATABASE_URL was set after
they were filled.
"""

from __future__ import annotations

from carrel.settings import Settings, SettingsError
from carrel.stores.sqlite.row_counts import holds_rows

_KNOWLEDGE = ("notes", "nodes")
_ACCESS = ("access_users", "access_tokens")
_RESEARCH = ("research_projects",)


def refuse_notes_left_behind(settings: Settings) -> None:
    """Raises SettingsError where notes would seem to be gone, because `auto` now means PostgreSQL
    and they are in a file.
    """
    file = settings.home / "knowledge.sqlite"
    if (
        settings.knowledge.store != "auto"
        or not settings.database.url
        or not holds_rows(file, _KNOWLEDGE)
    ):
        return
    raise SettingsError(
        f"There are notes in {file}, and DATABASE_URL says that notes are kept in PostgreSQL",
        next_step="Set knowledge.store (CARREL_KNOWLEDGE_STORE) to sqlite to go on with the file, "
        "or to postgres to use the database; "
        "carrel knowledge export FOLDER with the one and carrel knowledge import FOLDER with the "
        "other carries notes over.",
        details={"setting": "knowledge.store"},
    )


def left_behind(settings: Settings) -> dict[str, str]:
    """What else is in files of the home folder and is not served, by a name for it; nothing without
    DATABASE_URL.
    """
    if not settings.database.url:
        return {}
    found = {}
    access = settings.home / "access.sqlite"
    if settings.auth.mode in {"builtin", "tokens"} and holds_rows(access, _ACCESS):
        found["users and tokens"] = str(access)
    research = settings.home / "research" / "research.db"
    if "research" in settings.rooms and holds_rows(research, _RESEARCH):
        found["research projects"] = str(research)
    return found
