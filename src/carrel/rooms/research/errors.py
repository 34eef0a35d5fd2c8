"""What can go wrong in the research room."""

from __future__ import annotations

from collections.abc import Sequence

from carrel.core.errors import (
    CarrelError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
    TimedOutError,
    UnavailableError,
)

_SHOWN_CHARACTERS = 120


class ResearchNotFoundError(NotFoundError):
    """No such project, or not the caller's."""

    def __init__(self, research_id: str) -> None:
        super().__init__(
            "Research project", research_id, next_step="list_research_projects names yours."
        )


class HypothesisNotFoundError(NotFoundError):
    """No such hypothesis, or not in a project of the caller's."""

    def __init__(self, hypothesis_id: str) -> None:
        super().__init__(
            "Hypothesis", hypothesis_id, next_step="list_hypotheses names those of a project."
        )


class UnsafeGoalError(CarrelError):
    """The safety check refused a goal or a hypothesis."""

    code = "unsafe_goal"

    def __init__(self, subject: str, rule: str, reason: str, advice: str) -> None:
        super().__init__(
            f"The {subject} cannot be worked on: {reason}",
            next_step=advice,
            details={"rule": rule, "reason": reason},
        )


class GoalNotInCorpusError(CarrelError):
    """Nothing that the goal names occurs in the papers at hand."""

    code = "goal_not_in_corpus"


class GoalUnclearError(CarrelError):
    """The wording of the goal leaves open what is meant; `details.questions` ask it."""

    code = "goal_unclear"


class NoConnectionFoundError(CarrelError):
    """The papers hold no further candidate connection for the goal."""

    code = "no_connection_found"


class NothingToEvolveError(ConflictError):
    """The strategy would leave the hypothesis as it is."""

    code = "nothing_to_evolve"


class BudgetExhaustedError(CarrelError):
    """The budget of model calls or money is used up; the work is paused, nothing is lost."""

    code = "budget_exhausted"


class OwnersQuotaError(BudgetExhaustedError):
    """The owner of the project has used up the quota of the day; the work is paused."""


class ModelUnavailableError(UnavailableError):
    """The language model cannot be reached, or answers in a form that cannot be used."""

    code = "model_unavailable"


class UnreadableAnswerError(ModelUnavailableError):
    """The model's answer cannot be used: its piece of work is left out, the rest may go on."""


class NoHypothesisError(CarrelError):
    """Not one hypothesis came through, so there is nothing to review or rank."""

    code = "no_hypothesis"


class PaperToReadNotFoundError(NotFoundError):
    """A paper that a check was to be limited to is not in the corpus."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            "Paper", ", ".join(names), next_step="search_papers finds papers and their ids."
        )


class CitedWorkNotFoundError(NotFoundError):
    """A cited work is neither a paper of the corpus nor a reference of the caller's library."""

    def __init__(self, name: str) -> None:
        super().__init__(
            "Cited work",
            name,
            next_step="search_references names the keys of the library, search_papers the papers; "
            "leave cited out to search the whole corpus.",
        )


class NoStatementError(InvalidInputError):
    """A text says nothing that papers could support or deny."""

    def __init__(self, text: str) -> None:
        words = " ".join(text.split())
        shown = words if len(words) <= _SHOWN_CHARACTERS else f"{words[:_SHOWN_CHARACTERS]}…"
        super().__init__(
            f"“{shown}” says nothing that papers could support or deny",
            next_step="Give a sentence that says how things are, such as: Zinc shortens colds.",
        )


class CorpusEmptyError(UnavailableError):
    """There are no papers to discover anything in."""

    code = "snapshot_unavailable"


class WrongStateError(ConflictError):
    """The project is not in a state in which this can be done."""


class TooFewHypothesesError(InvalidInputError):
    """Ranking needs two."""

    def __init__(self, count: int) -> None:
        super().__init__(
            f"Ranking needs at least two safe hypotheses that nobody has rejected; the project "
            f"has {count}",
            next_step="Generate more, then rank.",
        )


class StepTakenError(ConflictError):
    """Another worker has finished this step, or holds the job."""


class JobNotFoundError(NotFoundError):
    """No such piece of work, or not the caller's."""

    def __init__(self, job_id: str) -> None:
        super().__init__(
            "Task",
            job_id,
            next_step="Work ends with its project: list_research_projects names yours.",
        )


class TaskNotFoundError(NotFoundError):
    """No such research task, or not in a project of the caller's."""

    def __init__(self, task_id: str) -> None:
        super().__init__(
            "Research task", task_id, next_step="next_research_task hands one out, with its id."
        )


class TaskLostError(ConflictError):
    """The lease of a research task is over and somebody else has it, or it is done."""


class WorkStoppedError(ConflictError):
    """The work was paused or cancelled before there was anything to answer with."""

    def __init__(self, job_id: str, next_step: str) -> None:
        super().__init__(
            "The work was stopped before it was done",
            next_step=next_step,
            details={"job_id": job_id},
        )


class StillWorkingError(TimedOutError):
    """The work goes on; the answer will be there later."""

    def __init__(self, job_id: str, next_step: str) -> None:
        super().__init__(
            "The work is not finished yet; it goes on.",
            next_step=next_step,
            details={"job_id": job_id},
        )
