"""How people ask for the operations of the research room, and which of them the common tool list leaves out."""

from __future__ import annotations

PHRASES: dict[str, tuple[str, ...]] = {
    "start_research": (
        "start a research project",
        "generate new hypotheses for a goal",
        "begin a co-scientist run",
        "investigate a question",
    ),
    "get_research_status": ("how far is the research", "progress of a project", "is the run finished"),
    "list_research_projects": ("list my projects", "which research is running", "all research projects"),
    "generate_hypotheses": ("more hypotheses", "generate further ideas", "propose additional hypotheses"),
    "evolve_hypothesis": (
        "improve a hypothesis",
        "combine two hypotheses",
        "simplify a hypothesis",
        "refine an idea",
        "make a hypothesis simpler",
        "merge hypotheses into one",
    ),
    "list_hypotheses": ("list the hypotheses", "show the ranking of ideas", "best hypotheses so far"),
    "get_hypothesis": (
        "one hypothesis in full",
        "details of a hypothesis",
        "evidence for a hypothesis",
        "show the protocol of a hypothesis",
    ),
    "review_hypothesis": (
        "review a hypothesis",
        "criticise an idea",
        "check a hypothesis against the literature",
        "verify a hypothesis",
    ),
    "rank_hypotheses": ("rank hypotheses", "run a tournament", "compare two hypotheses", "which idea is better"),
    "get_results": ("results of the research", "final report", "summary of findings", "write NIH specific aims"),
    "submit_hypothesis": ("add my own hypothesis", "submit an idea of mine", "enter a hypothesis by hand"),
    "rate_hypothesis": (
        "rate a hypothesis",
        "give a hypothesis a score",
        "score an idea from one to ten",
        "give points out of ten",
    ),
    "approve_hypothesis": ("approve a hypothesis", "mark an idea as good", "accept a hypothesis"),
    "reject_hypothesis": ("reject a hypothesis", "discard an idea", "mark a hypothesis as bad"),
    "pause_research": ("pause a project", "stop the research for now", "halt the run for a while"),
    "resume_research": ("resume a project", "continue paused research", "go on with the run", "proceed with a paused project"),
    "cancel_research": ("cancel a project", "stop a run for good", "abort research"),
    "delete_research": (
        "delete a project",
        "remove a research project and its hypotheses",
        "get rid of a project",
    ),
    "export_research": (
        "export a project as a report",
        "download the research as HTML or Markdown",
        "save the research report to a file",
    ),
    "import_hypotheses": ("import hypotheses from the earlier system", "load hypotheses.json", "bring in old hypotheses"),
}

UNLISTED = frozenset(
    {
        "rate_hypothesis",
        "approve_hypothesis",
        "reject_hypothesis",
        "pause_research",
        "resume_research",
        "cancel_research",
        "delete_research",
        "export_research",
        "import_hypotheses",
    }
)
