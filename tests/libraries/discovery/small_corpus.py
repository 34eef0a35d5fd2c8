"""A small corpus with a hidden connection: cold finger disease and marine oil never meet, but share
bridges.
"""

from itertools import product

from carrel.libraries.discovery import ConceptIndex, Discovery, Paper

GOAL = "Find novel therapeutic targets for cold finger disease"

_FILLERS = (
    "sleep",
    "memory",
    "corn yield",
    "bird song",
    "cell wall",
    "soil moisture",
    "tooth decay",
    "reading skill",
)
_METHODS = ("confocal microscopy", "randomized trial", "flow cytometry")


class Shelf:
    """Papers by id."""

    def __init__(self, papers: list[Paper]) -> None:
        self._papers = {paper.id: paper for paper in papers}

    def paper(self, id: str) -> Paper | None:
        return self._papers.get(id)


def small_papers() -> list[Paper]:
    """Papers on the disease, on the oil, on a rival, and on much else."""
    papers = []
    bridges = ("blood viscosity", "platelet aggregation", "vessel tone")
    for number, bridge in enumerate(bridges * 4):
        method = _METHODS[number % 3]
        model = " This was in mice." if number % 2 else ""
        papers.append(
            Paper(
                f"disease-{number}",
                f"Raised {bridge} in cold finger disease",
                f"Patients came in winter. We found that {bridge} is raised in cold finger "
                f"disease. We used {method}.{model}",
                ("cold finger disease", bridge, method),
                year=2000 + number,
            )
        )
        papers.append(
            Paper(
                f"oil-{number}",
                f"Marine oil lowers {bridge}",
                f"Volunteers took capsules. Marine oil lowered {bridge} but did not change "
                f"weight. We used {method}.{model}",
                ("marine oil", bridge, method),
                year=2001 + number,
            )
        )
    for number, bridge in enumerate(("vessel tone", "blood viscosity") * 3):
        papers.append(
            Paper(
                f"root-{number}",
                f"Ginger root and {bridge}",
                f"Ginger root did not affect {bridge} in rats.",
                ("ginger root", bridge),
                year=2005,
            )
        )
    for number, other in enumerate(("marine oil", "vessel tone", "blood viscosity") * 3):
        papers.append(
            Paper(
                f"acid-{number}",
                f"Omega acid and {other}",
                f"Omega acid is part of what {other} depends on.",
                ("omega acid", other),
                year=2006,
            )
        )
    for number, (one, other) in enumerate(product(_FILLERS, _FILLERS)):
        if one != other:
            papers.append(
                Paper(
                    f"filler-{number}",
                    f"On {one} and {other}",
                    f"Here {one} met {other}.",
                    (one, other),
                    year=1999,
                )
            )
    return papers


def discovery_of(papers: list[Paper]) -> Discovery:
    """Discovery over some papers."""
    return Discovery(ConceptIndex.build(papers), Shelf(papers))


def small_discovery() -> Discovery:
    """Discovery over the small corpus."""
    return discovery_of(small_papers())
