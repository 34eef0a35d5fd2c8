"""Answers of services in a folder, one file each, with an age and a bounded total size."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from carrel.services.atomic_files import write_atomically
from carrel.services.fetching import HttpAnswer

MAX_BYTES = 256 * 1024 * 1024
# After pruning so much is left, so that not every new answer prunes.
_LEFT_SHARE = 0.8
# One of so many new answers looks at the size of the folder.
_LOOKS_EVERY = 50
_KEPT_HEADERS = ("content-type", "etag", "last-modified", "link")
_SUFFIX = ".cached"
# Of earlier versions, which kept the contact address in them.
_OLD_SUFFIX = ".answer"


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """An answer and when it was given, in seconds since 1970."""

    answer: HttpAnswer
    answered_at: float
    # When the service last said that it still holds.
    confirmed_at: float

    @property
    def validators(self) -> dict[str, str]:
        """Headers that ask whether the answer still holds; empty if the service gave none."""
        headers = self.answer.headers
        pairs = (("If-None-Match", "etag"), ("If-Modified-Since", "last-modified"))
        return {name: headers[given] for name, given in pairs if headers.get(given)}


class AnswerCache:
    """A folder that processes may share; an unreadable file counts as absent.

    Keys and the contact address never come here: the key is the digest of a request without them,
    and whoever puts an answer has removed them from it. The methods read and write files.
    """

    def __init__(
        self,
        folder: Path,
        max_bytes: int = MAX_BYTES,
        clock: Callable[[], float] = time.time,
        rng: random.Random | None = None,
        replaces: Path | None = None,
    ) -> None:
        """`replaces` is the folder of an earlier version, whose answers are removed."""
        self._folder = folder
        self._replaces = replaces
        self._max_bytes = max_bytes
        self._clock = clock
        # No secret depends on it.
        self._random = rng or random.Random()  # noqa: S311
        self._is_first = True

    def get(self, digest: str) -> CachedAnswer | None:
        """The answer of whatever age."""
        try:
            head, _, body = self._path(digest).read_bytes().partition(b"\n")
            facts = json.loads(head)
            if facts["size"] != len(body):
                return None
            headers = {str(name): str(value) for name, value in facts["headers"].items()}
            answer = HttpAnswer(int(facts["status"]), headers, body)
            return CachedAnswer(answer, float(facts["at"]), float(facts["confirmed"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def put(self, digest: str, answer: HttpAnswer, answered_at: float | None = None) -> None:
        """Keep an answer; `answered_at` where it is an earlier one that still holds."""
        now = self._clock()
        facts = {
            "at": now if answered_at is None else answered_at,
            "confirmed": now,
            "status": answer.status,
            "size": len(answer.body),
            "headers": {
                name: answer.headers[name] for name in _KEPT_HEADERS if answer.headers.get(name)
            },
        }
        # A full or read-only disk costs a question more, not the answer.
        with suppress(OSError):
            write_atomically(self._path(digest), json.dumps(facts).encode() + b"\n" + answer.body)
            if self._is_first or self._random.randrange(_LOOKS_EVERY) == 0:
                self._is_first = False
                self.prune()

    def prune(self) -> None:
        """Remove the oldest answers where all of them are larger than allowed."""
        if self._replaces is not None:
            for old in self._replaces.glob(f"*{_OLD_SUFFIX}"):
                old.unlink(missing_ok=True)
            self._replaces = None
        files: list[tuple[float, int, str]] = []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.name.endswith(_SUFFIX):
                        found = entry.stat()
                        files.append((found.st_mtime, found.st_size, entry.path))
        total = sum(size for _, size, _ in files)
        if total <= self._max_bytes:
            return
        for _, size, path in sorted(files):
            if total <= self._max_bytes * _LEFT_SHARE:
                break
            with suppress(OSError):
                Path(path).unlink()
            total -= size

    def _path(self, digest: str) -> Path:
        return self._folder / f"{digest}{_SUFFIX}"
