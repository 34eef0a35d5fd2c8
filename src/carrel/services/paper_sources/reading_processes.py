"""Reads parts of sources in child processes, which may crash and are limited in time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for_any

from carrel.rooms.papers.building.models import PartJob, Reading, SourcePart
from carrel.rooms.papers.building.ports import AssetStore
from carrel.services.paper_sources.source_reader import (
    ReadersAndAssets,
    SourceReader,
    measure_part,
    read_part,
)
from carrel.services.parser_process import limit_this_process

_IN_FLIGHT_PER_WORKER = 3
# Our own parsers end by their budget long before this; it is for PDFium, which cannot be asked to
# stop. A PDF of 1,000 pages takes some 20 s, the longest that is read (3,000 pages) a minute.
CPU_SECONDS = 90.0
CPU_SECONDS_PER_MEGABYTE = 2.0
# Under load a second of computing takes several by the clock.
WALL_FACTOR = 10.0
KILLED_FOR_TIME = -getattr(signal, "SIGXCPU", signal.SIGTERM)


def read_in_processes(
    jobs: Iterable[PartJob],
    equipment: ReadersAndAssets,
    workers: int,
    cpu_seconds: float = CPU_SECONDS,
) -> Iterator[tuple[PartJob, Reading]]:
    """Read parts in a process pool; parts of a crashed or killed worker are read again, one by one.

    A part may take `cpu_seconds` and 2 s for each megabyte.
    """
    waiting = iter(jobs)
    while batch := list(islice(waiting, workers * _IN_FLIGHT_PER_WORKER)):
        lost: list[PartJob] = []
        with _pool(equipment, workers) as pool:
            in_flight: dict[Future[Reading], PartJob] = {
                _send(pool, job, cpu_seconds): job for job in batch
            }
            while in_flight:
                limit = (
                    max(cpu_limit(job.part, cpu_seconds) for job in in_flight.values())
                    * WALL_FACTOR
                )
                done, _ = wait(in_flight, timeout=limit, return_when=FIRST_COMPLETED)
                if not done:
                    _kill_workers(pool)
                for future in done:
                    job = in_flight.pop(future)
                    if isinstance(future.exception(), BrokenProcessPool):
                        lost.append(job)
                        continue
                    yield job, future.result()
                    if not lost:
                        in_flight.update(
                            (_send(pool, following, cpu_seconds), following)
                            for following in islice(waiting, 1)
                        )
        for job in lost:
            yield job, _read_alone(job, equipment, cpu_seconds)


def _read_alone(job: PartJob, equipment: ReadersAndAssets, cpu_seconds: float) -> Reading:
    """In a process for this job only, so that what ends the process is this file."""
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(
        target=_answer_alone,
        args=(equipment, job.reader, job.part, cpu_seconds, sending),
        daemon=True,
    )
    process.start()
    sending.close()
    limit = cpu_limit(job.part, cpu_seconds)
    try:
        if not receiving.poll(limit * WALL_FACTOR):
            return report_cost(limit)
        reading: Reading = receiving.recv()
        return reading
    except EOFError:
        process.join()
        if process.exitcode == KILLED_FOR_TIME:
            return report_cost(limit)
        return report_crash(job.reader)
    finally:
        process.kill()
        process.join()
        receiving.close()


def _answer_alone(
    equipment: ReadersAndAssets,
    reader: str,
    part: SourcePart,
    cpu_seconds: float,
    sending: Connection,
) -> None:
    equip_worker(equipment)
    sending.send(read_in_worker(reader, part, cpu_seconds))


def _kill_workers(pool: ProcessPoolExecutor) -> None:
    """Kill a pool whose workers do not answer; its futures fail with BrokenProcessPool."""
    # Python 3.14 has a method for this.
    for process in list(pool._processes.values()):
        process.kill()


def cpu_limit(part: SourcePart, cpu_seconds: float) -> float:
    """The seconds of computing that reading it may take."""
    return cpu_seconds + CPU_SECONDS_PER_MEGABYTE * measure_part(part) / 1_000_000


def report_crash(reader: str) -> Reading:
    return Reading.failed(
        "reader_crashed", f"the {reader} reader crashed on it or had too little memory for it"
    )


def report_cost(limit: float) -> Reading:
    return Reading.failed(
        "too_costly",
        f"reading it takes more than {limit:.0f} seconds of computing, so it was ended",
    )


def _send(pool: ProcessPoolExecutor, job: PartJob, cpu_seconds: float) -> Future[Reading]:
    try:
        return pool.submit(read_in_worker, job.reader, job.part, cpu_seconds)
    except BrokenProcessPool as error:
        failed: Future[Reading] = Future()
        failed.set_exception(error)
        return failed


def _pool(equipment: ReadersAndAssets, workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        workers,
        multiprocessing.get_context("spawn"),
        initializer=_equip_pool_worker,
        initargs=(equipment,),
    )


_readers: dict[str, SourceReader] = {}
_asset_stores: list[AssetStore] = []


def _equip_pool_worker(equipment: ReadersAndAssets) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    equip_worker(equipment)


def _end_with_parent() -> None:
    """End this process when the one that builds has ended, killed or not; it waits otherwise."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for_any([parent.sentinel])
        os._exit(1)


def equip_worker(equipment: ReadersAndAssets) -> None:
    """Make this process ready for `read_in_worker`."""
    readers, assets = equipment()
    _readers.update({reader.name: reader for reader in readers})
    _asset_stores[:] = [assets]


def read_in_worker(reader: str, part: SourcePart, cpu_seconds: float) -> Reading:
    """Read one part in this process, which the system kills where it takes too long."""
    limit_this_process(cpu_limit(part, cpu_seconds), measure_part(part))
    return read_part(_readers[reader], part, _asset_stores[0])
