"""The folder of indexes beside a snapshot, and the manifest that names the one in use."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from carrel.core.process_name import process_name

# 2: papers and passages in parts of the search index. An earlier one is made again.
FORMAT = 2
# Which `fold_text` made the words: 2 folds the points of Hebrew and Arabic. An older index is still
# read; the next build or `carrel papers index` makes it again.
FOLDING = 2


@dataclass(frozen=True, slots=True)
class IndexManifest:
    """The snapshot an index was made from, its folder, and the model of its vectors, if any."""

    format: int
    snapshot_build_id: str
    folder: str
    papers: int
    vectors: str = ""
    vector_rows: str = ""
    folding: int = 1


def index_folder(snapshot: Path) -> Path:
    """The folder beside a snapshot that holds its indexes."""
    return snapshot.with_name(f"{snapshot.name}.index")


def manifest_file(snapshot: Path) -> Path:
    return index_folder(snapshot) / "manifest.json"


def read_manifest(snapshot: Path, *, any_format: bool = False) -> IndexManifest | None:
    """The manifest, or None where there is none that this version can read.

    With `any_format` also that of an earlier version, whose words cannot be searched any more.
    """
    try:
        facts = json.loads(manifest_file(snapshot).read_text(encoding="utf-8"))
        manifest = IndexManifest(**facts)
    except (OSError, ValueError, TypeError):
        return None
    names = (manifest.folder, manifest.vectors, manifest.vector_rows)
    is_plain = all(isinstance(name, str) and Path(name).name == name for name in names)
    return manifest if is_plain and (any_format or manifest.format == FORMAT) else None


def write_manifest(snapshot: Path, manifest: IndexManifest) -> None:
    target = manifest_file(snapshot)
    fresh = target.with_name(f"manifest.{process_name()}.part")
    with fresh.open("w", encoding="utf-8") as file:
        json.dump(asdict(manifest), file)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(target)
