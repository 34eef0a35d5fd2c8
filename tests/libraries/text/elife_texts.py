"""Full texts of eLife from the shared data; tests that need them are skipped without."""

from __future__ import annotations

import tarfile
from functools import cache
from pathlib import Path

import pytest

ARCHIVE = Path(__file__).parents[4] / "shared" / "data" / "papers" / "elife_fulltext_md.tar.xz"


@cache
def elife_texts(count: int) -> dict[str, str]:
    """The first texts by name."""
    if not ARCHIVE.exists():
        pytest.skip(f"{ARCHIVE.name} is not here")
    found: dict[str, str] = {}
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            if member.name.endswith(".md") and len(found) < count:
                file = archive.extractfile(member)
                assert file is not None
                found[member.name] = file.read().decode()
    return found
