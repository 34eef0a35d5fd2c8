"""Files that callers send in pieces, before a paper is made of them.

An upload belongs to whoever began it, has a declared size, and grows at its end only. Nobody else
learns that it exists.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import Field

from carrel.core.caller import Call
from carrel.core.errors import CarrelError, ConflictError, NotFoundError
from carrel.core.operation import Answer, Question
from carrel.libraries.text.control_characters import remove_controls

# Of a name as it is kept and shown.
MAX_NAME_CHARACTERS = 150
_NAMELESS = "upload"
_LONGEST_ENDING = 10
MAX_PIECE_BYTES = 4 * 1024 * 1024


def clean_file_name(name: str) -> str:
    """The last part of a caller's path without control characters, bounded; never a path."""
    last = remove_controls(name).replace("\\", "/").rstrip("/ ").rpartition("/")[2]
    words = " ".join(last.split())
    if words.strip(". ") == "":
        return _NAMELESS
    if len(words) <= MAX_NAME_CHARACTERS:
        return words
    stem, dot, ending = words.rpartition(".")
    if not dot or len(ending) > _LONGEST_ENDING:
        return words[:MAX_NAME_CHARACTERS]
    return f"{stem[: MAX_NAME_CHARACTERS - len(ending) - 1]}.{ending}"


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """Bounds of one upload, and of all uploads of one caller."""

    max_bytes: int = 200 * 1024 * 1024
    max_open: int = 16
    max_bytes_per_caller: int = 1024 * 1024 * 1024
    expires_after_hours: float = 24.0


@dataclass(frozen=True, slots=True)
class Upload:
    """An upload as it stands; `received` bytes are on disk and survive a crash."""

    id: str
    owner: str
    name: str
    size: int
    received: int
    expires_at: str
    sha256: str | None = None
    kind: str | None = None
    ending: str | None = None
    # The job that makes a paper of it.
    job_id: str | None = None

    @property
    def is_complete(self) -> bool:
        return self.ending is not None


class UploadStore(Protocol):
    """Keeps uploads as files; methods block. Raises UploadNotFoundError for another's upload."""

    def create(self, owner: str, name: str, size: int, sha256: str | None) -> Upload:
        """Raises UploadTooLargeError where the caller's quota is used up."""
        ...

    def find(self, upload_id: str, owner: str) -> Upload: ...

    def append(self, upload_id: str, owner: str, offset: int, piece: bytes) -> Upload:
        """The upload with the piece on disk, checked if it was the last.

        Raises UploadConflictError where the offset differs or another request writes,
        UploadTooLargeError beyond the declared size, and UploadRefusedError for what is damaged or
        no paper, which is deleted then.
        """
        ...

    def path(self, upload_id: str, owner: str) -> tuple[Path, Upload]:
        """The file of a complete upload. Raises UploadConflictError before it is complete."""
        ...

    def remove(self, upload_id: str, owner: str) -> None:
        """Raises UploadInUseError while somebody uses it."""
        ...

    def use(self, upload_id: str) -> AbstractContextManager[None]:
        """Keeps the upload from being removed, in any process, until the block ends."""
        ...

    def name_job(self, upload_id: str, owner: str, job_id: str) -> None: ...

    def sweep(self) -> int:
        """Delete what has expired; returns how many."""
        ...


class UploadNotFoundError(NotFoundError):
    """No upload of that id, or not the caller's."""

    def __init__(self, upload_id: str) -> None:
        super().__init__(
            "Upload",
            upload_id[:100],
            next_step="Begin one with POST /uploads; uploads expire and are gone once used.",
        )


class UploadConflictError(ConflictError):
    """The piece does not fit the end of the upload."""

    def __init__(
        self,
        message: str,
        offset: int,
        next_step: str = "HEAD /uploads/{id} tells the offset to continue from.",
    ) -> None:
        super().__init__(message, next_step=next_step, details={"offset": offset})


class UploadInUseError(ConflictError):
    """A paper is being made of the upload now."""

    def __init__(self, upload_id: str, job_id: str | None) -> None:
        job = f" by job {job_id}" if job_id else ""
        wait = f"Ask get_job for {job_id}" if job_id else "Wait until add_paper has answered"
        super().__init__(
            f"The upload is being added{job}; it was not deleted",
            next_step=f"{wait}; the upload is gone once it is added. remove_paper takes the paper "
            "out again.",
            details={"upload_id": upload_id, "job_id": job_id},
        )


class UploadTooLargeError(CarrelError):
    """More than one upload, or all of a caller's uploads, may hold."""

    code = "upload_too_large"

    def __init__(self, message: str, next_step: str) -> None:
        super().__init__(message, next_step=next_step)


class UploadRefusedError(CarrelError):
    """The content is damaged or of a kind that papers are not made of."""

    code = "upload_refused"


class NewUpload(Question):
    name: str = Field(min_length=1, max_length=500, description="The file's name, for people")
    size: int = Field(ge=1, description="Bytes in all")
    sha256: str | None = Field(
        default=None, pattern=r"^[0-9a-fA-F]{64}$", description="Checked at the end, if given"
    )


class NamedUpload(Question):
    upload_id: str = Field(min_length=1, max_length=100)


class UploadState(Answer):
    """An upload as its owner sees it; `kind` is known once it is complete."""

    upload_id: str
    name: str
    size: int
    offset: int
    expires_at: str
    is_complete: bool
    kind: str | None = Field(default=None, exclude_if=lambda kind: kind is None)
    next_step: str = Field(default="", exclude_if=lambda step: not step)


class Uploads:
    """The uploads of one home, for many callers; all disk access runs on threads."""

    def __init__(self, store: UploadStore, limits: UploadLimits) -> None:
        self._store = store
        self._limits = limits

    async def begin(self, question: NewUpload, call: Call) -> UploadState:
        if question.size > self._limits.max_bytes:
            raise UploadTooLargeError(
                f"One upload may have {self._limits.max_bytes:,} bytes; more were declared",
                "The operator can raise papers.max_upload_bytes, or add the file on the machine "
                "itself with carrel add.",
            )
        sha256 = None if question.sha256 is None else question.sha256.lower()
        upload = await asyncio.to_thread(
            self._store.create,
            call.caller.user_id,
            clean_file_name(question.name),
            question.size,
            sha256,
        )
        return _state(upload)

    async def find(self, question: NamedUpload, call: Call) -> UploadState:
        upload = await asyncio.to_thread(self._store.find, question.upload_id, call.caller.user_id)
        return _state(upload)

    async def look_at(self, upload_id: str, owner: str) -> UploadState:
        return _state(await asyncio.to_thread(self._store.find, upload_id, owner))

    async def append(self, upload_id: str, owner: str, offset: int, piece: bytes) -> UploadState:
        return _state(await asyncio.to_thread(self._store.append, upload_id, owner, offset, piece))

    async def remove(self, question: NamedUpload, call: Call) -> UploadState:
        owner = call.caller.user_id
        upload = await asyncio.to_thread(self._store.find, question.upload_id, owner)
        await asyncio.to_thread(self._store.remove, question.upload_id, owner)
        return _state(upload)

    async def take(self, upload_id: str, owner: str) -> tuple[Path, Upload]:
        """The file of a complete upload, which stays until it is removed."""
        return await asyncio.to_thread(self._store.path, upload_id, owner)

    async def discard(self, upload_id: str, owner: str) -> None:
        """Remove an upload of which a paper was made."""
        await asyncio.to_thread(self._store.remove, upload_id, owner)

    @asynccontextmanager
    async def using(self, upload_id: str | None) -> AsyncIterator[None]:
        """While the block runs the upload, if there is one, cannot be removed."""
        if upload_id is None:
            yield
            return
        held = self._store.use(upload_id)
        await asyncio.to_thread(held.__enter__)
        try:
            yield
        finally:
            held.__exit__(None, None, None)

    async def name_job(self, upload_id: str, owner: str, job_id: str) -> None:
        await asyncio.to_thread(self._store.name_job, upload_id, owner, job_id)

    async def sweep(self) -> None:
        await asyncio.to_thread(self._store.sweep)


def _state(upload: Upload) -> UploadState:
    return UploadState(
        upload_id=upload.id,
        name=upload.name,
        size=upload.size,
        offset=upload.received,
        expires_at=upload.expires_at,
        is_complete=upload.is_complete,
        kind=upload.kind,
        next_step="add_paper with this upload_id makes a paper of it."
        if upload.is_complete
        else "",
    )
