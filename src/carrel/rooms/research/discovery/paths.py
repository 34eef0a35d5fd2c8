"""The ABC of discovery: bridges between two literatures, and what a literature may be connected to through them."""

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from carrel.rooms.research.discovery.literatures import Literature, Profile, Reader, similarity, spread
from carrel.rooms.research.discovery.weights import cosine

Admits = Callable[[int], bool]

BRIDGES_WEIGHED = 200
BRIDGES_FOLLOWED = 100
BRIDGES_COMPARED = 60
ENDS_WEIGHED = 120
DOCUMENTS_FOLLOWED = 600
RARE_DOCUMENTS = 3
HALF_LIFE_YEARS = 3.0

# Fitted by logistic regression on eLife keyword pairs first joined in 2017-2019, seen from papers up to 2016.
SIMILARITY_POWER = 2.0
OPPORTUNITY_POWER = 0.83


@dataclass(frozen=True)
class Bridge:
    """A concept both literatures speak of. A side's weight is cosine times likeness of company; the bridge's is the lesser."""

    concept: int
    kind: int
    near: float
    far: float
    near_documents: tuple[int, ...]
    far_documents: tuple[int, ...]

    @property
    def weight(self) -> float:
        """As strong as its weaker side."""
        return min(self.near, self.far)


@dataclass(frozen=True)
class Side:
    """One literature with its counts and profile, ready to be bridged from."""

    literature: Literature
    documents: frozenset[int]
    counts: Counter[int]
    profile: Profile


@dataclass(frozen=True)
class End:
    """What a literature may be connected to: the concept, how promising, and how often the two already met."""

    concept: int
    prospect: float
    support: float
    direct: int


def side(reader: Reader, literature: Literature, without: frozenset[int] = frozenset()) -> Side:
    """A literature seen without some documents: those that speak of the other end prove no bridge."""
    documents = literature.documents - without
    counts = reader.counts(documents)
    return Side(literature, documents, counts, reader.profile(counts, len(documents), literature.concepts))


def side_weight(reader: Reader, of: Side, concept: int, both: int, exact: bool) -> float:
    """How strongly a concept belongs to a literature: documents shared, times how alike their company is elsewhere."""
    profile = reader.profile_beyond(concept, of.literature) if exact else reader.profile_everywhere(concept)
    likeness = similarity(of.profile, profile)
    return likeness * cosine(both, len(of.documents), reader.index.frequency(concept))


def bridges(reader: Reader, a: Literature, c: Literature, most: int = 100, least_documents: int = 2) -> tuple[Bridge, ...]:
    """Closed discovery: what joins two literatures, best first; mechanisms and given names before phrases before words."""
    both = a.documents & c.documents
    near, far = side(reader, a, both), side(reader, c, both)
    shared = _shared(reader, near, far, least_documents, lambda _: True)
    return _ranked(reader, near, far, shared, most, exact=True)


def leading_bridges(reader: Reader, near: Side, c: Literature, most: int, admits: Admits) -> tuple[Bridge, ...]:
    """The best bridges only, weighed by remembered profiles: what laying out many connections can afford."""
    far = side(reader, c, near.literature.documents)
    beyond = Side(near.literature, near.documents - c.documents, near.counts, near.profile)
    for least in (2, 1):
        shared = _shared(reader, beyond, far, least, lambda number: reader.rank_of_kind(number) > 0 and admits(number))
        if shared:
            strongest = heapq.nlargest(
                BRIDGES_COMPARED, shared, key=lambda number: (_least_cosine(reader, near, far, number), number)
            )
            return _ranked(reader, beyond, far, strongest, most, exact=False)
    return ()


def _shared(reader: Reader, near: Side, far: Side, least: int, admits: Admits) -> list[int]:
    fewer, more = sorted((near, far), key=lambda one: len(one.counts))
    return [
        number
        for number, count in fewer.counts.items()
        if count >= least
        and more.counts[number] >= least
        and admits(number)
        and not reader.is_close(number, near.literature)
        and not reader.is_close(number, far.literature)
    ]


def _least_cosine(reader: Reader, near: Side, far: Side, number: int) -> float:
    frequency = reader.index.frequency(number)
    return min(cosine(one.counts[number], len(one.documents), frequency) for one in (near, far))


def _ranked(reader: Reader, near: Side, far: Side, shared: Sequence[int], most: int, *, exact: bool) -> tuple[Bridge, ...]:
    found = [
        Bridge(
            number,
            reader.rank_of_kind(number),
            side_weight(reader, near, number, near.counts[number], exact),
            side_weight(reader, far, number, far.counts[number], exact),
            (),
            (),
        )
        for number in shared
    ]
    found.sort(key=lambda bridge: (bridge.kind, bridge.weight, -bridge.concept), reverse=True)
    if not exact:
        found = _told_apart(reader, found, most)
    with_papers = (with_documents(reader, bridge, near, far) for bridge in found[:most])
    return tuple(bridge for bridge in with_papers if bridge.near_documents and bridge.far_documents)


def _told_apart(reader: Reader, found: Sequence[Bridge], most: int) -> list[Bridge]:
    # Of two names of one thing only the stronger is a bridge.
    kept: list[Bridge] = []
    for bridge in found:
        if len(kept) == most:
            break
        if not any(reader.are_close(bridge.concept, other.concept) for other in kept):
            kept.append(bridge)
    return kept


def with_documents(reader: Reader, bridge: Bridge, near: Side, far: Side) -> Bridge:
    """The bridge with the documents that hold up its two sides."""
    documents = reader.index.documents(bridge.concept)
    return Bridge(
        bridge.concept,
        bridge.kind,
        bridge.near,
        bridge.far,
        tuple(document for document in documents if document in near.documents),
        tuple(document for document in documents if document in far.documents),
    )


def first_bridges(reader: Reader, a: Side, admits: Admits = lambda _: True) -> list[tuple[float, int]]:
    """The concepts a literature leans on, strongest first: where open discovery sets out from."""
    leanings = [
        (cosine(count, len(a.documents), reader.index.frequency(number)), number)
        for number, count in a.counts.items()
        if count > 1 and reader.rank_of_kind(number) > 0 and not reader.is_close(number, a.literature) and admits(number)
    ]
    named = [leaning for leaning in leanings if reader.rank_of_kind(leaning[1]) == 2]
    chosen = sorted(named if len(named) >= BRIDGES_FOLLOWED else leanings, reverse=True)[:BRIDGES_WEIGHED]
    weighed = ((side_weight(reader, a, number, a.counts[number], exact=False), number) for _, number in chosen)
    return sorted((found for found in weighed if found[0] > 0), reverse=True)[:BRIDGES_FOLLOWED]


def ends(
    reader: Reader,
    a: Literature,
    most: int,
    admits: Admits = lambda _: True,
    bridge_admits: Admits = lambda _: True,
) -> tuple[End, ...]:
    """Open discovery: what a literature may be connected to, with no or very rare direct co-occurrence, likeliest first."""
    near = side(reader, a)
    leads = first_bridges(reader, near, bridge_admits)
    support = _support(reader, near, leads, admits)
    found = [
        End(number, _prospect(reader, near.profile, number), support[number], near.counts[number])
        for number in heapq.nlargest(ENDS_WEIGHED, support, key=lambda number: (support[number], -number))
    ]
    found.sort(key=lambda end: (end.prospect, -end.concept), reverse=True)
    return _apart(reader, found, most)


def _support(reader: Reader, near: Side, leads: Sequence[tuple[float, int]], admits: Admits) -> dict[int, float]:
    index = reader.index
    support: dict[int, float] = {}
    if not leads:
        return support
    strongest = leads[0][0]
    admitted: dict[int, bool] = {}
    for weight, bridge in leads:
        beyond = [document for document in index.documents(bridge) if document not in near.documents]
        sample = spread(beyond, DOCUMENTS_FOLLOWED)
        for number, both in reader.counts(sample).items():
            if both < 2 or number == bridge:
                continue
            if number not in admitted:
                admitted[number] = (
                    reader.rank_of_kind(number) == 2
                    and is_rare(reader, near.counts[number], len(near.documents), index.frequency(number))
                    and not reader.is_close(number, near.literature)
                    and admits(number)
                )
            if admitted[number]:
                far = cosine(both, len(sample), index.frequency(number))
                support[number] = support.get(number, 0.0) + min(weight / strongest, far)
    return support


def is_rare(reader: Reader, both: int, one: int, other: int) -> bool:
    """Whether two things meet so seldom that joining them would be new: at most three times, and no more than by chance."""
    return both == 0 or (both <= RARE_DOCUMENTS and both <= reader.counted.expected(one, other))


def opportunity(reader: Reader, number: int) -> float:
    """How often papers take a concept up as their subject, the recent ones counting most (half as much every three years)."""
    index, latest = reader.index, reader.latest_year
    subject = [document for document in index.documents(number) if number in index.named(document)]
    years = (index.year_of(document) for document in subject or index.documents(number))
    return sum(1.0 if year is None or latest is None else 2.0 ** ((year - latest) / HALF_LIFE_YEARS) for year in years)


def _prospect(reader: Reader, profile: Profile, number: int) -> float:
    likeness = similarity(profile, reader.profile_everywhere(number))
    return float(likeness**SIMILARITY_POWER * opportunity(reader, number) ** OPPORTUNITY_POWER)


def prospect(reader: Reader, one: int, other: int) -> float:
    """How likely two concepts are to be joined next: likeness of company, times how often each is taken up."""
    first = opportunity(reader, one) ** OPPORTUNITY_POWER
    return float(first * _prospect(reader, reader.profile_everywhere(one), other))


def through_all(reader: Reader, a: Literature, given: Sequence[Literature], most: int, admits: Admits) -> tuple[End, ...]:
    """Open discovery through chosen literatures: an end must hold to every one of them, and is as strong as its weakest hold."""
    near = side(reader, a)
    between = [side(reader, literature, a.documents) for literature in given]
    if not between:
        return ()
    found = []
    for number in min((part.counts for part in between), key=len):
        holds = [cosine(part.counts[number], len(part.documents), reader.index.frequency(number)) for part in between]
        if (
            all(holds)
            and is_rare(reader, near.counts[number], len(near.documents), reader.index.frequency(number))
            and not reader.is_close(number, a)
            and not any(reader.is_close(number, literature) for literature in given)
            and admits(number)
        ):
            found.append(End(number, min(holds), sum(holds), near.counts[number]))
    found.sort(key=lambda end: (end.prospect, end.support, -end.concept), reverse=True)
    return tuple(found[:most])


def _apart(reader: Reader, found: Sequence[End], most: int) -> tuple[End, ...]:
    kept: list[End] = []
    for end in found:
        if len(kept) == most:
            break
        if not any(reader.are_close(end.concept, other.concept) for other in kept):
            kept.append(end)
    return tuple(kept)
