"""Reads parts of sources, in this process or in several, so that neither a bad file nor a crashing
parser stops the others.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection
from typing import Generic, TypeVar

from carrel.core.paper_record import AssetKeeper, Reading, ReadProblem, SourcePart, SourceReader
from carrel.libraries.text.budget import InputTooCostlyError, parsing
from carrel.services.parser_process import limit_this_process

_IN_FLIGHT_PER_WORKER = 3
# Parsers of ours end by their budget long before this; it is for PDFium, which cannot be asked to
# stop. A thesis of 1,000 pages
# takes some 5 s.
CPU_SECONDS = 30.0
CPU_SECONDS_PER_MEGABYTE = 2.0
# Under load a second of computing takes several by the clock.
_WALL_FACTOR = 10.0
_KILLED_FOR_TIME = -getattr(signal, "SIGXCPU", signal.SIGTERM)

TicketT = TypeVar("TicketT")

ReadersAndKeeper = Callable[[], tuple[tuple[SourceReader, ...], AssetKeeper]]


@dataclass(frozen=True, slots=True)
class Errand(Generic[TicketT]):
    """A part for a reader, and what the sender wants back with the answer."""

    reader: str
    part: SourcePart
    ticket: TicketT


def read_part(reader: SourceReader, part: SourcePart, keeper: AssetKeeper) -> Reading:
    """What the reader makes of the part; anything that goes wrong is a line for the report."""
    try:
        with parsing("the file", _size(part)):
            return reader.read(part, keeper)
    except InputTooCostlyError as error:
        return _failed("too_costly", f"{error.message}. {error.next_step}")
    except OSError as error:
        return _failed("not_readable", f"cannot be read: {error.strerror or error}")
    except MemoryError:
        return _failed("too_large", "does not fit into memory")
    except Exception as error:  # noqa: BLE001 - parsers fail in ways of their own; one file must not stop the rest
        return _failed(
            "reader_failed",
            f"the {reader.name} reader failed: {type(error).__name__}: {error}"[:300],
        )


def _size(part: SourcePart) -> int:
    if part.content is not None:
        return len(part.content)
    try:
        return part.path.stat().st_size
    except OSError:
        return 0


def read_here(
    errands: Iterable[Errand[TicketT]], equipment: ReadersAndKeeper
) -> Iterator[tuple[TicketT, Reading]]:
    """One after the other in this process."""
    readers, keeper = equipment()
    by_name = {reader.name: reader for reader in readers}
    for errand in errands:
        yield errand.ticket, read_part(by_name[errand.reader], errand.part, keeper)


def read_in_processes(
    errands: Iterable[Errand[TicketT]],
    equipment: ReadersAndKeeper,
    workers: int,
    cpu_seconds: float = CPU_SECONDS,
) -> Iterator[tuple[TicketT, Reading]]:
    """In several processes, a few errands ahead. When one dies or is ended, what it may have held
    is tried again alone.

    `cpu_seconds` is what a part may take, besides 2 s for each megabyte, before its process is
    ended.
    """
    waiting = iter(errands)
    while batch := list(islice(waiting, workers * _IN_FLIGHT_PER_WORKER)):
        lost: list[Errand[TicketT]] = []
        with _pool(equipment, workers) as pool:
            in_flight: dict[Future[Reading], Errand[TicketT]] = {
                _send(pool, errand, cpu_seconds): errand for errand in batch
            }
            while in_flight:
                limit = (
                    max(_cpu_limit(errand.part, cpu_seconds) for errand in in_flight.values())
                    * _WALL_FACTOR
                )
                done, _ = wait(in_flight, timeout=limit, return_when=FIRST_COMPLETED)
                if not done:
                    _kill_workers(pool)
                for future in done:
                    errand = in_flight.pop(future)
                    if isinstance(future.exception(), BrokenProcessPool):
                        lost.append(errand)
                        continue
                    yield errand.ticket, future.result()
                    if not lost:
                        in_flight.update(
                            (_send(pool, following, cpu_seconds), following)
                            for following in islice(waiting, 1)
                        )
        for errand in lost:
            yield errand.ticket, _read_alone(errand, equipment, cpu_seconds)


def _read_alone(
    errand: Errand[TicketT], equipment: ReadersAndKeeper, cpu_seconds: float
) -> Reading:
    """In a process for this errand only, so that what ends the process is known to be this file."""
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(
        target=_answer_alone,
        args=(equipment, errand.reader, errand.part, cpu_seconds, sending),
        daemon=True,
    )
    process.start()
    sending.close()
    limit = _cpu_limit(errand.part, cpu_seconds)
    try:
        if not receiving.poll(limit * _WALL_FACTOR):
            return _too_costly(limit)
        reading: Reading = receiving.recv()
        return reading
    except EOFError:
        process.join()
        if process.exitcode == _KILLED_FOR_TIME:
            return _too_costly(limit)
        return _failed(
            "reader_crashed",
            f"the {errand.reader} reader crashed on it or had too little memory for it",
        )
    finally:
        process.kill()
        process.join()
        receiving.close()


def _answer_alone(
    equipment: ReadersAndKeeper,
    reader: str,
    part: SourcePart,
    cpu_seconds: float,
    sending: Connection,
) -> None:
    _equip(equipment)
    sending.send(_read_in_worker(reader, part, cpu_seconds))


def _kill_workers(pool: ProcessPoolExecutor) -> None:
    """Ends a pool whose workers do not answer; its futures fail with BrokenProcessPool. Python 3.14
    has a method for this.
    """
    for process in list(pool._processes.values()):
        process.kill()


def _cpu_limit(part: SourcePart, cpu_seconds: float) -> float:
    return cpu_seconds + CPU_SECONDS_PER_MEGABYTE * _size(part) / 1_000_000


def _too_costly(limit: float) -> Reading:
    return _failed(
        "too_costly",
        f"reading it takes more than {limit:.0f} seconds of computing, so it was ended",
    )


def _send(
    pool: ProcessPoolExecutor, errand: Errand[TicketT], cpu_seconds: float
) -> Future[Reading]:
    try:
        return pool.submit(_read_in_worker, errand.reader, errand.part, cpu_seconds)
    except BrokenProcessPool as error:
        failed: Future[Reading] = Future()
        failed.set_exception(error)
        return failed


def _pool(equipment: ReadersAndKeeper, workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn"), initializer=_equip, initargs=(equipment,)
    )


_readers: dict[str, SourceReader] = {}
_keepers: list[AssetKeeper] = []


def _equip(equipment: ReadersAndKeeper) -> None:
    readers, keeper = equipment()
    _readers.update({reader.name: reader for reader in readers})
    _keepers[:] = [keeper]


def _read_in_worker(reader: str, part: SourcePart, cpu_seconds: float) -> Reading:
    limit_this_process(_cpu_limit(part, cpu_seconds), _size(part))
    return read_part(_readers[reader], part, _keepers[0])


def _failed(code: str, message: str) -> Reading:
    return Reading(problems=(ReadProblem(code, message),))
