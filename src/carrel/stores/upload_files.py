"""Uploads as files of the home: one of bytes and one of facts each, named by chance alone.

The facts are replaced after the bytes are on disk, so that `received` never names bytes that a
crash may lose; what a killed request wrote beyond it is cut off by the next one. A lock per upload
keeps two requests apart, in one process or several.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from pathlib import Path

import orjson

from carrel.core.clock import Clock
from carrel.libraries.works.file_kinds import (
    HEAD_BYTES,
    KINDS_TAKEN,
    FileKind,
    file_ending,
    recognise_file,
)
from carrel.rooms.papers.uploads import (
    Upload,
    UploadConflictError,
    UploadInUseError,
    UploadLimits,
    UploadNotFoundError,
    UploadRefusedError,
    UploadTooLargeError,
)
from carrel.stores.file_lock import LockHeldError, hold_lock
from carrel.stores.sqlite.errors import translate_full_disk

_ID = re.compile(r"[0-9a-f]{32}")
# For whoever removes an upload just now.
_USE_WAIT_SECONDS = 5.0
_HASHED_BYTES = 1024 * 1024
_NO_PAPER = {
    FileKind.ARCHIVE: "an archive or an office document",
    FileKind.PICTURE: "a picture",
    FileKind.TEX: "TeX source",
    FileKind.EMPTY: "empty",
    FileKind.UNKNOWN: "of an unknown kind",
}


class UploadFolder:
    """The uploads of one folder."""

    def __init__(self, folder: Path, limits: UploadLimits, clock: Clock) -> None:
        self._folder = folder
        self._limits = limits
        self._clock = clock

    def create(self, owner: str, name: str, size: int, sha256: str | None) -> Upload:
        self.sweep()
        with translate_full_disk(self._folder):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # One at a time over all processes: the quota is counted from the files.
            with hold_lock(self._folder / "lock", wait_seconds=10.0):
                mine = self.list_of(owner)
                check_quota(self._limits, len(mine), sum(each.size for each in mine), size)
                expires = self._clock.now() + timedelta(hours=self._limits.expires_after_hours)
                upload = Upload(
                    secrets.token_hex(16), owner, name, size, 0, expires.isoformat(), sha256
                )
                self._bytes(upload.id).touch(mode=0o600)
                self._keep(upload)
        return upload

    def find(self, upload_id: str, owner: str) -> Upload:
        upload = self._read(upload_id)
        if upload is None or upload.owner != owner or self._has_expired(upload):
            raise UploadNotFoundError(upload_id)
        return upload

    def list_of(self, owner: str) -> list[Upload]:
        """The uploads of one person, finished or not."""
        return [upload for upload in self._all() if upload.owner == owner]

    def append(self, upload_id: str, owner: str, offset: int, piece: bytes) -> Upload:
        self.find(upload_id, owner)
        with self._held(upload_id):
            upload = self.find(upload_id, owner)
            received = check_piece(upload, offset, len(piece))
            with translate_full_disk(self._folder):
                self._write_piece(upload_id, offset, piece)
                upload = replace(upload, received=received)
                if received == upload.size:
                    upload = self._complete(upload)
                self._keep(upload)
        return upload

    def path(self, upload_id: str, owner: str) -> tuple[Path, Upload]:
        upload = self.find(upload_id, owner)
        if not upload.is_complete:
            raise refuse_incomplete(upload)
        return self._bytes(upload_id), upload

    def remove(self, upload_id: str, owner: str) -> None:
        upload = self.find(upload_id, owner)
        try:
            with hold_lock(self._in_use(upload_id)), self._held(upload_id, _USE_WAIT_SECONDS):
                self._delete(upload_id)
        except LockHeldError as error:
            raise UploadInUseError(upload_id, upload.job_id) from error

    @contextmanager
    def use(self, upload_id: str) -> Iterator[None]:
        if self._read(upload_id) is None:
            # An addition that goes on after its upload was used needs nothing of it.
            yield
            return
        # Shared: the same upload may be added twice at once, which makes one paper.
        with hold_lock(self._in_use(upload_id), shared=True, wait_seconds=_USE_WAIT_SECONDS):
            yield

    def name_job(self, upload_id: str, owner: str, job_id: str) -> None:
        with suppress(UploadNotFoundError, UploadConflictError):
            self.find(upload_id, owner)
            with self._held(upload_id):
                self._keep(replace(self.find(upload_id, owner), job_id=job_id))

    def sweep(self) -> int:
        expired = [upload for upload in self._all() if self._has_expired(upload)]
        count = 0
        for upload in expired:
            with suppress(UploadConflictError, LockHeldError), self._held(upload.id):
                with hold_lock(self._in_use(upload.id)):
                    self._delete(upload.id)
                count += 1
        self._sweep_orphans()
        return count

    def _sweep_orphans(self) -> None:
        """Bytes whose facts were never written, or are gone because a deletion was killed."""
        oldest = self._clock.now() - timedelta(hours=self._limits.expires_after_hours)
        for path in self._folder.glob("*.part") if self._folder.is_dir() else ():
            with suppress(OSError):
                is_old = path.stat().st_mtime < oldest.timestamp()
                if is_old and not path.with_suffix(".json").exists():
                    self._delete(path.stem)

    def _complete(self, upload: Upload) -> Upload:
        """Checks the whole; what is damaged or no paper is deleted and refused."""
        try:
            return judge_content(upload, self._bytes(upload.id))
        except UploadRefusedError:
            self._delete(upload.id)
            raise

    def _write_piece(self, upload_id: str, offset: int, piece: bytes) -> None:
        with self._bytes(upload_id).open("r+b", buffering=0) as file:
            file.truncate(offset)
            file.seek(offset)
            left = memoryview(piece)
            while left:
                left = left[file.write(left) or 0 :]
            os.fsync(file.fileno())

    @contextmanager
    def _held(self, upload_id: str, wait_seconds: float = 0.0) -> Iterator[None]:
        try:
            with hold_lock(self._folder / f"{upload_id}.lock", wait_seconds=wait_seconds):
                yield
        except LockHeldError as error:
            raise UploadConflictError(
                "Another request writes to this upload now", self._received(upload_id)
            ) from error

    def _received(self, upload_id: str) -> int:
        upload = self._read(upload_id)
        return 0 if upload is None else upload.received

    def _all(self) -> list[Upload]:
        if not self._folder.is_dir():
            return []
        found = (self._read(path.stem) for path in self._folder.glob("*.json"))
        return [upload for upload in found if upload is not None]

    def _read(self, upload_id: str) -> Upload | None:
        if not _ID.fullmatch(upload_id):
            return None
        try:
            return Upload(**orjson.loads((self._folder / f"{upload_id}.json").read_bytes()))
        except (OSError, ValueError, TypeError):
            return None

    def _keep(self, upload: Upload) -> None:
        place = self._folder / f"{upload.id}.json"
        draft = place.with_suffix(".new")
        with draft.open("wb") as file:
            file.write(orjson.dumps(asdict(upload)))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(place)

    def _delete(self, upload_id: str) -> None:
        # The facts first: without them nobody finds the bytes.
        for ending in (".json", ".new", ".part", ".lock", ".use"):
            (self._folder / f"{upload_id}{ending}").unlink(missing_ok=True)

    def _in_use(self, upload_id: str) -> Path:
        return self._folder / f"{upload_id}.use"

    def _bytes(self, upload_id: str) -> Path:
        return self._folder / f"{upload_id}.part"

    def _has_expired(self, upload: Upload) -> bool:
        return datetime.fromisoformat(upload.expires_at) <= self._clock.now()


def check_quota(limits: UploadLimits, count: int, held_bytes: int, size: int) -> None:
    """Raises UploadTooLargeError where a caller's quota is used up."""
    if count >= limits.max_open:
        raise UploadTooLargeError(
            f"You have {count} uploads already, and may have {limits.max_open}",
            "Use them with add_paper or DELETE some; the operator can raise "
            "papers.max_open_uploads.",
        )
    if held_bytes + size > limits.max_bytes_per_caller:
        raise UploadTooLargeError(
            f"Your uploads would have {held_bytes + size:,} bytes, and may have "
            f"{limits.max_bytes_per_caller:,}",
            "Use them with add_paper or DELETE some; the operator can raise "
            "papers.max_upload_bytes_per_caller.",
        )


def check_piece(upload: Upload, offset: int, length: int) -> int:
    """How many bytes there are with the piece; raises where it does not fit the end."""
    if upload.is_complete:
        raise UploadConflictError(
            f"The upload is complete with {upload.received} bytes; no piece is wanted",
            upload.received,
            "add_paper with its upload_id makes a paper of it; for other bytes begin a new upload.",
        )
    if offset != upload.received:
        raise UploadConflictError(
            f"The upload has {upload.received} bytes, and the piece begins at {offset}",
            upload.received,
        )
    received = offset + length
    if received > upload.size:
        raise UploadTooLargeError(
            f"The upload was declared with {upload.size} bytes; this piece ends at {received}",
            "Send no more than was declared, or begin a new upload with the right size.",
        )
    return received


def refuse_incomplete(upload: Upload) -> UploadConflictError:
    return UploadConflictError(
        f"The upload has {upload.received} of {upload.size} bytes", upload.received
    )


def judge_content(upload: Upload, file: Path) -> Upload:
    """The upload with its kind; raises UploadRefusedError for what is damaged or no paper."""
    digest = hashlib.sha256()
    with file.open("rb") as source:
        head = source.read(HEAD_BYTES)
        digest.update(head)
        while piece := source.read(_HASHED_BYTES):
            digest.update(piece)
    if upload.sha256 is not None and digest.hexdigest() != upload.sha256:
        raise UploadRefusedError(
            "The bytes that arrived do not have the SHA-256 that was declared",
            next_step="Upload the file again.",
            details={"declared": upload.sha256, "received": digest.hexdigest()},
        )
    kind = recognise_file(upload.name, head)
    ending = file_ending(kind, head)
    if ending is None:
        raise UploadRefusedError(
            f"The file is {_NO_PAPER.get(kind, kind.value)}; no paper can be made of it",
            next_step=f"Send {KINDS_TAKEN}.",
            details={"kind": kind.value},
        )
    return replace(upload, kind=kind.value, ending=ending, sha256=digest.hexdigest())
