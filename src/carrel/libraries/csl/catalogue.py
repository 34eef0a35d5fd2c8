"""Styles and locales by name, from a folder of the user's own or from the package's archive."""

import difflib
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from .archive import (
    HEAD_BYTES,
    StyleInfo,
    archived_names,
    archived_styles,
    describe_style,
    read_archived,
)
from .errors import StyleBrokenError, StyleNotFoundError
from .locale import XmlRefusedError, parse_csl_xml
from .style import Style, read_style

SHORT_NAMES = {
    "ama": "american-medical-association", "apa": "apa", "chicago": "chicago-author-date",
    "harvard": "harvard-cite-them-right", "ieee": "ieee", "mla": "modern-language-association",
    "nature": "nature", "vancouver": "nlm-citation-sequence",
}  # fmt: skip
_style_name = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_locale_name = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_id_prefix = re.compile(r"^https?://(?:www\.)?zotero\.org/styles/")
_parent_limit = 4
_longest_name = 80


@dataclass(frozen=True, slots=True)
class Locales:
    """Gives the XML of a locale by its name: from the folder first, then from the archive."""

    folder: Path | None = None

    def __call__(self, name: str) -> str | None:
        return _locale_xml(name, self.folder) if _locale_name.fullmatch(name) else None


@lru_cache(maxsize=256)
def _locale_xml(name: str, folder: Path | None) -> str | None:
    if folder is not None and (path := folder / f"locales-{name}.xml").is_file():
        return path.read_text("utf-8", "replace")
    return read_archived(f"locales-{name}")


PACKAGED_LOCALES = Locales()


def load_style(style: str | Path, *, folder: Path | None = None) -> Style:
    """A style by short name, id, address or XML text; a `Path` is read as a file.

    A style in `folder` comes before one of the same id in the archive.
    """
    locales = Locales(folder)
    if isinstance(style, Path):
        if not style.is_file():
            raise StyleNotFoundError(str(style))
        return _independent(style.read_text("utf-8", "replace"), style.stem, folder, locales, 0)
    if "<" in style:
        return _independent(style, "?", folder, locales, 0)
    try:
        name = style_id(style)
        xml = style_xml(name, folder)
    except StyleNotFoundError:
        raise StyleNotFoundError(style, _alike_styles(style, folder)) from None
    return _independent(xml, name, folder, locales, 0)


def _alike_styles(name: str, folder: Path | None) -> list[str]:
    """Ids that somebody who wrote this may have meant."""
    words = " ".join(re.findall(r"[a-z0-9]+", name.lower()[:_longest_name]))
    found = [info.id for info in list_styles(words, folder=folder)[:3]] if words else []
    if found:
        return found
    known = [*SHORT_NAMES, *(info.id for info, _ in _searchable_styles(folder))]
    folded = name.strip().lower()[:_longest_name]
    first = [each for each in known if each[:1] == folded[:1]]
    return difflib.get_close_matches(folded, first, n=3, cutoff=0.7)


def list_locales() -> list[str]:
    """The codes of every locale in the package, such as `en-GB`."""
    names = (name for name in archived_names() if name.startswith("locales-"))
    return sorted(name.removeprefix("locales-") for name in names)


def style_id(name: str) -> str:
    """`APA`, `apa.csl` and the address of the style all mean `apa`."""
    bare = _id_prefix.sub("", name.strip()).removesuffix(".csl")
    bare = SHORT_NAMES.get(bare.lower(), bare)
    if not _style_name.fullmatch(bare) or ".." in bare:
        raise StyleNotFoundError(name)
    return bare


def style_xml(name: str, folder: Path | None) -> str:
    if folder is not None:
        for path in (folder / f"{name}.csl", folder / "dependent" / f"{name}.csl"):
            if path.is_file():
                return path.read_text("utf-8", "replace")
    found = read_archived(name)
    if found is None:
        raise StyleNotFoundError(name)
    return found


def _independent(xml: str, name: str, folder: Path | None, locales: Locales, depth: int) -> Style:
    """The style itself, or the one it depends on, under its own name and language."""
    head = xml[:20_000]
    if "independent-parent" not in head or "<citation" in xml:
        return read_style(xml, locales, name=name)
    try:
        root = parse_csl_xml(xml)
    except XmlRefusedError as problem:
        raise StyleBrokenError(name, f"{problem}.") from None
    info = root.find("info")
    links = info.findall("link") if info is not None else []
    parent = next(
        (link.get("href", "") for link in links if link.get("rel") == "independent-parent"), ""
    )
    if not parent or depth >= _parent_limit:
        raise StyleBrokenError(name, "it depends on a style that it does not name.")
    parent_id = style_id(parent)
    found = _independent(style_xml(parent_id, folder), parent_id, folder, locales, depth + 1)
    title = (info.findtext("title") or "") if info is not None else ""
    own_id = (info.findtext("id") or name) if info is not None else name
    return replace(
        found,
        id=own_id,
        title=title or found.title,
        default_locale=root.get("default-locale") or found.default_locale,
    )


def list_styles(query: str = "", *, folder: Path | None = None) -> list[StyleInfo]:
    """The styles whose id, title or short title hold all words of the query; the closest first."""
    words = query.lower().split()
    found = _searchable_styles(folder)
    if not words:
        return [info for info, _ in found]
    whole = " ".join(words)
    wanted = SHORT_NAMES.get(whole, whole)
    hits = [info for info, text in found if all(word in text for word in words)]
    if wanted != whole:
        hits += [info for info, _ in found if info.id == wanted and info not in hits]
    return sorted(
        hits,
        key=lambda info: (
            info.id != wanted,
            info.short_title.lower() != whole,
            bool(info.parent),
            len(info.title),
        ),
    )


def _searchable_styles(folder: Path | None) -> list[tuple[StyleInfo, str]]:
    """Every style with its searched text; the user's own hide archived ones of the same id."""
    archived = _archived()
    if folder is None:
        return archived
    paths = [*folder.glob("*.csl"), *folder.glob("dependent/*.csl")]
    own = [_searchable(describe_style(path.stem, _head(path))) for path in paths]
    taken = {info.id for info, _ in own}
    others = (pair for pair in archived if pair[0].id not in taken)
    return sorted([*own, *others], key=lambda pair: pair[0].id)


@lru_cache(maxsize=1)
def _archived() -> list[tuple[StyleInfo, str]]:
    return [_searchable(info) for info in archived_styles()]


def _searchable(info: StyleInfo) -> tuple[StyleInfo, str]:
    return info, f"{info.id} {info.title} {info.short_title}".lower()


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD_BYTES)
