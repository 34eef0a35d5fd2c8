"""Checks by program: does an answer, or the desk afterwards, have what the job asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from benchmarks.deskbench.desk import DOI_PREFIX, read_notes, read_papers
from benchmarks.deskbench.normalisation import (
    find_numbers,
    fold_words,
    has_words,
    spell_number,
    tidy_text,
)

# Longer answers than this list everything instead of answering.
ANSWER_CHARACTERS = 1500
LONG_ANSWER_CHARACTERS = 12000
_MARK = "ANSWER:"
# Ways to say that the desk has it not. "I don't know" is none of them: it says nothing of the desk.
_ABSENCE = re.compile(
    r"\bno (?:paper|mention|information|mean age|such|age|result|passage|evidence|data|work|note)"
    r"|\bnot (?:reported|stated|given|available|mentioned|found|provided|recorded|specified)\b"
    r"|\bnothing\b|\bnone\b|\bnot? .{0,40}\b(?:on|in) (?:the|your|my|this) (?:desk|corpus|paper)"
    r"|\b(?:does not|doesn't|do not|don't|did not|didn't|never|isn't|is not|was not|wasn't|are not)"
    r" (?:\w+ ){0,3}(?:report|state|say|give|mention|contain|discuss|address|cover|found|present"
    r"|provide|include|appear|specify|about|stated|reported|given|mentioned|available)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class DeskState:
    """What is on the desk after a job."""

    notes: list[dict[str, Any]] = field(default_factory=list)
    references: list[dict[str, Any]] = field(default_factory=list)
    papers: list[dict[str, Any]] = field(default_factory=list)
    projects: list[dict[str, Any]] = field(default_factory=list)
    hypotheses: list[dict[str, Any]] = field(default_factory=list)

    def rows(self, name: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = getattr(self, name)
        return rows


Checker = Callable[[dict[str, Any], str, DeskState], str]


def final_part(answer: str) -> str:
    """What stands behind the last ANSWER: of an answer, or all of it where there is none."""
    return answer.rpartition(_MARK)[2].strip()


def judge(checks: list[dict[str, Any]], answer: str, state: DeskState, *, is_long: bool) -> str:
    """Why the job is not done, or an empty text where it is."""
    said = final_part(answer)
    limit = LONG_ANSWER_CHARACTERS if is_long else ANSWER_CHARACTERS
    if not said:
        return "no answer"
    if len(said) > limit:
        return f"the answer has {len(said)} characters, {limit} were allowed"
    for check in checks:
        reason = CHECKERS[check["type"]](check, said, state)
        if reason:
            return reason
    return ""


def named_papers(text: str) -> set[str]:
    """Keys of the papers that a text names by title, DOI or key."""
    return _find_names(text, _names_of_papers())


@cache
def _names_of_papers() -> dict[str, str]:
    names = {}
    papers = read_papers()
    short = [fold_words(paper.title.split(":")[0]) for paper in papers]
    for paper in papers:
        names[fold_words(paper.title)] = paper.key
        names[fold_words(paper.doi)] = paper.key
        names[paper.key] = paper.key
        main = fold_words(paper.title.split(":")[0])
        if short.count(main) == 1:
            names[main] = paper.key
    return names


def named_notes(text: str) -> set[str]:
    """Titles of the desk's notes that a text names."""
    return _find_names(text, {fold_words(note["title"]): note["title"] for note in read_notes()})


def _find_names(text: str, names: dict[str, str]) -> set[str]:
    """Longest names first, so that a title within another is not counted."""
    left, found = f" {fold_words(text)} ", set()
    for name in sorted(names, key=len, reverse=True):
        if f" {name} " in left:
            found.add(names[name])
            left = left.replace(f" {name} ", "  ")
    return found


def _check_names(check: dict[str, Any], named: set[str]) -> str:
    wanted, allowed = set(check["only"]), set(check.get("may", []))
    if wanted - named:
        return f"not named: {', '.join(sorted(wanted - named))}"
    if named - wanted - allowed:
        return f"named too much: {', '.join(sorted(named - wanted - allowed))}"
    return ""


def _check_papers(check: dict[str, Any], said: str, state: DeskState) -> str:
    return _check_names(check, named_papers(said))


def _check_notes(check: dict[str, Any], said: str, state: DeskState) -> str:
    return _check_names(check, named_notes(said))


def _check_numbers(check: dict[str, Any], said: str, state: DeskState) -> str:
    numbers = find_numbers(said)
    missing = [number for number in check["all"] if spell_number(number) not in numbers]
    wrong = [number for number in check.get("none", []) if spell_number(number) in numbers]
    if missing:
        return f"number not there: {', '.join(missing)}"
    if wrong:
        return f"wrong number: {', '.join(wrong)}"
    if len(set(numbers)) > check.get("at_most", 20):
        return f"{len(set(numbers))} different numbers, at most {check['at_most']} fit an answer"
    return ""


def _check_values(check: dict[str, Any], said: str, state: DeskState) -> str:
    text = tidy_text(said)
    for name, value in check["values"].items():
        given = re.findall(rf"(?<![\w-]){re.escape(name)}\s*[=:]\s*([^;=:]*)", text, re.IGNORECASE)
        if not given:
            return f"no value for {name}"
        numbers = find_numbers(given[-1])
        if not numbers or numbers[0] != spell_number(value):
            return f"{name} is not {value}"
    return ""


def _check_quote(check: dict[str, Any], said: str, state: DeskState) -> str:
    text = tidy_text(said)
    if tidy_text(check["text"]).rstrip(".") not in text:
        return "the sentence is not quoted word for word"
    named = re.findall(r"\b(?:pages?|pp?)\b[.:]?\s*(\d+)", text, re.IGNORECASE)
    if str(check["page"]) not in named:
        return f"page {check['page']} is not named"
    if set(named) - {str(check["page"])}:
        return f"other pages are named as well: {', '.join(sorted(set(named)))}"
    return ""


def _check_words(check: dict[str, Any], said: str, state: DeskState) -> str:
    folded = fold_words(said)
    missing = [words for words in check.get("all", []) if not has_words(folded, words)]
    wrong = [words for words in check.get("none", []) if has_words(folded, words)]
    if missing:
        return f"not there: {', '.join(missing)}"
    if wrong:
        return f"should not be there: {', '.join(wrong)}"
    some = check.get("any", [])
    if some and not any(has_words(folded, words) for words in some):
        return f"none of these is there: {', '.join(some)}"
    return ""


def _check_text(check: dict[str, Any], said: str, state: DeskState) -> str:
    text = tidy_text(said).casefold()
    missing = [part for part in check["contains"] if tidy_text(part).casefold() not in text]
    wrong = [part for part in check.get("excludes", []) if tidy_text(part).casefold() in text]
    if missing:
        return f"not there: {missing[0]}"
    return f"should not be there: {wrong[0]}" if wrong else ""


def _check_choice(check: dict[str, Any], said: str, state: DeskState) -> str:
    words = [word for word in fold_words(said).split()[:12] if word in {check["is"], check["isnt"]}]
    return "" if words[:1] == [check["is"]] else f"does not say {check['is']}"


def _check_absent(check: dict[str, Any], said: str, state: DeskState) -> str:
    if not _ABSENCE.search(tidy_text(said)):
        return "does not say that the desk has it not"
    numbers = find_numbers(said)
    wrong = [number for number in check.get("none", []) if number in numbers]
    if wrong:
        return f"gives a number that nothing on the desk says: {wrong[0]}"
    for unit, at_most in check.get("numbers_at_most", {}).items():
        if len(re.findall(rf"\d+(?:\.\d+)?\s*{unit}", said)) > at_most:
            return f"gives {unit} that nothing on the desk says"
    return ""


def _check_bibtex(check: dict[str, Any], said: str, state: DeskState) -> str:
    entries = len(re.findall(r"@\w+\s*\{", said))
    if entries != len(check["dois"]):
        return f"{entries} BibTeX entries, {len(check['dois'])} fit"
    missing = [key for key in check["dois"] if (DOI_PREFIX + key) not in said]
    return f"no entry with the DOI of {missing[0]}" if missing else ""


def _check_csl(check: dict[str, Any], said: str, state: DeskState) -> str:
    found = re.search(r"[\[{].*[\]}]", said, re.DOTALL)
    try:
        read = json.loads(found[0]) if found else None
    except ValueError:
        read = None
    items = read if isinstance(read, list) else [read]
    if read is None or len(items) != len(check["items"]):
        return f"no CSL-JSON with {len(check['items'])} items"
    for wanted, item in zip(check["items"], items, strict=True):
        for name, value in wanted.items():
            if not isinstance(item, dict) or item.get(name) != value:
                return f"{name} is not {value}"
    return ""


def matches_row(row: dict[str, Any], where: dict[str, Any]) -> bool:
    """Whether a row of the desk has what `where` names: texts within texts, all of a list."""
    return all(_matches_field(row, name, wanted) for name, wanted in where.items())


def _matches_field(row: dict[str, Any], name: str, wanted: Any) -> bool:
    if name == "text":
        text = tidy_text(f"{row.get('title', '')} {row.get('content', '')}").casefold()
        return all(tidy_text(part).casefold() in text for part in wanted)
    if name == "people":
        people = [fold_words(person) for person in row.get("authors", [])]
        return people == [fold_words(person) for person in wanted]
    held = row.get(name) or ""
    if isinstance(wanted, list):
        return {fold_words(one) for one in wanted} <= {fold_words(one) for one in held}
    if name in {"doi", "status", "year", "pages"}:
        return tidy_text(str(held)).casefold() == tidy_text(wanted).casefold()
    return fold_words(wanted) in fold_words(str(held))


def _check_state(check: dict[str, Any], said: str, state: DeskState) -> str:
    rows = state.rows(check["of"])
    found = [row for row in rows if matches_row(row, check["where"])]
    if "count" in check and len(found) != check["count"]:
        return f"{len(found)} {check['of']} like {check['where']}, not {check['count']}"
    if "count" not in check and not found:
        return f"no {check['of']} like {check['where']}"
    if "total" in check and len(rows) != check["total"]:
        return f"{len(rows)} {check['of']} on the desk, not {check['total']}"
    return ""


def _leading_titles(check: dict[str, Any], state: DeskState) -> list[str]:
    projects = [row for row in state.rows(check["of"]) if matches_row(row, check["where"])]
    return [project["hypotheses"][0] for project in projects if project["hypotheses"]]


def _check_leading(check: dict[str, Any], said: str, state: DeskState) -> str:
    leading = _leading_titles(check, state)
    if not leading:
        return "the desk has no project with ideas on that"
    if not any(has_words(fold_words(said), title) for title in leading):
        return f"does not name the leading idea: {leading[0]}"
    return ""


def _check_kept_leading(check: dict[str, Any], said: str, state: DeskState) -> str:
    leading = _leading_titles(check, state)
    if not leading:
        return "the desk has no project with ideas on that"
    kept = [
        note
        for note in state.notes
        if note["links"] and any(matches_row(note, {"text": [title]}) for title in leading)
    ]
    return "" if kept else "no note has the leading idea with links to its evidence"


CHECKERS: dict[str, Checker] = {
    "papers": _check_papers,
    "notes": _check_notes,
    "numbers": _check_numbers,
    "values": _check_values,
    "quote": _check_quote,
    "words": _check_words,
    "text": _check_text,
    "choice": _check_choice,
    "absent": _check_absent,
    "bibtex": _check_bibtex,
    "csl": _check_csl,
    "state": _check_state,
    "leading": _check_leading,
    "kept_leading": _check_kept_leading,
}
