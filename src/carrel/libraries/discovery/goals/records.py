"""Goals as they are read: the statement by grammar, and the reading in concepts of the corpus."""

from dataclasses import dataclass
from enum import StrEnum

from carrel.libraries.discovery.errors import MissingName
from carrel.libraries.discovery.records import Concept, Kind, Literature


class AskedFor(StrEnum):
    """The kinds of answer that goals ask for."""

    INTERVENTIONS = "treatments or other interventions"
    CAUSES = "causes"
    MECHANISM = "a mechanism"
    CONDITIONS = "conditions"
    COMPARISON = "a comparison"
    NO_EFFECT = "evidence for no effect"
    PREDICTORS = "predictors or markers"
    METHODS = "methods"
    TRANSFER = "transfer of a method"
    EFFECT = "an effect"
    EXTENT = "how much or how well"
    CONNECTION = "a connection"
    NOT_STATED = "not stated"


class ConstraintKind(StrEnum):
    """What a constraint asks of an answer."""

    EXCLUDED = "excluded"
    REQUIRED = "required"
    SETTING = "setting"
    PERIOD = "period"
    PUBLISHED = "published"
    VIA = "via"
    RIVAL = "rival route"
    HELD_EQUAL = "held equal"
    GIVEN = "given"


@dataclass(frozen=True)
class Constraint:
    """A constraint as the goal words it; `names` are the things it speaks of."""

    kind: ConstraintKind
    text: str
    names: tuple[str, ...] = ()
    first_year: int | None = None
    last_year: int | None = None


@dataclass(frozen=True)
class GoalQuestion:
    """A question back; one that is needed must be answered before the work can start."""

    text: str
    is_needed: bool


@dataclass(frozen=True)
class GoalStatement:
    """A goal as its wording tells it, before any corpus is asked."""

    goal: str
    subjects: tuple[str, ...]
    asked_for: AskedFor
    relation: str
    constraints: tuple[Constraint, ...]
    out_of_scope: tuple[str, ...]
    questions: tuple[GoalQuestion, ...]
    direction: int = 0
    """What an answer must do to the subject: 1 raise it, -1 lower it, 0 where not said."""
    verbs: frozenset[str] = frozenset()
    """The words that are verbs in this goal, in lower case."""

    def constraints_of(self, *kinds: ConstraintKind) -> tuple[Constraint, ...]:
        """The constraints of some kinds."""
        return tuple(one for one in self.constraints if one.kind in kinds)


class SubjectUse(StrEnum):
    """What became of a subject that a goal names."""

    USED = "used"
    NOT_USED = "known, not used"
    TOO_FEW = "too few papers"
    UNKNOWN = "not in the corpus"


@dataclass(frozen=True)
class SubjectRead:
    """A subject as the goal words it, the concept it was read as, and its papers."""

    name: str
    use: SubjectUse
    concept: str | None = None
    papers: int = 0
    near: tuple[str, ...] = ()


@dataclass(frozen=True)
class ConstraintRead:
    """A constraint, and whether the search keeps to it."""

    text: str
    kind: ConstraintKind
    is_used: bool
    says: str


@dataclass(frozen=True)
class Thing:
    """A concept named at tokens `start` to `end`; `pieces` are fallbacks from the same phrase."""

    number: int
    literature: Literature
    start: int
    end: int
    is_loose: bool
    notes: tuple[str, ...] = ()
    pieces: tuple[int, ...] = ()


class Wanted(StrEnum):
    """The kinds of answer that goals ask for."""

    DRUG = "drug"
    TARGET = "target"
    BIOMARKER = "biomarker"
    MECHANISM = "mechanism"
    INTERVENTION = "intervention"


ANSWERS: dict[Wanted, frozenset[Kind]] = {
    Wanted.DRUG: frozenset({Kind.SUBSTANCE}),
    Wanted.TARGET: frozenset({Kind.GENE, Kind.PROCESS}),
    Wanted.BIOMARKER: frozenset({Kind.GENE, Kind.SUBSTANCE}),
    Wanted.MECHANISM: frozenset({Kind.PROCESS, Kind.GENE}),
    Wanted.INTERVENTION: frozenset({Kind.SUBSTANCE, Kind.EXPOSURE, Kind.GENE, Kind.BEHAVIOUR}),
}


_ACTING = frozenset({"raises", "lowers", "treats", "causes", "changes", "predicts"})
_ASKS_FOR_EFFECT = frozenset({AskedFor.CAUSES, AskedFor.INTERVENTIONS, AskedFor.NOT_STATED})


@dataclass(frozen=True)
class GoalReading:
    """What a goal is about: the start, the end where it names one, and its words left unused."""

    goal: str
    start: Literature
    start_concept: Concept
    others: tuple[int, ...]
    pair: int | None
    wanted: Wanted | None
    searched: tuple[str, ...]
    through: int | None = None
    missing: tuple[MissingName, ...] = ()
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    things: tuple[Thing, ...] = ()
    end: Literature | None = None
    statement: GoalStatement | None = None
    subjects: tuple[SubjectRead, ...] = ()
    constraints: tuple[ConstraintRead, ...] = ()
    compared: tuple[str, ...] = ()
    """What the end is compared with, where the goal compares two things in a third."""

    @property
    def end_acts(self) -> bool:
        """Whether the goal tells that the end acts on the start."""
        told = self.statement.relation if self.statement is not None else ""
        is_told = self.is_closed and (told in _ACTING or bool(self.compared))
        return bool(self.wanted_effect) or is_told

    @property
    def compares_ends(self) -> bool:
        """Whether the two ends are compared with each other, so that neither acts."""
        asked = None if self.statement is None else self.statement.asked_for
        return self.is_closed and asked is AskedFor.COMPARISON and not self.compared

    @property
    def is_closed(self) -> bool:
        """Whether both ends are given."""
        return self.pair is not None

    @property
    def wanted_effect(self) -> int:
        """What an answer must do to the start: 1 raise it, -1 lower it, 0 where none is asked."""
        if self.is_closed:
            return 0
        statement = self.statement
        if statement is not None and statement.asked_for in _ASKS_FOR_EFFECT:
            return statement.direction or (-1 if self.asks_for_intervention else 0)
        return -1 if self.asks_for_intervention else 0

    @property
    def asks_for_intervention(self) -> bool:
        """Whether an answer that does the opposite of what is asked must never be given."""
        return self.wanted in {Wanted.DRUG, Wanted.INTERVENTION} or (
            self.statement is not None and self.statement.asked_for is AskedFor.INTERVENTIONS
        )
