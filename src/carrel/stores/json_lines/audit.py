"""The audit log as JSON lines: in rotating files that expire, or on a standard stream."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, NamedTuple

import orjson

from carrel.core.clock import Clock, SystemClock
from carrel.policy.audit import QueueOptions, Retention, chain_heads, hash_in
from carrel.policy.audit_anchor import AnchorEvent, AnchorLedger, Anchors
from carrel.stores.audit_queue import AuditNotice, PartlyWrittenError, QueuedAudit
from carrel.stores.file_lock import hold_lock

# Not inherited by child processes, and never with translated line ends.
OPEN_FLAGS: int = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_STAMP = "%Y%m%dT%H%M%S.%f"
_SPACE_SECONDS = 1.0


class AnchorPlaces(NamedTuple):
    """The files that anchors need: their own, the key, and the count beside the log."""

    anchors: Path
    key: Path
    counter: Path

    @classmethod
    def of(cls, file: Path, folder: Path | None, key: Path | None) -> AnchorPlaces:
        """Those of a log in a file, in `folder` or beside it, with a key of its own or `key`."""
        folder = folder or file.parent / "anchors"
        return cls(
            folder / f"{file.stem}.anchors.jsonl",
            key or folder / f"{file.stem}.key.pem",
            file.with_name(f"{file.stem}.count"),
        )


class JsonLinesAudit(QueuedAudit):
    """The queue in front of the files."""

    def __init__(
        self,
        file: Path,
        *,
        retention: Retention | None = None,
        open_anchors: Callable[[], Anchors] | None = None,
        options: QueueOptions | None = None,
        clock: Clock | None = None,
    ) -> None:
        sink = JsonLinesSink(file, retention or Retention(), clock or SystemClock())
        super().__init__(sink, open_anchors=open_anchors, options=options, clock=clock)


class JsonLinesSink:
    """Appends lines to the current file; full files are renamed and later expire."""

    def __init__(self, file: Path, retention: Retention, clock: Clock) -> None:
        self._file = file
        self._retention = retention
        self._clock = clock
        self._descriptor: int | None = None
        self._is_torn = False
        self._rotated: list[Path] = []
        self._space: tuple[float, str | None] = (float("-inf"), None)

    def append(self, lines: Sequence[bytes]) -> None:
        descriptor = self._current()
        start = b"\n" if self._is_torn else b""
        text = b"".join((start, *(line + b"\n" for line in lines)))
        written = os.write(descriptor, text)
        if written < len(text):
            # What is cut off is written again from its first byte on the next try; the reader
            # passes over the torn line.
            whole = text[len(start) : written].count(b"\n")
            self._is_torn = text[:written][-1:] != b"\n"
            raise PartlyWrittenError(whole)
        self._is_torn = False

    def last_hash(self) -> str | None:
        """The hash of the last line of the newest file that has one."""
        for file in reversed(audit_files(self._file)):
            with contextlib.suppress(OSError), file.open("rb") as lines:
                for line in reversed(_tail(lines.fileno())):
                    found = hash_in(line)
                    if found is not None:
                        return found
        return None

    def lines(self) -> Iterator[bytes]:
        return read_lines(self._file)

    def sync(self) -> None:
        if self._descriptor is not None:
            os.fsync(self._descriptor)

    def maintain(self, anchors: Anchors | None, *, is_thorough: bool) -> list[AuditNotice]:
        rotated, self._rotated = self._rotated, []
        notices = []
        for file in rotated:
            facts = _facts_of(file)
            if anchors is not None:
                anchors.add(AnchorEvent.ROTATED, facts)
            notices.append(AuditNotice("rotated", f"audit://files/{file.name}", facts))
        if rotated or is_thorough:
            notices.extend(self._expire(anchors))
        return notices

    def space_problem(self) -> str | None:
        now = self._clock.monotonic()
        if now - self._space[0] >= _SPACE_SECONDS:
            self._space = (now, self._look_for_space())
        return self._space[1]

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _look_for_space(self) -> str | None:
        place = self._file.parent
        while not place.exists() and place != place.parent:
            place = place.parent
        try:
            free = shutil.disk_usage(place).free
        except OSError as error:
            return f"{self._file.parent}: {error.strerror}"
        if not place.is_dir() or not os.access(place, os.W_OK):
            return f"{self._file.parent} cannot be written"
        if free < self._retention.min_free_bytes:
            return (
                f"{free} bytes are free where the audit log is kept, and "
                f"{self._retention.min_free_bytes} are left alone"
            )
        return None

    def _current(self) -> int:
        """The descriptor of the current file; another worker may have renamed ours."""
        if self._descriptor is not None:
            mine = os.fstat(self._descriptor)
            if (
                mine.st_nlink
                and mine.st_size < self._retention.max_file_bytes
                and self._is_still_named(mine)
            ):
                return self._descriptor
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._lock():
            self.close()
            with contextlib.suppress(FileNotFoundError):
                if self._file.stat().st_size >= self._retention.max_file_bytes:
                    full = _free_name(self._file, self._clock.now())
                    self._file.rename(full)
                    self._rotated.append(full)
            self._descriptor = os.open(
                self._file, os.O_RDWR | os.O_APPEND | os.O_CREAT | OPEN_FLAGS, 0o600
            )
            size = os.fstat(self._descriptor).st_size
            # Somebody may have been killed, or lost power, in the middle of a line.
            self._is_torn = size > 0 and read_at(self._descriptor, size - 1, 1) != b"\n"
        return self._descriptor

    def _lock(self) -> AbstractContextManager[None]:
        return hold_lock(self._file.with_name(self._file.name + ".lock"), wait_seconds=None)

    def _is_still_named(self, mine: os.stat_result) -> bool:
        try:
            named = self._file.stat()
        except FileNotFoundError:
            return False
        return (named.st_dev, named.st_ino) == (mine.st_dev, mine.st_ino)

    def _expire(self, anchors: Anchors | None) -> list[AuditNotice]:
        """Removes the oldest full files, each after an anchor says so."""
        notices = []
        with self._lock():
            for file in self._expired_files():
                with file.open("rb") as lines:
                    heads = chain_heads(lines)
                facts: dict[str, object] = {**_facts_of(file), "chains": heads}
                if anchors is not None:
                    anchors.add(AnchorEvent.EXPIRED, facts)
                file.unlink()
                shown = {name: value for name, value in facts.items() if name != "chains"}
                notices.append(
                    AuditNotice(
                        "expired", f"audit://files/{file.name}", {**shown, "chains": len(heads)}
                    )
                )
        return notices

    def _expired_files(self) -> list[Path]:
        full = [file for file in audit_files(self._file) if file != self._file]
        sizes = {file: file.stat().st_size for file in audit_files(self._file)}
        left = sum(sizes.values())
        found = []
        for file in full:
            is_old = (
                self._retention.max_age is not None
                and self._clock.now() - _last_time(file) > self._retention.max_age
            )
            is_too_much = (
                self._retention.max_total_bytes is not None
                and left > self._retention.max_total_bytes
            )
            if not is_old and not is_too_much:
                break
            left -= sizes[file]
            found.append(file)
        return found


def audit_files(file: Path) -> list[Path]:
    """The full files in order, then the current one."""
    named = re.compile(re.escape(file.stem) + r"\.[0-9]{8}T[0-9.]+" + re.escape(file.suffix))
    full = sorted(
        part
        for part in file.parent.glob(f"{file.stem}.*{file.suffix}")
        if named.fullmatch(part.name)
    )
    return [*full, *([file] if file.exists() else [])]


def read_lines(file: Path) -> Iterator[bytes]:
    """Every line of the log, oldest file first."""
    for part in audit_files(file):
        with part.open("rb") as lines:
            yield from lines


def verify_files(file: Path, ledger: AnchorLedger) -> list[str]:
    """Problems: statements of the anchors that full files contradict."""
    problems = []
    for name, anchored in ledger.files.items():
        part = file.with_name(name)
        if not part.is_file():
            problems.append(f"the file {name} is missing, and no anchor says that it expired")
        elif (
            part.stat().st_size < anchored.size_bytes
            or _digest(part, anchored.size_bytes) != anchored.digest
        ):
            problems.append(f"the file {name} is not as it was when it was full")
    return problems


def _facts_of(file: Path) -> dict[str, object]:
    size = file.stat().st_size
    return {"file": file.name, "bytes": size, "sha256": _digest(file, size)}


def _digest(file: Path, size: int) -> str:
    """The hash of the first `size` bytes; another worker may still append to a renamed file."""
    found = hashlib.sha256()
    with file.open("rb") as content:
        while size > 0 and (piece := content.read(min(size, 1024 * 1024))):
            found.update(piece)
            size -= len(piece)
    return found.hexdigest()


def _tail(descriptor: int) -> list[bytes]:
    size = os.fstat(descriptor).st_size
    start = max(0, size - 256 * 1024)
    return read_at(descriptor, start, size - start).splitlines()


def _last_time(file: Path) -> datetime:
    """The time in the last line; file times are not trusted, anybody can set them."""
    with file.open("rb") as content:
        for line in reversed(_tail(content.fileno())):
            try:
                found = datetime.fromisoformat(orjson.loads(line)["timestamp"])
            except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
                continue
            return found if found.tzinfo else found.replace(tzinfo=UTC)
    return datetime.fromtimestamp(file.stat().st_mtime, UTC)


def _free_name(file: Path, now: datetime) -> Path:
    """A name later than that of every full file, also when the clock was set back."""
    stamp = now.strftime(_STAMP)
    full = [part for part in audit_files(file) if part != file]
    last = full[-1].name[len(file.stem) + 1 : len(full[-1].name) - len(file.suffix)] if full else ""
    if stamp <= last:
        with contextlib.suppress(ValueError):
            stamp = (
                datetime.strptime(last, _STAMP).replace(tzinfo=UTC) + timedelta(microseconds=1)
            ).strftime(_STAMP)
    return file.with_name(f"{file.stem}.{stamp}{file.suffix}")


_DESCRIPTORS: dict[str, int] = {"stdout": 1, "stderr": 2}


class StreamAudit(QueuedAudit):
    """The queue in front of a stream, without anchors: nothing outlives the process."""

    def __init__(
        self,
        stream: Literal["stdout", "stderr"],
        *,
        options: QueueOptions | None = None,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(StreamSink(_DESCRIPTORS[stream]), options=options, clock=clock)


class StreamSink:
    """Writes whole lines to a descriptor that it does not own."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        # What of a line could not be written; its reader must not see the next line glued to it.
        self._rest = b""

    def append(self, lines: Sequence[bytes]) -> None:
        self._write_rest()
        for number, line in enumerate(lines):
            self._rest = line + b"\n"
            try:
                self._write_rest()
            except OSError as error:
                # The rest of a line that has begun is written before anything else, so that the
                # line counts.
                if len(self._rest) <= len(line):
                    raise PartlyWrittenError(number + 1) from error
                self._rest = b""
                raise PartlyWrittenError(number) from error

    def last_hash(self) -> str | None:
        return None

    def lines(self) -> Iterable[bytes]:
        return ()

    def sync(self) -> None:
        """Does nothing: a stream has no disk of its own."""

    def maintain(self, anchors: Anchors | None, *, is_thorough: bool) -> list[AuditNotice]:
        return []

    def space_problem(self) -> str | None:
        return None

    def close(self) -> None:
        """Does nothing: the stream belongs to the process."""

    def _write_rest(self) -> None:
        while self._rest:
            self._rest = self._rest[os.write(self._descriptor, self._rest) :]


def read_at(descriptor: int, offset: int, count: int) -> bytes:
    """These bytes, or fewer at the end of the file."""
    os.lseek(descriptor, offset, os.SEEK_SET)
    pieces = []
    while count > 0 and (piece := os.read(descriptor, count)):
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)
