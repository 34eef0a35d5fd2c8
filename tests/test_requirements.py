"""The pinned requirements: one version everywhere, what running needs and no more, no addresses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "requirements"
_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^ ;\\]+)", re.MULTILINE)


def pins(name: str) -> dict[str, str]:
    return dict(_PIN.findall((FOLDER / name).read_text(encoding="utf-8")))


def test_running_needs_few_packages_and_neither_fastmcp_nor_tools_of_developers() -> None:
    run = pins("run.txt")
    # With the five that build a checkout; the base install itself has a bound in tests/install.
    assert len(run) <= 47
    assert not {"fastmcp", "mcp", "starlette", "pytest", "mypy", "lxml", "citeproc-py"} & set(run)


def test_the_image_and_developers_have_fastmcp() -> None:
    assert "fastmcp" in pins("image.txt")
    assert "fastmcp" in pins("dev.txt")


@pytest.mark.parametrize("name", ["run.txt", "image.txt", "build.txt"])
def test_every_file_pins_the_version_of_the_developers(name: str) -> None:
    developers = pins("dev.txt")
    found = pins(name)
    assert found
    assert {
        each: version for each, version in found.items() if developers.get(each, version) != version
    } == {}


@pytest.mark.parametrize("name", ["dev.txt", "run.txt", "image.txt", "build.txt", "styles.txt"])
def test_no_file_names_an_index_and_every_package_has_a_hash(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert "://" not in text
    assert text.count("--hash=sha256:") >= len(pins(name)) > 0
