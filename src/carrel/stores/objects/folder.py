"""An object store in a folder, which may be shared over a network.

A folder has no compare-and-swap. A register is a folder of numbered files, each linked into place
whole: of several writers one gets the next number, and the highest number is the value.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO

from carrel.stores.objects.store import (
    PIECE_BYTES,
    LostSwapError,
    MissingObjectError,
    ObjectFacts,
    ObjectStoreError,
    RegisterValue,
)

_REGISTERS = "registers"
_NUMBER = re.compile(r"\d{12}")
_ASIDE = ".new-"
# A writer that slept while this many values were written is told that it lost.
_KEPT_VALUES = 64
# A listed value may be removed before it is read, by a writer that is this far ahead.
_READING_TRIES = 20


class FolderObjects:
    """Objects as files below a folder, written aside, synced and renamed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.expanduser().absolute()

    @property
    def url(self) -> str:
        return self._folder.as_uri()

    def read(self, key: str) -> Iterator[bytes]:
        with self._translate_errors(key), self._path(key).open("rb") as file:
            while piece := file.read(PIECE_BYTES):
                yield piece

    def write(self, key: str, content: bytes) -> None:
        def put(file: IO[bytes]) -> None:
            file.write(content)

        self._put(self._path(key), put, key)

    def write_pieces(self, key: str, pieces: Iterable[bytes]) -> None:
        def put(target: IO[bytes]) -> None:
            for piece in pieces:
                target.write(piece)

        self._put(self._path(key), put, key)

    def find(self, key: str) -> ObjectFacts | None:
        with self._translate_errors(key):
            try:
                state = self._path(key).stat()
            except (FileNotFoundError, NotADirectoryError):
                return None
        return ObjectFacts(key, state.st_size, state.st_mtime)

    def list_below(self, folder: str) -> Iterator[ObjectFacts]:
        with self._translate_errors(folder):
            self._check_mounted()
            for path in sorted(self._path(folder).rglob("*")):
                key = path.relative_to(self._folder).as_posix()
                if path.name.startswith(_ASIDE) or not path.is_file():
                    continue
                with suppress(FileNotFoundError):
                    state = path.stat()
                    yield ObjectFacts(key, state.st_size, state.st_mtime)

    def remove(self, keys: Iterable[str]) -> None:
        for key in keys:
            with self._translate_errors(key), suppress(FileNotFoundError):
                self._path(key).unlink()

    def read_register(self, name: str) -> RegisterValue | None:
        with self._translate_errors(name):
            for _ in range(_READING_TRIES):
                numbers = self._numbers(name)
                if not numbers:
                    self._check_mounted()
                    return None
                with suppress(FileNotFoundError):
                    path = self._value(name, numbers[-1])
                    return RegisterValue(path.read_bytes(), str(numbers[-1]))
        raise ObjectStoreError(self.url, f"{name} changes faster than it can be read")

    def swap_register(
        self, name: str, content: bytes, expected: RegisterValue | None
    ) -> RegisterValue:
        number = 1 if expected is None else int(expected.tag) + 1
        path = self._value(name, number)
        with self._translate_errors(name):
            known = self._numbers(name)
            # Without values it was removed since it was read.
            if known[-1:] >= [number] or (expected is not None and not known):
                raise LostSwapError
            self._make_folder(path.parent)
            with self._draft(path) as draft:
                with draft.open("wb") as file:
                    file.write(content)
                    _sync(file)
                try:
                    os.link(draft, path)
                except FileExistsError:
                    # A share whose answer got lost asks again, and finds what it has made itself.
                    if path.read_bytes() != content:
                        raise LostSwapError from None
            _sync_folder(path.parent)
            numbers = self._numbers(name)
            if numbers[-1] - number >= _KEPT_VALUES:
                # The number was free again because its first holder had been removed.
                path.unlink(missing_ok=True)
                raise LostSwapError
            for old in numbers:
                if old <= number - 2 * _KEPT_VALUES:
                    self._value(name, old).unlink(missing_ok=True)
        return RegisterValue(content, str(number))

    def remove_register(self, name: str) -> None:
        with self._translate_errors(name):
            shutil.rmtree(self._folder / _REGISTERS / name, ignore_errors=True)

    def _numbers(self, name: str) -> list[int]:
        folder = self._folder / _REGISTERS / name
        try:
            names = os.listdir(folder)  # noqa: PTH208 - names alone, a thousand times a minute
        except FileNotFoundError:
            return []
        return sorted(int(each) for each in names if _NUMBER.fullmatch(each))

    def _value(self, name: str, number: int) -> Path:
        return self._folder / _REGISTERS / name / f"{number:012}"

    def _path(self, key: str) -> Path:
        parts = PurePosixPath(key).parts
        if not parts or key.startswith("/") or ".." in parts or parts[0] == _REGISTERS:
            raise ValueError(f"not the name of an object: {key!r}")
        return self._folder.joinpath(*parts)

    def _put(self, path: Path, put: Callable[[IO[bytes]], None], key: str) -> None:
        with self._translate_errors(key):
            self._make_folder(path.parent)
            with self._draft(path) as draft:
                with draft.open("wb") as file:
                    put(file)
                    _sync(file)
                draft.replace(path)
            _sync_folder(path.parent)

    def _make_folder(self, folder: Path) -> None:
        """Only below the store's own folder, which is missing where a share is not mounted."""
        self._check_mounted()
        folder.mkdir(parents=True, exist_ok=True)

    def _check_mounted(self) -> None:
        if not self._folder.is_dir():
            raise FileNotFoundError(self._folder)

    @contextmanager
    def _draft(self, path: Path) -> Iterator[Path]:
        draft = path.with_name(f"{_ASIDE}{secrets.token_hex(8)}")
        try:
            yield draft
        finally:
            draft.unlink(missing_ok=True)

    @contextmanager
    def _translate_errors(self, key: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            if not self._folder.is_dir():
                raise ObjectStoreError(
                    self.url,
                    "there is no such folder",
                    "Make the folder, or mount it; nothing was written.",
                ) from error
            raise MissingObjectError(self.url, key) from error
        except OSError as error:
            raise ObjectStoreError(self.url, f"{key}: {error.strerror or error}") from error


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
