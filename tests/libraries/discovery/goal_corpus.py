"""A small corpus of several fields, for goals of many forms: subjects that share bridges, and some
that share none.
"""

from itertools import product

from carrel.libraries.discovery import ConceptIndex, Discovery, Paper
from tests.libraries.discovery.small_corpus import Shelf

_FIELDS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (
        ("zinc", "tinnitus"),
        (
            "hair cell",
            "oxidative damage",
            "cochlear nerve",
            "noise trauma",
            "ear canal",
            "spiral ganglion",
        ),
    ),
    (
        ("statins", "Alzheimer's disease"),
        ("cholesterol transport", "amyloid clearance", "microglia"),
    ),
    (("autophagy", "neurodegeneration"), ("lysosome", "protein aggregation", "mitophagy", "axon")),
    (("ketamine", "depression"), ("BDNF", "synaptogenesis", "glutamate", "sleep loss", "reward")),
    (("circadian rhythm", "tumor growth"), ("melatonin", "cell cycle", "feeding time")),
    (("malaria", "Plasmodium falciparum"), ("gametocyte", "mosquito midgut", "red cell")),
    (
        ("acute myeloid leukemia", "doxorubicin", "imatinib", "shift work", "ribosomal kinase"),
        ("bone marrow", "blast count", "relapse rate"),
    ),
    (("fish", "coral"), ("reef", "swim bladder", "ocean")),
)
_FILLERS = (
    "corn yield",
    "bird song",
    "soil moisture",
    "tooth decay",
    "reading skill",
    "bridge design",
    "tax law",
)


def goal_papers() -> list[Paper]:
    """Papers on every field, and on much else."""
    papers = [
        Paper(
            f"field-{field}-{one}-{copy}",
            f"The {bridge} and {subject}",
            f"Here {bridge} was seen to change with {subject}. It was measured by confocal "
            f"microscopy.",
            (subject, bridge, *(("confocal microscopy",) if copy == 0 else ())),
            year=2000 + copy,
        )
        for field, (subjects, bridges) in enumerate(_FIELDS)
        for one, (subject, bridge) in enumerate(product(subjects, bridges))
        for copy in range(3)
    ]
    papers.append(
        Paper(
            "vaccine",
            "A transmission-blocking vaccine",
            "It may stop malaria.",
            ("transmission-blocking vaccine", "malaria"),
        )
    )
    papers.extend(
        Paper(
            f"oil-{number}",
            f"An oil for {filler}",
            f"The deficiency of {filler} was eased by oil.",
            (filler,),
        )
        for number, filler in enumerate(_FILLERS[:2])
    )
    papers.extend(
        Paper(
            f"filler-{one}-{other}",
            f"On {one} and {other}",
            f"Here {one} met {other}.",
            (one, other),
            year=1999,
        )
        for one, other in product(_FILLERS, _FILLERS)
        if one != other
    )
    return papers


def goal_discovery() -> Discovery:
    """Discovery over them."""
    papers = goal_papers()
    return Discovery(ConceptIndex.build(papers), Shelf(papers))
