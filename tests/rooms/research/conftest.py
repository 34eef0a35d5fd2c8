"""The small snapshot, built once."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrel.settings import Settings
from tests.rooms.research.house import build_snapshot, settings_for


@pytest.fixture(scope="session")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_snapshot(tmp_path_factory.mktemp("research"))


@pytest.fixture
def settings(snapshot: Path, tmp_path: Path) -> Settings:
    return settings_for(snapshot, tmp_path / "home")
