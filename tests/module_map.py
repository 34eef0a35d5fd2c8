"""Writes the map of modules at the end of docs/architecture.md: `python -m tests.module_map`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "architecture.md"
HEADING = "## Every module\n"
INTRODUCTION = f"""{HEADING}
Drawn from the first sentence of each module by `make docs`. Paths are below `src/carrel`.
"""


def draw_map(package: Path = ROOT / "src" / "carrel") -> str:
    """The map: a heading for each folder, a line for each module."""
    return INTRODUCTION + "".join(_lines(package))


def _lines(package: Path) -> Iterator[str]:
    for folder in sorted({file.parent for file in package.rglob("*.py")}):
        name = str(folder.relative_to(package))
        about = _purpose(folder / "__init__.py")
        yield f"\n**`{'carrel' if name == '.' else name}`** {about}".rstrip() + "\n"
        modules = [file for file in sorted(folder.glob("*.py")) if file.name != "__init__.py"]
        if modules:
            yield "\n"
        yield from (f"- `{file.name}`: {_purpose(file)}\n" for file in modules)


def _purpose(file: Path) -> str:
    if not file.exists():
        return ""
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n", maxsplit=1)[0].split())


def main() -> int:
    before, _, _ = PAGE.read_text(encoding="utf-8").partition(HEADING)
    PAGE.write_text(before.rstrip("\n") + "\n\n" + draw_map(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
