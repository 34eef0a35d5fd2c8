"""The house most door tests walk into."""

from __future__ import annotations

import pytest

from tests.doors.house import House, build_house


@pytest.fixture
def house() -> House:
    return build_house()
