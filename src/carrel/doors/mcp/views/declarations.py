"""The views there are: the operations whose answers each draws, and those it calls itself."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

SCHEME = "ui"


@dataclass(frozen=True, slots=True)
class ViewDeclaration:
    """A view: the operations whose answers it draws, their rooms, and what it calls itself."""

    name: str
    rooms: frozenset[str]
    draws: tuple[str, ...]
    calls: tuple[str, ...]
    modules: tuple[str, ...] = ()
    permissions: dict[str, dict[str, object]] = field(default_factory=dict)

    @property
    def uri(self) -> str:
        return f"{SCHEME}://carrel/{self.name}"


VIEWS = (
    ViewDeclaration(
        name="papers",
        rooms=frozenset({"papers", "literature"}),
        draws=("search_papers", "search_literature"),
        calls=("search_papers", "search_literature", "add_references", "add_works"),
        modules=("question_form",),
    ),
    ViewDeclaration(
        name="evidence",
        rooms=frozenset({"papers", "research"}),
        draws=("find_passages", "read_passage", "check_claim"),
        calls=("find_passages", "read_passage", "check_claim"),
        modules=("question_form",),
    ),
    ViewDeclaration(
        name="bibliography",
        rooms=frozenset({"references"}),
        draws=("cite_references",),
        calls=("cite_references", "list_citation_styles", "list_references"),
        permissions={"clipboardWrite": {}},
    ),
    ViewDeclaration(
        name="tournament",
        rooms=frozenset({"research"}),
        draws=("rank_hypotheses", "list_hypotheses", "get_results"),
        calls=(
            "list_hypotheses",
            "list_research_projects",
            "approve_hypothesis",
            "reject_hypothesis",
        ),
    ),
    ViewDeclaration(
        name="progress",
        rooms=frozenset({"research"}),
        draws=("start_research", "get_research_status"),
        calls=(
            "get_research_status",
            "list_research_projects",
            "pause_research",
            "resume_research",
        ),
    ),
)


def offers_views(rooms: Collection[str], *, is_compact: bool = False) -> bool:
    """Whether tools of these rooms have a view, known before any room is open.

    The one tool of a compact desk answers for all operations, so it has none.
    """
    return not is_compact and any(not view.rooms.isdisjoint(rooms) for view in VIEWS)
