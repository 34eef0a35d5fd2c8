"""Material to show Carrel with, written for it."""

from __future__ import annotations

from pathlib import Path

PAPERS_FOLDER = Path(__file__).parent / "papers"
