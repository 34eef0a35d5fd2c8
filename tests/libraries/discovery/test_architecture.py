"""How the library is put together: short chains of imports, and files that a person can read."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import carrel.libraries.discovery

PACKAGE = "carrel.libraries.discovery"
FOLDER = Path(carrel.libraries.discovery.__file__).parent
LONGEST_CHAIN = 8
LONGEST_FILE = 460


def _modules() -> dict[str, Path]:
    found = {}
    for path in FOLDER.rglob("*.py"):
        parts = path.relative_to(FOLDER).with_suffix("").parts
        found[".".join((PACKAGE, *parts)).removesuffix(".__init__")] = path
    return found


def _imports(path: Path, modules: dict[str, Path]) -> Iterator[str]:
    """The modules of the library that a file imports anywhere, for types alone as well."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            assert not node.level, f"{path} has a relative import"
            for name in node.names:
                inner = f"{node.module}.{name.name}"
                yield inner if inner in modules else node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def test_no_chain_of_imports_has_more_than_eight_modules() -> None:
    modules = _modules()
    graph = {
        name: {one for one in _imports(path, modules) if one in modules}
        for name, path in modules.items()
    }

    @cache
    def longest(name: str) -> tuple[str, ...]:
        return (name, *max(map(longest, sorted(graph[name])), key=len, default=()))

    chains = [longest(name) for name in graph]
    too_long = [" > ".join(chain) for chain in chains if len(chain) > LONGEST_CHAIN]
    assert len(graph) > 20
    assert max(map(len, chains)) > 4, "imports were not read"
    assert not too_long


def test_no_file_is_too_long_to_read() -> None:
    lengths = {
        str(path.relative_to(FOLDER)): len(path.read_text(encoding="utf-8").splitlines())
        for path in _modules().values()
    }
    assert {name: count for name, count in lengths.items() if count > LONGEST_FILE} == {}
