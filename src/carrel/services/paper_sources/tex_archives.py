"""The TeX files of a source as arXiv gives it out: one file, packed or not, or an archive."""

from __future__ import annotations

import io
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

_KEPT_SUFFIXES = frozenset({".tex", ".ltx", ".latex", ".bbl", ""})
_MAX_RATIO = 100
# So much may come of any file, however well it was packed.
_RATIO_FREE_BYTES = 1_000_000
_PIECE_BYTES = 256 * 1024


class TexArchiveError(Exception):
    """The source is damaged, no TeX, or larger than allowed; `reason` is for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class TexLimits:
    """Bounds of one source, unpacked."""

    max_files: int = 5_000
    max_total_bytes: int = 200_000_000
    max_text_bytes: int = 30_000_000


def unpack_tex_source(path: Path, limits: TexLimits | None = None) -> dict[str, str]:
    """The texts of a source by their names in it; nothing is written. Raises TexArchiveError.

    Links, devices and names that lead out of the archive are passed over.
    """
    bounds = limits or TexLimits()
    content = _unpack(path.read_bytes(), bounds)
    if content[257:262] == b"ustar" or _is_old_tar(content):
        return _read_tar(content, bounds)
    if b"%PDF-" in content[:1024]:
        raise TexArchiveError("the authors gave arXiv a PDF and no source")
    if b"\0" in content[:4096]:
        raise TexArchiveError("the source is neither TeX nor an archive")
    if len(content) > bounds.max_text_bytes:
        raise TexArchiveError("the source is larger than allowed")
    return {"main.tex": _decode(content)}


def _unpack(packed: bytes, limits: TexLimits) -> bytes:
    if packed[:2] != b"\x1f\x8b":
        return packed
    most = min(limits.max_total_bytes, max(_RATIO_FREE_BYTES, len(packed) * _MAX_RATIO))
    unpacker = zlib.decompressobj(31)
    out, rest = bytearray(), packed
    try:
        while rest and not unpacker.eof:
            out += unpacker.decompress(rest, _PIECE_BYTES)
            rest = unpacker.unconsumed_tail
            if len(out) > most:
                raise TexArchiveError("the source unpacks to more than allowed")
    except zlib.error as error:
        raise TexArchiveError("the packed source is damaged") from error
    if not unpacker.eof:
        raise TexArchiveError("the packed source breaks off")
    return bytes(out)


def _is_old_tar(content: bytes) -> bool:
    """Archives from before the mark: a name, and octal digits where its rights stand."""
    name, mode = content[:100].split(b"\0")[0], content[100:108].strip(b" \0")
    return len(content) >= 512 and bool(name) and bool(mode) and not mode.strip(b"01234567")


def _read_tar(content: bytes, limits: TexLimits) -> dict[str, str]:
    texts: dict[str, str] = {}
    taken = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
            for member in _members(archive, limits):
                name = _safe_name(member)
                if name is None:
                    continue
                taken += member.size
                if taken > limits.max_text_bytes:
                    raise TexArchiveError("the texts of the source are larger than allowed")
                file = archive.extractfile(member)
                texts[name] = _decode(file.read()) if file is not None else ""
    except (tarfile.TarError, EOFError, ValueError, OSError) as error:
        raise TexArchiveError("the archive of the source is damaged") from error
    if not texts:
        raise TexArchiveError("the source has no TeX in it")
    return texts


def _members(archive: tarfile.TarFile, limits: TexLimits) -> Iterator[tarfile.TarInfo]:
    for count, member in enumerate(archive, start=1):
        if count > limits.max_files:
            raise TexArchiveError("the source has more files than allowed")
        yield member


def _safe_name(member: tarfile.TarInfo) -> str | None:
    """The name of a text that is read; None for links, devices and names that lead out."""
    path = PurePosixPath(member.name.replace("\\", "/"))
    if not member.isfile() or path.is_absolute() or ".." in path.parts or "\0" in member.name:
        return None
    return str(path) if path.suffix.lower() in _KEPT_SUFFIXES else None


def _decode(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1")
