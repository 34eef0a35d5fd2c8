"""The file a backup is: a compressed tar with a header first and the manifest last.

The manifest names every file with its size and hash, so anything that was lost or changed shows.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import IO, BinaryIO, Self, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from carrel.stores.backup.database import DATABASE_PREFIX
from carrel.stores.backup.errors import (
    DamagedBackupError,
    NewerBackupError,
    NotABackupError,
    UnsafeBackupError,
)

# 2 has a database in it, which earlier versions would refuse as a place they do not know.
FORMAT = 2
_FORMAT_OF_FILES = 1
HEADER_NAME = "carrel-backup.json"
MANIFEST_NAME = "manifest.json"
# Where the files of an archive can come from; what each means is the wiring's business.
PLACES = ("home", "papers", "static", "library", "attachments", "audit", DATABASE_PREFIX)

_LEVEL = 3
_CHUNK = 1024 * 1024
# What is held in memory while an archive is read: a header, a manifest of about 300 bytes for each
# file, long names.
_MAX_HEADER_BYTES = 64 * 1024
_MAX_MANIFEST_BYTES = 512 * 1024 * 1024
_MAX_FILES = 1_000_000
_MAX_EXTENSION_BYTES = 64 * 1024
_NOT_IN_A_NAME = re.compile(r"[\x00-\x1f\\]|^[A-Za-z]:")


def archive_format(*, has_database: bool) -> int:
    """The lowest format that says all of it, so that earlier versions read what they can."""
    return FORMAT if has_database else _FORMAT_OF_FILES


Advance = Callable[[int], None]
Put = Callable[[str], BinaryIO]


class Header(BaseModel):
    """The header of an archive, readable by every version of the product."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    format: int
    carrel: str
    made_at: str


class CarriedFile(BaseModel):
    """One file; `schema_version` is 0 for a SQLite file without one, None for other files."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    path: str
    size_bytes: int
    sha256: str
    modified_ns: int
    mode: int
    schema_version: int | None = None


class LeftOutIndex(BaseModel):
    """A search index that is not archived but rebuilt from its snapshot."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    snapshot: str
    has_vectors: bool


class Manifest(Header):
    """What is in the archive, what is made again after a restore, and what is kept elsewhere."""

    files: tuple[CarriedFile, ...]
    left_out: tuple[str, ...] = ()
    indexes: tuple[LeftOutIndex, ...] = ()
    elsewhere: tuple[str, ...] = ()

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)

    @property
    def summary(self) -> str:
        return f"{len(self.files):,} files, {self.size_bytes:,} bytes"


class _BoundedTarInfo(tarfile.TarInfo):
    """Refuses extension headers longer than any name of ours: the library holds them in memory."""

    def _proc_member(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        if not self.isreg() and self.size > _MAX_EXTENSION_BYTES:
            raise tarfile.ReadError("a header in it is too long")
        member: tarfile.TarInfo = super()._proc_member(tar)  # type: ignore[misc]
        return member


class ArchiveWriter:
    """Writes one archive into a stream; without `finish` it has no manifest and is no backup."""

    def __init__(self, stream: BinaryIO, header: Header, advance: Advance) -> None:
        self._header = header
        self._advance = advance
        self._files: list[CarriedFile] = []
        self._compressed = gzip.GzipFile(
            filename="", mode="wb", compresslevel=_LEVEL, fileobj=stream, mtime=0
        )
        self._tar = tarfile.open(fileobj=self._compressed, mode="w", format=tarfile.PAX_FORMAT)  # noqa: SIM115
        self._add_text(HEADER_NAME, header.model_dump_json())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._compressed.close()

    @property
    def count(self) -> int:
        return len(self._files)

    def add(
        self,
        path: str,
        source: IO[bytes],
        size_bytes: int,
        *,
        modified_ns: int,
        mode: int,
        schema_version: int | None = None,
    ) -> None:
        """Takes the next `size_bytes` of `source`."""
        reader = _Hashing(source, self._advance)
        info = tarfile.TarInfo(path)
        info.size, info.mtime, info.mode = size_bytes, modified_ns // 1_000_000_000, mode
        self._tar.addfile(info, cast(IO[bytes], reader))
        self._files.append(
            CarriedFile(
                path=path,
                size_bytes=size_bytes,
                sha256=reader.digest.hexdigest(),
                modified_ns=modified_ns,
                mode=mode,
                schema_version=schema_version,
            )
        )

    def finish(
        self, left_out: list[str], indexes: list[LeftOutIndex], elsewhere: list[str]
    ) -> Manifest:
        manifest = Manifest(
            **self._header.model_dump(),
            files=tuple(self._files),
            left_out=tuple(left_out),
            indexes=tuple(indexes),
            elsewhere=tuple(elsewhere),
        )
        # The standard library's JSON keeps file names that are not valid Unicode; pydantic's does
        # not.
        self._add_text(MANIFEST_NAME, json.dumps(manifest.model_dump(), indent=1))
        self._tar.close()
        return manifest

    def _add_text(self, name: str, text: str) -> None:
        data = text.encode()
        info = tarfile.TarInfo(name)
        info.size, info.mode = len(data), 0o600
        self._tar.addfile(info, io.BytesIO(data))


class _Hashing:
    """A reader that hashes what it reads and reports progress."""

    def __init__(self, source: IO[bytes], advance: Advance) -> None:
        self._source = source
        self._advance = advance
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._source.read(size)
        self.digest.update(data)
        self._advance(len(data))
        return data


def is_archive(file: Path) -> bool:
    """Whether a file begins as a backup does."""
    try:
        with _open_archive(file):
            return True
    except NewerBackupError:
        return True
    except (NotABackupError, DamagedBackupError):
        return False


def read_archive(file: Path, advance: Advance, put: Put | None = None) -> Manifest:
    """Read and verify an archive; `put` opens the target of each file by its name in the archive.

    Without `put` nothing is written. Files put are valid only once this has returned.
    """
    found: dict[str, tuple[int, str]] = {}
    manifest: Manifest | None = None
    at = 0
    with _open_archive(file) as archive:
        for member in archive.members:
            name = _check_name(file, member, found)
            if len(found) >= _MAX_FILES:
                raise UnsafeBackupError(file, f"it holds more than {_MAX_FILES:,} files")
            if manifest is not None:
                raise DamagedBackupError(file, "something follows the manifest")
            if name == MANIFEST_NAME:
                manifest = _manifest(
                    file, _read_small(archive.tar, member, _MAX_MANIFEST_BYTES), archive.header
                )
            else:
                found[name] = _copy(
                    _content(archive.tar, member), None if put is None else put(name)
                )
            advance(archive.stream.tell() - at)
            at = archive.stream.tell()
        # The end of the stream holds the checksum of all of it.
        while archive.plain.read(_CHUNK):
            pass
        advance(archive.stream.tell() - at)
    if manifest is None:
        raise DamagedBackupError(file, "its end is missing")
    _compare(file, manifest, found)
    return manifest


@dataclass(frozen=True, slots=True)
class _OpenArchive:
    stream: BinaryIO
    plain: gzip.GzipFile
    tar: tarfile.TarFile
    members: Iterator[tarfile.TarInfo]
    header: Header


@contextmanager
def _open_archive(file: Path) -> Iterator[_OpenArchive]:
    """The archive behind its header."""
    with (
        file.open("rb") as stream,
        _translate_read_errors(file),
        gzip.GzipFile(fileobj=stream) as plain,
    ):
        try:
            tar = tarfile.open(fileobj=plain, mode="r|", tarinfo=_BoundedTarInfo)  # noqa: SIM115
        except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, RecursionError):
            raise NotABackupError(file) from None
        with tar:
            members = iter(tar)
            yield _OpenArchive(stream, plain, tar, members, _header(file, tar, next(members, None)))


@contextmanager
def _translate_read_errors(file: Path) -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DamagedBackupError(file, str(error)) from None
    except RecursionError:
        # Each extension header is read inside the one before it.
        raise DamagedBackupError(file, "its headers are nested without end") from None


def _header(file: Path, tar: tarfile.TarFile, member: tarfile.TarInfo | None) -> Header:
    if member is None or member.name != HEADER_NAME or not member.isreg():
        raise NotABackupError(file)
    try:
        header = Header.model_validate_json(_read_small(tar, member, _MAX_HEADER_BYTES))
    except ValidationError:
        raise NotABackupError(file) from None
    if header.format > FORMAT:
        raise NewerBackupError(
            file, f"format {header.format}, known {FORMAT}; Carrel {header.carrel}"
        )
    return header


def _read_small(tar: tarfile.TarFile, member: tarfile.TarInfo, most: int) -> bytes:
    """The content of a member that is held in memory."""
    if member.size > most:
        raise tarfile.ReadError(f"{member.name} is larger than {most:,} bytes")
    return _content(tar, member).read()


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    content = tar.extractfile(member)
    if content is None:
        raise tarfile.ReadError(f"{member.name} has no content")
    return content


def _check_name(file: Path, member: tarfile.TarInfo, seen: dict[str, tuple[int, str]]) -> str:
    """The name of a member; raises UnsafeBackupError for one that no backup has."""
    name = member.name
    if not member.isreg() or member.issparse():
        raise UnsafeBackupError(file, f"{name!r} is not a plain file")
    if name == MANIFEST_NAME:
        return name
    parts = name.split("/")
    if _NOT_IN_A_NAME.search(name) or any(part in {"", ".", ".."} for part in parts):
        raise UnsafeBackupError(file, f"{name!r} leads out of its folder")
    if len(parts) < 2 or parts[0] not in PLACES:
        raise UnsafeBackupError(file, f"{name!r} belongs to no place of ours")
    if name in seen:
        raise UnsafeBackupError(file, f"{name!r} is there twice")
    # A file where another file has its folder can only be told when it is put there; this tells it
    # before.
    if any(str(parent) in seen for parent in PurePosixPath(name).parents):
        raise UnsafeBackupError(file, f"{name!r} lies inside a file")
    return name


def _manifest(file: Path, data: bytes, header: Header) -> Manifest:
    try:
        manifest = Manifest.model_validate(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise DamagedBackupError(
            file, f"its manifest cannot be read ({type(error).__name__})"
        ) from None
    if Header(**header.model_dump()) != Header(**manifest.model_dump()):
        raise DamagedBackupError(file, "its header and its manifest do not agree")
    return manifest


def _copy(content: IO[bytes], target: BinaryIO | None) -> tuple[int, str]:
    digest, size = hashlib.sha256(), 0
    try:
        while chunk := content.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
            if target is not None:
                target.write(chunk)
    finally:
        if target is not None:
            target.close()
    return size, digest.hexdigest()


def _compare(file: Path, manifest: Manifest, found: dict[str, tuple[int, str]]) -> None:
    promised = {carried.path: (carried.size_bytes, carried.sha256) for carried in manifest.files}
    for name in sorted({*promised, *found}):
        if name not in found:
            raise DamagedBackupError(file, f"{name} is missing")
        if name not in promised:
            raise DamagedBackupError(file, f"{name} is not in its manifest")
        if promised[name] != found[name]:
            raise DamagedBackupError(file, f"{name} is not what was written")
