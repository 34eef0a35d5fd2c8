"""All published styles and locales in one ZIP archive, read by name without listing its members.

`places.tsv` in the archive has a line for each style and locale: its name, the offset and size of
the deflated member that holds it, and its start and length therein. The archive's comment says
where that table is. Dependent styles, which are small and alike, share members.
"""

import html
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from .errors import StylesMissingError

ARCHIVE = Path(__file__).with_name("data") / "styles.zip"
_LAYOUT = "1"  # raised when the archive changes its form
HEAD_BYTES = 8192
_DEPENDENTS_PER_MEMBER = 100
_TAIL_BYTES = 256
_COMMENT = re.compile(rb"carrel-styles (\S+) (\d+) (\d+) (\d+) (\d+)$")
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
    return _inflate(offset, size)[start : start + length].decode("utf-8", "replace")


def archived_names() -> list[str]:
    """The names of every style and locale in the archive, without reading what they are."""
    return [row.partition(b"\t")[0].decode() for row in _places().split(b"\n") if row]


@lru_cache(maxsize=1)
def archived_styles() -> list[StyleInfo]:
    """Every style in the archive, sorted by id."""
    rows = [row.split("\t") for row in _inflate(*_tables()[1]).decode().split("\n")[:-1]]
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


@lru_cache(maxsize=1)
def _tables() -> tuple[tuple[int, int], tuple[int, int]]:
    """Offset and size of the stored table of places, and of the deflated list of styles."""
    found = _read_comment(ARCHIVE)
    if found is None:
        raise StylesMissingError(str(ARCHIVE))
    places, places_size, styles, styles_size = (int(number) for number in found.groups()[1:])
    return (places, places_size), (styles, styles_size)


@lru_cache(maxsize=1)
def _places() -> bytes:
    return b"\n" + _bytes(*_tables()[0])


@lru_cache(maxsize=16)
def _inflate(offset: int, size: int) -> bytes:
    return zlib.decompress(_bytes(offset, size), -15)


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

    `edition` names the source, so that another one is noticed.
    """
    places: list[str] = []
    with ZipFile(target, "w") as archive:
        for name, text in notices.items():
            _add(archive, name, text.encode())
        for name, content in sorted(independent.items()):
            offset, size = _add(archive, f"{name}.csl", content)
            places.append(f"{name}\t{offset}\t{size}\t0\t{len(content)}\n")
        for name, content in sorted(locales.items()):
            offset, size = _add(archive, f"{name}.xml", content)
            places.append(f"{name}\t{offset}\t{size}\t0\t{len(content)}\n")
        names = sorted(dependent)
        for first in range(0, len(names), _DEPENDENTS_PER_MEMBER):
            group = names[first : first + _DEPENDENTS_PER_MEMBER]
            whole = b"".join(dependent[name] for name in group)
            offset, size = _add(archive, f"dependent/{group[0]}.csl", whole)
            start = 0
            for name in group:
                places.append(f"{name}\t{offset}\t{size}\t{start}\t{len(dependent[name])}\n")
                start += len(dependent[name])
        table = _add(archive, "places.tsv", "".join(places).encode(), ZIP_STORED)
        rows = "".join(_row(each) for each in _described({**dependent, **independent}.items()))
        listed = _add(archive, "styles.tsv", rows.encode())
        numbers = " ".join(str(number) for number in (*table, *listed))
        archive.comment = f"carrel-styles {_LAYOUT}:{edition} {numbers}".encode()


def _described(styles: Iterable[tuple[str, bytes]]) -> list[StyleInfo]:
    return sorted((describe_style(*style) for style in styles), key=lambda info: info.id)


def _row(info: StyleInfo) -> str:
    texts = (info.id, info.title, info.short_title, info.parent, info.citation_format)
    return "\t".join((*texts, " ".join(info.fields))) + "\n"


def _add(
    archive: ZipFile, name: str, content: bytes, method: int = ZIP_DEFLATED
) -> tuple[int, int]:
    """Add a member with a fixed date; returns offset and size of its data in the file."""
    member = ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    member.external_attr = 0o644 << 16
    archive.writestr(member, content, method, 9 if method == ZIP_DEFLATED else None)
    return member.header_offset + 30 + len(name.encode()), member.compress_size
