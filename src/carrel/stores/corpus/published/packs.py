"""Segments as single objects: a list of files and their bytes, the same on every machine.

A pack is named for the SHA-256 of all of it, so that one comparison covers every file. It is stored
deflated: a segment of one paper is mostly the empty pages of its tables.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import orjson

from carrel.stores.corpus.manifest import segment_folder, segments_folder, sync_folder
from carrel.stores.corpus.published.catalogue import PACKS, StoredObject, damaged_object
from carrel.stores.corpus.schema import RECORDS_NAME
from carrel.stores.corpus.segment_writer import make_aside
from carrel.stores.corpus.segments import sync_tree
from carrel.stores.objects.store import PIECE_BYTES, ObjectStore

_MAGIC = b"carrel pack 1\n"
_LENGTH = struct.Struct(">I")
# The list of a segment's files: some thousands at the most.
_MOST_HEADER_BYTES = 16 * 1024 * 1024
# Records and texts are packed already; level 6 gains 2 % more in three times the time.
_LEVEL = 1


def read_pack(folder: Path) -> Iterator[bytes]:
    """The pack of a segment's folder, in pieces."""
    files = sorted(
        (path.relative_to(folder).as_posix(), path) for path in folder.rglob("*") if path.is_file()
    )
    header = orjson.dumps([(name, path.stat().st_size) for name, path in files])
    yield _MAGIC + _LENGTH.pack(len(header)) + header
    for _, path in files:
        with path.open("rb") as file:
            while piece := file.read(PIECE_BYTES):
                yield piece


def deflate(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces as they are stored."""
    packer = zlib.compressobj(_LEVEL)
    for piece in pieces:
        if packed := packer.compress(piece):
            yield packed
    yield packer.flush()


def inflate(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces of a stored pack, none larger than a piece. Raises ValueError."""
    unpacker = zlib.decompressobj()
    for piece in pieces:
        left = piece
        while left:
            try:
                content = unpacker.decompress(left, PIECE_BYTES)
            except zlib.error as error:
                raise ValueError("the pack cannot be unpacked") from error
            if content:
                yield content
            left = unpacker.unconsumed_tail
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("the pack is cut off")


def describe_pack(folder: Path) -> StoredObject:
    """The name and size of a segment's pack."""
    digest, size = hashlib.sha256(), 0
    for piece in read_pack(folder):
        digest.update(piece)
        size += len(piece)
    return StoredObject(digest.hexdigest(), size)


def fetch_segment(store: ObjectStore, corpus: Path, name: str, pack: StoredObject) -> int:
    """Fetch a segment aside, compare its hash, and only then give it its name.

    Returns how many bytes were moved. A folder of that name that is there already is moved aside:
    readers keep what they have open.
    """
    key = f"{PACKS}/{pack.sha256}"
    target = segment_folder(corpus, name)
    with make_aside(segments_folder(corpus)) as aside:
        content = aside / "content"
        digest, count = hashlib.sha256(), [0]
        try:
            pieces = _hash_pieces(
                inflate(_count_bytes(store.read(key), count)), digest, pack.size_bytes
            )
            _unpack(pieces, content)
        except ValueError as error:
            raise damaged_object(store, key) from error
        if digest.hexdigest() != pack.sha256 or not (content / RECORDS_NAME).is_file():
            raise damaged_object(store, key)
        sync_tree(content)
        if target.is_dir():
            target.rename(aside / "replaced")
        content.rename(target)
        sync_folder(target.parent)
    return count[0]


def _count_bytes(pieces: Iterator[bytes], count: list[int]) -> Iterator[bytes]:
    for piece in pieces:
        count[0] += len(piece)
        yield piece


def _hash_pieces(
    pieces: Iterator[bytes], digest: hashlib._Hash, most_bytes: int
) -> Iterator[bytes]:
    left = most_bytes
    for piece in pieces:
        left -= len(piece)
        if left < 0:
            raise ValueError("the pack is longer than was published")
        digest.update(piece)
        yield piece
    if left:
        raise ValueError("the pack is shorter than was published")


def _unpack(pieces: Iterator[bytes], folder: Path) -> None:
    """Raises ValueError where the pieces are no pack."""
    source = _Pieces(pieces)
    if source.take(len(_MAGIC)) != _MAGIC:
        raise ValueError("no pack")
    (length,) = _LENGTH.unpack(source.take(_LENGTH.size))
    if length > _MOST_HEADER_BYTES:
        raise ValueError("the list of files is too long")
    folder.mkdir()
    for name, size in orjson.loads(source.take(length)):
        path = folder.joinpath(*_safe_parts(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            for piece in source.take_pieces(int(size)):
                file.write(piece)
    if source.take_rest():
        raise ValueError("the pack has more than its files")


def _safe_parts(name: str) -> tuple[str, ...]:
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\\" in name or "\0" in name:
        raise ValueError("a name leads out of the segment")
    return parts


class _Pieces:
    """Bytes that come in pieces, taken by length."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._begun = memoryview(b"")

    def take(self, size: int) -> bytes:
        return b"".join(self.take_pieces(size))

    def take_pieces(self, size: int) -> Iterator[memoryview]:
        left = size
        while left:
            if not self._begun:
                self._begun = memoryview(next(self._pieces, b""))
                if not self._begun:
                    raise ValueError("the pack ends too soon")
            piece, self._begun = self._begun[:left], self._begun[left:]
            left -= len(piece)
            yield piece

    def take_rest(self) -> int:
        """How many bytes are left."""
        return len(self._begun) + sum(map(len, self._pieces))
