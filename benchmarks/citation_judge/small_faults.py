"""Faults of citeproc-js that small styles show: options that published styles seldom combine."""

from __future__ import annotations

import html
import re
from dataclasses import replace

from benchmarks.citation_judge.faults import (
    Fault,
    find_lost_signs,
    find_style_text,
    list_words,
    says,
    strip_signs,
)
from benchmarks.citation_judge.jobs import Job
from carrel.libraries.csl.archive import read_archived


def _parts_upright_names(job: Job, ours: str, theirs: str) -> bool:
    return (
        "after-inverted-name" in find_style_text(job.style)
        and ours != theirs
        and all(
            re.fullmatch(r"\s?[,;:/]\s?|\s", signs)
            for _, signs in find_lost_signs(theirs, ours) or [(0, "none")]
        )
    )


def _forgets_delimiter_of_first_list(job: Job, ours: str, theirs: str) -> bool:
    """`Doe et al., Doe, et al.`: of two lists only the last obeys delimiter-precedes-et-al."""
    style = find_style_text(job.style)
    return (
        bool(re.search(r'<names[^>]*variable="\w+ \w+"', style))
        and theirs.count("et al.") > 1
        and strip_signs(ours) == strip_signs(theirs)
    )


def _forgets_delimiter_before_institution(job: Job, ours: str, theirs: str) -> bool:
    style = find_style_text(job.style)
    names = {
        each["literal"]
        for item in job.items
        for value in item.values()
        if isinstance(value, list)
        for each in value
        if isinstance(each, dict) and "literal" in each
    }
    one, other = ours, theirs
    for name in names:
        one, other = (
            re.sub(r"[\s,;:/&|]*(?:<[a-z][^>]*>)*" + re.escape(name), name, text)
            for text in (one, other)
        )
    return (
        bool(re.search(r"(?:name-delimiter=|<name [^>]*\bdelimiter=|precedes-last=)", style))
        and one != ours
        and one == other
    )


def _names_editors_twice(job: Job, ours: str, theirs: str) -> bool:
    same = [item for item in job.items if item.get("editor", 1) == item.get("translator", 2)]
    one, other = list_words(ours), list_words(theirs)
    return (
        bool(same)
        and "editor translator" in find_style_text(job.style)
        and not one - other
        and all(other[word] <= 2 * one[word] for word in other)
    )


def _loses_last_name(job: Job, ours: str, theirs: str) -> bool:
    style = find_style_text(job.style)
    return 'et-al-use-last="true"' in style and (
        ("…" in ours and "…" not in theirs and "et al" in theirs)
        or ("…" in ours and strip_signs(theirs) in strip_signs(ours))
        or (strip_signs(theirs) in strip_signs(ours) and len(theirs) < len(ours))
    )


_lettered_range = re.compile(r"[A-Z]\d+[-–～][A-Z]\d+")


def _loses_letters_of_ranges(job: Job, ours: str, theirs: str) -> bool:
    """`12–18` or `xii–xviii` for `E12–E18`; all around it is the same."""
    found = _lettered_range.search(ours)
    return (
        found is not None
        and not _lettered_range.search(theirs)
        and theirs.startswith(ours[: found.start()])
        and theirs.endswith(ours[found.end() :])
    )


def _leaves_cites_apart(job: Job, ours: str, theirs: str) -> bool:
    """Cites of one author that stay apart, in a style that does not sort or sorts them alike."""
    style = find_style_text(job.style)
    if 'collapse="year' not in style and "cite-group-delimiter" not in style:
        return False
    one, other = list_words(ours), list_words(theirs)
    names = {
        word
        for item in job.items
        for word in list_words(repr([item.get("author"), item.get("title")]))
    }
    years = re.compile(r"\d{4}[a-z]?|et|al|and")
    changed = [*(one - other), *(other - one)]
    # Names are repeated or spared, not written in another way.
    if {word for word in one if word in names} != {word for word in other if word in names}:
        return False
    has_two = any(len(cluster["items"]) > 2 for cluster in job.clusters)
    is_order = bool(re.fullmatch(r"[\d ]+", ours))
    moved = re.findall(r"[^\W_]+", ours) != re.findall(r"[^\W_]+", theirs)
    return (
        has_two
        and moved
        and not is_order
        and all(word in names or years.fullmatch(word) for word in changed)
    )


def _moves_collapse_delimiter(job: Job, ours: str, theirs: str) -> bool:
    """A delimiter of the three that a citation has, in the place of another."""
    style = find_style_text(job.style)
    if "after-collapse-delimiter=" not in style:
        return False
    signs = re.findall(r'(?:after-collapse|cite-group)-delimiter="([^"]+)"', style)
    signs += re.findall(r'<citation.*?<layout[^>]*\bdelimiter="([^"]+)"', style, re.DOTALL)
    either = "|".join(re.escape(html.unescape(sign)) for sign in sorted(signs, key=len)[::-1])
    one, other = (re.sub(either, "; ", text) for text in (ours, theirs))
    return " ".join(one.split()) == " ".join(other.split())


def _takes_two_for_one(job: Job, ours: str, theirs: str) -> bool:
    """Ibid behind a citation of several cites, of which the last is of the same work."""
    style = find_style_text(job.style)
    doubled = any(
        len(one["items"]) > 1 and one["items"][-1]["id"] == other["items"][0]["id"]
        for one, other in zip(job.clusters, job.clusters[1:], strict=False)
    )
    if not doubled or 'position="ibid' not in style:
        return False
    single = [{**one, "items": one["items"][-1:]} for one in job.clusters[:-1]]
    return ("ibid" in theirs and "ibid" not in ours) or says(
        replace(job, clusters=[*single, *job.clusters[-1:]]), theirs
    )


def _keeps_capitals(job: Job, ours: str, theirs: str) -> bool:
    capitals = any(
        isinstance(value, str) and value.isupper() for item in job.items for value in item.values()
    )
    return (
        capitals
        and 'text-case="sentence"' in find_style_text(job.style)
        and ours.lower() == theirs.lower()
    )


def _drops_looks_of_authors(job: Job, ours: str, theirs: str) -> bool:
    modes = {"author-only", "composite"}
    asked = any(
        one.get("mode") in modes or any(cite.get("author-only") for cite in one["items"])
        for one in job.clusters
    )

    def bare(text: str) -> str:
        return re.sub(r"<[^>]+>|[“”‘’\"']", "", text)

    return asked and bare(ours) == bare(theirs)


def _substitutes_behind_nameless(job: Job, ours: str, theirs: str) -> bool:
    """The substitute in an entry whose predecessor has no names."""
    sign = re.search(r'subsequent-author-substitute="([^"]*)"', find_style_text(job.style))
    nameless = any(not {"author", "editor"} & item.keys() for item in job.items)
    return (
        sign is not None
        and nameless
        and theirs.count(sign[1]) > ours.count(sign[1])
        and not list_words(theirs) - list_words(ours)
    )


def _takes_delimiter_of_last_part(job: Job, ours: str, theirs: str) -> bool:
    """The range delimiter of another part than the greatest that differs."""
    texts = find_style_text(job.style) + (read_archived(f"locales-{job.locale}") or "")
    signs = re.findall(r'range-delimiter="([^"]*)"', texts)

    def even(text: str) -> str:
        for sign in signs:
            text = text.replace(sign, "–")
        return text

    return bool(signs) and even(ours) == even(theirs)


def _hides_given_names(job: Job, ours: str, theirs: str) -> bool:
    """A person with a given name alone is nobody in the short form."""
    alone = [
        name
        for item in job.items
        for value in item.values()
        if isinstance(value, list)
        for name in value
        if isinstance(name, dict) and "given" in name and "family" not in name
    ]
    return any(
        name["given"] in ours
        and strip_signs(ours.replace(name["given"], "")) == strip_signs(theirs)
        for name in alone
    )


def _capitalizes_mixed_words(job: Job, ours: str, theirs: str) -> bool:
    """`IPhone`: the first word is capitalized although it is not in small letters."""
    return (
        'text-case="' in find_style_text(job.style)
        and ours != theirs
        and re.sub(r"iPhone", "IPhone", ours) == theirs
    )


SMALL_FAULTS = (
    Fault(
        "delimiter behind a name that is not inverted",
        'Name: “"after-inverted-name" - name delimiter is only used if the preceding name '
        "is inverted as a result of the name-as-sort-order attribute”",
        _parts_upright_names,
    ),
    Fault(
        "delimiter of the first of two lists",
        "Names: “each variable is independently rendered in the order specified”",
        _forgets_delimiter_of_first_list,
    ),
    Fault(
        "delimiter before an institution",
        "Name: “Specifies the text string used to separate names in a name variable.”",
        _forgets_delimiter_before_institution,
    ),
    Fault(
        "editors and translators twice",
        "Names: “the contents of only one name variable is rendered”",
        _names_editors_twice,
    ),
    Fault(
        "last name lost",
        "Name: “name lists truncated by et-al abbreviation are followed by the name "
        "delimiter, the ellipsis character, and the last name of the original name list”",
        _loses_last_name,
    ),
    Fault(
        "letters of a range lost",
        "Number: “Numbers with prefixes or suffixes are never ordinalized or rendered in "
        'roman numerals (e.g. "2E" remains "2E)”',
        _loses_letters_of_ranges,
    ),
    Fault(
        "cites of one author apart",
        "Cite Grouping: “Grouped cites maintain their relative order, and are moved to "
        "the original location of the first cite of the group.”",
        _leaves_cites_apart,
    ),
    Fault(
        "delimiter after a collapsed group elsewhere",
        "Cite Collapsing: “Specifies the cite delimiter to be used after a collapsed cite group.”",
        _moves_collapse_delimiter,
    ),
    Fault(
        "ibid behind two cites",
        "Choose, position: “the previous citation consists of a single cite referencing "
        "the same item”",
        _takes_two_for_one,
    ),
    Fault(
        "capitals kept in sentence case",
        "Sentence Case Conversion: “For uppercase strings, the first character of the "
        "string remains capitalized. All other letters are lowercased.”",
        _keeps_capitals,
    ),
    Fault(
        "looks of authors in the sentence",
        "",
        _drops_looks_of_authors,
    ),
    Fault(
        "substitute behind an entry without names",
        "Reference Grouping: “replaces names in a bibliographic entry that also occur in "
        "the preceding entry”",
        _substitutes_behind_nameless,
    ),
    Fault(
        "range delimiter of another part",
        "Date Ranges: “the range delimiter is drawn from the cs:date-part element "
        "matching the largest date part … that differs between the two dates”",
        _takes_delimiter_of_last_part,
    ),
    Fault(
        "person with a given name alone lost",
        "",
        _hides_given_names,
    ),
    Fault(
        "capital on a mixed word",
        "Text-case: “capitalizes the first character of the first word, if the word is lowercase”",
        _capitalizes_mixed_words,
    ),
)
