"""`carrel papers export`: papers as text, or with `--snapshot DIR` all of them as a snapshot."""

from __future__ import annotations

import argparse
from pathlib import Path

from carrel.cli import rooms
from carrel.cli.options import usual_file_modes


def run(words: list[str]) -> int:
    """`--snapshot FILE` names the snapshot to read, as everywhere; a folder is written into."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--snapshot", type=Path)
    options, rest = parser.parse_known_args(words[1:])
    target: Path | None = options.snapshot
    if target is None or not _is_folder(target):
        return rooms.run_operation("papers", words)
    with usual_file_modes():
        return rooms.run_operation("papers", ["export-snapshot", str(target), *rest])


def _is_folder(path: Path) -> bool:
    """A folder that is there, or a name that no snapshot has."""
    return path.is_dir() or (not path.exists() and not path.suffix)
