"""Uploads in an object store, so that any server takes the next piece and any makes the paper.

The facts of an upload are a register, the pieces objects that it names. A piece counts once the
register is swapped: of two requests that send the same piece one is told that it came too late. A
marker whose name says owner, size and time is what quotas are counted by and what expires.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from carrel.core.clock import Clock
from carrel.rooms.papers.uploads import (
    Upload,
    UploadConflictError,
    UploadInUseError,
    UploadLimits,
    UploadNotFoundError,
)
from carrel.stores.objects.store import LostSwapError, ObjectStore, RegisterValue
from carrel.stores.upload_files import (
    check_piece,
    check_quota,
    judge_content,
    refuse_incomplete,
)

UPLOADS = "uploads"
_ID = re.compile(r"[0-9a-f]{32}")
_MARKER = re.compile(rf"{UPLOADS}/([0-9a-f]{{16}})/([0-9a-f]{{32}})/(\d+)-(\d+)\.open")
_NAMING_TRIES = 5


@dataclass(frozen=True, slots=True)
class _Facts:
    """An upload and the objects of its pieces, in order; `token` makes every state different."""

    upload: Upload
    pieces: tuple[str, ...]
    value: RegisterValue | None = None

    def content(self) -> bytes:
        return orjson.dumps(
            {"upload": asdict(self.upload), "pieces": self.pieces, "token": secrets.token_hex(16)}
        )


class UploadObjects:
    """The uploads of one object store; whole ones are also put together in a folder here."""

    def __init__(
        self, store: ObjectStore, folder: Path, limits: UploadLimits, clock: Clock
    ) -> None:
        self._store = store
        self._folder = folder
        self._limits = limits
        self._clock = clock
        self._lock = threading.Lock()
        self._in_use: Counter[str] = Counter()

    def create(self, owner: str, name: str, size: int, sha256: str | None) -> Upload:
        mine = [found for found in self._markers(owner) if not self._is_over(found[3])]
        check_quota(self._limits, len(mine), sum(found[2] for found in mine), size)
        expires = self._clock.now() + timedelta(hours=self._limits.expires_after_hours)
        upload = Upload(secrets.token_hex(16), owner, name, size, 0, expires.isoformat(), sha256)
        self._store.write(self._marker(upload), b"")
        self._store.swap_register(_register(upload.id), _Facts(upload, ()).content(), None)
        return upload

    def find(self, upload_id: str, owner: str) -> Upload:
        return self._find(upload_id, owner).upload

    def list_of(self, owner: str) -> list[Upload]:
        """The uploads of one person, finished or not."""
        found = (self._read(upload_id) for _, upload_id, _, _ in self._markers(owner))
        return [facts.upload for facts in found if facts is not None]

    def append(self, upload_id: str, owner: str, offset: int, piece: bytes) -> Upload:
        facts = self._find(upload_id, owner)
        received = check_piece(facts.upload, offset, len(piece))
        key = f"{_folder(facts.upload)}/{offset:016}-{secrets.token_hex(8)}"
        self._store.write(key, piece)
        upload = replace(facts.upload, received=received)
        pieces = (*facts.pieces, key)
        if received == upload.size:
            try:
                upload = self._complete(replace(facts, upload=upload, pieces=pieces))
            except BaseException:
                self._delete(replace(facts, pieces=pieces))
                raise
        try:
            self._keep(replace(facts, upload=upload, pieces=pieces))
        except LostSwapError as error:
            self._store.remove([key])
            now = self._read(upload_id)
            raise UploadConflictError(
                "Another request writes to this upload now",
                0 if now is None else now.upload.received,
            ) from error
        return upload

    def path(self, upload_id: str, owner: str) -> tuple[Path, Upload]:
        facts = self._find(upload_id, owner)
        if not facts.upload.is_complete:
            raise refuse_incomplete(facts.upload)
        path = self._file(upload_id)
        if not path.exists():
            self._put_together(facts, path)
        return path, facts.upload

    def remove(self, upload_id: str, owner: str) -> None:
        facts = self._find(upload_id, owner)
        with self._lock:
            if self._in_use[upload_id]:
                raise UploadInUseError(upload_id, facts.upload.job_id)
        self._delete(facts)

    @contextmanager
    def use(self, upload_id: str) -> Iterator[None]:
        # Of this server alone: the bytes are in the inbox before a paper is made of them.
        with self._lock:
            self._in_use[upload_id] += 1
        try:
            yield
        finally:
            with self._lock:
                self._in_use[upload_id] -= 1

    def name_job(self, upload_id: str, owner: str, job_id: str) -> None:
        for _ in range(_NAMING_TRIES):
            with suppress(LostSwapError):
                with suppress(UploadNotFoundError):
                    facts = self._find(upload_id, owner)
                    self._keep(replace(facts, upload=replace(facts.upload, job_id=job_id)))
                return

    def sweep(self) -> int:
        count = 0
        for key, upload_id, _, expires in list(self._markers(None)):
            if not self._is_over(expires):
                continue
            folder = key.rpartition("/")[0]
            self._store.remove_register(_register(upload_id))
            self._store.remove([each.key for each in self._store.list_below(folder)])
            self._file(upload_id).unlink(missing_ok=True)
            count += 1
        return count

    def _find(self, upload_id: str, owner: str) -> _Facts:
        facts = self._read(upload_id)
        if facts is None or facts.upload.owner != owner:
            raise UploadNotFoundError(upload_id)
        if datetime.fromisoformat(facts.upload.expires_at) <= self._clock.now():
            raise UploadNotFoundError(upload_id)
        return facts

    def _read(self, upload_id: str) -> _Facts | None:
        if not _ID.fullmatch(upload_id):
            return None
        value = self._store.read_register(_register(upload_id))
        if value is None:
            return None
        try:
            found: dict[str, Any] = orjson.loads(value.content)
            return _Facts(Upload(**found["upload"]), tuple(found["pieces"]), value)
        except (ValueError, TypeError, KeyError):
            return None

    def _keep(self, facts: _Facts) -> None:
        self._store.swap_register(_register(facts.upload.id), facts.content(), facts.value)

    def _complete(self, facts: _Facts) -> Upload:
        path = self._file(facts.upload.id)
        self._put_together(facts, path)
        try:
            return judge_content(facts.upload, path)
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    def _put_together(self, facts: _Facts, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_suffix(f".{secrets.token_hex(4)}")
        try:
            with draft.open("xb") as file:
                for key in facts.pieces:
                    for piece in self._store.read(key):
                        file.write(piece)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)

    def _delete(self, facts: _Facts) -> None:
        # The facts first: without them nobody finds the bytes.
        self._store.remove_register(_register(facts.upload.id))
        folder = _folder(facts.upload)
        self._store.remove([each.key for each in self._store.list_below(folder)])
        self._file(facts.upload.id).unlink(missing_ok=True)

    def _markers(self, owner: str | None) -> Iterator[tuple[str, str, int, float]]:
        """Key, upload, declared size and expiry of what is open, of one owner or of all."""
        folder = UPLOADS if owner is None else f"{UPLOADS}/{_owner(owner)}"
        for each in self._store.list_below(folder):
            if found := _MARKER.fullmatch(each.key):
                yield each.key, found[2], int(found[3]), float(found[4])

    def _is_over(self, expires: float) -> bool:
        return expires <= self._clock.now().timestamp()

    def _marker(self, upload: Upload) -> str:
        expires = int(datetime.fromisoformat(upload.expires_at).timestamp())
        return f"{_folder(upload)}/{upload.size}-{expires}.open"

    def _file(self, upload_id: str) -> Path:
        return self._folder / f"{upload_id}.part"


def _folder(upload: Upload) -> str:
    return f"{UPLOADS}/{_owner(upload.owner)}/{upload.id}"


def _owner(owner: str) -> str:
    return hashlib.sha256(owner.encode()).hexdigest()[:16]


def _register(upload_id: str) -> str:
    return f"{UPLOADS}-{upload_id}"
