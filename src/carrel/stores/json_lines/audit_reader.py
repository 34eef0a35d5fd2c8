"""Reads the audit log that is kept in files, with its anchors, to list or verify it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from carrel.policy.audit import chain_heads
from carrel.policy.audit_anchor import AnchorEvent, AnchorLedger, read_ledger
from carrel.policy.audit_verification import verify_count
from carrel.stores.audit_signing import check_from_pem
from carrel.stores.json_lines.anchors import (
    AnchorFile,
    read_anchor_lines,
    read_count,
)
from carrel.stores.json_lines.audit import AnchorPlaces, read_lines, verify_files
from carrel.stores.json_lines.newest_lines import read_newest_lines


class AuditFileReader:
    """The log in its files, beside the files of its anchors."""

    def __init__(self, file: Path, places: AnchorPlaces) -> None:
        self._file = file
        self._places = places

    def lines(self) -> Iterator[bytes]:
        return read_lines(self._file)

    def newest_lines(self, before: str | None = None) -> Iterator[tuple[str, bytes]]:
        return read_newest_lines(self._file, before)

    def ledger(self) -> AnchorLedger:
        key = self._places.key
        check = check_from_pem(key.read_bytes(), str(key)) if key.is_file() else None
        return read_ledger(read_anchor_lines(self._places.anchors), check)

    def storage_problems(self, ledger: AnchorLedger) -> list[str]:
        """What is wrong with full files, and with the count of anchors beside the log."""
        counted = read_count(self._places.counter)
        return [*verify_files(self._file, ledger), *verify_count(self.ledger(), counted)]

    def anchor_restored(self) -> None:
        """Anchors that a backup replaced the log, so that it does not look cut; raises OSError."""
        AnchorFile(*self._places).add(AnchorEvent.RESTORED, {"chains": chain_heads(self.lines())})
