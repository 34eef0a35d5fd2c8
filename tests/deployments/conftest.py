"""The environment of the image, and the services that the deployment files name."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deployments.containers import Machine, make_image_environment
from tests.stores.conftest import postgres_server_url, postgres_url
from tests.stores.firestore_emulator import NoEmulatorError, firestore_emulator

__all__ = ["postgres_server_url", "postgres_url"]


@pytest.fixture(scope="session")
def image_programs() -> Iterator[Path]:
    """The bin folder of an environment that holds what the image holds. Its user is another one, so
    everybody may read it.
    """
    folder = Path(tempfile.mkdtemp(prefix="carrel-image-"))
    folder.chmod(0o755)
    try:
        yield make_image_environment(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def machine(image_programs: Path) -> Iterator[Machine]:
    folder = Path(tempfile.mkdtemp(prefix="carrel-machine-"))
    folder.chmod(0o755)
    machine = Machine(folder, image_programs)
    try:
        yield machine
    finally:
        machine.close()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def emulator() -> Iterator[str]:
    started = firestore_emulator()
    try:
        host = started.__enter__()
    except NoEmulatorError as reason:
        pytest.skip(str(reason))
    try:
        yield host
    finally:
        started.__exit__(None, None, None)
