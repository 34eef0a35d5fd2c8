"""The one-click bundle and the registry's entry: built, checked by others' tools, and started."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from bundle.__main__ import build
from bundle.description import ROOT, ServerRefusal, StdioServer
from bundle.server import choose_settings
from bundle.validators import (
    InvalidError,
    NotCheckedError,
    check_bundle,
    check_entry_by_linter,
    check_entry_by_schema,
    fetch_from_npm,
)
from carrel import __version__

pytestmark = pytest.mark.timeout(600)
_PAPER = "---\ntitle: Fish oil\nauthors: [Ada Example]\nyear: 1986\n---\nBlood viscosity fell.\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def unpacked(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked") / "Claude Extensions" / "carrel"
    with zipfile.ZipFile(built[0]) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def manifest(unpacked: Path) -> dict[str, Any]:
    return dict(json.loads((unpacked / "manifest.json").read_text("utf-8")))


@pytest.fixture(scope="module")
def npm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    kept = os.environ.get("CARREL_TEST_BUNDLE_VALIDATORS")
    try:
        return fetch_from_npm(Path(kept) if kept else tmp_path_factory.mktemp("npm"))
    except NotCheckedError as error:
        pytest.skip(f"no validators from npm: {error}")


def test_the_manifest_fits_the_rules_of_its_own_tool(built: tuple[Path, Path], npm: Path) -> None:
    assert "validation passes" in check_bundle(built[0], npm)


def test_the_tool_refuses_a_manifest_that_is_none(
    unpacked: Path, npm: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.mcpb"
    with zipfile.ZipFile(broken, "w") as archive:
        text = (unpacked / "manifest.json").read_text("utf-8")
        archive.writestr("manifest.json", text.replace('"type": "uv"', '"type": "perl"'))
    with pytest.raises(InvalidError):
        check_bundle(broken, npm)


def test_the_entry_fits_the_linter_of_npm(
    built: tuple[Path, Path], npm: Path, tmp_path: Path
) -> None:
    assert check_entry_by_linter(built[1], npm) == ""
    broken = tmp_path / "server.json"
    broken.write_text(built[1].read_text("utf-8").replace("io.github.", "io/github/"))
    with pytest.raises(InvalidError, match="reverse-DNS"):
        check_entry_by_linter(broken, npm)


def test_the_entry_fits_the_schema_that_the_registry_released(
    built: tuple[Path, Path], tmp_path: Path
) -> None:
    try:
        said = check_entry_by_schema(built[1], tmp_path / "schema")
    except NotCheckedError as error:
        pytest.skip(f"no schema: {error}")
    assert "fits v2025_12_11" in said
    entry = json.loads(built[1].read_text("utf-8"))
    entry["packages"][0]["version"] = "latest"
    broken = tmp_path / "server.json"
    broken.write_text(json.dumps(entry))
    with pytest.raises(InvalidError, match="latest"):
        check_entry_by_schema(broken, tmp_path / "schema")


def test_the_readme_says_whose_package_it_is(built: tuple[Path, Path]) -> None:
    """The registry looks for this in the description of the package, to the last letter."""
    name = json.loads(built[1].read_text("utf-8"))["name"]
    assert f"<!-- mcp-name: {name} -->\n" in (ROOT / "README.md").read_text("utf-8")


def test_versions_and_files_agree(manifest: dict[str, Any], unpacked: Path) -> None:
    assert manifest["version"] == __version__
    assert sorted(path.name for path in unpacked.iterdir()) == [
        "LICENSE",
        f"carrel-{__version__}-py3-none-any.whl",
        "icon.png",
        "icon_small.png",
        "manifest.json",
        "pyproject.toml",
        "server.py",
    ]
    project = tomllib.loads((unpacked / "pyproject.toml").read_text("utf-8"))
    assert project["tool"]["uv"]["sources"]["carrel"]["path"] in {
        path.name for path in unpacked.iterdir()
    }
    pins = project["tool"]["uv"]["constraint-dependencies"]
    assert any(pin.startswith("pydantic==") for pin in pins)
    assert any(pin.startswith("uvloop==") and "sys_platform != 'win32'" in pin for pin in pins)


def test_two_builds_are_the_same_to_the_byte(built: tuple[Path, Path], tmp_path: Path) -> None:
    again = build(tmp_path)
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in built]


def test_what_the_user_left_empty_is_not_set() -> None:
    variables = {"CARREL_HOME": "${user_config.home}", "CARREL_PAPERS_WATCH": " "}
    choose_settings(variables)
    assert variables == {}
    variables = {"CARREL_HOME": "/desk", "CARREL_PAPERS_WATCH": "/a, b/[papers]"}
    choose_settings(variables)
    assert variables["CARREL_HOME"] == "/desk"
    assert json.loads(variables["CARREL_PAPERS_WATCH"]) == ["/a, b/[papers]"]


def test_started_as_the_manifest_says_it_lists_its_tools_and_reads_the_folder(
    manifest: dict[str, Any], unpacked: Path, tmp_path: Path
) -> None:
    papers = tmp_path / "My papers, 2024"
    papers.mkdir()
    (papers / "oil.md").write_text(_PAPER, encoding="utf-8")
    server = manifest["server"]["mcp_config"]
    chosen = {"home": str(tmp_path / "desk"), "papers": str(papers)}
    words = [
        word.replace("${__dirname}", str(unpacked)) for word in (server["command"], *server["args"])
    ]
    variables = {
        name: value.replace(f"${{user_config.{key}}}", chosen[key])
        for (name, value), key in zip(server["env"].items(), ("home", "papers"), strict=True)
    }
    programs = tmp_path / "programs"
    _put_uv_alone_on_the_path(programs)
    variables |= {"PATH": str(programs), "HOME": str(tmp_path)}
    variables |= _package_source()
    try:
        with StdioServer(words, variables) as running:
            tools = running.ask("tools/list", {})["tools"]
            found = _ask_until_found(running)
    except ServerRefusal as error:
        if "Failed to fetch" in str(error) or "error sending request" in str(error):
            pytest.skip(f"no package source: {error}")
        raise
    assert [tool["name"] for tool in tools] == [tool["name"] for tool in manifest["tools"]]
    assert len(tools) > 30
    assert "Fish oil" in found
    assert (tmp_path / "desk").is_dir()


def _ask_until_found(running: StdioServer) -> str:
    """Each question waits for its answer; the folder is read beside them."""
    for _ in range(2000):
        arguments = {"query": "viscosity"}
        answer = running.ask("tools/call", {"name": "search_papers", "arguments": arguments})
        if "Fish oil" in str(answer):
            return str(answer)
    raise AssertionError("the folder was not read")


def _put_uv_alone_on_the_path(folder: Path) -> None:
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not installed")
    folder.mkdir()
    (folder / "uv").symlink_to(uv)
    # The Python that a host has; without one uv would fetch it.
    (folder / "python3").symlink_to(sys.executable)


def _package_source() -> dict[str, str]:
    """How this machine reaches packages, and its cache of them."""
    kept = ("UV_", "SSL_CERT", "REQUESTS_CA", "HTTP", "NO_PROXY", "ALL_PROXY")
    found = {name: value for name, value in os.environ.items() if name.upper().startswith(kept)}
    cache = subprocess.run(
        [sys.executable, "-m", "uv", "cache", "dir"], capture_output=True, text=True, check=True
    )
    return {"UV_CACHE_DIR": cache.stdout.strip(), **found}


def test_the_pins_of_the_bundle_are_those_of_the_tests(unpacked: Path) -> None:
    text = (unpacked / "pyproject.toml").read_text("utf-8")
    assert text.count("==") == (ROOT / "requirements" / "run.txt").read_text("utf-8").count("==")
