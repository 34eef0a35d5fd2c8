"""The home folder belongs to one account: nobody else on the machine may read what is in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

FOLDER_MODE = 0o700
_OTHERS = 0o077
# Folders whose many files the mode of the home protects: looking at each would cost every start.
_MANY_FILES = frozenset({"papers", "demo"})


def make_private(home: Path) -> None:
    """Makes the home for its owner alone, or closes it to others; leaves others' files alone."""
    try:
        home.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
    except OSError:
        # Said by whoever wants to write there.
        return
    for path, mode in readable_by_others(home):
        try:
            path.chmod(mode)
        except OSError:
            continue


def is_open_to_others(home: Path) -> bool:
    """Whether other accounts of this machine could look into the home."""
    return home.is_dir() and os.name != "nt" and bool(home.stat().st_mode & 0o007)


def readable_by_others(home: Path) -> Iterator[tuple[Path, int]]:
    """Own files in the home that others can read, with the mode each should have.

    What the owner made read-only stays so.
    """
    own = getattr(os, "geteuid", None)
    if own is None or not home.is_dir():
        # Windows: folders of a person's profile are closed to others by inheritance.
        return
    for path in (home, *_kept_in(home)):
        try:
            facts = path.lstat()
        except OSError:
            continue
        if path.is_symlink() or facts.st_uid != own() or not facts.st_mode & _OTHERS:
            continue
        yield path, stat.S_IMODE(facts.st_mode) & ~_OTHERS


def _kept_in(home: Path) -> Iterator[Path]:
    try:
        inside = sorted(home.iterdir())
    except OSError:
        return
    for path in inside:
        yield path
        if path.is_dir() and not path.is_symlink() and path.name not in _MANY_FILES:
            try:
                yield from (each for each in sorted(path.iterdir()) if each.is_file())
            except OSError:
                continue
