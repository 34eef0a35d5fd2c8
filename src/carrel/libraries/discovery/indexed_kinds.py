"""What kind of thing a concept is, as the index alone tells it: for the thousands that are weighed
before any paper is read.
"""

import re
from math import log1p

from carrel.libraries.discovery.index import ConceptIndex
from carrel.libraries.discovery.kinds import kind_by_form, kind_by_trees
from carrel.libraries.discovery.records import Kind

LEAST_EVIDENCE = 1.0
FORM_COUNTS = 4.0
CAPITALS_COUNT = 2.0

_CAPITALS = re.compile(r"[A-Z]{3,6}")
_DRUG = re.compile(r"(mab|nib|inhibitor|vaccine)$")
# What papers put after a name tells what it names: one gives a substance, deletes a gene, and
# counts patients of a disorder.
_TOLD: dict[Kind, str] = {
    Kind.SUBSTANCE: "administration supplementation infusion injection dose intake analog "
    "derivative biosynthesis molecule precursor",
    Kind.GENE: (
        "gene expression mutation mutant knockout knockdown deletion protein homolog ortholog "
        "overexpression allele variant depletion "
        "receptor inhibitor phosphorylation activity binding subunit promoter transcript mrna "
        "domain"
    ),
    Kind.DISEASE: "patient symptom risk diagnosis onset prevalence incidence severity progression "
    "susceptibility case",
    Kind.PROCESS: "pathway dynamics regulation defect process induction machinery rate flux "
    "impairment",
    Kind.CELL: "population subtype differentiation proliferation lineage culture progenitor "
    "identity",
}
_COMPANY = {kind: tuple(words.split()) for kind, words in _TOLD.items()}


def kind_in_index(index: ConceptIndex, number: int) -> Kind:
    """What a concept is: by its places in a vocabulary's trees, else by the form of its name and
    the phrases it begins.
    """
    key = index.key(number)
    told = kind_by_trees(index.trees(number))
    if told is Kind.GENE and _DRUG.search(key):
        # Made by genes, and given as a drug.
        return Kind.SUBSTANCE
    if told is not Kind.UNKNOWN:
        return told
    evidence = {kind: _company(index, key, words) for kind, words in _COMPANY.items()}
    form = kind_by_form(key, index.label(number))
    if form is not Kind.UNKNOWN:
        evidence[form] = evidence.get(form, 0.0) + FORM_COUNTS
    elif _CAPITALS.fullmatch(index.label(number)):
        evidence[Kind.GENE] += CAPITALS_COUNT
    best = max(evidence, key=lambda kind: evidence[kind])
    return best if evidence[best] >= LEAST_EVIDENCE else Kind.UNKNOWN


def _company(index: ConceptIndex, key: str, words: tuple[str, ...]) -> float:
    met = [papers for word in words if (papers := index.papers_of_phrase(f"{key} {word}"))]
    # One such phrase may be chance; two different ones are not.
    return log1p(sum(met)) if len(met) > 1 else 0.5 * min(1, len(met))
