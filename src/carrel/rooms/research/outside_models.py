"""What a run asked of literature services outside: stored, reported and answered."""

from __future__ import annotations

from typing import Literal

from carrel.core.operation import Answer


class AskedService(Answer):
    """What became of the question at one service; `reason` says why it was not answered."""

    service: str
    outcome: Literal["answered", "failed", "not_asked"]
    reason: str = ""
    returned: int = 0
    # The question in the service's own language.
    asked_as: str = ""


class LookedUpWork(Answer):
    """A work that was found; `paper_id` is None where it did not join the corpus."""

    title: str
    year: int | None = None
    doi: str | None = None
    paper_id: str | None = None
    is_retracted: bool = False


class OutsideLook(Answer):
    """One question to services outside, for the goal or for a hypothesis.

    `naming_all` are the works whose title or abstract names every one of `terms`. `added` are
    papers that were new to the corpus. `problem` says why nothing could be asked or added.
    """

    query: str
    terms: tuple[str, ...] = ()
    hypothesis_id: str = ""
    services: tuple[AskedService, ...] = ()
    found: int = 0
    naming_all: tuple[LookedUpWork, ...] = ()
    added: tuple[str, ...] = ()
    problem: str = ""

    @property
    def failed(self) -> tuple[AskedService, ...]:
        return tuple(one for one in self.services if one.outcome == "failed")

    @property
    def is_complete(self) -> bool:
        """Whether every service that was asked answered, so that "nothing" means nothing."""
        return not self.problem and not self.failed


class OutsideLooks(Answer):
    """The questions of one step."""

    looks: tuple[OutsideLook, ...]


def describe_look(look: OutsideLook) -> str:
    """A look in one sentence for people."""
    if look.problem:
        return f"“{look.query}” could not be asked outside: {look.problem}"
    answered = [one.service for one in look.services if one.outcome == "answered"]
    parts = [f"“{look.query}” asked of {', '.join(answered) or 'nobody'}: {look.found} works"]
    if len(look.terms) > 1:
        parts.append(f"{len(look.naming_all)} name all of {', '.join(look.terms)}")
    parts.append(f"{len(look.added)} new to the corpus")
    parts.extend(f"{one.service} did not answer ({one.reason})" for one in look.failed)
    not_asked = [one.service for one in look.services if one.outcome == "not_asked"]
    if not_asked:
        parts.append(f"not asked: {', '.join(not_asked)}")
    return "; ".join(parts) + "."
