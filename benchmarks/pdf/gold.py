"""Gold rows and their PDFs: a folder with gold.jsonl, or the set of the shared data folder."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SHARED = Path("../shared")
FETCHED = Path(".run/pdf-gold")


@dataclass(frozen=True)
class GoldPdf:
    row: dict[str, Any]
    path: Path

    @property
    def id(self) -> str:
        return str(self.row["id"])

    @property
    def half(self) -> str:
        """`tuned` or `held`: by the SHA-256 of the package, so that one's files stay together."""
        name = str(self.row.get("package") or self.row["id"])
        return "tuned" if hashlib.sha256(name.encode()).digest()[0] % 2 == 0 else "held"


def find_gold(folder: Path | None) -> tuple[list[GoldPdf], list[str]]:
    """The rows whose PDF is there, and the ids of the others."""
    gold = folder / "gold.jsonl" if folder else SHARED / "data/pdf-gold/gold.jsonl"
    if not gold.is_file():
        sys.exit(
            f"There is no {gold}. Give a folder with PDFs and a gold.jsonl: "
            "make bench-pdf DATA=folder"
        )
    rows = [json.loads(line) for line in gold.read_text("utf-8").splitlines() if line.strip()]
    places = folder or _fetch(gold, rows)
    files = _read_manifest(places)
    found, missing = [], []
    for row in rows:
        path = _find_file(row, places, files)
        if path is None:
            missing.append(str(row["id"]))
        else:
            found.append(GoldPdf(row, path))
    return found, missing


def _fetch(gold: Path, rows: list[dict[str, Any]]) -> Path:
    """The folder of PDFs of Debian packages, fetched once."""
    if not (FETCHED / "manifest.jsonl").is_file():
        FETCHED.mkdir(parents=True, exist_ok=True)
        print(f"Fetching the PDFs of {len(rows)} rows by Debian package into {FETCHED}")
        tool = SHARED / "tools/fetch_debian_pdfs"
        subprocess.run([sys.executable, str(tool), str(gold), "--to", str(FETCHED)], check=False)
    return FETCHED


def _read_manifest(folder: Path) -> dict[str, str]:
    manifest = folder / "manifest.jsonl"
    if not manifest.is_file():
        return {}
    lines = manifest.read_text("utf-8").splitlines()
    return {row["id"]: row["file"] for row in map(json.loads, filter(None, lines))}


def _find_file(row: dict[str, Any], folder: Path, files: dict[str, str]) -> Path | None:
    name = Path(str(row["path"])).name.removesuffix(".gz")
    tried = [
        folder / files[row["id"]] if row["id"] in files else None,
        folder / str(row.get("package") or "") / name,
        folder / f"{row['id']}.pdf",
        folder / name,
        SHARED.parent / str(row["path"]),
        SHARED / "data/services/pdfs" / name,
    ]
    return next((path for path in tried if path is not None and path.is_file()), None)
