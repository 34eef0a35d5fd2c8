"""One of the classic cases on real titles, small enough for every run; the whole measure is `make
bench-discovery`.
"""

from itertools import islice
from pathlib import Path

import pytest

from benchmarks.discovery_data import cases, medline, mesh, piped_titles
from carrel.libraries.discovery import ConceptIndex
from carrel.libraries.discovery.concepts.words import normal_phrase
from carrel.libraries.discovery.paths.abc_paths import bridges
from carrel.libraries.discovery.paths.literatures import Reader

FOLDER = Path(__file__).parents[3].parent / "shared" / "data" / "discovery"


@pytest.mark.skipif(
    not (FOLDER / "gold.json").exists(),
    reason="../shared/data/discovery is not beside the checkout",
)
def test_the_first_two_bridges_of_a_classic_case_come_early() -> None:
    case = next(
        case
        for case in cases(FOLDER)
        if (FOLDER / f"{case.start_name.split(' ')[0].lower()}_titles.psv.gz").exists()
    )
    near = list(piped_titles(FOLDER / f"{case.start_name.split(' ')[0].lower()}_titles.psv.gz"))
    far = list(piped_titles(FOLDER / f"{case.end_names[0].split(' ')[0].lower()}_titles.psv.gz"))
    rest = list(islice(medline(FOLDER, with_headings=False), 8000))
    reader = Reader(ConceptIndex.build([*near, *far, *rest], mesh(FOLDER)))
    a = reader.given_literature(
        case.start_name, (paper.id for paper in near), [normal_phrase(case.start_name)]
    )
    c = reader.given_literature(
        case.end_names[0], (paper.id for paper in far), [normal_phrase(case.end_names[0])]
    )
    first = [reader.index.key(bridge.concept) for bridge in bridges(reader, a, c, most=10)]
    assert {normal_phrase(term) for term in case.bridges[:2]} <= set(first)
