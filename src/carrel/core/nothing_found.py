"""The explanation that stands beside an empty answer of any room."""

from __future__ import annotations

from pydantic import Field

from carrel.core.answer import Explanation
from carrel.libraries.query.empty_answers import EmptyAnswer


class PartlyFound(Explanation):
    """Beside hits of which none has all the words that were asked for."""

    unmatched_words: list[str] = Field(default=[], exclude_if=lambda found: not found)
    did_you_mean: dict[str, list[str]] = Field(default={}, exclude_if=lambda found: not found)

    @classmethod
    def of(cls, empty: EmptyAnswer) -> PartlyFound:
        """From what would be said if nothing had been found."""
        return cls(
            message=empty.partial_message,
            unmatched_words=list(empty.unmatched_words),
            did_you_mean=empty.did_you_mean,
        )


class NothingFound(Explanation):
    """What was searched, why nothing fitted, and the nearest things that exist."""

    searched: str
    documents: int
    unmatched_words: list[str] = Field(default=[], exclude_if=lambda found: not found)
    # For each word that may be mistyped the known words it is nearest to.
    did_you_mean: dict[str, list[str]] = Field(default={}, exclude_if=lambda found: not found)
    unmatched_filters: list[str] = Field(default=[], exclude_if=lambda found: not found)
    # Filters without any one of which there would be something.
    removing_filters: list[str] = Field(default=[], exclude_if=lambda found: not found)
    nearest: list[str] = Field(default=[], exclude_if=lambda found: not found)
    next_step: str

    @classmethod
    def of(cls, empty: EmptyAnswer) -> NothingFound:
        return cls(
            message=empty.message,
            searched=empty.searched,
            documents=empty.documents,
            unmatched_words=list(empty.unmatched_words),
            did_you_mean=empty.did_you_mean,
            unmatched_filters=list(empty.unmatched_filters),
            removing_filters=list(empty.removing_filters),
            nearest=list(empty.nearest),
            next_step=empty.next_step,
        )
