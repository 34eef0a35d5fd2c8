"""Partitions on a cluster of Ray (the extra `ray`), or on a cluster of this machine's own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from carrel.core.errors import NotConfiguredError, describe_error
from carrel.services.partition_engines import MOST_TRIES, Outcome, PartitionError, run_partition

_OBJECT_STORE_BYTES = 100 * 1024 * 1024


class RayEngine:
    """Ray's plain tasks: a partition goes there as bytes, the name of a file comes back.

    `address` is that of a cluster (`ray://host:10001`, `host:6379`); "local" makes one here that
    ends with the work. The folder must be the same one on every machine.
    """

    def __init__(self, workers: int, address: str = "local") -> None:
        self._workers = workers
        self._address = address

    def map(
        self, function_name: str, partitions: Sequence[bytes], out_folder: str
    ) -> Iterator[tuple[int, Outcome]]:
        ray = _connect(self._address, self._workers)
        try:
            task = ray.remote(
                num_cpus=1,
                max_retries=MOST_TRIES - 1,
                retry_exceptions=[OSError],
                scheduling_strategy="SPREAD",
            )(run_partition)
            work = (
                (number, task.remote(function_name, partition, out_folder))
                for number, partition in enumerate(partitions)
            )
            in_flight = {answer: number for number, answer in islice(work, 2 * self._workers)}
            while in_flight:
                done, _ = ray.wait(list(in_flight), num_returns=1)
                for answer in done:
                    yield in_flight.pop(answer), _outcome(ray, answer)
                in_flight.update((answer, number) for number, answer in islice(work, len(done)))
        finally:
            ray.shutdown()


def _connect(address: str, workers: int) -> Any:
    # Nothing is told to Ray's makers unless the operator says so.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise NotConfiguredError(
            "Ray is not installed here.",
            next_step='Install it (pip install "carrel[ray]"), or use --engine processes.',
        ) from error
    own: dict[str, Any] = (
        {
            "num_cpus": workers,
            "include_dashboard": False,
            "object_store_memory": _OBJECT_STORE_BYTES,
        }
        if address == "local"
        else {}
    )
    try:
        ray.init(address=address, log_to_driver=False, **own)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise NotConfiguredError(
            f"The cluster of Ray cannot be reached: {describe_error(error)}",
            next_step="Correct --address, and the token in RAY_AUTH_TOKEN where it asks for one.",
        ) from error
    return ray


def _outcome(ray: Any, answer: Any) -> Outcome:
    try:
        return str(ray.get(answer))
    except Exception as error:  # noqa: BLE001 - whatever the function raised, under Ray's own types
        # Ray wraps it in a report of many lines.
        return PartitionError(describe_error(getattr(error, "cause", None) or error))
