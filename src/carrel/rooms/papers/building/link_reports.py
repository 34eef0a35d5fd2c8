"""What a person is told about joined records, versions and papers that may be one."""

from __future__ import annotations

from pathlib import PurePath

from carrel.rooms.papers.building.build_reports import ReportLine
from carrel.rooms.papers.building.planning import PlannedPaper

_RELATIONS = {
    "preprint_of": "is a preprint of",
    "published_as": "was published as",
    "version_of": "is another version of",
    "correction_of": "is a correction of",
    "corrected_by": "is corrected by",
    "retraction_of": "is a retraction of",
    "retracted_by": "is retracted by",
    "comment_on": "comments on",
    "commented_by": "is commented on by",
}


def join_lines(planned: PlannedPaper) -> list[ReportLine]:
    """Why records without a common identifier are one paper."""
    return [
        ReportLine(
            join.source,
            "joined",
            f"{name_file(join.source)} and {name_file(join.other_source)} are one paper: "
            f"{join.reason}",
            is_skipped=False,
        )
        for join in planned.group.joins
    ]


def link_lines(planned: PlannedPaper) -> list[ReportLine]:
    """Joins, versions and doubtful twins of one paper."""
    lines = join_lines(planned)
    for link in planned.versions:
        relation = _RELATIONS.get(link.relation or "", "is related to")
        message = f"{relation} paper {link.paper_id}, which stays a paper of its own: {link.reason}"
        lines.append(ReportLine(link.source, "version", message, is_skipped=False))
    for link in planned.doubtful:
        message = (
            f"may be one paper with {name_file(link.other_source)} ({link.paper_id}) and was not "
            f"joined: {link.reason}. edit_paper with action merge joins them."
        )
        lines.append(ReportLine(link.source, "perhaps_one_paper", message, is_skipped=False))
    return lines


def name_file(source: str) -> str:
    return PurePath(source).name
