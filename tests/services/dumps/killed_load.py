"""Loads a dump in small batches and kills itself: python -m … FOLDER INTO MOMENT NUMBER."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from carrel.core.progress import NoProgress
from carrel.rooms.papers.building.models import BuildOptions
from carrel.rooms.papers.loading.service import DumpToLoad
from carrel.wiring.papers_load import load_dump

BATCH_RECORDS = 40


class Countdown(NoProgress):
    """Ends the process without any cleaning up, at the moment of a number."""

    def __init__(self, number: int) -> None:
        self.number = number

    def count(self) -> None:
        self.number -= 1
        if self.number == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def advance(self, amount: int = 1, work: float | None = None) -> None:
        self.count()


def load(folder: Path, into: Path, moment: str = "", number: int = 0) -> None:
    countdown = Countdown(number)
    options = BuildOptions()
    if moment == "swap":
        options = BuildOptions(before_swap=lambda _: countdown.count())
    load_dump(
        into,
        DumpToLoad("openalex", folder, batch_records=BATCH_RECORDS),
        countdown if moment == "chunk" else NoProgress(),
        options,
    )


if __name__ == "__main__":
    load(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
