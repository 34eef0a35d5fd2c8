"""Methods that the corpus itself knows: whether a connection can be tested is whether such tests
are done.
"""

import re
from collections.abc import Iterable

from carrel.libraries.discovery.connections import TestMethod
from carrel.libraries.discovery.function_words import (
    FUNCTION_WORDS,
    NEEDS_COMPANY,
    SAYS_LITTLE,
)
from carrel.libraries.discovery.literatures import Reader
from carrel.libraries.discovery.records import Standing
from carrel.libraries.discovery.vocabulary import Sphere

_METHOD_NAME = re.compile(
    r"(graphy|metry|scopy|assay|blot|blotting|sequencing|imaging|screen|screening|microscopy|knockout|knockdown|crispr|cas9|clamp"
    r"|optogenetic|chemogenetic|culture|trial|simulation|modeling|modelling|electrophysiology|recording|spectroscopy"
    r"|crystallography|tomography|transplantation|biopsy|immunoprecipitation|seq|fmri|mri|eeg|meg|emg|pcr|elisa|staining|cytometry"
    r"|omic|meta analysi|double blind method|in vitro technique|animal "
    r"model|randomization|association study|association studies"
    r"|gwa|gwas|learning "
    r"algorithm|algorithm|software|toolbox|pipeline|statistic|estimation|regression|deep learning"
    r"|machine learning|neural network model|computational model|mathematical "
    r"model|docking|mutagenesis|labeling|tracing|tracking"
    r"|genome editing|gene editing|dissection|transfection|(?<!signal )transduction "
    r"system|fret|cryo em|mass spec)$"
    r"|^(cryo|single cell|in silico|in vitro|in vivo|ex vivo|high throughput|genome wide|x "
    r"ray|whole genome|(opto|chemo)genetic(ally)?|genetically)\b"
)

# Where something was looked at, and by whom it was counted, is not how it works.
_SETTING_NAME = re.compile(
    r"\b(project|biobank|cohort|consortium|database|dataset|atlas|registry|initiative|repository|census|questionnaire|survey"
    r"|institute|institute of "
    r"health|university|foundation|ministry|grant|discovery|research|publishing|education|policy"
    r"|public health|reproducibility|model "
    r"organism|model|study|experiment|population|pandemic|outbreak"
    r"|biology|neuroscience|medicine|epidemiology|ecology|anthropology|psychology"
    r"|transcriptome|proteome|metabolome|genome|exome|epigenome|connectome|interactome|phenome)$"
)
_ORGANISM_WORDS = """
mouse rat human man woman child adult infant patient monkey macaque primate dog cat pig rabbit sheep
cow cattle horse goat
chicken zebrafish frog xenopus fly fruitfly drosophila worm nematode caenorhabditis yeast
saccharomyces bacterium escherichia
arabidopsis plant animal vertebrate invertebrate mammal rodent insect bird
"""
_ORGANISMS = frozenset(_ORGANISM_WORDS.split())


def is_method(reader: Reader, number: int) -> bool:
    """Whether a concept names a way of finding out."""
    return reader.index.sphere(number) is Sphere.METHOD or bool(
        _METHOD_NAME.search(reader.index.key(number))
    )


def tells_nothing(reader: Reader, number: int) -> bool:
    """Whether a concept can be no end and no bridge: a method, a setting, an organism, a piece of a
    name, or general words.
    """
    judged = reader.judged.get(number)
    if judged is None:
        judged = reader.judged[number] = _tells_nothing(reader, number)
    return judged


def _tells_nothing(reader: Reader, number: int) -> bool:
    index = reader.index
    if is_method(reader, number) or any(
        _METHOD_NAME.search(form) for form in index.forms(number)[1:]
    ):
        return True
    if index.standing(number) is Standing.TERM:
        return False
    key = index.key(number)
    return bool(_SETTING_NAME.search(key)) or _is_general(key) or index.is_fragment(number)


def _is_general(key: str) -> bool:
    words = key.lower().split(" ")
    if all(word in _ORGANISMS for word in words):
        return True
    return all(
        word in NEEDS_COMPANY or word in SAYS_LITTLE or word in FUNCTION_WORDS or word.isdigit()
        for word in words
    )


def methods_in(reader: Reader, documents: Iterable[int], most: int) -> tuple[TestMethod, ...]:
    """The methods that some papers use, the most used first."""
    index = reader.index
    chosen = list(documents)
    counts = reader.counts(chosen)
    used = [(count, -number) for number, count in counts.items() if _is_done(reader, number)]
    found = []
    for count, minus_number in sorted(used, reverse=True)[:most]:
        holders = set(index.documents(-minus_number))
        ids = tuple(index.id_of(document) for document in chosen if document in holders)
        found.append(TestMethod(index.label(-minus_number), count, ids[:3]))
    return tuple(found)


def _is_done(reader: Reader, number: int) -> bool:
    if reader.index.sphere(number) is Sphere.METHOD:
        return True
    return reader.rank_of_kind(number) > 0 and is_method(reader, number)
