"""Summaries that a model wrote, one file for each paper and template: they cost money, so they
outlive any snapshot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypedDict

import orjson

from carrel.core.paper_record import FiledSummary
from carrel.stores.static_folder.paper_assets import write_whole

SUMMARIES_NAME = "summaries"


class SummaryFiles:
    """`<folder>/<paper_id>/<template>.json`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def stamps(self) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for path in sorted(self._folder.glob("*/*.json")):
            status = path.stat()
            found[path.parent.name] = (
                f"{found.get(path.parent.name, '')} "
                f"{path.stem}:{status.st_size}:{status.st_mtime_ns}"
            )
        return found

    def of(self, paper_id: str) -> tuple[FiledSummary, ...]:
        return tuple(
            FiledSummary(**_read(path)["summary"])
            for path in sorted((self._folder / paper_id).glob("*.json"))
        )

    def has(self, paper_id: str, template: str, basis: str) -> bool:
        path = self._folder / paper_id / f"{template}.json"
        return path.is_file() and _read(path)["basis"] == basis

    def file(self, paper_id: str, summary: FiledSummary, basis: str) -> None:
        content = orjson.dumps(
            {"basis": basis, "summary": asdict(summary)}, option=orjson.OPT_INDENT_2
        )
        write_whole(self._folder / paper_id / f"{summary.template}.json", content)


class _Filed(TypedDict):
    basis: str
    summary: dict[str, Any]


def _read(path: Path) -> _Filed:
    value: _Filed = orjson.loads(path.read_bytes())
    return value
