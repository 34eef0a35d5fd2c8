"""Errors of discovery, each with a next step for the user."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True)
class MissingName:
    """A name in a goal that the corpus lacks or, with `is_vague`, uses too broadly to search."""

    text: str
    is_central: bool
    near: tuple[str, ...] = ()
    is_vague: bool = False
    papers: int = 0

    @property
    def counted(self) -> str:
        """In how many papers it stands, worded: none, or too few to start from."""
        if not self.papers:
            return f"“{self.text}” is in no title, abstract or keyword of this corpus"
        many = "1 paper" if self.papers == 1 else f"{self.papers} papers"
        return f"“{self.text}” is in {many} of this corpus, too few to start a hypothesis from"


class GoalUnclearError(Exception):
    """The wording of a goal leaves open what is meant; `questions` ask it."""

    code = "goal_unclear"

    def __init__(self, goal: str, questions: tuple[str, ...], subjects: tuple[str, ...]) -> None:
        super().__init__(f"The goal can be read in more than one way. {' '.join(questions)}")
        self.goal = goal
        self.questions = questions
        self.subjects = subjects

    @property
    def next_step(self) -> str:
        """How to answer."""
        about = f", for example “What causes {self.subjects[0]}?”" if self.subjects else ""
        return f"Start again with the goal reworded so that it answers this{about}."


class GoalNotInCorpusError(Exception):
    """The corpus has none or too little of what the goal names."""

    code = "goal_not_in_corpus"

    def __init__(
        self,
        goal: str,
        searched: tuple[str, ...],
        missing: tuple[MissingName, ...] = (),
        found: tuple[str, ...] = (),
        examples: tuple[str, ...] = (),
        *,
        is_foreign: bool = False,
    ) -> None:
        super().__init__(_said(missing, found, is_foreign=is_foreign))
        self.goal = goal
        self.searched = searched
        self.missing = missing
        self.found = found
        self.examples = examples
        self.is_foreign = is_foreign

    @property
    def next_step(self) -> str:
        """What to do about it."""
        if self.is_foreign:
            return (
                f"Ask in English, naming something that the papers study, such as "
                f"{', '.join(self.examples)}."
            )
        near = [name for missing in self.missing for name in missing.near]
        if near:
            told = f"Names of this corpus that come near: {', '.join(near)}. Use one of them"
        else:
            told = "Name a disease, substance or process that its papers study"
            told += f", such as {', '.join(self.examples)}" if self.examples else ""
        if self.found:
            return (
                f"{told}, leave the rest out to ask about {' and '.join(self.found)} alone, or "
                f"add papers on it."
            )
        return f"{told}, or add papers on it."


def _said(missing: tuple[MissingName, ...], found: tuple[str, ...], *, is_foreign: bool) -> str:
    if is_foreign:
        return (
            "Nothing that the goal names was recognised as a subject of this corpus; the papers "
            "are read as English, and the goal does not look English"
        )
    names = ", ".join(f"“{name.text}”" for name in missing)
    if all(name.is_vague for name in missing):
        words = f": {names} says too little" if missing else ""
        return (
            f"The goal names nothing that some papers of this corpus are about and others are "
            f"not{words}"
        )
    rest = f" (it does know {', '.join(found)})" if found else ""
    return "; ".join(name.counted for name in missing) + rest


class NoConnectionError(Exception):
    """The corpus holds no candidate connection for the goal."""

    code = "no_connection_found"

    def __init__(self, start: str, documents: int, why: str = "") -> None:
        super().__init__(
            why
            or f"From the papers on {start} ({documents}) nothing leads on that is not already "
            f"studied with it. "
            "Add papers, or widen the goal."
        )
        self.start = start
        self.documents = documents
        self.why = why


class NothingToEvolveError(Exception):
    """The strategy does not apply: it would leave the connection unchanged."""

    code = "nothing_to_evolve"

    def __init__(self, strategy: StrEnum, why: str) -> None:
        super().__init__(f"{strategy.value} changes nothing here: {why}")
        self.strategy = strategy
