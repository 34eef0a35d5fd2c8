"""An object store over the network, by `obstore`: S3 and what speaks it, Google Cloud Storage.

Credentials come from the environment, as the platform's own tools read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import chain
from typing import TYPE_CHECKING, Any

import obstore
import orjson
from obstore import exceptions
from obstore.store import GCSStore, MemoryStore, S3Store

from carrel.stores.objects.store import (
    MAX_REGISTER_BYTES,
    PIECE_BYTES,
    LostSwapError,
    MissingObjectError,
    ObjectFacts,
    ObjectStoreError,
    RegisterValue,
)

if TYPE_CHECKING:
    from obstore import UpdateVersion
    from obstore.store import ClientConfig, RetryConfig

# The driver's own defaults are ten tries in three minutes: nobody waits that long for a call.
_RETRIES: RetryConfig = {
    "max_retries": 4,
    "retry_timeout": timedelta(seconds=20),
    "backoff": {
        "init_backoff": timedelta(milliseconds=100),
        "max_backoff": timedelta(seconds=3),
        "base": 2,
    },
}
# Of one request, which moves PIECE_BYTES at the most.
_CLIENT: ClientConfig = {
    "timeout": timedelta(seconds=60),
    "connect_timeout": timedelta(seconds=5),
}
_MOST_PARTS_AT_ONCE = 4
# Of a request that moves little. Every change begins with one: it finds out a store that takes
# connections and does not answer. Chosen by hand: a 503 within 20 seconds.
_SMALL_BYTES = 512 * 1024
_SMALL_TIMEOUT = timedelta(seconds=12)
_SMALL_RETRIES: RetryConfig = {**_RETRIES, "retry_timeout": timedelta(seconds=10)}

Store = S3Store | GCSStore | MemoryStore


def open_s3(bucket: str, prefix: str, *, allows_http: bool) -> RemoteObjects:
    """A bucket of S3; `allows_http` where the endpoint is an address without TLS."""

    def connect(client: ClientConfig, retries: RetryConfig) -> S3Store:
        options: ClientConfig = {**client, "allow_http": allows_http}
        return S3Store(bucket, prefix=prefix or None, client_options=options, retry_config=retries)

    return RemoteObjects(
        connect(_CLIENT, _RETRIES),
        f"s3://{bucket}/{prefix}".rstrip("/"),
        connect(_small_client(), _SMALL_RETRIES),
    )


def open_gcs(bucket: str, prefix: str) -> RemoteObjects:
    """A bucket of Google Cloud Storage."""

    def connect(client: ClientConfig, retries: RetryConfig) -> GCSStore:
        return GCSStore(bucket, prefix=prefix or None, client_options=client, retry_config=retries)

    return RemoteObjects(
        connect(_CLIENT, _RETRIES),
        f"gs://{bucket}/{prefix}".rstrip("/"),
        connect(_small_client(), _SMALL_RETRIES),
    )


def _small_client() -> ClientConfig:
    return {**_CLIENT, "timeout": _SMALL_TIMEOUT}


class RemoteObjects:
    """Objects and registers of one bucket, below its prefix.

    Requests that move little go through `small`, which waits less long for an answer.
    """

    def __init__(self, store: Store, url: str, small: Store | None = None) -> None:
        self._store = store
        self._small = small or store
        self._url = url

    @property
    def url(self) -> str:
        return self._url

    def read(self, key: str) -> Iterator[bytes]:
        with self._translate_errors(key):
            size = obstore.head(self._small, key)["size"]
            # In pieces, so that a slow line ends one request and not a whole object.
            for start in range(0, size, PIECE_BYTES):
                end = min(start + PIECE_BYTES, size)
                yield bytes(obstore.get_range(self._store, key, start=start, end=end))

    def write(self, key: str, content: bytes) -> None:
        if len(content) <= _SMALL_BYTES:
            store = self._small
        else:
            store = self._store
            self._check_store_answers(key)
        with self._translate_errors(key, is_write=True):
            obstore.put(store, key, content, chunk_size=PIECE_BYTES)

    def write_pieces(self, key: str, pieces: Iterable[bytes]) -> None:
        begun = bytearray()
        rest = iter(pieces)
        for piece in rest:
            begun += piece
            if len(begun) > PIECE_BYTES:
                break
        else:
            # A small object in parts would be three requests.
            self.write(key, bytes(begun))
            return
        self._check_store_answers(key)
        with self._translate_errors(key, is_write=True):
            obstore.put(
                self._store,
                key,
                chain([bytes(begun)], rest),
                chunk_size=PIECE_BYTES,
                max_concurrency=_MOST_PARTS_AT_ONCE,
            )

    def _check_store_answers(self, key: str) -> None:
        """Raises ObjectStoreError where the store does not answer, before much is sent."""
        self.find(key)

    def find(self, key: str) -> ObjectFacts | None:
        with self._translate_errors(key):
            try:
                return _facts(obstore.head(self._small, key))
            except FileNotFoundError:
                return None

    def list_below(self, folder: str) -> Iterator[ObjectFacts]:
        with self._translate_errors(folder):
            for page in obstore.list(self._small, folder):
                yield from map(_facts, page)

    def remove(self, keys: Iterable[str]) -> None:
        for key in keys:
            with self._translate_errors(key), suppress(FileNotFoundError):
                obstore.delete(self._small, key)

    def read_register(self, name: str) -> RegisterValue | None:
        key = _register(name)
        with self._translate_errors(key):
            try:
                found = obstore.get(self._small, key)
            except FileNotFoundError:
                return None
            if found.meta["size"] > MAX_REGISTER_BYTES:
                raise ObjectStoreError(self._url, f"{key} is no register of ours")
            return RegisterValue(bytes(found.bytes()), _tag(found.meta))

    def swap_register(
        self, name: str, content: bytes, expected: RegisterValue | None
    ) -> RegisterValue:
        key = _register(name)
        try:
            with self._translate_errors(key, is_write=expected is None):
                if expected is None:
                    put = obstore.put(self._small, key, content, mode="create")
                else:
                    version: UpdateVersion = orjson.loads(expected.tag)
                    put = obstore.put(self._small, key, content, mode=version)
        except (_RefusedSwapError, ObjectStoreError) as error:
            # An answer that was lost made the driver ask again: then the value is ours already.
            now = self.read_register(name)
            if now is not None and now.content == content:
                return now
            if isinstance(error, _RefusedSwapError):
                raise LostSwapError from None
            raise
        return RegisterValue(content, _tag(put))

    def remove_register(self, name: str) -> None:
        self.remove([_register(name)])

    @contextmanager
    def _translate_errors(self, key: str, *, is_write: bool = False) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            if is_write:
                raise ObjectStoreError(
                    self._url, "there is no such bucket", "Make the bucket, or correct its name."
                ) from error
            raise MissingObjectError(self._url, key) from error
        except (exceptions.AlreadyExistsError, exceptions.PreconditionError) as error:
            raise _RefusedSwapError from error
        except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError) as error:
            raise ObjectStoreError(
                self._url,
                "the credentials are missing or may not do this",
                "Set the usual variables (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
                "GOOGLE_APPLICATION_CREDENTIALS), or give the machine's role the right to read, "
                "write, list and delete below the prefix.",
            ) from error
        except (exceptions.BaseError, OSError, ValueError) as error:
            raise ObjectStoreError(self._url, _first_line(error)) from error


class _RefusedSwapError(Exception):
    """The store says that the register holds another value."""


def _register(name: str) -> str:
    return f"registers/{name}.json"


def _tag(facts: Any) -> str:
    """What names this state: S3 goes by ETags, Google Cloud Storage by versions."""
    known = {name: facts.get(name) for name in ("e_tag", "version")}
    return orjson.dumps({name: value for name, value in known.items() if value}).decode()


def _facts(meta: Any) -> ObjectFacts:
    return ObjectFacts(meta["path"], meta["size"], meta["last_modified"].timestamp())


def _first_line(error: Exception) -> str:
    """What went wrong, without the driver's own structures behind it."""
    return str(error).partition("\n")[0][:300] or type(error).__name__
