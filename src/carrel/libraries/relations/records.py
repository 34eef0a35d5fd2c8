"""Relations as they are read from a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class RelationKind(StrEnum):
    """What one thing does to another, as the verb says it."""

    RAISES = "raises"
    LOWERS = "lowers"
    TREATS = "treats"
    CAUSES = "causes"
    PREDICTS = "predicts"
    IS_PART_OF = "is_part_of"
    ASSOCIATES = "associates"


@dataclass(frozen=True)
class Operation:
    """A word in a subject or object that lowers (-1) or changes in an unknown way (0) the thing.

    One that `has_owner` is about the thing in the same word: `KLF10-deficient T cells`. One that
    `follows` is about the thing before it: in `cell loss and diabetes` diabetes is not lowered.
    """

    start: int
    end: int
    factor: int
    has_owner: bool = False
    follows: bool = False


@dataclass(frozen=True)
class Argument:
    """A subject or object: its text and its place in the sentence."""

    text: str
    start: int
    end: int
    operations: tuple[Operation, ...] = ()

    def factor_without(self, spans: Sequence[tuple[int, int]] = ()) -> int:
        """The product of its operations, less those inside the spans of a thing's own name."""
        factor = 1
        for operation in self.operations:
            if any(start <= operation.start and operation.end <= end for start, end in spans):
                continue
            if operation.follows and spans and all(start > operation.start for start, _ in spans):
                continue
            is_anothers = operation.has_owner and not any(
                start < operation.end and operation.start < end for start, end in spans
            )
            factor *= 0 if is_anothers and spans else operation.factor
        return factor


@dataclass(frozen=True)
class Relation:
    """What a sentence says of two things. `verb_sign` is that of the verb alone.

    Negation, hedges and questions are marked and leave the sign as the words have it.
    """

    subject: Argument
    object: Argument
    kind: RelationKind
    verb: str
    verb_sign: int
    negated: bool = False
    hedged: bool = False
    asked: bool = False

    @property
    def sign(self) -> int:
        """The net sign between the things named: 1, -1, or 0 where it is not known."""
        return self.sign_between()

    @property
    def is_said(self) -> bool:
        """Whether the sentence states it, rather than denies or asks it."""
        return not (self.negated or self.asked)

    def sign_between(
        self,
        subject_names: Sequence[tuple[int, int]] = (),
        object_names: Sequence[tuple[int, int]] = (),
    ) -> int:
        """The sign between two things whose names stand at these places of the sentence."""
        return (
            self.verb_sign
            * self.subject.factor_without(subject_names)
            * self.object.factor_without(object_names)
        )
