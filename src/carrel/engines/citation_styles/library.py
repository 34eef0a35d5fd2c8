"""Where styles and locales are: packages that carry the data, or a folder of the user's."""

from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path


@lru_cache(maxsize=4)
def package_folder(distribution_name: str, folder: str) -> Path | None:
    """A folder inside an installed distribution, found without importing its code."""
    try:
        found = Path(str(distribution(distribution_name).locate_file(folder)))
    except PackageNotFoundError:
        return None
    return found if found.is_dir() else None


@lru_cache(maxsize=128)
def packaged_locale(name: str) -> str | None:
    folder = package_folder("citeproc-py", "citeproc/data/locales")
    if folder is None or not name.replace("-", "").isalnum():
        return None
    path = folder / f"locales-{name}.xml"
    return path.read_text("utf-8") if path.is_file() else None
