"""Link prediction: how likely papers are to join two things that no paper joins yet."""

from collections.abc import Mapping
from dataclasses import dataclass

from carrel.libraries.discovery.tuned import PATHS

Profile = Mapping[int, float]


@dataclass(frozen=True)
class Company:
    """Profiles of a thing as mention and as subject; `taken_up` counts the latter by recency."""

    mentioned: Profile
    subject: Profile
    taken_up: float


def similarity(one: Profile, other: Profile) -> float:
    """Cosine of two profiles of length one."""
    if len(one) > len(other):
        one, other = other, one
    return sum(weight * other[number] for number, weight in one.items() if number in other)


def prospect(one: Company, other: Company) -> float:
    """A score to rank pairs (no probability): similarity as mention and subject, times uptake."""
    mention = similarity(one.mentioned, other.mentioned) + PATHS.least_mention_likeness
    subject = similarity(one.subject, other.subject) + PATHS.least_subject_likeness
    taken_up = one.taken_up * other.taken_up
    return float(
        mention**PATHS.mention_power
        * subject**PATHS.subject_power
        * taken_up**PATHS.opportunity_power
    )


def shared_company(one: Profile, other: Profile) -> list[int]:
    """The concepts that two profiles share, first those that make them most alike."""
    weights = {number: one[number] * other[number] for number in one.keys() & other.keys()}
    return sorted(weights, key=lambda number: (-weights[number], number))
