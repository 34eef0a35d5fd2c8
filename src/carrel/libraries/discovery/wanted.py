"""What kind of answer a goal asks for: a drug, a target, a biomarker or a mechanism."""

import re
from enum import StrEnum

from carrel.libraries.discovery.index import ConceptIndex
from carrel.libraries.discovery.records import Kind


class Wanted(StrEnum):
    """The kinds of answer that goals ask for."""

    DRUG = "drug"
    TARGET = "target"
    BIOMARKER = "biomarker"
    MECHANISM = "mechanism"


ANSWERS: dict[Wanted, frozenset[Kind]] = {
    Wanted.DRUG: frozenset({Kind.SUBSTANCE}),
    Wanted.TARGET: frozenset({Kind.GENE, Kind.PROCESS}),
    Wanted.BIOMARKER: frozenset({Kind.GENE, Kind.SUBSTANCE}),
    Wanted.MECHANISM: frozenset({Kind.PROCESS, Kind.GENE}),
}
# The first that matches decides: "therapeutic targets" are targets, not therapies.
_ASKS = (
    (Wanted.BIOMARKER, re.compile(r"\b(bio)?markers?\b", re.IGNORECASE)),
    (
        Wanted.TARGET,
        re.compile(r"\b(targets?|drivers?|regulators?|vulnerabilit\w+)\b", re.IGNORECASE),
    ),
    (
        Wanted.DRUG,
        re.compile(
            r"\b(drugs?|compounds?|substances?|repurpos\w+|supplements?|medications?|medicines?|inhibitors?|antibiotics?"
            r"|treatments?|therap(?:y|ies)|therapeutics?|remed(?:y|ies)|cures?)\b",
            re.IGNORECASE,
        ),
    ),
    (Wanted.MECHANISM, re.compile(r"\b(mechanisms?|pathways?|why|how|explain)\b", re.IGNORECASE)),
)
# Branches of MeSH: therapeutics, anaesthesia, surgery.
_TREATMENTS = ("E02", "E03", "E04")


def wanted_by(goal: str) -> Wanted | None:
    """What kind of answer a goal asks for, where it says so."""
    return next((wanted for wanted, pattern in _ASKS if pattern.search(goal)), None)


def is_intervention(index: ConceptIndex, number: int) -> bool:
    """Whether a vocabulary has a concept among treatments, which can be what a goal is about, as a
    way of finding out cannot.
    """
    trees = index.trees(number)
    return bool(trees) and all(tree.startswith(_TREATMENTS) for tree in trees)
