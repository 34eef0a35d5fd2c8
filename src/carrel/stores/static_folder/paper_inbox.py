"""The folder of papers that people handed in one by one. Every build of the corpus reads it as one
more source.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from carrel.stores.static_folder.paper_assets import write_whole

INBOX_NAME = "added"


class PaperInbox:
    """Files are named for their content, so that handing in the same thing twice makes one file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, content: bytes, suffix: str) -> Path:
        path = self.folder / f"{hashlib.sha256(content).hexdigest()[:32]}{suffix}"
        if not path.exists():
            write_whole(path, content)
        return path

    def take_back(self, path: Path) -> None:
        path.unlink(missing_ok=True)
