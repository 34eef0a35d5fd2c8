"""What an object store promises: whole objects by name, and registers changed by compare-and-swap.

An object is written whole and read whole. A register holds one small value, and of any number of
writers that saw the same value exactly one replaces it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from carrel.core.errors import CarrelError, NotConfiguredError, UnavailableError

# A register is read into memory by everybody who follows it.
MAX_REGISTER_BYTES = 64 * 1024
# How much of an object is read or written at once.
PIECE_BYTES = 8 * 1024 * 1024


class ObjectStoreError(UnavailableError):
    """The object store did not answer, or refused."""

    def __init__(self, url: str, reason: str, next_step: str = "") -> None:
        super().__init__(
            f"The object store {url} cannot be used: {reason}",
            next_step=next_step
            or "Try again; if it stays so, the operator checks the address in papers.corpus_url, "
            "the credentials in the environment and the network.",
            details={"setting": "papers.corpus_url"},
        )


class MissingObjectError(ObjectStoreError):
    """There is no object of that name."""

    def __init__(self, url: str, key: str) -> None:
        super().__init__(
            url,
            f"the object {key} is missing",
            "If it was removed by hand, publish the corpus again with carrel papers publish from "
            "the folder that it was built in.",
        )
        self.key = key


class UnsafeStoreError(NotConfiguredError):
    """The store takes swaps that it must refuse, so two writers would overwrite each other."""

    def __init__(self, url: str, what: str) -> None:
        super().__init__(
            f"The object store {url} {what}: of two servers that publish at once, one would be "
            "overwritten without a word",
            next_step="Use a store with conditional writes (Amazon S3, Google Cloud Storage, "
            "SeaweedFS, MinIO), or a shared folder with file:///FOLDER; nothing was published.",
            details={"setting": "papers.corpus_url"},
        )


class BadStoreAddressError(CarrelError):
    """The address names no object store."""

    code = "invalid_settings"

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(
            f"{url!r} names no object store: {reason}",
            next_step="Write s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or file:///FOLDER.",
            details={"setting": "papers.corpus_url"},
        )


class LostSwapError(Exception):
    """Somebody else replaced the register since it was read."""


@dataclass(frozen=True, slots=True)
class ObjectFacts:
    """An object as a list shows it; `modified` is the store's own clock, in seconds."""

    key: str
    size_bytes: int
    modified: float


@dataclass(frozen=True, slots=True)
class RegisterValue:
    """A register as it was read; `tag` is the store's name for this state of it."""

    content: bytes
    tag: str


class ObjectStore(Protocol):
    """Objects below one address. Methods block and raise ObjectStoreError."""

    @property
    def url(self) -> str:
        """The address, without secrets."""
        ...

    def read(self, key: str) -> Iterator[bytes]:
        """The object in pieces. Raises MissingObjectError, at the first piece."""
        ...

    def write(self, key: str, content: bytes) -> None:
        """Write an object, or the same one again."""
        ...

    def write_pieces(self, key: str, pieces: Iterable[bytes]) -> None:
        """Write an object that need not fit into memory."""
        ...

    def find(self, key: str) -> ObjectFacts | None: ...

    def list_below(self, folder: str) -> Iterator[ObjectFacts]:
        """Every object whose name begins with `folder/`."""
        ...

    def remove(self, keys: Iterable[str]) -> None:
        """Remove objects; those that are gone already are no error."""
        ...

    def read_register(self, name: str) -> RegisterValue | None:
        """None where nobody has written it."""
        ...

    def swap_register(
        self, name: str, content: bytes, expected: RegisterValue | None
    ) -> RegisterValue:
        """Replace the value that was read, or write the first one.

        Raises LostSwapError where the register holds another value. `content` must never have been
        in the register before: stores tell values apart by their bytes.
        """
        ...

    def remove_register(self, name: str) -> None:
        """For registers of a test alone: who still holds a value could swap it in again."""
        ...


def read_whole(store: ObjectStore, key: str, most_bytes: int) -> bytes:
    """A small object; raises ObjectStoreError where it is larger than anything of ours."""
    content = bytearray()
    for piece in store.read(key):
        content += piece
        if len(content) > most_bytes:
            raise ObjectStoreError(store.url, f"{key} is larger than {most_bytes:,} bytes")
    return bytes(content)
