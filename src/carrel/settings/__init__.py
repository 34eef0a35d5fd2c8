"""Everything an operator may set, read once: flags over environment over carrel.toml over
defaults.
"""

from carrel.settings.reading import read_settings
from carrel.settings.sections import (
    AuditSettings,
    AuthSettings,
    ModelSettings,
    ReferencesSettings,
    ResearchSettings,
    ServerSettings,
    Settings,
    SettingsError,
)

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
