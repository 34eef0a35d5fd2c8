"""The areas of the tree that are judged: which sources, and which tests must notice a change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True, slots=True)
class Area:
    """Sources that are changed, and the tests that are asked; both are paths below the root."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]

    def files(self, root: Path = ROOT) -> list[Path]:
        """Every source file of the area, in a fixed order."""
        found: set[Path] = set()
        for source in self.sources:
            place = root / source
            found.update([place] if place.is_file() else place.rglob("*.py"))
        return sorted(found)


AREAS: Mapping[str, Area] = {
    "policy": Area(
        ("src/carrel/policy",),
        (
            "tests/policy",
            "tests/access",
            "tests/stores/test_audit_tampering.py",
            "tests/stores/test_json_lines_audit.py",
        ),
    ),
    "doors": Area(("src/carrel/doors",), ("tests/doors", "tests/access")),
    "references": Area(
        ("src/carrel/rooms/references", "src/carrel/stores/csl_json"),
        (
            "tests/rooms/references",
            "tests/stores/test_csl_json_library.py",
            "tests/stores/test_library_journal.py",
            "tests/stores/test_library_links.py",
            "tests/stores/test_library_outside_saves.py",
        ),
    ),
    "knowledge": Area(
        ("src/carrel/rooms/knowledge",),
        (
            "tests/rooms/knowledge",
            "tests/stores/test_sqlite_knowledge.py",
            "tests/cli/test_knowledge.py",
        ),
    ),
    "citations": Area(("src/carrel/libraries/csl",), ("tests/libraries/csl",)),
    "research": Area(
        ("src/carrel/rooms/research", "src/carrel/libraries/ranking"),
        ("tests/rooms/research", "tests/libraries/ranking"),
    ),
}
