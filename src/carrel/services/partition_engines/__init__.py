"""Engines that do partitions of work apart: processes of this machine, or a cluster of Ray.

`map(function_name, partitions, out_folder)` has the function called once for each partition, with
the partition and the folder, in any process and any order. It answers the name of the file it
wrote there. A worker that dies has its partition done again, so the function must bear that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol

MOST_TRIES = 3
"""So often a partition is begun whose worker dies."""


@dataclass(frozen=True, slots=True)
class PartitionError:
    """Why a partition has no file."""

    message: str


Outcome = str | PartitionError


class PartitionEngine(Protocol):
    """Does partitions of work; raises CarrelError where it cannot begin at all."""

    def map(
        self, function_name: str, partitions: Sequence[bytes], out_folder: str
    ) -> Iterator[tuple[int, Outcome]]:
        """The number of each partition with its outcome, in any order."""
        ...


def run_partition(function_name: str, partition: bytes, out_folder: str) -> str:
    """Call a function by its name (`package.module:function`), in whatever process this is."""
    module, _, name = function_name.partition(":")
    function: Callable[[bytes, str], str] = getattr(import_module(module), name)
    return function(partition, out_folder)
