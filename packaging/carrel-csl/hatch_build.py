"""Copies carrel.libraries.csl and the two modules it stands on into the wheel as `carrel_csl`.

A package of that name does not overlap with the package carrel: both can be installed, and either
be removed.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LIBRARIES = Path(__file__).resolve().parents[2] / "src" / "carrel" / "libraries"
ARCHIVE = LIBRARIES / "csl" / "data" / "styles.zip"
# Each module beside the library itself, with its place in the package.
SUPPORT = {"text/budget.py": "text/budget.py", "text/xml.py": "text/xml.py"}
_RENAMED = re.compile(r"\bcarrel\.libraries\.(csl\b|text\b)")


class CopyBuildHook(BuildHookInterface[Any]):
    """Makes the package in a scratch folder, from which the wheel is packed."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            raise RuntimeError("carrel-csl is built as a wheel only; install carrel to change it")
        if not ARCHIVE.is_file():
            raise RuntimeError("The citation styles are missing. Run `make styles` first")
        folder = Path(tempfile.mkdtemp(prefix="carrel-csl-"))
        copy_package(folder)
        build_data["force_include"][str(folder)] = "carrel_csl"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        for source in build_data["force_include"]:
            if Path(source).name.startswith("carrel-csl-"):
                shutil.rmtree(source)


def copy_package(target: Path) -> None:
    """Copy every module with its imports renamed, and the archive of styles as it is."""
    for source in sorted((LIBRARIES / "csl").glob("*.py")):
        _copy_module(source, target / source.name)
    for name, place in SUPPORT.items():
        _copy_module(LIBRARIES / name, target / place)
    (target / "text" / "__init__.py").write_text('"""Reading XML within a budget."""\n', "utf-8")
    (target / "py.typed").write_text("", "utf-8")
    (target / "data").mkdir()
    shutil.copyfile(ARCHIVE, target / "data" / ARCHIVE.name)


def _copy_module(source: Path, target: Path) -> None:
    text = _RENAMED.sub(
        lambda found: "carrel_csl" if found[1] == "csl" else "carrel_csl.text",
        source.read_text("utf-8"),
    )
    if "carrel.libraries" in text:
        raise RuntimeError(f"{source.name} imports what carrel-csl does not contain")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, "utf-8")
