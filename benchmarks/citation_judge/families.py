"""Small styles drawn by family: each asks one part of the specification, in many combinations."""

from __future__ import annotations

import random
from collections.abc import Callable

from benchmarks.citation_judge.families_cites import (
    draw_collapse,
    draw_disambiguation,
    draw_modes,
    draw_positions,
)
from benchmarks.citation_judge.families_entries import (
    draw_bibliography,
    draw_conditions,
    draw_sort,
)
from benchmarks.citation_judge.families_values import (
    draw_dates,
    draw_name_attributes,
    draw_names,
    draw_numbers,
    draw_text,
)
from benchmarks.citation_judge.jobs import Job
from benchmarks.citation_judge.small_styles import Draws

FAMILIES: dict[str, Callable[[Draws], Job]] = {
    "names": draw_names,
    "name attributes": draw_name_attributes,
    "dates": draw_dates,
    "disambiguation": draw_disambiguation,
    "collapse": draw_collapse,
    "positions": draw_positions,
    "bibliography": draw_bibliography,
    "sort": draw_sort,
    "text": draw_text,
    "numbers": draw_numbers,
    "conditions": draw_conditions,
    "modes": draw_modes,
}


def draw_family_job(seed: int, name: str) -> Job:
    """The job of a seed in a family: the same for ever, while the lists stay."""
    return FAMILIES[name](random.Random(f"{name} {seed}"))
