"""Faults of citeproc-js in cites: their order, groups, years, and how many names they show."""

from __future__ import annotations

import re
from itertools import pairwise

from benchmarks.citation_judge.faults import Fault, find_style_text, list_words, strip_signs
from benchmarks.citation_judge.jobs import Job
from carrel.libraries.csl.schema import NAME_VARIABLES

_YEAR = re.compile(r"\d{4}[a-z]?|[a-z]")


_USUAL_NAMES = frozenset({"author", "editor", "translator"})


def _joins_nameless(job: Job, ours: str, theirs: str) -> bool:
    """Cites without names in one citation; only what parts them from others differs."""
    if 'collapse="year' not in find_style_text(job.style) or re.fullmatch(r"[\d ]+", ours):
        return False
    by_id = {item["id"]: item for item in job.items}
    nameless = max(
        (
            sum(not _USUAL_NAMES & by_id[cite["id"]].keys() for cite in one["items"])
            for one in job.clusters
        ),
        default=0,
    )
    cites, others = (sorted(re.split(r"[;,&:] *| ", text)) for text in (ours, theirs))
    if nameless and "".join(cites) == "".join(others):
        return True
    one, other = list_words(ours), list_words(theirs)
    lost = one - other
    # A year that the cite of another group before it has, too.
    return (
        nameless > 0
        and bool(lost)
        and not other - one
        and all(_YEAR.fullmatch(word) and word in other for word in lost)
    )


def _splits_repeated_years(job: Job, ours: str, theirs: str) -> bool:
    """A cite of a work that the cite before has cited: what is left of it is no cite."""
    if "year-suffix" not in find_style_text(job.style):
        return False
    by_id = {item["id"]: item for item in job.items}
    repeats = any(
        one["id"] == other["id"] and by_id[one["id"]].get("issued")
        for cluster in job.clusters
        for one, other in pairwise(cluster["items"])
    )
    one, other = list_words(ours), list_words(theirs)
    lost = one - other
    if repeats and ours != theirs and strip_signs(ours) == strip_signs(theirs):
        return True  # `2001, 34` for `2001, 3, 4`.
    return (
        repeats
        and bool(lost)
        and not other - one
        and all(word in other or _YEAR.fullmatch(word) for word in lost)
    )


def _doubles_year_letter(job: Job, ours: str, theirs: str) -> bool:
    """`2001aa`, or the letter at a second date of the same work, too."""
    if re.sub(r"(\d{4}|[.-])([a-z])\2\b", r"\1\2", theirs) == ours:
        return True
    letters = re.compile(r"(?<=\d{4})[a-z]\b")
    return len(letters.findall(theirs)) > len(letters.findall(ours)) > 0 and letters.sub(
        "", theirs
    ) == letters.sub("", ours)


def _parts_year_letter(job: Job, ours: str, theirs: str) -> bool:
    """A letter behind the affixes of its year: `2001. a.` for `2001a.`, `2001年a年`."""
    if re.search(r"\d{4}年[a-z]年", theirs):
        return re.sub(r"(\d{4})年([a-z])年", r"\1\2年", theirs) == ours
    one, other = (
        re.sub(rf"\W{{0,3}}(\d{{4}}){between}([a-z])(?![^\W_])\W{{0,3}}", r" \1\2 ", text)
        for text, between in ((ours, ""), (theirs, r"\W{1,3}"))
    )
    return ours != one and theirs != other and one.split() == other.split()


def _words_of_names(job: Job) -> set[str]:
    return {
        word
        for item in job.items
        for name, value in item.items()
        if name in NAME_VARIABLES
        for word in list_words(repr(value))
    }


_subsequent = re.compile(r'et-al-subsequent-min="(\d+)"')


_first_min = re.compile(r'(?<!subsequent-)et-al-min="(\d+)"')


def _counts_names_as_later(job: Job, ours: str, theirs: str) -> bool:
    """More names in a first cite or an entry, in a style that shows more in later cites."""
    style = find_style_text(job.style)
    later, first = _subsequent.findall(style), _first_min.findall(style)
    if not later or not first or max(map(int, later)) <= min(map(int, first)):
        return False
    more = list_words(theirs) - list_words(ours)
    return (
        "al" not in more
        and bool(more)
        and set(more) <= _words_of_names(job) | {"and", "et", "und", "ve", "y", "e"}
    )


def _opens_names_that_no_cite_has(job: Job, ours: str, theirs: str) -> bool:
    """A given name of a person, told apart from one who is in no cite (or first in none)."""
    if not re.search(r'disambiguation-rule="(?:primary|all)-name', find_style_text(job.style)):
        return False
    more = list_words(theirs) - list_words(ours)
    initials = {word[0] for word in _words_of_names(job)}
    return (
        bool(more)
        and not list_words(ours) - list_words(theirs)
        and all(word in _words_of_names(job) or word in initials for word in more)
    )


def _opens_first_names_alone(job: Job, ours: str, theirs: str) -> bool:
    """`Doe, Roe 2001a`: a second name would tell the cites apart, in a style that adds no names."""
    style = find_style_text(job.style)
    rule = re.search(r'givenname-disambiguation-rule="([^"]*)"', style)
    given = _words_of_names(job)
    initials = {word[0] for word in given}
    letters = re.compile(r"(?<=\d{4})[a-z]\b")
    one, other = list_words(letters.sub("", ours)), list_words(letters.sub("", theirs))
    more = one - other
    return (
        'disambiguate-add-givenname="true"' in style
        and 'disambiguate-add-names="true"' not in style
        and (rule is None or rule[1] == "by-cite")
        and bool(more)
        and not other - one
        and all(word in given or word in initials for word in more)
    )


def _puts_names_before_other_keys(job: Job, ours: str, theirs: str) -> bool:
    """Cites in another order: their names count before the second key, and none come last."""
    style = find_style_text(job.style)
    citation = style[style.find("<citation") : style.find("</citation")]
    by_id = {item["id"]: item for item in job.items}
    if citation.count("<key") < 2:
        return False
    nameless = any(
        not NAME_VARIABLES & by_id[cite["id"]].keys()
        for one in job.clusters
        for cite in one["items"]
    )
    return (
        nameless
        and "<sort" in citation
        and ("collapse=" in citation or "cite-group-delimiter=" in citation)
        and re.findall(r"[^\W_]+", ours) != re.findall(r"[^\W_]+", theirs)
        and list_words(ours) == list_words(theirs)
    )


def _drops_names_between_numbers(job: Job, ours: str, theirs: str) -> bool:
    """Names left out of a later cite, in a style that collapses the numbers of cites."""
    less = list_words(ours) - list_words(theirs)
    return (
        'collapse="citation-number"' in find_style_text(job.style)
        and bool(less)
        and not list_words(theirs) - list_words(ours)
        and set(less) <= _words_of_names(job)
    )


CITE_FAULTS = (
    Fault(
        "second names not opened",
        "Disambiguation, by-cite: “Only ambiguous names in ambiguous cites are affected, and "
        "disambiguation stops after the first name that eliminates cite ambiguity”, whichever",
        _opens_first_names_alone,
    ),
    Fault(
        "names counted as in later cites",
        "Name: et-al-subsequent-min holds “for subsequent cites (cites referencing earlier cited "
        "items)”",
        _counts_names_as_later,
    ),
    Fault(
        "names told apart from names of no cite",
        "Disambiguation: “All rendered ambiguous names, in both ambiguous and unambiguous cites”; "
        "“limited to the first name of each cite” for primary names",
        _opens_names_that_no_cite_has,
    ),
    Fault(
        "names before the other keys",
        "Sorting: “Sort keys are evaluated in sequence. A primary sort is performed on all items "
        "using the first sort key.”",
        _puts_names_before_other_keys,
    ),
    Fault(
        "names dropped between numbers",
        'Cite Collapsing: “"citation-number" - collapses ranges of cite numbers (rendered through '
        'the "citation-number" variable)”',
        _drops_names_between_numbers,
    ),
    Fault(
        "nameless cites grouped",
        "Cite Grouping: “cites in in-text citations with identical rendered names are "
        "grouped together”",
        _joins_nameless,
    ),
    Fault(
        "rest of a repeated year",
        'Cite Collapsing: “"year-suffix" - collapses as "year", but also suppresses '
        "repeating years within the cite group”",
        _splits_repeated_years,
    ),
    Fault(
        "year letter twice",
        "Disambiguation: “By default, the year-suffix is appended the first year rendered "
        "through cs:date in the cite and in the bibliographic entry”",
        _doubles_year_letter,
    ),
    Fault(
        "year letter apart",
        "Disambiguation: “By default, the year-suffix is appended the first year rendered "
        "through cs:date”",
        _parts_year_letter,
    ),
)
