"""Reads parts of sources, in this process or in several, so that neither a bad file nor a crashing parser stops the others."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

from carrel.core.budget import InputTooCostlyError, parsing
from carrel.core.paper_record import AssetKeeper, Reading, ReadProblem, SourcePart, SourceReader

_IN_FLIGHT_PER_WORKER = 3

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
        return _failed("reader_failed", f"the {reader.name} reader failed: {type(error).__name__}: {error}"[:300])


def _size(part: SourcePart) -> int:
    if part.content is not None:
        return len(part.content)
    try:
        return part.path.stat().st_size
    except OSError:
        return 0


def read_here(errands: Iterable[Errand[TicketT]], equipment: ReadersAndKeeper) -> Iterator[tuple[TicketT, Reading]]:
    """One after the other in this process."""
    readers, keeper = equipment()
    by_name = {reader.name: reader for reader in readers}
    for errand in errands:
        yield errand.ticket, read_part(by_name[errand.reader], errand.part, keeper)


def read_in_processes(
    errands: Iterable[Errand[TicketT]], equipment: ReadersAndKeeper, workers: int
) -> Iterator[tuple[TicketT, Reading]]:
    """In several processes, a few errands ahead. When one dies, what it may have held is tried again alone."""
    waiting = iter(errands)
    while batch := list(islice(waiting, workers * _IN_FLIGHT_PER_WORKER)):
        lost: list[Errand[TicketT]] = []
        with _pool(equipment, workers) as pool:
            in_flight: dict[Future[Reading], Errand[TicketT]] = {_send(pool, errand): errand for errand in batch}
            while in_flight:
                done, _ = wait(in_flight, return_when=FIRST_COMPLETED)
                for future in done:
                    errand = in_flight.pop(future)
                    if isinstance(future.exception(), BrokenProcessPool):
                        lost.append(errand)
                        continue
                    yield errand.ticket, future.result()
                    if not lost:
                        in_flight.update((_send(pool, following), following) for following in islice(waiting, 1))
        for errand in lost:
            yield errand.ticket, _read_alone(errand, equipment)


def _read_alone(errand: Errand[TicketT], equipment: ReadersAndKeeper) -> Reading:
    with _pool(equipment, 1) as pool:
        try:
            return _send(pool, errand).result()
        except BrokenProcessPool:
            return _failed("reader_crashed", f"the {errand.reader} reader crashed on it")


def _send(pool: ProcessPoolExecutor, errand: Errand[TicketT]) -> Future[Reading]:
    try:
        return pool.submit(_read_in_worker, errand.reader, errand.part)
    except BrokenProcessPool as error:
        failed: Future[Reading] = Future()
        failed.set_exception(error)
        return failed


def _pool(equipment: ReadersAndKeeper, workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=_equip, initargs=(equipment,))


_readers: dict[str, SourceReader] = {}
_keepers: list[AssetKeeper] = []


def _equip(equipment: ReadersAndKeeper) -> None:
    readers, keeper = equipment()
    _readers.update({reader.name: reader for reader in readers})
    _keepers[:] = [keeper]


def _read_in_worker(reader: str, part: SourcePart) -> Reading:
    return read_part(_readers[reader], part, _keepers[0])


def _failed(code: str, message: str) -> Reading:
    return Reading(problems=(ReadProblem(code, message),))
