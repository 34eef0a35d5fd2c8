"""What happens during a soak, and when: drawn from a seed, so that a run can be told again."""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import StrEnum

SECONDS_BETWEEN = (2.0, 6.0)


class Event(StrEnum):
    KILL = "kill -9 of a replica"
    DATABASE = "PostgreSQL stopped at once and started again"
    DATABASE_DISK = "the disk of PostgreSQL full"
    REPLICA_DISK = "the disk of a replica full"


@dataclass(frozen=True, slots=True)
class Happening:
    """One event after a wait; `replica` says whose it is where one is meant."""

    wait_seconds: float
    event: Event
    replica: int


def draw_plan(seed: int, kills: int, restarts: int) -> list[Happening]:
    """All events in a drawn order, both disks full once among them."""
    chance = random.Random(seed)
    events = [Event.KILL] * kills + [Event.DATABASE] * restarts
    events += [Event.DATABASE_DISK, Event.REPLICA_DISK]
    chance.shuffle(events)
    return [
        Happening(chance.uniform(*SECONDS_BETWEEN), event, chance.randrange(2)) for event in events
    ]
