"""Writes the scope table: `python -m carrel.cli.access_table docs/access.md`."""

from __future__ import annotations

import sys
from pathlib import Path

from carrel.core.catalogue import Catalogue
from carrel.policy.scopes import SCOPES
from carrel.settings import AuditSettings, Settings
from carrel.wiring.desk import open_desk

BEGIN = "<!-- scopes: written by make docs -->"
END = "<!-- scopes: end -->"


def scope_table(catalogue: Catalogue) -> str:
    """Every scope: what it allows, what it implies, and what requires it."""
    needed: dict[str, list[str]] = {name: [] for name in SCOPES}
    for operation in catalogue.operations.values():
        for scope in operation.scopes:
            needed[scope].append(f"`{operation.name}`")
    for resource in catalogue.resources.values():
        for scope in resource.scopes:
            needed[scope].append(f"`{resource.uri}`")
    for prompt in catalogue.prompts.values():
        for scope in prompt.scopes:
            needed[scope].append(f"prompt `{prompt.name}`")
    rows = [
        f"| `{scope.name}` | {scope.meaning} | {_implied(scope.name)} | "
        f"{', '.join(needed[scope.name])} |"
        for scope in SCOPES.values()
    ]
    return "\n".join(["| scope | allows | implies | needed by |", "|---|---|---|---|", *rows])


def _implied(name: str) -> str:
    return (
        "every scope"
        if name == "admin"
        else ", ".join(f"`{implied}`" for implied in SCOPES[name].implies)
    )


def with_table(page: str, table: str) -> str:
    """The page with the table between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table}\n\n{END}{after}"


def main(file: Path) -> None:
    desk = open_desk(Settings(audit=AuditSettings(enabled=False)))
    page = file.read_text(encoding="utf-8")
    file.write_text(with_table(page, scope_table(desk.catalogue)), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
