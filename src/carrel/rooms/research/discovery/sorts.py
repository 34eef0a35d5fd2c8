"""What sort of thing a concept is, told by its name and by the words the corpus puts after it; and what sort a goal asks for."""

import re
from enum import StrEnum
from math import log1p

from carrel.rooms.research.discovery.index import ConceptIndex
from carrel.rooms.research.discovery.vocabulary import Sphere

LEAST_EVIDENCE = 1.0


class Sort(StrEnum):
    """The sorts that matter for what can be done with a thing."""

    SUBSTANCE = "substance"
    GENE_OR_PROTEIN = "gene or protein"
    PROCESS = "process"
    DISORDER = "disorder"
    CELL = "cell"
    STRUCTURE = "structure"
    METHOD = "method"
    UNKNOWN = "unknown"


class Wanted(StrEnum):
    """What sort of answer a goal asks for."""

    DRUG = "drug"
    TARGET = "target"
    BIOMARKER = "biomarker"
    MECHANISM = "mechanism"


ANSWERS: dict[Wanted, frozenset[Sort]] = {
    Wanted.DRUG: frozenset({Sort.SUBSTANCE}),
    Wanted.TARGET: frozenset({Sort.GENE_OR_PROTEIN, Sort.PROCESS}),
    Wanted.BIOMARKER: frozenset({Sort.GENE_OR_PROTEIN, Sort.SUBSTANCE}),
    Wanted.MECHANISM: frozenset({Sort.PROCESS, Sort.GENE_OR_PROTEIN}),
}
CAN_BE_CHANGED = frozenset({Sort.SUBSTANCE, Sort.GENE_OR_PROTEIN, Sort.PROCESS, Sort.CELL})
"""What an experiment can give, take away, block or drive."""

# The first that matches decides: "therapeutic targets" are targets, not therapies.
_ASKS = (
    (Wanted.BIOMARKER, re.compile(r"\b(bio)?markers?\b", re.IGNORECASE)),
    (Wanted.TARGET, re.compile(r"\b(targets?|drivers?|regulators?|vulnerabilit\w+)\b", re.IGNORECASE)),
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
_SPHERES = {
    Sphere.CHEMICAL: Sort.SUBSTANCE,
    Sphere.DISORDER: Sort.DISORDER,
    Sphere.PROCESS: Sort.PROCESS,
    Sphere.MIND: Sort.PROCESS,
    Sphere.CELL: Sort.CELL,
    Sphere.ANATOMY: Sort.STRUCTURE,
    Sphere.METHOD: Sort.METHOD,
}
# Branches of MeSH: enzymes, proteins, nucleic acids, antigens and biological markers; therapeutics, anaesthesia, surgery.
_DRUG = re.compile(r"(mab|nib|inhibitor|vaccine)$")
_MADE_BY_GENES = ("D08", "D12.776", "D13", "D23.050", "D23.101", "D23.529")
_TREATMENTS = ("E02", "E03", "E04")
_ENDINGS: tuple[tuple[Sort, re.Pattern[str]], ...] = (
    (Sort.GENE_OR_PROTEIN, re.compile(
        r"((?<!dise)(?<!relea)(?<!rea)(?<!ph)(?<!\bb)(?<!\bc)ase|receptor|kinase|transporter|cytokine|chemokine|interleukin|integrin|globulin|adhesin|cadherin|histone|ligand"
        r"|transcription factor|growth factor|protein|enzyme|gene|subunit|complex|antigen|ubiquitin|microrna|oncogene)$")),
    (Sort.SUBSTANCE, re.compile(
        r"(mab|nib|statin|vir|cillin|mycin|azole|pril|sartan|olol|oxetine|idone|azepam|triptan|formin|parin|platin|taxel|rubicin"
        r"|amine|idine|azine|[cnt]anol|sterol|sterone|acid|amide|oxide|sulfate|phosphate|acetate|lactate|butyrate|glutamate|chloride"
        r"|sium|[lc]cium|odium|thium|enium|inhibitor|agonist|antagonist|drug|antibiotic|vitamin|hormone|steroid|toxin"
        r"|supplement|opioid|antidepressant|antioxidant|anesthetic|compound|metabolite|caine|cycline|floxacin|zolamide|oid hormone)$")),
    (Sort.DISORDER, re.compile(
        r"(itis|osis|emia|opathy|oma|algia|plegia|trophy|rrhea|penia|disease|disorder|syndrome|cancer|infection|injury|deficit|impairment"
        r"|epsy|degeneration|dementia|malformation|fever|xia|insufficiency|tension|sclerosis)$")),
    (Sort.PROCESS, re.compile(
        r"(ation|ption|ction|phagy|lysis|genesis|kinesis|taxis|pathway|signaling|signalling|response|repair|splicing|transport"
        r"|secretion|adhesion|cycle|apoptosis|ferroptosis|mitosis|meiosis|endocytosis|exocytosis|phagocytosis|homeostasis"
        r"|plasticity|folding|trafficking|differentiation|metabolism|fission|fusion|growth|uptake|rhythm)$")),
    (Sort.CELL, re.compile(r"(cyte|blast|phil|neuron|cell|microglia|astroglia|macrophage|fibroblast|lymphocyte|progenitor)$")),
    (Sort.STRUCTURE, re.compile(
        r"(cortex|hippocampus|amygdala|cerebellum|nucleus|ribosome|membrane|organ|liver|kidney|heart|muscle|brain|spinal cord"
        r"|retina|some|synapse|chromatin|epithelium|endothelium|mitochondrion|reticulum|filament|axon|dendrite)$")),
)  # fmt: skip
# What papers put after a name tells what it names: one gives a substance, deletes a gene, and counts patients of a disorder.
_TOLD: dict[Sort, str] = {
    Sort.SUBSTANCE: "administration supplementation infusion injection dose intake analog derivative biosynthesis molecule precursor",
    Sort.GENE_OR_PROTEIN: (
        "gene expression mutation mutant knockout knockdown deletion protein homolog ortholog overexpression allele variant depletion "
        "receptor inhibitor phosphorylation activity binding subunit promoter transcript mrna domain"
    ),
    Sort.DISORDER: "patient symptom risk diagnosis onset prevalence incidence severity progression susceptibility case",
    Sort.PROCESS: "pathway dynamics regulation defect process induction machinery rate flux impairment",
    Sort.CELL: "population subtype differentiation proliferation lineage culture progenitor identity",
}
_COMPANY = {sort: tuple(words.split()) for sort, words in _TOLD.items()}
_SYMBOL = re.compile(r"^[A-Z][A-Z0-9]{1,5}[0-9][A-Za-z0-9]*$|^[A-Z]{3,6}$|^[a-z]{2,4}-\d+$|^[A-Z][a-z]{1,4}\d+[a-z]?$|^(mi|lnc)R")


def wanted_by(goal: str) -> Wanted | None:
    """What sort of answer a goal asks for, where it says so."""
    return next((wanted for wanted, pattern in _ASKS if pattern.search(goal)), None)


def sort_of(index: ConceptIndex, number: int) -> Sort:
    """What sort of thing a concept is: the vocabulary's word first, then its name's ending and the company it keeps."""
    known = _SPHERES.get(index.sphere(number))
    if known is Sort.SUBSTANCE and any(tree.startswith(_MADE_BY_GENES) for tree in _trees(index, number)):
        # Made by genes, unless it is given as a drug (`-mab`).
        return Sort.SUBSTANCE if _DRUG.search(index.key(number)) else Sort.GENE_OR_PROTEIN
    if known is not None:
        return known
    key, label = index.key(number), index.label(number)
    evidence = {kind: _company(index, key, words) for kind, words in _COMPANY.items()}
    for kind, ending in _ENDINGS:
        if ending.search(key):
            evidence[kind] = evidence.get(kind, 0.0) + 4.0
            break
    if _SYMBOL.match(label.strip()):
        evidence[Sort.GENE_OR_PROTEIN] += 2.0
    best = max(evidence, key=lambda kind: evidence[kind])
    return best if evidence[best] >= LEAST_EVIDENCE else Sort.UNKNOWN


def is_intervention(index: ConceptIndex, number: int) -> bool:
    """Whether a vocabulary has a concept among treatments, which can be what a goal is about, as a way of finding out cannot."""
    trees = _trees(index, number)
    return bool(trees) and all(tree.startswith(_TREATMENTS) for tree in trees)


def _trees(index: ConceptIndex, number: int) -> tuple[str, ...]:
    term = index.vocabulary.term(index.key(number)) if index.vocabulary else None
    return () if term is None else term.trees


def _company(index: ConceptIndex, key: str, words: tuple[str, ...]) -> float:
    met = [papers for word in words if (papers := index.papers_of_phrase(f"{key} {word}"))]
    # One such phrase may be chance; two different ones are not.
    return log1p(sum(met)) if len(met) > 1 else 0.5 * min(1, len(met))
