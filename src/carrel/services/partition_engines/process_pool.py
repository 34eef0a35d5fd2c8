"""Partitions in processes of this machine."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from carrel.core.errors import describe_error
from carrel.services.partition_engines import MOST_TRIES, Outcome, PartitionError, run_partition


class ProcessEngine:
    """A pool of processes; one that dies takes its partition along, which is then done alone."""

    def __init__(self, workers: int) -> None:
        self._workers = workers

    def map(
        self, function_name: str, partitions: Sequence[bytes], out_folder: str
    ) -> Iterator[tuple[int, Outcome]]:
        waiting = deque(range(len(partitions)))
        while waiting:
            lost = []
            with _pool(min(self._workers, len(waiting))) as pool:
                in_flight: dict[Future[str], int] = {}

                def send() -> None:
                    while waiting and len(in_flight) < self._workers:  # noqa: B023
                        number = waiting.popleft()
                        future = pool.submit(
                            run_partition, function_name, partitions[number], out_folder
                        )
                        in_flight[future] = number  # noqa: B023

                send()
                while in_flight:
                    for future in wait(in_flight, return_when=FIRST_COMPLETED).done:
                        number, error = in_flight.pop(future), future.exception()
                        if isinstance(error, BrokenProcessPool):
                            lost.append(number)
                        else:
                            yield number, _outcome(future)
                    if not lost:
                        send()
            for number in lost:
                yield number, _do_alone(function_name, partitions[number], out_folder)


def _do_alone(function_name: str, partition: bytes, out_folder: str) -> Outcome:
    """In a pool of its own, so that what ends the process is this partition."""
    for _ in range(MOST_TRIES - 1):
        with _pool(1) as pool:
            future = pool.submit(run_partition, function_name, partition, out_folder)
            if not isinstance(future.exception(), BrokenProcessPool):
                return _outcome(future)
    return PartitionError(f"its process died {MOST_TRIES} times")


def _outcome(future: Future[str]) -> Outcome:
    error = future.exception()
    return future.result() if error is None else PartitionError(describe_error(error))


def _pool(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"))
