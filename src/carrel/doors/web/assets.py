"""Style sheets, modules and icons, read once, under an address that changes with their content."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
}
_COMPRESSED = {".css", ".js", ".svg", ".webmanifest"}


@dataclass(frozen=True, slots=True)
class Asset:
    """One file as it is sent."""

    body: bytes
    compressed: bytes | None
    media_type: str


class StaticFiles:
    """All static files of the console by name, such as `desk/call.js`."""

    def __init__(self, packages: Iterable[str]) -> None:
        self._assets: dict[str, Asset] = {}
        digest = hashlib.sha256()
        for package in packages:
            folder = files(package) / "static"
            if folder.is_dir():
                for name, file in sorted(_list_files(folder, ""), key=lambda each: each[0]):
                    if name in self._assets:
                        raise ValueError(f"two files are called {name}")
                    body = file.read_bytes()
                    digest.update(f"{name}\0{len(body)}\0".encode() + body)
                    self._assets[name] = _read_asset(name, body)
        self.version = digest.hexdigest()[:16]
        self.root = f"/assets/{self.version}/"

    def address(self, name: str) -> str:
        """The address of a file. Raises KeyError, so that a page cannot name one that is absent."""
        if name not in self._assets:
            raise KeyError(f"no file of the console is called {name}")
        return self.root + name

    def find(self, version: str, name: str) -> Asset | None:
        """The file, whatever version is named: a page from before an upgrade still works."""
        return self._assets.get(name) if version else None

    def names(self) -> list[str]:
        return list(self._assets)


def _read_asset(name: str, body: bytes) -> Asset:
    suffix = name[name.rindex(".") :]
    packed = gzip.compress(body, 9, mtime=0) if suffix in _COMPRESSED else None
    return Asset(body, packed, _MEDIA_TYPES[suffix])


def _list_files(folder: Traversable, before: str) -> Iterable[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _list_files(entry, f"{before}{entry.name}/")
        elif not entry.name.startswith((".", "__")) and "." in entry.name:
            yield f"{before}{entry.name}", entry
