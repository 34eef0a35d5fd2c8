"""Time slices: what concepts papers up to a year join, and which pairs later papers join first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from carrel.libraries.discovery.concepts.index import ConceptIndex
from carrel.libraries.discovery.concepts.vocabulary import Vocabulary, natural_order
from carrel.libraries.discovery.concepts.words import normal_phrase
from carrel.libraries.discovery.paths.literatures import Reader
from carrel.libraries.discovery.records import Paper, Tier

Joined = Mapping[int, frozenset[int]]


@dataclass(frozen=True)
class Years:
    """Papers up to a year are read; pairs count as found where papers of the later years join them
    first. A pair first joined in between is neither a find nor a candidate.
    """

    up_to: int
    since: int
    until: int


@dataclass(frozen=True)
class LinkSlice:
    """Concepts, with how many papers join which before, in between and later."""

    reader: Reader
    uses: Mapping[int, int]
    meetings: Mapping[int, Counter[int]]
    between: Joined
    later: Joined

    @property
    def concepts(self) -> list[int]:
        """The concepts that pairs are made of."""
        return sorted(self.uses)

    def candidates(self, start: int) -> list[int]:
        """Every concept that no paper joins with the start before the later years."""
        met = self.meetings.get(start, Counter())
        gap = self.between.get(start, frozenset())
        return [
            number
            for number in self.concepts
            if number != start and number not in met and number not in gap
        ]

    def finds(self, start: int) -> frozenset[int]:
        """The concepts that later papers join with the start first."""
        met = self.meetings.get(start, Counter())
        return (
            self.later.get(start, frozenset()) - self.between.get(start, frozenset()) - met.keys()
        )

    def starts(self, most: int, seed: int, least_finds: int = 1, least_uses: int = 0) -> list[int]:
        """Starts drawn at random among those with so many finds and papers."""
        # By name, so that a change of the index draws the same starts.
        able = [
            number
            for number in sorted(self.uses, key=self.reader.index.key)
            if self.uses[number] >= least_uses and len(self.finds(number)) >= least_finds
        ]
        return Random(seed).sample(able, min(most, len(able)))

    def meet_in_texts(self, one: int, other: int) -> bool:
        """Whether a paper of the years before mentions both, in keywords, title or abstract."""
        documents = self.reader.index.documents
        return not set(documents(one)).isdisjoint(documents(other))


def slice_by_names(
    papers: Sequence[Paper], years: Years, least: int, vocabulary: Vocabulary | None = None
) -> LinkSlice:
    """Concepts are the keywords or headings of at least `least` papers before."""
    index = ConceptIndex.build(_of_years(papers, 0, years.up_to), vocabulary)

    def subjects(some: Iterable[Paper]) -> list[frozenset[int]]:
        names = ((*paper.keywords, *map(natural_order, paper.headings)) for paper in some)
        return [
            frozenset(
                number for name in own if (number := index.number(normal_phrase(name))) is not None
            )
            for own in names
        ]

    before = [frozenset(index.names_of(document)) for document in range(index.numbered)]
    return _slice(
        Reader(index),
        before,
        subjects(_of_years(papers, years.up_to + 1, years.since - 1)),
        subjects(_of_years(papers, years.since, years.until)),
        least,
    )


def slice_by_texts(papers: Sequence[Paper], years: Years, least: int) -> LinkSlice:
    """Keywords are taken away; concepts are those of the texts that may be an end."""
    bare = [replace(paper, keywords=(), headings=()) for paper in papers]
    index = ConceptIndex.build(_of_years(bare, 0, years.up_to))
    after = ConceptIndex.build(_of_years(bare, 0, years.until))
    known = {number: index.number(after.key(number)) for number in range(after.size)}

    def mentions(since: int, until: int) -> list[frozenset[int]]:
        return [
            frozenset(
                number for one in after.mentions_of(document) if (number := known[one]) is not None
            )
            for document in range(after.numbered)
            if (year := after.year_of(document)) is not None and since <= year <= until
        ]

    reader = Reader(index)
    ends = {
        number
        for number in range(index.size)
        if index.frequency(number) >= least
        and index.tier(number) is Tier.END
        and not reader.is_broad(number)
    }
    before = [ends.intersection(index.mentions_of(document)) for document in range(index.numbered)]
    return _slice(
        reader,
        before,
        mentions(years.up_to + 1, years.since - 1),
        mentions(years.since, years.until),
        least,
    )


def _of_years(papers: Iterable[Paper], since: int, until: int) -> list[Paper]:
    return [paper for paper in papers if paper.year is not None and since <= paper.year <= until]


def _slice(
    reader: Reader,
    before: Iterable[Iterable[int]],
    between: Iterable[Iterable[int]],
    later: Iterable[Iterable[int]],
    least: int,
) -> LinkSlice:
    papers = [frozenset(own) for own in before]
    counted = Counter(number for own in papers for number in own)
    uses = {number: count for number, count in counted.items() if count >= least}
    return LinkSlice(
        reader, uses, _meetings(papers, uses), _joined(between, uses), _joined(later, uses)
    )


def _meetings(papers: Iterable[Iterable[int]], known: Mapping[int, int]) -> dict[int, Counter[int]]:
    found: dict[int, Counter[int]] = {}
    for own in papers:
        here = [number for number in own if number in known]
        for number in here:
            found.setdefault(number, Counter()).update(one for one in here if one != number)
    return found


def _joined(papers: Iterable[Iterable[int]], known: Mapping[int, int]) -> Joined:
    return {number: frozenset(met) for number, met in _meetings(papers, known).items()}
