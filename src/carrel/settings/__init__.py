"""What an operator may set, read once: flags over environment over carrel.toml over defaults."""

from carrel.settings.reading import Settings, SettingsError, read_settings
from carrel.settings.rooms import ModelSettings, ReferencesSettings, ResearchSettings
from carrel.settings.server import AuditSettings, AuthSettings, ServerSettings

__all__ = [
    "AuditSettings",
    "AuthSettings",
    "ModelSettings",
    "ReferencesSettings",
    "ResearchSettings",
    "ServerSettings",
    "Settings",
    "SettingsError",
    "read_settings",
]
