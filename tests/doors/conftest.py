"""The house most door tests walk into."""

from __future__ import annotations

import pytest

from tests.doors.house import House, build_house


@pytest.fixture(scope="module")
def house() -> House:
    """Built once a module: what it remembers between tests is only the audit."""
    return build_house()
