"""What can go wrong in discovery, said so that a person knows what to do next."""


class GoalNotInCorpusError(Exception):
    """Nothing the goal speaks of occurs in the corpus."""

    code = "goal_not_in_corpus"

    def __init__(self, goal: str, searched: tuple[str, ...]) -> None:
        super().__init__(
            "No paper of this corpus speaks of what the goal names. "
            "Name a disease, substance or process that its papers study, or add papers on it."
        )
        self.goal = goal
        self.searched = searched


class NoConnectionError(Exception):
    """The corpus holds no candidate connection for the goal."""

    code = "no_connection_found"

    def __init__(self, start: str, documents: int) -> None:
        super().__init__(
            f"From the papers on {start} ({documents}) nothing leads on that is not already studied with it. "
            "Add papers, or widen the goal."
        )
        self.start = start
        self.documents = documents
