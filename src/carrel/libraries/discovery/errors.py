"""Errors of discovery, each with a next step for the user."""

from dataclasses import dataclass


@dataclass(frozen=True)
class MissingName:
    """A name in a goal that the corpus lacks or, with `is_vague`, uses too broadly to search."""

    text: str
    is_central: bool
    near: tuple[str, ...] = ()
    is_vague: bool = False


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
    # Words that stand in one paper or two are found by a search and are still no subject.
    return (
        f"No papers of this corpus, or too few to start a hypothesis from, are about what the goal "
        f"names: {names}{rest}"
    )


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
