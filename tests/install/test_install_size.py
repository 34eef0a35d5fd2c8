"""The base install stays small: the real wheel with the packages that it names, at their pins."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.install_size import (
    MEGABYTE,
    MOST_MEGABYTES,
    MOST_PACKAGES,
    PackageSourceError,
    install,
    measure_size,
)
from tests.journeys.installed import ROOT, build_wheel


def test_the_base_install_has_few_packages_and_is_small(tmp_path: Path) -> None:
    wheel = build_wheel(tmp_path / "wheel")
    environment = tmp_path / "environment"
    try:
        install(str(wheel), environment, constraints=ROOT / "requirements" / "run.txt")
    except PackageSourceError as error:
        if "unsatisfiable" in str(error):
            raise
        pytest.skip(f"no package source: {error}")
    size = measure_size(environment)
    assert 20 < size.packages <= MOST_PACKAGES
    assert size.size_bytes <= MOST_MEGABYTES * MEGABYTE
    # With byte code in units of du -sm, as decision 14 measured it.
    assert size.size_bytes < size.compiled_bytes <= MOST_MEGABYTES * 2**20
