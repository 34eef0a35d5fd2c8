"""Where citeproc-js is wrong by the specification: such differences are filed as its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from benchmarks.citation_judge.jobs import Job
from carrel.libraries.csl.archive import read_archived
from carrel.libraries.csl.schema import NAME_VARIABLES

Detector = Callable[[Job, str, str], bool]


@dataclass(frozen=True)
class Fault:
    """A fault of citeproc-js 2.4.63: its name, why it is one, and how a difference shows it."""

    name: str
    reason: str
    shows: Detector


@lru_cache(maxsize=50)
def _style(job_style: str) -> str:
    return read_archived(job_style) or job_style


def _plain(text: str) -> str:
    return re.sub(r"[\W_]", "", text.lower())


def _without_tags(text: str) -> str:
    return re.sub(r"</?(?:i|b|sup|sub|sc|span)\b[^<>]*>", "", text)


def _cited(job: Job) -> list[dict[str, object]]:
    by_id = {item["id"]: item for item in job.items}
    return [by_id[cite["id"]] for one in job.clusters for cite in one["items"]]


def _marks_raw_markup(job: Job, ours: str, theirs: str) -> bool:
    return "<i>" in theirs and "<i>" not in ours and _plain(_without_tags(theirs)) == _plain(ours)


def _joins_nameless(job: Job, ours: str, theirs: str) -> bool:
    if 'collapse="year' not in _style(job.style):
        return False
    nameless = [item for item in _cited(job) if not NAME_VARIABLES & item.keys()]
    dropped = re.sub(r"\d{4}[a-z]?", "", _plain(ours))
    return bool(nameless) and (
        _plain(ours) == _plain(theirs)
        or dropped == re.sub(r"\d{4}[a-z]?", "", _plain(theirs))
        or sorted(_plain(ours)) == sorted(_plain(theirs))
    )


def _splits_repeated_years(job: Job, ours: str, theirs: str) -> bool:
    """A cite of a work that the cite before has cited: what is left of it is no cite."""
    if "year-suffix" not in _style(job.style):
        return False
    repeats = any(
        one["id"] == other["id"]
        for cluster in job.clusters
        for one, other in zip(cluster["items"], cluster["items"][1:], strict=False)
    )
    return repeats and (
        bool(re.search(r"[,;] ?[–-]\s?\d{4}", theirs)) or len(_plain(theirs)) < len(_plain(ours))
    )


def _ignores_event_title(job: Job, ours: str, theirs: str) -> bool:
    titles = [str(item["event-title"]) for item in job.items if "event-title" in item]
    return 'variable="event"' in _style(job.style) and any(
        _plain(title) in _plain(ours) and _plain(title) not in _plain(theirs) for title in titles
    )


_labelled = re.compile(r'<label\b[^>]*\bvariable="([^"]+)"')
_LABEL_WORDS = re.compile(
    r"\b(?:pp?|pages?|vols?|volume|nos?|numbers?|issue|ch|chap|chapter|ed|edition|s|str|tt?|fol)\b"
    r"\.?|с\.|Т\.|№",
    re.IGNORECASE,
)


def _labels_nothing(job: Job, ours: str, theirs: str) -> bool:
    labelled = set(_labelled.findall(_style(job.style)))
    if not any(labelled - item.keys() for item in job.items):
        return False
    shorter, longer = (_plain(_LABEL_WORDS.sub("", text)) for text in (ours, theirs))
    return len(_plain(theirs)) > len(_plain(ours)) and shorter == longer


def _swaps_brackets(job: Job, ours: str, theirs: str) -> bool:
    brackets = str.maketrans("[]", "()")
    return (
        'class="note"' in _style(job.style)
        and ours.translate(brackets) == theirs.translate(brackets)
        and ours.count("(") > theirs.count("(")
    )


def _sets_off_small_given_names(job: Job, ours: str, theirs: str) -> bool:
    small = re.search(r'"given": "[a-z]', repr(job.items).replace("'", '"'))
    is_order = bool(re.fullmatch(r"[\d ]+", ours)) and sorted(ours.split()) == sorted(
        theirs.split()
    )
    return bool(small) and (is_order or ours.replace(" ", "") == theirs.replace(" ", ""))


def _doubles_year_letter(job: Job, ours: str, theirs: str) -> bool:
    return re.sub(r"(\d{4}|[.-])([a-z])\2\b", r"\1\2", theirs) == ours


def _parts_year_letter(job: Job, ours: str, theirs: str) -> bool:
    """A letter behind the affixes of its year: `2001. a.` for `2001a.`"""
    return bool(re.search(r"\d{4}\W{1,3}[a-z]\W", theirs)) and _plain(ours) == _plain(theirs)


def _parts_era(job: Job, ours: str, theirs: str) -> bool:
    """An era behind the affixes of its year: `(99) AD` for `(99 AD)`."""
    has_era = any(
        year for item in job.items for year in re.findall(r"\[\[(-?\d{1,3})[\],]", repr(item))
    )
    return has_era and _plain(ours) == _plain(theirs)


def _doubles_stops(job: Job, ours: str, theirs: str) -> bool:
    return ".." in theirs and theirs.replace("..", ".") == ours.replace("..", ".")


def _turns_signs(job: Job, ours: str, theirs: str) -> bool:
    """`.:` for a colon with a full stop behind it, in an order that nobody asked for."""
    return re.sub(r"[.:](?=[:;])", "", theirs) == re.sub(r"[.:](?=[:;])", "", ours)


def _moves_colons_into_quotes(job: Job, ours: str, theirs: str) -> bool:
    def outside(text: str) -> str:
        return re.sub(r"([:;])([”’»“])", r"\2\1", text)

    return outside(theirs) == outside(ours)


def _joins_hindi(job: Job, ours: str, theirs: str) -> bool:
    return job.locale.startswith("hi") and ours.replace(" ", "") == theirs.replace(" ", "")


@lru_cache(maxsize=1)
def _english_words() -> frozenset[str]:
    terms = re.findall(
        r">([^<>]+)</(?:term|single|multiple)>", read_archived("locales-en-US") or ""
    )
    return frozenset(word for term in terms for word in re.findall(r"[^\W\d_]+", term.lower()))


# Languages that citeproc-js does not list: of their terms it takes the forms that they lack from
# English, where it takes another form of the same term for all others.
_UNLISTED = frozenset(
    {"bal", "brh", "cy", "gl", "hi", "hy", "id", "la", "lij", "ms", "pa", "sr-Cyrl", "sr-Latn"}
)


def _says_it_in_english(job: Job, ours: str, theirs: str) -> bool:
    language = job.locale.rpartition("-")[0] or job.locale
    if language not in _UNLISTED:
        return False
    one, other = (re.findall(r"[^\W\d_]+|\d+", text.lower()) for text in (ours, theirs))
    said = [word for word in other if word not in one]
    return any(word in _english_words() for word in said)


def _drops_stop_after_block(job: Job, ours: str, theirs: str) -> bool:
    return 'display="' in _style(job.style) and ours.rstrip(" .") == theirs.rstrip(" .")


def _joins_ranges(job: Job, ours: str, theirs: str) -> bool:
    """The second date of a range without the signs between its parts: `30/12/2001–0201/2002`."""
    has_range = re.search(r"\], \[", repr(job.items))
    return bool(has_range) and _plain(ours) == _plain(theirs) and len(theirs) < len(ours)


FAULTS = (
    Fault(
        "English forms in a language",
        "a term is said in the language asked for, in the form that it has (fallback of forms)",
        _says_it_in_english,
    ),
    Fault(
        "full stop lost after a block",
        "the suffix of a group stays, whatever block stands before it",
        _drops_stop_after_block,
    ),
    Fault(
        "signs lost in a date range",
        "the delimiters and affixes of date parts hold for both dates of a range",
        _joins_ranges,
    ),
    Fault(
        "marker for a citation without a text",
        "a marker for programs, [NO_PRINTED_FORM], stands in the reader's text",
        lambda job, ours, theirs: "[NO_PRINTED_FORM]" in theirs,
    ),
    Fault(
        "undefined year",
        "a year before 1000 in short form is written as `undefined`",
        lambda job, ours, theirs: "undefined" in theirs and "undefined" not in ours,
    ),
    Fault(
        "markup shown raw",
        "a quotation inside of italics leaves the tags in the text",
        _marks_raw_markup,
    ),
    Fault(
        "event-title left out",
        "`event` is the older name of event-title (1.0.2, appendix IV), so it has its value",
        _ignores_event_title,
    ),
    Fault(
        "label of nothing",
        "cs:label renders a term only where its variable has a value",
        _labels_nothing,
    ),
    Fault(
        "nameless cites grouped",
        "a group of cites has the same rendered names; cites without any are none, and the "
        "delimiter used is that of no attribute",
        _joins_nameless,
    ),
    Fault(
        "rest of a repeated year",
        "where a year is left out as repeated, half of a range, an affix or nothing stays behind",
        _splits_repeated_years,
    ),
    Fault(
        "brackets swapped in notes",
        "affixes are written as given; nothing turns a round bracket into a square one",
        _swaps_brackets,
    ),
    Fault(
        "space before a small given name",
        "a given name in small letters gets a space that nobody asked for, and sorts by it",
        _sets_off_small_given_names,
    ),
    Fault("year letter twice", "`2001aa` for the first letter of a year", _doubles_year_letter),
    Fault(
        "year letter apart",
        "the letter is appended to the year, inside of the affixes of the date part",
        _parts_year_letter,
    ),
    Fault("era apart", "the era belongs to the year, inside of its affixes", _parts_era),
    Fault(
        "full stop twice",
        "two full stops, where the same style with a delimiter has one",
        _doubles_stops,
    ),
    Fault("signs turned", "two signs in the order that the style does not have", _turns_signs),
    Fault(
        "colon in quotes",
        "punctuation-in-quote moves full stops and commas, not colons and semicolons",
        _moves_colons_into_quotes,
    ),
    Fault("Hindi words joined", "words of Devanagari are set apart by spaces", _joins_hindi),
)


def is_their_fault(job: Job, ours: str, theirs: str) -> str:
    """The name of the fault, or nothing where the difference is not known to be theirs."""
    one, other = (" ".join(text.split()) for text in (ours, theirs))
    return next((fault.name for fault in FAULTS if fault.shows(job, one, other)), "")
