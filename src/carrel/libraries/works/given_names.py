"""Names that people gave to files which are kept under a hash: in a hidden file beside each."""

from __future__ import annotations

import re
from pathlib import Path

# As the inbox names files.
_BY_HASH = re.compile(r"[0-9a-f]{32}\.[a-z]{1,10}")
_LONGEST_NAME_BYTES = 2_000


def is_named_by_hash(path: Path) -> bool:
    """Whether the file's own name says nothing to people."""
    return _BY_HASH.fullmatch(path.name) is not None


def name_file(path: Path) -> Path:
    """Where the given name of a file is kept."""
    return path.with_name(f".{path.name}.name")


def given_name(path: Path) -> str | None:
    """The name that people know a file by; None where it is kept by its hash and has none."""
    if not is_named_by_hash(path):
        return path.name
    try:
        with name_file(path).open("rb") as file:
            name = file.read(_LONGEST_NAME_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    # It is shown and never opened; still only a last part.
    return name.replace("\\", "/").rpartition("/")[2].strip() or None
