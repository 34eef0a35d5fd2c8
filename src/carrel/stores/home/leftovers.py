"""What killed writes left in a home: found by their names, and moved aside, never removed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from carrel.core.clock import Clock
from carrel.stores.home.lock import hold_home_alone

# Drafts carry the name of their process; a finished file never does.
_DRAFT = re.compile(r"^(?:\.part-|\.export-|\..+\.|.+\.)\d+-[0-9a-f]{12}(?:$|[-.])")
_SKIPPED = {"uploads", "audit"}


def find_leftovers(home: Path) -> list[Path]:
    """Drafts of writes; those of a process that still runs are among them."""
    return sorted(_drafts(home)) if home.is_dir() else []


def move_aside(home: Path, paths: Iterable[Path], clock: Clock) -> Path:
    """Moves drafts into one folder and returns it; raises HomeInUseError while others write."""
    aside = home / f"leftovers-{clock.now():%Y%m%dT%H%M%S}"
    with hold_home_alone(home):
        for path in paths:
            if path.exists():
                target = aside / path.relative_to(home)
                target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                path.replace(target)
    return aside


def _drafts(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as inside:
            entries = list(inside)
    except OSError:
        # Closed to this account, which the doctor says by itself; or gone meanwhile.
        return
    for entry in entries:
        if _DRAFT.match(entry.name):
            yield Path(entry.path)
        elif entry.is_dir(follow_symlinks=False) and not _is_skipped(entry.name):
            yield from _drafts(Path(entry.path))


def _is_skipped(name: str) -> bool:
    return name in _SKIPPED or name.startswith("leftovers-")
