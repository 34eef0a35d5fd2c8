"""`make bundle`: writes carrel-VERSION.mcpb and server.json, and has others' tools check them."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from bundle.description import ROOT, describe_product
from bundle.manifest import write_bundle
from bundle.registry import registry_entry
from bundle.validators import (
    InvalidError,
    NotCheckedError,
    check_bundle,
    check_entry_by_linter,
    check_entry_by_schema,
    fetch_from_npm,
)


def build(folder: Path) -> tuple[Path, Path]:
    """Write the bundle and the registry entry; gives their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    description = describe_product()
    with tempfile.TemporaryDirectory() as place:
        words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", place]
        subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
        (wheel,) = Path(place).glob("carrel-*.whl")
        bundle = write_bundle(description, wheel, folder)
    entry = folder / "server.json"
    text = json.dumps(registry_entry(description), indent=2, ensure_ascii=False) + "\n"
    entry.write_text(text, encoding="utf-8")
    return bundle, entry


def check(bundle: Path, entry: Path, folder: Path) -> list[str]:
    """What each validator says; raises where one refuses or cannot be had."""
    npm = fetch_from_npm(folder / "npm")
    return [
        f"{bundle.name}: {check_bundle(bundle, npm).splitlines()[0]}",
        f"{entry.name}: linter {check_entry_by_linter(entry, npm) or 'has no complaint'}",
        f"{entry.name}: {check_entry_by_schema(entry, folder / 'schema')}",
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bundle", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "dist")
    parser.add_argument(
        "--validators", type=Path, default=ROOT / ".run" / "bundle-validators", metavar="DIR"
    )
    options = parser.parse_args()
    bundle, entry = build(options.folder)
    for path in (bundle, entry):
        print(f"{path} ({path.stat().st_size:,} bytes)", flush=True)
    try:
        for line in check(bundle, entry, options.validators):
            print(line)
    except InvalidError as error:
        print(f"carrel: {error}", file=sys.stderr)
        return 1
    except NotCheckedError as error:
        print(f"carrel: Both are written, and not checked: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
