"""The audit log as JSON lines on a standard stream, for platforms that keep what a process prints
and nothing that it writes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Literal

from carrel.core.clock import Clock
from carrel.policy.audit_anchor import Anchors
from carrel.stores.audit_queue import Notice, PartlyWrittenError, QueuedAudit, QueueOptions

_DESCRIPTORS: dict[str, int] = {"stdout": 1, "stderr": 2}


class StreamAudit(QueuedAudit):
    """The queue in front of the stream. Chains are as in files; there are no anchors, since nothing
    here outlives the process.
    """

    def __init__(
        self,
        stream: Literal["stdout", "stderr"],
        *,
        options: QueueOptions | None = None,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(StreamSink(_DESCRIPTORS[stream]), options=options, clock=clock)


class StreamSink:
    """Writes whole lines to a descriptor that it does not own."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        # What of a line could not be written; its reader must not see the next line glued to it.
        self._rest = b""

    def append(self, lines: Sequence[bytes]) -> None:
        self._write_rest()
        for number, line in enumerate(lines):
            self._rest = line + b"\n"
            try:
                self._write_rest()
            except OSError as error:
                # The rest of a line that has begun is written before anything else, so that the
                # line counts.
                if len(self._rest) <= len(line):
                    raise PartlyWrittenError(number + 1) from error
                self._rest = b""
                raise PartlyWrittenError(number) from error

    def last_hash(self) -> str | None:
        return None

    def lines(self) -> Iterable[bytes]:
        return ()

    def sync(self) -> None:
        """A stream has no disk of its own; what was written is with its reader."""

    def maintain(self, anchors: Anchors | None, *, is_thorough: bool) -> list[Notice]:
        return []

    def space_problem(self) -> str | None:
        return None

    def close(self) -> None:
        """The stream is the process's own."""

    def _write_rest(self) -> None:
        while self._rest:
            self._rest = self._rest[os.write(self._descriptor, self._rest) :]
