"""What holds for every test."""

import gc
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from carrel.libraries.csl.archive import archive_edition
from tests.promise_report import PromiseReport

# How long an example takes says more of the machine than of the code, and no test here judges time.
settings.register_profile("carrel", deadline=None)
settings.load_profile("carrel")


# Tests say themselves where they run; a runner in Kubernetes must not.
os.environ.pop("KUBERNETES_SERVICE_HOST", None)


# What programs that tests start keep of packages, so that nothing is fetched twice.
_SHARED_CACHES = (".cache", ".npm")


def _move_home(config: pytest.Config) -> None:
    """Gives tests a home folder without a desk: what a person keeps is neither read nor changed.

    Workers get the one of the process that starts them.
    """
    if hasattr(config, "workerinput"):
        return
    home = Path(tempfile.mkdtemp(prefix="home-of-tests-"))
    config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))
    for name in _SHARED_CACHES:
        kept = Path.home() / name
        if kept.is_dir():
            (home / name).symlink_to(kept)
    os.environ["HOME"] = str(home)
    for name in [name for name in os.environ if name.startswith("XDG_")]:
        del os.environ[name]


def pytest_configure(config: pytest.Config) -> None:
    _move_home(config)
    if archive_edition() is None:
        # A checkout whose archive of styles is lost, or was made by an older hatch_build.py.
        script = Path(__file__).parents[1] / "hatch_build.py"
        subprocess.run([sys.executable, str(script)], check=True)
    config.pluginmanager.register(PromiseReport(config), "promise-report")


# Files of few and long tests, the longest first, by the durations of a whole run. With loadfile
# they must begin first: at the end one core would wait for the other.
_LONGEST = (
    "tests/journeys/test_typed_docs.py",
    "tests/deployments/",
    "tests/journeys/",
    "tests/install/",
    "tests/upgrades/",
    "tests/bundle/",
    "tests/test_without_posix.py",
    "/test_kill.py",
)
_COLLECT_AFTER = (20_000, 20, 50)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    found = (at for at, name in enumerate(_LONGEST) if name in item.nodeid)
    return next(found, len(_LONGEST))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    # A million objects of modules and tests stay to the end. No collection of garbage need walk
    # them: neither Python's own, nor the one with which each server in this process begins.
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()
        # A tenth of what the tests took was collecting: with Python's own numbers the many objects
        # that live as long as a file are walked again and again. The same numbers as a server's.
        gc.set_threshold(*_COLLECT_AFTER)
