"""What can be done with each kind of concept in an experiment, such as inhibit or compare."""

from dataclasses import dataclass

from carrel.libraries.discovery.concepts.kinds import kind_of
from carrel.libraries.discovery.records import Concept, Kind
from carrel.libraries.discovery.writing.wording import named


@dataclass(frozen=True)
class Ways:
    """Phrases of a test for one kind of concept: change, reverse, control, readout and block."""

    change: str
    further: str
    against: str
    read: str
    varied: str
    blocked: str


WAYS = {
    Kind.SUBSTANCE: Ways(
        "give {x} at a low and a high dose",
        "block the action or withhold the supply",
        "the vehicle alone",
        "the concentration of {x}",
        "with {x} given",
        "with the action of {x} blocked",
    ),
    Kind.GENE: Ways(
        "knock down or delete {x}",
        "restore the normal level",
        "a control construct",
        "the level and activity of {x}",
        "with {x} knocked down",
        "with {x} knocked down",
    ),
    Kind.PROCESS: Ways(
        "inhibit {x} with two tools that act differently",
        "stimulate the same process",
        "the inactive form of each tool",
        "the rate and the markers of {x}",
        "with {x} inhibited",
        "with {x} inhibited",
    ),
    Kind.CELL: Ways(
        "deplete or silence {x}",
        "put back or stimulate the same population",
        "sham treatment",
        "the number and state of {x}",
        "with {x} depleted or silenced",
        "with {x} depleted or silenced",
    ),
    Kind.BEHAVIOUR: Ways(
        "restrict {x} for a set time",
        "extend or train the same",
        "an undisturbed group",
        "scores of {x}",
        "with {x} restricted",
        "with {x} held equal in all groups",
    ),
    Kind.EXPOSURE: Ways(
        "assign two levels or kinds of {x}",
        "",
        "the usual level",
        "the recorded level of {x}",
        "with a changed level or kind of {x}",
        "with {x} held equal in all groups",
    ),
    Kind.ORGANISM: Ways(
        "compare hosts or cultures with and without {x}",
        "clear or inactivate what was added",
        "a mock-treated group",
        "the abundance of {x}",
        "in the presence of {x}",
        "with {x} cleared",
    ),
    Kind.DISEASE: Ways(
        "compare subjects with and without {x}",
        "",
        "controls matched for age, sex and source",
        "the frequency and severity of {x}",
        "in subjects with {x}",
        "in subjects without {x}",
    ),
    Kind.EVENT: Ways(
        "compare records from before, during and after {x}",
        "",
        "places or groups that it reached late or not at all",
        "the course of {x}",
        "after {x}",
        "in groups that {x} did not reach",
    ),
    Kind.ANATOMY: Ways(
        "sample or record from {x} in subjects that differ in {y}",
        "",
        "a neighbouring structure in the same subjects",
        "the structure and state of {x}",
        "where {x} is changed",
        "with the state of {x} adjusted for",
    ),
    Kind.METHOD: Ways(
        "apply {x} (a way of finding out, not a thing to change) to groups that differ in {y}",
        "",
        "the same measure in unaffected groups",
        "what {x} shows",
        "as {x} shows it",
        "by a second method beside {x}",
    ),
    Kind.UNKNOWN: Ways(
        "sort samples or subjects into those with high and those with low {x}",
        "",
        "groups matched in everything else that is recorded",
        "{x}, measured as the cited papers do",
        "with high rather than low {x}",
        "with {x} adjusted for",
    ),
}


def changed(concept: Concept, other: Concept) -> str:
    """The phrase for changing a concept to test its link with `other`, with any reverse arm."""
    ways = WAYS[kind_of(concept)]
    return changed_simply(concept, other) + (
        f", and in a further arm {ways.further}" if ways.further else ""
    )


def changed_simply(concept: Concept, other: Concept) -> str:
    """What is done to a concept, without the further arm."""
    return WAYS[kind_of(concept)].change.format(x=named(concept), y=named(other))


def compared_with(concept: Concept) -> str:
    """What a changed concept is compared with."""
    return WAYS[kind_of(concept)].against


def readout(concept: Concept) -> str:
    """What of a concept is measured."""
    return _said(WAYS[kind_of(concept)].read, concept)


def varied(concept: Concept) -> str:
    """A concept varied, within a sentence: `with NF-κB knocked down`."""
    return _said(WAYS[kind_of(concept)].varied, concept)


def blocked(concept: Concept) -> str:
    """A concept taken out of a chain, within a sentence."""
    return _said(WAYS[kind_of(concept)].blocked, concept)


def _said(template: str, concept: Concept) -> str:
    return template.format(x=named(concept))
