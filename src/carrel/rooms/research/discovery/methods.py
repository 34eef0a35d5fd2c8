"""Methods that the corpus itself knows: whether a connection can be tested is whether such tests are done."""

import re
from collections.abc import Iterable

from carrel.rooms.research.discovery.connections import TestMethod
from carrel.rooms.research.discovery.literatures import Reader
from carrel.rooms.research.discovery.vocabulary import Sphere

_METHOD_NAME = re.compile(
    r"(graphy|metry|scopy|assay|blot|blotting|sequencing|imaging|screen|screening|microscopy|knockout|knockdown|crispr|cas9|clamp"
    r"|optogenetic|culture|trial|cohort|simulation|modeling|modelling|electrophysiology|recording|spectroscopy|crystallography"
    r"|tomography|transplantation|biopsy|immunoprecipitation|seq|fmri|mri|eeg|meg|emg|pcr|elisa|staining|cytometry|proteomic"
    r"|transcriptomic|metabolomic|meta analysi|double blind method|in vitro technique|animal model)$"
)


def is_method(reader: Reader, number: int) -> bool:
    """Whether a concept names a way of finding out."""
    if reader.index.sphere(number) is Sphere.METHOD:
        return True
    return reader.rank_of_kind(number) > 0 and bool(_METHOD_NAME.search(reader.index.key(number)))


def methods_in(reader: Reader, documents: Iterable[int], most: int) -> tuple[TestMethod, ...]:
    """The methods that some papers use, the most used first."""
    index = reader.index
    chosen = list(documents)
    counts = reader.counts(chosen)
    used = [(count, -number) for number, count in counts.items() if is_method(reader, number)]
    found = []
    for count, minus_number in sorted(used, reverse=True)[:most]:
        holders = set(index.documents(-minus_number))
        ids = tuple(index.id_of(document) for document in chosen if document in holders)
        found.append(TestMethod(index.label(-minus_number), count, ids[:3]))
    return tuple(found)
