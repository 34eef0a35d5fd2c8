"""ABC paths: bridge terms between two literatures, and what a literature may be connected to."""

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from math import log, sqrt

from carrel.libraries.discovery.concepts.words import are_variants
from carrel.libraries.discovery.paths.link_prediction import Profile, prospect, similarity
from carrel.libraries.discovery.paths.literatures import Reader, cosine, spread
from carrel.libraries.discovery.records import Literature
from carrel.libraries.discovery.tuned import PATHS

Admits = Callable[[int], bool]


@dataclass(frozen=True)
class Bridge:
    """A concept that joins two literatures: its weight on each side and the documents there."""

    concept: int
    kind: int
    near: float
    far: float
    near_documents: tuple[int, ...]
    far_documents: tuple[int, ...]

    @property
    def weight(self) -> float:
        """The geometric mean of both sides, so that a side of weight 0 gives 0."""
        return sqrt(self.near * self.far)


@dataclass(frozen=True)
class Side:
    """One literature with its counts and profile."""

    literature: Literature
    documents: frozenset[int]
    counts: Counter[int]
    profile: Profile


@dataclass(frozen=True)
class End:
    """A concept to connect a literature to: its prospect and how often the two co-occur."""

    concept: int
    prospect: float
    support: float
    direct: int


def side(reader: Reader, literature: Literature, without: frozenset[int] = frozenset()) -> Side:
    """A literature without some documents; those on the other end cannot support a bridge."""
    documents = literature.documents - without
    counts = reader.counts(documents)
    return Side(
        literature, documents, counts, reader.profile(counts, len(documents), literature.concepts)
    )


def side_weight(reader: Reader, of: Side, concept: int, both: int, exact: bool) -> float:
    """How strongly a concept belongs to a side: over-representation times profile similarity."""
    profile = (
        reader.profile_beyond(concept, of.literature)
        if exact
        else reader.profile_everywhere(concept)
    )
    by_chance = reader.counted.expected(len(of.documents), reader.index.frequency(concept))
    return (
        similarity(of.profile, profile) * log(1 + (both - PATHS.half_a_paper) / by_chance)
        if by_chance
        else 0.0
    )


def bridges(
    reader: Reader, a: Literature, c: Literature, most: int = 100, admits: Admits = lambda _: True
) -> tuple[Bridge, ...]:
    """Closed discovery: bridges between two literatures, best first; names before phrases."""
    both = a.documents & c.documents
    near, far = side(reader, a, both), side(reader, c, both)
    shared = _strongest(
        reader, near, far, _shared(reader, near, far, admits), max(PATHS.bridges_weighed, 2 * most)
    )
    return _ranked(reader, near, far, shared, most, exact=True)


def leading_bridges(
    reader: Reader, near: Side, c: Literature, most: int, admits: Admits
) -> tuple[Bridge, ...]:
    """The best bridges, weighed by cached profiles: fast enough to build many connections."""
    far = side(reader, c, near.literature.documents)
    beyond = Side(near.literature, near.documents - c.documents, near.counts, near.profile)
    shared = _shared(reader, beyond, far, admits)
    return _ranked(
        reader,
        beyond,
        far,
        _strongest(reader, beyond, far, shared, PATHS.bridges_compared),
        most,
        exact=False,
    )


def _shared(reader: Reader, near: Side, far: Side, admits: Admits) -> list[int]:
    fewer, more = sorted((near, far), key=lambda one: len(one.counts))
    return [
        number
        for number in fewer.counts
        if number in more.counts
        and admits(number)
        and not reader.is_close(number, near.literature)
        and not reader.is_close(number, far.literature)
    ]


def _strongest(
    reader: Reader, near: Side, far: Side, shared: Sequence[int], most: int
) -> Sequence[int]:
    if len(shared) <= most:
        return shared

    def promise(number: int) -> tuple[int, float, str]:
        # The product of both cosines, but for the sizes of the literatures, which all candidates
        # share.
        met = near.counts[number] * far.counts[number]
        key = reader.index.key(number)
        return -reader.rank_of_kind(number), -met / reader.index.frequency(number), key

    return heapq.nsmallest(most, shared, key=promise)


def _ranked(
    reader: Reader, near: Side, far: Side, shared: Sequence[int], most: int, *, exact: bool
) -> tuple[Bridge, ...]:
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
    found = _sorted_bridges(reader, near.literature, far.literature, found)
    if not exact:
        found = _told_apart(reader, found, most)
    with_papers = (with_documents(reader, bridge, near, far) for bridge in found[:most])
    return tuple(bridge for bridge in with_papers if bridge.near_documents and bridge.far_documents)


def _sorted_bridges(
    reader: Reader, a: Literature, c: Literature, found: Sequence[Bridge]
) -> list[Bridge]:
    """Bridges by kind and weight; equal ones by how likely each is joined to both ends."""
    shared = Counter((bridge.kind, _even(bridge.weight)) for bridge in found)

    def likelihood(bridge: Bridge) -> float:
        if shared[bridge.kind, _even(bridge.weight)] == 1:
            return 0.0
        own = reader.company(bridge.concept)
        return _even(min(prospect(own, reader.company_of(end)) for end in (a, c)))

    # By name first, so that the order never depends on the order of the papers.
    by_name = sorted(found, key=lambda bridge: reader.index.key(bridge.concept))
    return sorted(
        by_name,
        key=lambda bridge: (bridge.kind, _even(bridge.weight), likelihood(bridge)),
        reverse=True,
    )


def _even(weight: float) -> float:
    # Sums of the same numbers in another order differ in their last digits.
    return float(f"{weight:.12g}")


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
    """The bridge with the documents on its two sides."""
    documents = reader.index.documents(bridge.concept)
    return Bridge(
        bridge.concept,
        bridge.kind,
        bridge.near,
        bridge.far,
        tuple(document for document in documents if document in near.documents),
        tuple(document for document in documents if document in far.documents),
    )


def first_bridges(
    reader: Reader, a: Side, admits: Admits = lambda _: True
) -> list[tuple[float, int]]:
    """The strongest concepts of a literature, from which open discovery starts."""
    index = reader.index
    leaning = {
        number: -cosine(count, len(a.documents), index.frequency(number))
        for number, count in a.counts.items()
        if count > 1
    }
    ordered = sorted(leaning, key=lambda number: (leaning[number], index.key(number)))

    def strongest(is_able: Admits) -> list[int]:
        # Asked down the list, since whether a phrase is a term is read from its texts.
        able = (
            number
            for number in ordered
            if is_able(number) and not reader.is_close(number, a.literature) and admits(number)
        )
        return list(islice(able, PATHS.bridges_weighed))

    chosen = strongest(reader.has_first_rank)
    if len(chosen) < PATHS.bridges_followed:
        chosen = strongest(lambda number: reader.rank_of_kind(number) > 0)
    weighed = [
        (side_weight(reader, a, number, a.counts[number], exact=False), number) for number in chosen
    ]
    weighed.sort(key=lambda lead: (-_even(lead[0]), index.key(lead[1])))
    return [lead for lead in weighed if lead[0] > 0][: PATHS.bridges_followed]


def ends(
    reader: Reader,
    a: Literature,
    most: int,
    admits: Admits = lambda _: True,
    bridge_admits: Admits = lambda _: True,
) -> tuple[End, ...]:
    """Open discovery: concepts that rarely or never co-occur with a literature, best first."""
    near = side(reader, a)
    leads = first_bridges(reader, near, bridge_admits)
    support = _support(reader, near, leads)
    own = reader.company_of(a)

    def may_end(number: int) -> bool:
        return reader.has_first_rank(number) and not reader.is_close(number, a) and admits(number)

    reached = sorted(
        support, key=lambda number: (-_even(support[number]), reader.index.key(number))
    )
    found = [
        End(number, prospect(own, reader.company(number)), support[number], near.counts[number])
        for number in islice(filter(may_end, reached), PATHS.ends_weighed)
    ]
    found.sort(key=lambda end: (-_even(end.prospect), reader.index.key(end.concept)))
    return _apart(reader, found, most)


def _support(reader: Reader, near: Side, leads: Sequence[tuple[float, int]]) -> dict[int, float]:
    """What bridges lead to beyond a literature, and how strongly; nothing known or broad."""
    index = reader.index

    def is_new(number: int) -> bool:
        is_unmet = is_rare(
            reader, near.counts[number], len(near.documents), index.frequency(number)
        )
        return is_unmet and not reader.is_broad(number)

    support: dict[int, float] = {}
    # The hot loop: roots of frequencies are kept, 0 for what is not new, and cosines written out.
    roots: dict[int, float] = {}
    for weight, bridge in leads:
        beyond = [
            document for document in index.documents(bridge) if document not in near.documents
        ]
        sample = spread(beyond, PATHS.documents_followed)
        strength, size = weight / leads[0][0], sqrt(len(sample))
        for number, both in reader.counts(sample).items():
            if both < 2 or number == bridge:
                continue
            root = roots.get(number)
            if root is None:
                root = roots[number] = sqrt(index.frequency(number)) if is_new(number) else 0.0
            if root:
                support[number] = support.get(number, 0.0) + min(strength, both / (size * root))
    return support


def is_rare(reader: Reader, both: int, one: int, other: int) -> bool:
    """Whether a co-occurrence is rare enough to be novel: few papers, no more than by chance."""
    return both == 0 or (
        both <= PATHS.rare_documents and both <= reader.counted.expected(one, other)
    )


def through_all(
    reader: Reader, a: Literature, given: Sequence[Literature], most: int, admits: Admits
) -> tuple[End, ...]:
    """Open discovery through given literatures: ends that co-occur with each, best first."""
    near, own = side(reader, a), reader.company_of(a)
    between = [side(reader, literature, a.documents) for literature in given]
    if not between:
        return ()
    found = []
    for number in min((part.counts for part in between), key=len):
        holds = [
            cosine(part.counts[number], len(part.documents), reader.index.frequency(number))
            for part in between
        ]
        if (
            all(holds)
            and is_rare(
                reader, near.counts[number], len(near.documents), reader.index.frequency(number)
            )
            and not reader.is_close(number, a)
            and not any(reader.is_close(number, literature) for literature in given)
            and admits(number)
        ):
            found.append(
                End(number, prospect(own, reader.company(number)), min(holds), near.counts[number])
            )
    found.sort(key=lambda end: (-end.prospect * end.support, reader.index.key(end.concept)))
    return tuple(found[:most])


def _apart(reader: Reader, found: Sequence[End], most: int) -> tuple[End, ...]:
    kept: list[End] = []
    for end in found:
        if len(kept) == most:
            break
        key = reader.index.key(end.concept)
        if not any(
            reader.are_close(end.concept, other.concept)
            or are_variants(key, reader.index.key(other.concept))
            for other in kept
        ):
            kept.append(end)
    return tuple(kept)
