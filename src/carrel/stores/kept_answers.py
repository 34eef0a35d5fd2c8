"""Long answers of operations that changed something, kept in files until they have been read."""

from __future__ import annotations

import hashlib
import re
import secrets
import zlib
from pathlib import Path

from carrel.core.caller import library_name
from carrel.core.clock import Clock

_NAME = re.compile(r"[0-9a-f]{32}")
_KEPT_SECONDS = 24 * 3600.0
_MOST_PER_OWNER = 32


class KeptAnswerFiles:
    """One folder per caller, one compressed file per answer; old ones are removed."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock

    def keep(self, owner: str, content: bytes) -> str:
        folder = self._folder / library_name(owner)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = hashlib.sha256(content).hexdigest()[:32]
        being_written = folder / f".{secrets.token_hex(8)}"
        being_written.write_bytes(zlib.compress(content))
        being_written.replace(folder / name)
        self._sweep(folder)
        return name

    def find(self, owner: str, name: str) -> bytes | None:
        if not _NAME.fullmatch(name):
            return None
        try:
            return zlib.decompress((self._folder / library_name(owner) / name).read_bytes())
        except (FileNotFoundError, NotADirectoryError, zlib.error):
            return None

    def _sweep(self, folder: Path) -> None:
        ages = sorted(
            ((_written_at(each), each) for each in folder.iterdir()),
            key=lambda pair: pair[0],
            reverse=True,
        )
        oldest = self._clock.now().timestamp() - _KEPT_SECONDS
        for at, (written, each) in enumerate(ages):
            if at >= _MOST_PER_OWNER or written < oldest:
                each.unlink(missing_ok=True)


def _written_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
