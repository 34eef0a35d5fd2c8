"""What can be done with each kind of concept in an experiment, such as inhibit or compare."""

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from carrel.libraries.discovery.concepts.kinds import kind_of
from carrel.libraries.discovery.records import Concept, Kind
from carrel.libraries.discovery.writing.wording import named

_DATA = Path(__file__).with_name("interventions.toml")


@dataclass(frozen=True)
class Ways:
    """Phrases of a test for one kind of concept: change, reverse, control, readout and block."""

    change: str
    further: str
    against: str
    read: str
    varied: str
    blocked: str


@lru_cache(maxsize=1)
def _ways() -> dict[Kind, Ways]:
    """The phrases by kind, read once."""
    found = tomllib.loads(_DATA.read_text(encoding="utf-8"))
    return {Kind(name): Ways(**phrases) for name, phrases in found.items()}


def changed(concept: Concept, other: Concept) -> str:
    """The phrase for changing a concept to test its link with `other`, with any reverse arm."""
    ways = _ways()[kind_of(concept)]
    return changed_simply(concept, other) + (
        f", and in a further arm {ways.further}" if ways.further else ""
    )


def changed_simply(concept: Concept, other: Concept) -> str:
    """What is done to a concept, without the further arm."""
    return _ways()[kind_of(concept)].change.format(x=named(concept), y=named(other))


def compared_with(concept: Concept) -> str:
    """What a changed concept is compared with."""
    return _ways()[kind_of(concept)].against


def readout(concept: Concept) -> str:
    """What of a concept is measured."""
    return _said(_ways()[kind_of(concept)].read, concept)


def varied(concept: Concept) -> str:
    """A concept varied, within a sentence: `with NF-κB knocked down`."""
    return _said(_ways()[kind_of(concept)].varied, concept)


def blocked(concept: Concept) -> str:
    """A concept taken out of a chain, within a sentence."""
    return _said(_ways()[kind_of(concept)].blocked, concept)


def _said(template: str, concept: Concept) -> str:
    return template.format(x=named(concept))
