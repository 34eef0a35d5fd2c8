"""Only the time slices of `make bench-discovery`: python -m benchmarks.links FOLDER."""

import argparse
from pathlib import Path

from benchmarks.discovery_data import discovery_folder, elife, elife_metadata
from benchmarks.links.report import report


def main() -> None:
    """The tables of every slice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    metadata = elife_metadata(asked.folder)
    if metadata is None:
        raise SystemExit(f"no elife_metadata.jsonl.xz in or beside {asked.folder}")
    report(discovery_folder(asked.folder), elife(metadata))


if __name__ == "__main__":
    main()
