"""Anchors of the audit log in a file of their own, which may lie on another volume than the log."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

from carrel.policy.audit_anchor import AnchorEvent, AnchorTip, last_tip, make_anchor, read_ledger
from carrel.stores.audit_signing import Ed25519Signer, load_or_make_key
from carrel.stores.file_lock import hold_lock
from carrel.stores.json_lines.audit import OPEN_FLAGS, read_at

log = logging.getLogger("carrel.audit")

# Beyond this the file is written anew as one checkpoint; about twenty thousand anchors, a fortnight
# of a busy server.
DEFAULT_FILE_BYTES = 8 * 1024 * 1024
_TAIL_BYTES = 64 * 1024


class AnchorFile:
    """Appends signed anchors, one line each, shared by all processes that write the log."""

    def __init__(
        self,
        file: Path,
        key_file: Path,
        count_file: Path,
        *,
        max_file_bytes: int = DEFAULT_FILE_BYTES,
    ) -> None:
        self._file = file
        self._count_file = count_file
        self._key_file = key_file
        self._max_file_bytes = max_file_bytes
        self._signer: Ed25519Signer | None = None

    def fingerprint(self) -> str:
        return self._load_signer().fingerprint

    def is_empty(self) -> bool:
        return not self._file.exists() or self._file.stat().st_size == 0

    def add(self, event: AnchorEvent, facts: Mapping[str, object]) -> AnchorTip:
        signer = self._load_signer()
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._lock():
            descriptor = os.open(
                self._file, os.O_RDWR | os.O_APPEND | os.O_CREAT | OPEN_FLAGS, 0o600
            )
            counter = -1
            try:
                counter = self._open_count()
                size = os.fstat(descriptor).st_size
                ends_torn = size > 0 and read_at(descriptor, size - 1, 1) != b"\n"
                last = _read_tip(descriptor, size)
                if last is not None:
                    # Whoever wrote it may have been killed before counting it; the count is never
                    # more than one behind.
                    _write_count(counter, last)
                line, tip = make_anchor(last, event, facts, datetime.now(UTC), signer)
                text = (b"\n" if ends_torn else b"") + line + b"\n"
                if os.write(descriptor, text) < len(text):
                    raise OSError(f"the anchor could only be written in part to {self._file}")
                os.fsync(descriptor)
                _write_count(counter, tip)
                if size + len(text) > self._max_file_bytes:
                    tip = self._compact(signer)
                    _write_count(counter, tip)
            finally:
                os.close(descriptor)
                if counter >= 0:
                    os.close(counter)
        log.info(
            "audit head",
            extra={
                "number": tip.number,
                "digest": tip.digest,
                "key": signer.fingerprint,
                "event": event.value,
            },
        )
        return tip

    def _compact(self, signer: Ed25519Signer) -> AnchorTip:
        """Replaces the file by one checkpoint; a file with problems is left as it is."""
        ledger = read_ledger(read_anchor_lines(self._file), signer.check)
        if ledger.tip is None:
            raise OSError(f"{self._file} has no anchors that can be read")
        if ledger.problems:
            log.error(
                "audit anchors are not whole, and are not compacted",
                extra={"problems": ledger.problems[:5]},
            )
            return ledger.tip
        line, tip = make_anchor(
            ledger.tip, AnchorEvent.CHECKPOINT, ledger.to_facts(), datetime.now(UTC), signer
        )
        draft = self._file.with_name(f".{self._file.name}.new")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | OPEN_FLAGS, 0o600)
        try:
            os.write(descriptor, line + b"\n")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        draft.replace(self._file)
        # What is left is mostly chains; the next checkpoint waits until as much again has come.
        self._max_file_bytes = max(self._max_file_bytes, 2 * len(line))
        return tip

    def _open_count(self) -> int:
        """Opened before the anchor is written, so that every anchor can be counted."""
        self._count_file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return os.open(self._count_file, os.O_RDWR | os.O_CREAT | OPEN_FLAGS, 0o600)

    def _load_signer(self) -> Ed25519Signer:
        if self._signer is None:
            if not self._key_file.exists() and not self.is_empty():
                log.error("the key of the audit anchors is missing; a new one is made, and verify "
"will say so",
                          extra={"key_file": str(self._key_file)})  # fmt: skip
            self._signer = load_or_make_key(self._key_file)
        return self._signer

    def _lock(self) -> AbstractContextManager[None]:
        return hold_lock(self._file.with_name(self._file.name + ".lock"), wait_seconds=None)


def read_anchor_lines(file: Path) -> Iterator[bytes]:
    """Every line of a file of anchors; none where there is no file."""
    try:
        with file.open("rb") as lines:
            yield from lines
    except FileNotFoundError:
        return


def read_count(file: Path) -> AnchorTip | None:
    """The number and hash of the newest anchor as counted beside the log, or None."""
    try:
        number, digest = file.read_text(encoding="ascii").split()
        return AnchorTip(int(number), digest)
    except (OSError, ValueError):
        return None


def _write_count(descriptor: int, tip: AnchorTip) -> None:
    """Writes in place within one sector, so that a kill leaves the old count or the new."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, f"{tip.number:020d} {tip.digest}\n".encode("ascii"))


def _read_tip(descriptor: int, size: int) -> AnchorTip | None:
    """The last whole anchor. A checkpoint may be longer than the tail that is looked at first."""
    window = _TAIL_BYTES
    while size:
        start = max(0, size - window)
        lines = read_at(descriptor, start, size - start).splitlines()
        found = last_tip(lines if start == 0 else lines[1:])
        if found is not None or start == 0:
            return found
        window *= 8
    return None
