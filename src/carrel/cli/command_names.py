"""The commands of operations: messages name operations, and a person types commands.

A table, not the catalogue itself: opening that costs a second, and an error should not. A test
holds the table to the catalogue and to what the commands accept.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from functools import cache

PROGRAM = "carrel"

# The command of each operation, and the fields that it takes by their place; `?` where optional.
_COMMANDS: dict[str, tuple[str, ...]] = {
    "search_papers": ("papers search", "query"),
    "search_papers_by_keyword": ("papers keyword", "keyword"),
    "get_paper_metadata": ("papers show", "paper_id"),
    "get_paper_summary": ("papers summary", "paper_id"),
    "get_paper_source": ("papers source", "paper_id"),
    "list_top_facets": ("papers facets", "category"),
    "get_paper_bibtex": ("papers bibtex", "paper_id"),
    "export_papers": ("papers export",),
    "get_corpus_statistics": ("papers stats",),
    "list_paper_figures": ("papers figures", "paper_id"),
    "get_paper_figure": ("papers figure", "paper_id", "figure"),
    "find_passages": ("papers passages", "query"),
    "read_passage": ("papers passage", "passage_id"),
    "locate_quote": ("papers quote", "text"),
    "review_papers": ("papers review",),
    "get_citations": ("papers citations", "paper_id"),
    "find_related_papers": ("papers related", "papers"),
    "find_citation_path": ("papers path", "from_paper", "to_paper"),
    "rank_papers": ("papers rank",),
    "snowball_papers": ("papers snowball", "seeds"),
    "draw_citations": ("papers citation-graph", "paper_id"),
    "count_search_facets": ("papers search-facets", "query"),
    "read_paper_part": ("papers part", "paper_id"),
    "count_paper_pages": ("papers page-count", "paper_id"),
    "get_paper_page": ("papers page", "paper_id", "page"),
    "get_paper_map": ("papers map-regions",),
    "get_map_tile": ("papers map-tile", "tile"),
    "locate_on_map": ("papers map-places",),
    "select_on_map": ("papers map-select", "outline"),
    "update_paper_map": ("papers map-update",),
    "add_paper": ("papers add",),
    "remove_paper": ("papers remove", "paper_id"),
    "edit_paper": ("papers correct", "action"),
    "paper_history": ("papers history", "paper_id?"),
    "search_references": ("references search", "query"),
    "list_references": ("references list",),
    "add_references": ("references add", "input"),
    "remove_reference": ("references remove", "id"),
    "get_reference": ("references show", "id"),
    "edit_reference": ("references edit", "id", "changes"),
    "cite_references": ("references cite", "ids"),
    "list_citation_styles": ("references styles", "query"),
    "export_references": ("references export",),
    "attach_fulltext": ("references attach", "id", "path"),
    "get_fulltext": ("references fulltext", "id"),
    "detach_fulltext": ("references detach", "id"),
    "browse_references": ("references browse",),
    "save_reference": ("references save", "id", "version", "changes"),
    "remove_references": ("references remove-many", "ids"),
    "preview_citation": ("references preview", "item"),
    "list_reference_versions": ("references versions", "id"),
    "restore_references": ("references restore-many", "ids"),
    "open_attachment": ("references pdf", "id"),
    "organize_references": ("references organize", "ids?"),
    "list_reference_groups": ("references groups", "kind?"),
    "rename_reference_group": ("references regroup", "kind", "group"),
    "list_library_changes": ("references changes", "id?"),
    "undo_library_change": ("references undo-change", "revision?"),
    "find_duplicates": ("references duplicates",),
    "merge_references": ("references merge", "keep", "others"),
    "rename_reference": ("references rename", "id", "new_id"),
    "rename_keys": ("references rename-keys",),
    "list_attachments": ("references files", "id"),
    "attach_file": ("references attach-file", "id"),
    "detach_file": ("references detach-file", "id", "name"),
    "open_attached_file": ("references open-file", "id", "name"),
    "find_orphans": ("references orphans",),
    "adopt_orphan": ("references adopt-file", "file", "id"),
    "remove_orphans": ("references prune-files", "files"),
    "list_libraries": ("references libraries",),
    "create_library": ("references create-library", "name"),
    "list_library_members": ("references members", "library"),
    "set_library_member": ("references share", "library", "member"),
    "remove_library_member": ("references unshare", "library", "member"),
    "leave_library": ("references leave", "library"),
    "hand_over_library": ("references hand-over", "library", "member"),
    "rename_library": ("references rename-library", "library", "name"),
    "delete_library": ("references delete-library", "library"),
    "save_knowledge": ("knowledge save", "content"),
    "search_knowledge": ("knowledge search", "query"),
    "get_knowledge": ("knowledge show", "id"),
    "get_knowledge_history": ("knowledge history", "id"),
    "delete_knowledge": ("knowledge delete", "id"),
    "propose_knowledge": ("knowledge propose", "id"),
    "promote_knowledge": ("knowledge promote", "id"),
    "list_knowledge": ("knowledge list",),
    "get_knowledge_graph": ("knowledge graph", "id"),
    "decline_knowledge": ("knowledge decline", "id"),
    "node_knowledge_retriever": ("knowledge nodes", "node_names"),
    "elasticsearch": ("knowledge elasticsearch", "index", "query"),
    "start_research": ("research start", "goal"),
    "understand_goal": ("research understand", "goal"),
    "get_research_status": ("research status", "research_id"),
    "list_research_projects": ("research list",),
    "generate_hypotheses": ("research generate", "research_id"),
    "evolve_hypothesis": ("research evolve", "hypothesis_id"),
    "list_hypotheses": ("research hypotheses", "research_id"),
    "get_hypothesis": ("research hypothesis", "hypothesis_id"),
    "review_hypothesis": ("research review", "hypothesis_id"),
    "rank_hypotheses": ("research rank", "research_id"),
    "get_results": ("research results", "research_id"),
    "submit_hypothesis": ("research submit", "research_id", "title", "summary"),
    "rate_hypothesis": ("research rate", "hypothesis_id", "score"),
    "approve_hypothesis": ("research approve", "hypothesis_id"),
    "reject_hypothesis": ("research reject", "hypothesis_id"),
    "approve_goal": ("research approve-goal", "research_id", "reason"),
    "reject_goal": ("research reject-goal", "research_id", "reason"),
    "plan_research": ("research plan", "goal"),
    "get_tournament": ("research tournament", "research_id"),
    "list_evidence": ("research evidence", "research_id"),
    "get_research_record": ("research record", "research_id"),
    "list_research_tasks": ("research tasks", "research_id"),
    "list_held_goals": ("research held-goals",),
    "get_research_overview": ("research overview",),
    "pause_research": ("research pause", "research_id"),
    "resume_research": ("research resume", "research_id"),
    "cancel_research": ("research cancel", "research_id"),
    "delete_research": ("research delete", "research_id"),
    "export_research": ("research export", "research_id"),
    "import_hypotheses": ("research import",),
    "save_hypothesis_note": ("research note", "hypothesis_id"),
    "check_claim": ("research check-claim", "text"),
    "find_contradictions": ("research contradictions",),
    "next_research_task": ("research next-task", "research_id"),
    "submit_research_task": ("research submit-task", "task_id", "answer"),
    "search_literature": ("literature search", "query"),
    "get_work": ("literature show", "identifier"),
    "add_works": ("literature add", "identifiers"),
    "find_fulltext": ("literature fulltext", "identifier"),
    "check_retractions": ("literature check-retractions",),
    "complete_papers": ("literature complete-papers",),
    "complete_references": ("literature complete-references",),
    "list_completions": ("literature list-completions", "target"),
    "save_alert": ("literature save-alert", "query"),
    "list_alerts": ("literature list-alerts",),
    "remove_alert": ("literature remove-alert", "name"),
    "run_alerts": ("literature run-alerts",),
    "get_alert_digest": ("literature alert-digest",),
    "list_alert_works": ("literature list-alert-works",),
    "get_job": ("jobs get", "job_id"),
    "cancel_job": ("jobs cancel", "job_id"),
    "list_jobs": ("jobs list",),
    "search_desk": ("find", "query"),
}
# The commands of the correction that people type, by its action.
_CORRECTIONS: dict[str, tuple[str, ...]] = {
    "edit": ("papers edit", "paper_id"),
    "merge": ("papers merge", "paper_id", "papers"),
    "split": ("papers split", "paper_id"),
    "undo": ("papers undo", "number?"),
}
# Options of those commands that are called otherwise than the field, and given once for each.
_REPEATED = {
    "authors": "author",
    "editors": "editor",
    "keywords": "keyword",
    "tags": "tag",
    "institutions": "institution",
    "records": "record",
    "clear": "clear",
}
_CORRECTION = "edit_paper"
# How a desk gets its first things: a person has folders and files, an assistant one at a time.
_FIRST_STEPS = {
    "add_paper adds the first.": "carrel add FOLDER adds them.",
    "add_references adds the first.": "carrel add FILE adds them.",
    "save_knowledge saves the first.": "carrel add FOLDER adds them, carrel knowledge save TEXT "
    "writes one.",
    "start_research begins one.": "carrel research start GOAL begins one.",
}


def find_command(operation: str) -> str | None:
    """The command of an operation (`carrel papers show`), or None where it has none."""
    row = _COMMANDS.get(operation)
    return None if row is None else f"{PROGRAM} {row[0]}"


def command_line(operation: str, arguments: Mapping[str, object]) -> str:
    """The command with its arguments, as a shell reads it; what is missing is named in capitals.

    Raises KeyError for an operation without a command.
    """
    row = _COMMANDS[operation]
    given = {name: value for name, value in arguments.items() if value not in (None, False, [])}
    action = given.get("action")
    is_correction = operation == _CORRECTION and action in _CORRECTIONS
    if is_correction:
        row = _CORRECTIONS[str(action)]
        del given["action"]
    places = [word for field in row[1:] for word in _place(field, given)]
    by_place = {field.rstrip("?") for field in row[1:]}
    options = [
        word
        for name, value in given.items()
        if name not in by_place
        for word in _option(name, value, is_correction)
    ]
    if any(word.startswith("-") for word in places):
        return f"{PROGRAM} {row[0]} {shlex.join([*options, '--', *places])}"
    return f"{PROGRAM} {row[0]} {shlex.join([*places, *options])}".rstrip()


def in_commands(text: str) -> str:
    """A message for callers of operations, in the words of someone who types commands."""
    for theirs, typed in _TYPED.items():
        text = text.replace(theirs, typed)
    if "_" not in text:
        return text
    for first_step, command in _FIRST_STEPS.items():
        text = text.replace(first_step, command)
    text = _call_pattern().sub(_replace_call, text)
    text = _CORRECTION_PATTERN.sub(r"carrel papers \1", text)
    text = _pattern().sub(_replace_name, text)
    text = _TWICE.sub(r"\1", text)
    text = _CALLED.sub(lambda found: _RUN[found[1]], text)
    return _NAMED_ID.sub(r"\1 id", text)


# What messages name for programs, and what a person types instead.
_TYPED = {
    "Find the id with search_references.": "carrel references search WORDS finds ids.",
    "force: true": "--force",
    "library://styles": "carrel references styles '*'",
    "Call again with section (a number or a heading) for one part, or with offset.": "--section "
    "with a number or a heading shows one part, --offset reads on from a character.",
    "call again with offset ": "read on with --offset ",
    ": read it with offset.": ": --offset reads on from a character.",
    "Found nearly: differences shows the words that differ.": "Found nearly, with other words; "
    "those that differ are shown.",
    "nearest shows what is closest.": "What is closest is shown.",
}
_CORRECTION_PATTERN = re.compile(rf"\b{_CORRECTION} with (?:action )?(edit|merge|split|undo)\b")
# `x, or carrel x, does it`: what was an operation and its command is now one command.
_TWICE = re.compile(r"(carrel [^,;.]+), or \1,")
# A command is run; only an operation is called.
_CALLED = re.compile(r"\b(Call|call|Calling|calling)(?= carrel )")
_RUN = {"Call": "Run", "call": "run", "Calling": "Running", "calling": "running"}
_NAMED_ID = re.compile(r"\b(paper|passage|hypothesis|research|job|upload|task)_id\b")


@cache
def _pattern() -> re.Pattern[str]:
    """Names of operations, and the words after one that say which argument it takes."""
    return re.compile(
        rf"(?<![\w/:.-])({_names()})(?: with (?:the|this|its|their) (\w+_id)s?\b)?(?![\w/:(-])"
    )


@cache
def _call_pattern() -> re.Pattern[str]:
    """A call as programmers write one: `edit_paper(action=undo, number=3)`."""
    return re.compile(rf"(?<![\w/:.-])({_names()})\(([\w=, .:/-]*)\)")


def _names() -> str:
    """Every name that cannot be a plain word."""
    return "|".join(sorted((name for name in _COMMANDS if "_" in name), key=len, reverse=True))


def _replace_name(found: re.Match[str]) -> str:
    argument = f" {found[2].upper()}" if found[2] else ""
    return f"{PROGRAM} {_COMMANDS[found[1]][0]}{argument}"


def _replace_call(found: re.Match[str]) -> str:
    pairs = (pair.partition("=") for pair in found[2].split(",") if pair.strip())
    return command_line(found[1], {name.strip(): value.strip() for name, _, value in pairs})


def _place(field: str, given: Mapping[str, object]) -> Sequence[str]:
    name = field.rstrip("?")
    if name not in given:
        return [] if field.endswith("?") else [name.upper()]
    value = given[name]
    return [_word(each) for each in value] if isinstance(value, list | tuple) else [_word(value)]


def _option(name: str, value: object, is_correction: bool) -> Sequence[str]:
    if is_correction and name in _REPEATED:
        values = value if isinstance(value, list | tuple) else [value]
        return [f"--{_REPEATED[name]}={_word(each)}" for each in values]
    flag = "--paper" if is_correction and name == "paper_id" else f"--{name.replace('_', '-')}"
    if value is True:
        return [flag]
    if isinstance(value, list | tuple):
        return [flag, *(_word(each) for each in value)]
    word = _word(value)
    return [f"{flag}={word}"] if word.startswith("-") else [flag, word]


def _word(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def all_commands() -> list[str]:
    """Every command of an operation, as it is typed."""
    rows = [*_COMMANDS.values(), *_CORRECTIONS.values()]
    return sorted(f"{PROGRAM} {row[0]}" for row in rows)


def describe_argument(words: Sequence[str], field: str) -> str:
    """An operation's field as the command of these words calls it: `QUERY`, or `--limit`."""
    typed = [*words, ""]
    for row in (*_COMMANDS.values(), *_CORRECTIONS.values()):
        if row[0] in (typed[0], f"{typed[0]} {typed[1]}"):
            by_place = [name.rstrip("?") for name in row[1:]]
            return field.upper() if field in by_place else f"--{field.replace('_', '-')}"
    return field
