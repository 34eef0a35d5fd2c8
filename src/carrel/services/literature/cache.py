"""Answers remembered, so that no service is asked the same thing twice in a while."""

import hashlib
import json
import os
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Answer:
    """What a service said: its status and the body."""

    status: int
    content_type: str
    body: bytes


class AnswerCache(Protocol):
    """Keeps answers by the address that was asked. Both methods may block for a moment: the client
    calls them in a thread.
    """

    def get(self, address: str) -> Answer | None: ...

    def put(self, address: str, answer: Answer) -> None: ...


class NoCache:
    """Remembers nothing."""

    def get(self, address: str) -> Answer | None:
        return None

    def put(self, address: str, answer: Answer) -> None:
        pass


class MemoryCache:
    """The latest answers, for as long as they live."""

    def __init__(
        self,
        max_answers: int = 1000,
        lifetime_seconds: float = 86_400,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._answers: OrderedDict[str, tuple[float, Answer]] = OrderedDict()
        self._max_answers = max_answers
        self._lifetime_seconds = lifetime_seconds
        self._clock = clock

    def get(self, address: str) -> Answer | None:
        kept = self._answers.get(address)
        if kept is None or self._clock() - kept[0] > self._lifetime_seconds:
            return None
        self._answers.move_to_end(address)
        return kept[1]

    def put(self, address: str, answer: Answer) -> None:
        self._answers[address] = (self._clock(), answer)
        self._answers.move_to_end(address)
        while len(self._answers) > self._max_answers:
            self._answers.popitem(last=False)


class FileCache:
    """Answers in a folder, one file each, that outlive the process. A file that cannot be read is
    as good as none.
    """

    def __init__(
        self,
        folder: Path,
        lifetime_seconds: float = 30 * 86_400,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._lifetime_seconds = lifetime_seconds
        self._clock = clock

    def get(self, address: str) -> Answer | None:
        try:
            head, _, body = self._path(address).read_bytes().partition(b"\n")
            facts = json.loads(head)
            if facts["address"] != address or self._clock() - facts["at"] > self._lifetime_seconds:
                return None
            return Answer(facts["status"], facts["content_type"], body)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, address: str, answer: Answer) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        facts = {
            "address": address,
            "at": self._clock(),
            "status": answer.status,
            "content_type": answer.content_type,
        }
        handle, name = tempfile.mkstemp(dir=self._folder, suffix=".part")
        with os.fdopen(handle, "wb") as file:
            file.write(json.dumps(facts).encode() + b"\n" + answer.body)
        Path(name).replace(self._path(address))

    def _path(self, address: str) -> Path:
        return self._folder / f"{hashlib.sha256(address.encode()).hexdigest()}.answer"
