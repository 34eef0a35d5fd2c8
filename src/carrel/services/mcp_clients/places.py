"""Where programs keep their configuration on Linux, macOS and Windows."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

System = Literal["linux", "macos", "windows"]


@dataclass(frozen=True, slots=True)
class Machine:
    """The system, the person's home folder, the working directory and the environment."""

    system: System
    home: Path
    folder: Path
    environment: Mapping[str, str]

    @property
    def configuration(self) -> Path:
        """Where desktop programs keep theirs."""
        match self.system:
            case "windows":
                return self.variable("APPDATA") or self.home / "AppData" / "Roaming"
            case "macos":
                return self.home / "Library" / "Application Support"
            case "linux":
                return self.xdg_configuration

    @property
    def xdg_configuration(self) -> Path:
        """Where programs that follow the XDG rules keep theirs."""
        return self.variable("XDG_CONFIG_HOME") or self.home / ".config"

    def variable(self, name: str) -> Path | None:
        """A folder that the environment names."""
        found = self.environment.get(name)
        return Path(found).expanduser() if found else None


def this_machine() -> Machine:
    """The machine that this runs on."""
    system: System = {"win32": "windows", "darwin": "macos"}.get(sys.platform, "linux")  # type: ignore[assignment]
    return Machine(system, Path.home(), Path.cwd(), os.environ)


def claude_desktop_file(machine: Machine) -> Path:
    return machine.configuration / "Claude" / "claude_desktop_config.json"


def claude_code_user_file(machine: Machine) -> Path:
    return (machine.variable("CLAUDE_CONFIG_DIR") or machine.home) / ".claude.json"


def vscode_file(machine: Machine) -> Path:
    return machine.configuration / "Code" / "User" / "mcp.json"


def cline_file(machine: Machine) -> Path:
    storage = machine.configuration / "Code" / "User" / "globalStorage"
    return storage / "saoudrizwan.claude-dev" / "settings" / "cline_mcp_settings.json"


def cline_program_file(machine: Machine) -> Path:
    settings = machine.home / ".cline" / "data" / "settings" / "cline_mcp_settings.json"
    return machine.variable("CLINE_MCP_SETTINGS_PATH") or settings


def codex_file(machine: Machine) -> Path:
    return (machine.variable("CODEX_HOME") or machine.home / ".codex") / "config.toml"


def zed_file(machine: Machine) -> Path:
    match machine.system:
        case "windows":
            return machine.configuration / "Zed" / "settings.json"
        case "linux":
            flatpak = machine.variable("FLATPAK_XDG_CONFIG_HOME")
            return (flatpak or machine.xdg_configuration) / "zed" / "settings.json"
        case "macos":
            return machine.home / ".config" / "zed" / "settings.json"


def goose_file(machine: Machine) -> Path:
    if machine.system == "windows":
        return machine.configuration / "Block" / "goose" / "config" / "config.yaml"
    return machine.xdg_configuration / "goose" / "config.yaml"
