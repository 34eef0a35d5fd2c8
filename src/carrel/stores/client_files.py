"""Configuration files of other programs: one entry changed under a lock, the original kept."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from carrel.core.errors import CarrelError, ConflictError
from carrel.libraries import configuration
from carrel.libraries.configuration import (
    Format,
    UneditableTextError,
    UnreadableTextError,
    find_entry,
)
from carrel.stores.file_lock import LockHeldError, hold_lock

MAX_BYTES = 16 * 1024 * 1024
_LOCK_WAIT_SECONDS = 20.0
_MAX_RETRIES = 8
_OWN_MODE = 0o600
_BOM = b"\xef\xbb\xbf"
_KEPT_SUFFIX = ".before-carrel"
_LABELS = {"json": "JSON", "jsonc": "JSON", "toml": "TOML", "yaml": "YAML"}


class ConfigurationUnreadableError(CarrelError):
    """A client's own file is not what it should be, so it is left alone."""

    code = "invalid_settings"


class EntryDiffersError(ConflictError):
    """The file already has another entry under that name."""


class EntryMissingError(CarrelError):
    """The client's file has no entry of that name."""

    code = "resource_not_found"


class Change(Enum):
    """What became of a file."""

    ADDED = "added"
    REPLACED = "replaced"
    ALREADY_THERE = "already there"


@dataclass(frozen=True, slots=True)
class ClientFile:
    """One program's file; `locks` is a folder of ours, so that no lock file lies in theirs."""

    file: Path
    format_name: str
    locks: Path

    @property
    def kept_original(self) -> Path:
        """Where the first original is kept."""
        return self.file.with_name(self.file.name + _KEPT_SUFFIX)

    def read(self) -> dict[str, Any]:
        """The values of the file, none where there is no file."""
        return self._parse(_decode(self._bytes() or b"", self.file))

    def entry(self, path: configuration.Path) -> object:
        """The entry at a path, None where there is none."""
        return self._find(self.read(), path)

    def put_entry(
        self,
        path: configuration.Path,
        entry: Mapping[str, Any],
        *,
        replace: bool,
        is_same: Callable[[object], bool],
        describe: Callable[[object], str],
    ) -> Change:
        """Add an entry; a different one of that name is only replaced where that was asked for."""
        outcome = Change.ADDED

        def change(text: str) -> str:
            nonlocal outcome
            found = self._find(self._parse(text), path)
            if found is not None and is_same(found):
                outcome = Change.ALREADY_THERE
                return text
            if found is not None and not replace:
                raise EntryDiffersError(
                    f"{self.file} already has a server called {path[-1]}: {describe(found)}",
                    next_step="Replace it with --replace, or choose another name with --name.",
                )
            outcome = Change.ADDED if found is None else Change.REPLACED
            return self._edit(lambda: self._format.put_entry(text, path, entry))

        self._change(change)
        return outcome

    def take(self, path: configuration.Path) -> None:
        """Take an entry out; a file that only had it is as it was before, or gone."""

        def change(text: str) -> str | None:
            found = self._find(self._parse(text), path)
            if found is None:
                raise EntryMissingError(
                    f"{self.file} has no server called {path[-1]}",
                    next_step="carrel connect --list shows which clients have one.",
                )
            original = self._original()
            if original is None or self._is_own(original, path):
                if self._is_own(text, path):
                    return None
            elif self._is_original_with(text, original, path, found):
                return original
            # A table that held nothing before Carrel came stays where the original had it.
            keep_empty = original is not None and self._had_table(original, path)
            return self._edit(lambda: self._format.take(text, path, keep_empty=keep_empty))

        self._change(change)

    @property
    def _format(self) -> Format:
        return configuration.file_format(self.format_name)

    def _parse(self, text: str) -> dict[str, Any]:
        try:
            return self._format.parse(text)
        except UnreadableTextError as error:
            raise ConfigurationUnreadableError(
                f"{self.file} is not {_LABELS[self.format_name]}: {error}",
                next_step="It was left alone. Mend it, then run again.",
            ) from None

    def _find(self, values: Mapping[str, Any], path: configuration.Path) -> object:
        try:
            return find_entry(values, path)
        except UnreadableTextError as error:
            raise ConfigurationUnreadableError(
                f"{self.file} does not hold servers as expected: {error}",
                next_step="It was left alone. Mend it, or add the printed lines by hand.",
            ) from None

    def _edit(self, edit: Callable[[], str]) -> str:
        try:
            return edit()
        except (UneditableTextError, UnreadableTextError) as error:
            raise ConfigurationUnreadableError(
                f"{self.file} was left alone: {error}",
                next_step="Run without --write and change the file by hand.",
            ) from None

    def _original(self) -> str | None:
        with contextlib.suppress(OSError, ConfigurationUnreadableError):
            return _decode(self.kept_original.read_bytes(), self.kept_original)
        return None

    def _is_original_with(
        self, text: str, original: str, path: configuration.Path, entry: object
    ) -> bool:
        """Whether the text is the original, which had no such entry, and the entry."""
        if not isinstance(entry, dict):
            return False
        with contextlib.suppress(UneditableTextError, UnreadableTextError):
            had_entry = find_entry(self._format.parse(original), path) is not None
            return not had_entry and self._format.put_entry(original, path, entry) == text
        return False

    def _is_own(self, text: str, path: configuration.Path) -> bool:
        """Whether the text is nothing but the entry, as Carrel writes it."""
        with contextlib.suppress(UnreadableTextError):
            found = find_entry(self._format.parse(text), path)
            return self._is_original_with(text, "", path, found)
        return False

    def _had_table(self, original: str, path: configuration.Path) -> bool:
        with contextlib.suppress(UnreadableTextError):
            return find_entry(self._format.parse(original), path[:-1]) is not None
        return False

    def _bytes(self) -> bytes | None:
        try:
            if self.file.stat().st_size > MAX_BYTES:
                raise ConfigurationUnreadableError(
                    f"{self.file} is larger than any configuration should be",
                    next_step="It was left alone. Add the printed lines by hand.",
                )
            return self.file.read_bytes()
        except FileNotFoundError:
            return None

    def _change(self, change: Callable[[str], str | None]) -> None:
        """Read, change and replace until nobody else wrote in between."""
        target = self.file.resolve()
        with self._locked(target):
            for _ in range(_MAX_RETRIES):
                before = self._bytes()
                text = _decode(before or b"", self.file)
                after = change(text)
                if after == text:
                    return
                # What goes as a whole had no original.
                if before is not None and after is not None and not self.kept_original.exists():
                    _copy(before, target, self.kept_original)
                if self._bytes() != before:
                    continue
                if after is None:
                    target.unlink()
                    return
                bom = _BOM if before and before.startswith(_BOM) else b""
                _replace(target, bom + after.encode())
                return
        raise ConflictError(
            f"{self.file} is being written by another program all the time",
            next_step="Close that program, then run again.",
        )

    @contextmanager
    def _locked(self, target: Path) -> Iterator[None]:
        self.locks.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(os.fsencode(target)).hexdigest()[:24]
        try:
            with hold_lock(self.locks / f"{name}.lock", wait_seconds=_LOCK_WAIT_SECONDS):
                yield
        except LockHeldError:
            raise ConflictError(
                f"another carrel connect is writing {self.file}", next_step="Run it again."
            ) from None


def _decode(content: bytes, file: Path) -> str:
    try:
        return content.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigurationUnreadableError(
            f"{file} is not UTF-8 text",
            next_step="It was left alone. Save it as UTF-8, then run again.",
        ) from None


def _copy(content: bytes, source: Path, target: Path) -> None:
    _write_beside(target, content, stat.S_IMODE(source.stat().st_mode), source.stat())


def _replace(target: Path, content: bytes) -> None:
    """Put the content in place at once; an existing file keeps its mode and owner."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        known = target.stat()
    except FileNotFoundError:
        _write_beside(target, content, _OWN_MODE, None)
    else:
        _write_beside(target, content, stat.S_IMODE(known.st_mode), known)


def _write_beside(target: Path, content: bytes, mode: int, owner: os.stat_result | None) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".new", dir=target.parent)
    fresh = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        fresh.chmod(mode)
        if owner is not None and hasattr(os, "chown") and owner.st_uid != fresh.stat().st_uid:
            with contextlib.suppress(PermissionError):
                os.chown(fresh, owner.st_uid, owner.st_gid)
        fresh.replace(target)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
