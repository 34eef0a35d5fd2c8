"""Candidate connections and the evidence they rest on; each citation is a document of the index."""

from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from math import sqrt

from carrel.libraries.discovery.records import Concept, Place
from carrel.libraries.discovery.tuned import CONNECTIONS


class GenerationMethod(StrEnum):
    """How a connection was generated."""

    LITERATURE_BASED = "literature_based"
    DEBATE = "debate"
    ASSUMPTIONS = "assumptions"
    EXPANSION = "expansion"


class EvolutionStrategy(StrEnum):
    """How a connection was made from others."""

    REFINE = "refine"
    COMBINE = "combine"
    SIMPLIFY = "simplify"
    PARADIGM_SHIFT = "paradigm_shift"


@dataclass(frozen=True)
class SentenceRelation:
    """What a sentence says of the two things it is quoted for; the bridge acts or is acted on.

    `sign` is the net sign between the two: 1 raises, -1 lowers, 0 not said.
    """

    kind: str
    verb: str
    sign: int
    bridge_acts: bool
    is_denied: bool = False
    is_hedged: bool = False
    is_asked: bool = False


@dataclass(frozen=True)
class SignCount:
    """How many papers say that one thing raises or lowers another, and how many deny it."""

    raises: int = 0
    lowers: int = 0
    denied_raises: int = 0
    denied_lowers: int = 0

    @property
    def weight(self) -> float:
        """From -1 to 1: those for raising less those against, of all and one more."""
        rising = max(0, self.raises - self.denied_raises)
        falling = max(0, self.lowers - self.denied_lowers)
        every = self.raises + self.lowers + self.denied_raises + self.denied_lowers
        return (rising - falling) / (every + 1)

    @property
    def sign(self) -> int:
        """1, -1, or 0 where the papers do not say or are divided."""
        return (self.weight > 0) - (self.weight < 0)


@dataclass(frozen=True)
class Evidence:
    """A sentence quoted from a paper; `sentence_number` is its number in the abstract, else 0.

    A sentence that names only one of the two things (`speaks_only_of`) does not support the link.
    `is_in_longer_name` marks weaker support: a thing named only in a longer name (`heart disease`).
    """

    document_id: str
    year: int | None
    place: Place
    sentence_number: int
    sentence: str
    speaks_of_both: bool
    is_contrary: bool
    speaks_only_of: str = ""
    is_in_longer_name: bool = False
    relation: SentenceRelation | None = None


@dataclass(frozen=True)
class TestMethod:
    """A method or model system that papers on the connection use."""

    __test__ = False

    label: str
    documents: int
    document_ids: tuple[str, ...]


@dataclass(frozen=True)
class Bench:
    """Model systems and methods named by the `papers` papers on one side of a bridge.

    `life_papers` of them are of the life sciences by their words.
    """

    papers: int = 0
    systems: tuple[TestMethod, ...] = ()
    methods: tuple[TestMethod, ...] = ()
    life_papers: int = 0


@dataclass(frozen=True)
class BridgeEvidence:
    """A bridging concept with its weights and the papers on both sides."""

    concept: Concept
    near_weight: float
    far_weight: float
    near_documents: int
    far_documents: int
    near_evidence: tuple[Evidence, ...]
    far_evidence: tuple[Evidence, ...]
    near_bench: Bench = Bench()
    far_bench: Bench = Bench()
    near_signs: SignCount = SignCount()
    """What papers say of the bridge and the start, along the chain from cause to effect."""
    far_signs: SignCount = SignCount()
    """What papers say of the bridge and the end, along the same chain."""

    @property
    def weight(self) -> float:
        """The geometric mean of both sides."""
        return sqrt(self.near_weight * self.far_weight)

    @property
    def effect(self) -> float:
        """From -1 to 1: what the cause does to the effect over this bridge, as sentences say."""
        return self.near_signs.weight * self.far_signs.weight

    @property
    def sides_said(self) -> int:
        """On how many of its two sides a sentence names both things, each as itself."""
        return sum(
            any(one.speaks_of_both and not one.is_in_longer_name for one in side)
            for side in (self.near_evidence, self.far_evidence)
        )

    @property
    def sides_signed(self) -> int:
        """On how many of its two sides sentences say a direction."""
        return sum(signs.sign != 0 for signs in (self.near_signs, self.far_signs))

    @property
    def is_said(self) -> bool:
        """Whether sentences support it on both sides."""
        return self.sides_said == 2

    @property
    def weight_as_said(self) -> float:
        """Its weight, reduced for each side without a supporting sentence."""
        return self.weight * CONNECTIONS.unsaid_counts ** (2 - self.sides_said)

    @property
    def weaker_side_documents(self) -> int:
        """The number of papers on the side with fewer."""
        return min(self.near_documents, self.far_documents)


@dataclass(frozen=True)
class NoveltySearch:
    """What was searched for direct evidence, and what was found."""

    documents_searched: int
    start_documents: int
    end_documents: int
    direct_documents: int
    expected_by_chance: float
    direct_evidence: tuple[Evidence, ...]
    way_documents: int | None = None
    """Where both ends were given: how many papers on both also speak of the leading bridge, so that
    this way is known.
    """


@dataclass(frozen=True)
class Arm:
    """The second end of a combined connection, with its own bridges and novelty counts.

    `with_end` papers speak of both ends, `with_everything` of both ends and the start.
    """

    end: Concept
    bridges: tuple[BridgeEvidence, ...]
    novelty: NoveltySearch
    with_end: int
    with_everything: int


@dataclass(frozen=True)
class Testing:
    """Whether a connection can be tested: methods named on its links, kind of its end."""

    __test__ = False

    links: int
    links_with_methods: int
    shared_methods: tuple[str, ...]
    end_kind: str
    can_change_end: bool


@dataclass(frozen=True)
class Relevance:
    """How much of what the goal asks a connection is about, from 0 to 1, and in words."""

    share: float = 1.0
    says: str = "It is about what the goal asks."


@dataclass(frozen=True)
class Turn:
    """One turn of an argument over rival bridges."""

    speaker: str
    says: str
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True)
class Origin:
    """How a connection was made: from a goal by a method, or from `parents` by a strategy.

    `change` says in a few words how a child differs from its parent.
    """

    made_by: GenerationMethod | EvolutionStrategy
    note: str = ""
    parents: tuple[str, ...] = ()
    turns: tuple[Turn, ...] = ()
    change: str = ""


@dataclass(frozen=True)
class CandidateConnection:
    """A hypothesis from the literature: start A may be connected to end C through the bridges.

    The first bridge is the leading one. `scope` narrows the claim to a model system. A combination
    has `arms`; its `novelty` is that of the start with either end.
    """

    goal: str
    start: Concept
    end: Concept
    bridges: tuple[BridgeEvidence, ...]
    novelty: NoveltySearch
    methods: tuple[TestMethod, ...]
    prospect: float
    origin: Origin
    also_ends: tuple[Concept, ...] = field(default=())
    testing: Testing | None = None
    relevance: Relevance = field(default_factory=Relevance)
    arms: tuple[Arm, ...] = ()
    scope: str = ""
    start_acts: bool | None = None
    """Whether the start is the cause, where the goal tells; None: as their kinds suggest."""

    @property
    def lacks_direction(self) -> bool:
        """Whether an end was looked for that raises or lowers the start, and no sentences say so.

        Where both ends are given, a way between them is an answer by itself.
        """
        is_wanted = self.start_acts is False and self.novelty.way_documents is None
        return is_wanted and not self.bridges[0].effect

    @property
    def weakness(self) -> str:
        """Why the leading bridge is thinly supported; empty where it is not."""
        lead = self.bridges[0]
        if not lead.is_said:
            return "no single sentence names both things on each side of the bridge"
        if self.lacks_direction:
            return "no sentences say whether it raises or lowers what the goal asks about"
        if lead.near_documents == 1 and lead.far_documents == 1 and not lead.effect:
            return "it rests on one paper on each side, and neither says a direction"
        return ""

    @property
    def why_unsupported(self) -> str:
        """Why nothing speaks for the leading bridge; empty where something does."""
        lead = self.bridges[0]
        if lead.sides_said == 0:
            return "no sentence read names both things on either side of a bridge"
        papers = lead.near_documents, lead.far_documents
        if self.lacks_direction and (
            max(papers) < 2 or (min(papers) < 2 and not lead.sides_signed)
        ):
            return "sentences read say no direction, and one paper alone stands for a side"
        return ""

    @property
    def key(self) -> str:
        """A hash of ends, bridges, scope and origin; equal for equal connections."""
        parts = (
            self.start.key,
            self.end.key,
            *(end.key for end in self.also_ends),
            *(bridge.concept.key for bridge in self.bridges),
            self.origin.made_by,
            self.origin.note,
            *((self.scope,) if self.scope else ()),
        )
        return sha256("\n".join(parts).encode()).hexdigest()[:16]

    @property
    def effect(self) -> int:
        """What the cause does to the effect by the leading bridge: 1 raises, -1 lowers, 0."""
        effect = self.bridges[0].effect
        return (effect > 0) - (effect < 0)

    @property
    def every_bridge(self) -> tuple[BridgeEvidence, ...]:
        """The bridges to all its ends."""
        return (*self.bridges, *(bridge for arm in self.arms for bridge in arm.bridges))

    @property
    def citations(self) -> tuple[str, ...]:
        """Every document the connection rests on, once."""
        pieces = [
            *(e for b in self.every_bridge for e in (*b.near_evidence, *b.far_evidence)),
            *self.novelty.direct_evidence,
        ]
        pieces.extend(piece for turn in self.origin.turns for piece in turn.evidence)
        used = [*self.methods]
        for bench in (
            bench for bridge in self.bridges[:1] for bench in (bridge.near_bench, bridge.far_bench)
        ):
            used.extend((*bench.systems, *bench.methods))
        return tuple(
            dict.fromkeys(
                [
                    *(e.document_id for e in pieces),
                    *(cited for one in used for cited in one.document_ids),
                ]
            )
        )


@dataclass(frozen=True)
class ExperimentalProtocol:
    """How the connection could be tested, step by step."""

    objective: str
    methodology: tuple[str, ...]
    required_resources: tuple[str, ...] = ()
    success_metrics: tuple[str, ...] = ()
    potential_challenges: tuple[str, ...] = ()
    safety_considerations: tuple[str, ...] = ()
    timeline: str | None = None

    def as_text(self) -> str:
        """The protocol as numbered prose."""
        steps = "\n".join(
            f"{number}. {step}" for number, step in enumerate(self.methodology, start=1)
        )
        rows = (
            ("Needed", self.required_resources),
            ("Success", self.success_metrics),
            ("Difficulties", self.potential_challenges),
            ("Safety", self.safety_considerations),
            ("Timeline", (self.timeline,) if self.timeline else ()),
        )
        return "\n\n".join(
            [
                f"Objective: {self.objective}",
                f"Steps:\n{steps}" if steps else "Steps: none were given.",
                *(f"{name}: {' '.join(lines)}" for name, lines in rows if lines),
            ]
        )


class ReviewType(StrEnum):
    """How deep a review goes."""

    INITIAL = "initial"
    DEEP_VERIFICATION = "deep_verification"
    SIMULATION = "simulation"
