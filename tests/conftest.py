"""What holds for every test."""

import pytest
from hypothesis import settings

from tests.promise_report import PromiseReport

# How long an example takes says more of the machine than of the code, and no test here judges time.
settings.register_profile("carrel", deadline=None)
settings.load_profile("carrel")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(PromiseReport(config), "promise-report")
