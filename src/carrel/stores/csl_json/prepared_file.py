"""Writing a library to the disk before its lock is taken, so that nobody waits for a large file."""

from __future__ import annotations

import hashlib
import itertools
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from carrel.stores.csl_json.document import LibraryDocument
from carrel.stores.csl_json.working_folder import MARK_LENGTH

PREPARED = "prepared-"
_NUMBERS = itertools.count()
# Files of a writer that was killed while it prepared them.
_ABANDONED_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class PreparedFile:
    """A state on the disk twice, to be the file and a version, with the digest of its bytes."""

    revision: int
    mark: str
    draft: Path
    version: Path

    def discard(self) -> None:
        """Removes what was not taken into use."""
        self.draft.unlink(missing_ok=True)
        self.version.unlink(missing_ok=True)


def prepare_file(folder: Path, document: LibraryDocument, revision: int) -> PreparedFile:
    """Writes a state durably under names of its own; leaves nothing behind after an OSError."""
    _remove_abandoned(folder)
    stem = f"{PREPARED}{os.getpid()}-{next(_NUMBERS)}"
    draft, version = folder / f"{stem}.file", folder / f"{stem}.version"
    hashed = hashlib.sha256()
    try:
        with draft.open("wb") as file:
            for chunk in document.chunks():
                hashed.update(chunk)
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        shutil.copyfile(draft, version)
        with version.open("rb+") as file:
            os.fsync(file.fileno())
    except OSError:
        draft.unlink(missing_ok=True)
        version.unlink(missing_ok=True)
        raise
    return PreparedFile(revision, hashed.hexdigest()[:MARK_LENGTH], draft, version)


def _remove_abandoned(folder: Path) -> None:
    oldest = time.time() - _ABANDONED_SECONDS
    for path in folder.glob(f"{PREPARED}*"):
        try:
            if path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)
        except FileNotFoundError:
            continue
