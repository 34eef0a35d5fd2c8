"""What the pages name exists: linked files, paths of the tree, and targets of the Makefile."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.module_map import HEADING, PAGE, draw_map

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    page
    for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.md"))
    if "demo" not in page.parts and page.name != "CHANGELOG.md"
)
# Decisions tell what was found when they were made; their paths may be of then.
TELLING_OF_NOW = [page for page in PAGES if "decisions" not in page.parts]
_TOP = {path.name for path in (ROOT / "src" / "carrel").iterdir() if path.is_dir()} | {
    "tests",
    "docs",
    "src",
    "benchmarks",
    "deployments",
    "requirements",
}
_NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=_NAMES)
def test_every_linked_file_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)]
    missing = [
        target
        for target in targets
        if target and "://" not in target and not (page.parent / target).exists()
    ]
    assert not missing


@pytest.mark.parametrize(
    "page", TELLING_OF_NOW, ids=[str(page.relative_to(ROOT)) for page in TELLING_OF_NOW]
)
def test_every_path_of_the_tree_that_a_page_names_exists(page: Path) -> None:
    assert not [path for path in _paths_named(page) if not _exists(path)]


def test_the_map_of_modules_is_drawn_from_the_modules() -> None:
    page = PAGE.read_text(encoding="utf-8")
    drawn = page[page.index(HEADING) :]
    assert drawn == draw_map(), "`make docs` draws it again"


def test_every_module_says_what_it_is_for() -> None:
    silent = [line for line in draw_map().splitlines() if line.endswith(":")]
    assert not silent


def test_every_make_target_that_a_page_names_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"(?m)^([a-z][a-z-]*):(?!=)", makefile))
    named = {
        (str(page.relative_to(ROOT)), target)
        for page in TELLING_OF_NOW
        for target in re.findall(r"`make ([a-z][a-z-]*)", page.read_text(encoding="utf-8"))
    }
    assert not {(page, target) for page, target in named if target not in targets}


def _paths_named(page: Path) -> list[str]:
    """Words in code quotes that begin with a folder of ours, such as `rooms/papers/service.py`."""
    found = re.findall(r"`([\w./{},*-]+/[\w./{},*-]*)`", page.read_text(encoding="utf-8"))
    return [word for word in found if word.split("/")[0] in _TOP]


def _exists(path: str) -> bool:
    choices = re.search(r"\{([^}]*)\}", path)
    if choices is not None:
        return all(
            _exists(path.replace(choices.group(0), choice)) for choice in choices[1].split(",")
        )
    places = (ROOT, ROOT / "src" / "carrel")
    return any(next(iter(place.glob(path.rstrip("/"))), None) is not None for place in places)
