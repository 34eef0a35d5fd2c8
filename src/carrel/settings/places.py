"""The path of each part's data, by the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from carrel.settings import Settings, SettingsError


def audit_store(settings: Settings) -> Literal["file", "postgres", "stdout"]:
    """The store of the audit log, with `auto` resolved."""
    audit = settings.audit
    if audit.store == "postgres" and not settings.database.url:
        raise SettingsError(
            "audit.store = postgres needs database.url (DATABASE_URL)",
            next_step="Set it, or audit.store = file.",
        )
    if audit.store != "auto":
        return audit.store
    if audit.file is not None:
        return "file"
    if settings.database.url:
        return "postgres"
    return "file" if settings.keeps_home else "stdout"


def audit_place(settings: Settings) -> str:
    """Where the audit log is written, as the doctor names it."""
    places = {"postgres": "PostgreSQL", "stdout": "standard output"}
    return places.get(audit_store(settings), str(settings.audit_file.parent))


def database_files(settings: Settings) -> dict[str, Path]:
    """The embedded database of each part, whether it is in use or not."""
    return {
        "knowledge": settings.home / "knowledge.sqlite",
        "access": settings.home / "access.sqlite",
        "research": settings.home / "research" / "research.db",
        "jobs": settings.home / "jobs" / "jobs.db",
        "quotas": settings.home / "quotas.sqlite",
        "literature": settings.home / "literature" / "literature.db",
        "library_members": settings.home / "references" / "members.db",
    }


def embedded_files(settings: Settings) -> dict[str, Path]:
    """The databases that are in files with these settings, by the part that uses them."""
    files = database_files(settings)
    if settings.database.url:
        # Members are where the libraries are.
        kept = {"knowledge"} if settings.has_library_rows else {"knowledge", "library_members"}
        files = {name: file for name, file in files.items() if name in kept}
    if settings.knowledge_store != "sqlite":
        files.pop("knowledge")
    return files


def store_folders(settings: Settings) -> dict[str, Path]:
    """The folders of this machine that stores write into, by the part that does."""
    folders: dict[str, Path] = {}
    if settings.keeps_home:
        if settings.knowledge_store == "sqlite":
            folders["knowledge"] = settings.home
        if settings.database.url is None:
            folders["research"] = settings.home
            folders["access"] = settings.home
        is_local = settings.auth.mode in {None, "local"}
        library = settings.references.library
        if library is not None and is_local:
            folders["references"] = library.parent
        elif not settings.has_library_rows:
            folders["references"] = settings.home / "references"
    if audit_store(settings) == "file":
        folders["audit"] = settings.audit_file.parent
    return folders
