"""Where citeproc-js is wrong by the specification: such differences are filed as its own."""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from typing import Any

from benchmarks.citation_judge.cite_faults import CITE_FAULTS
from benchmarks.citation_judge.faults import (
    Fault,
    find_lost_signs,
    find_style_text,
    list_words,
    says,
    strip_signs,
)
from benchmarks.citation_judge.jobs import Job
from benchmarks.citation_judge.small_faults import SMALL_FAULTS
from carrel.libraries.csl.archive import read_archived
from carrel.libraries.csl.citation import NO_PRINTED_FORM
from carrel.libraries.csl.schema import NAME_VARIABLES


def _without_tags(text: str) -> str:
    return re.sub(r"</?(?:i|b|sup|sub|sc|span)\b[^<>]*>", "", text)


def _cited(job: Job) -> list[dict[str, object]]:
    by_id = {item["id"]: item for item in job.items}
    return [by_id[cite["id"]] for one in job.clusters for cite in one["items"]]


_tag_beside_quote = re.compile(r"<(?:i|b)>[\"'“‘]|[\"'”’]</(?:i|b)>")
_quotes = re.compile("[\"'“”„‘’‚«»]")


def _marks_raw_markup(job: Job, ours: str, theirs: str) -> bool:
    """`<i>“life”</i>`: a tag beside a quotation mark, or one in the name of a group."""
    literals = [name.get("literal", "") for name in _names(job)]
    fields = [value for item in job.items for value in item.values() if isinstance(value, str)]
    has_tag = any("<i>" in each for each in literals) or any(map(_tag_beside_quote.search, fields))
    one, other = (_quotes.sub("'", _without_tags(text)) for text in (ours, theirs))
    return has_tag and ("<i>" in theirs or "<b>" in theirs) and one == other


def _names(job: Job) -> list[dict[str, str]]:
    return [
        name
        for item in job.items
        for value in item.values()
        if isinstance(value, list)
        for name in value
        if isinstance(name, dict)
    ]


def _ignores_event_title(job: Job, ours: str, theirs: str) -> bool:
    items = [
        {name: value for name, value in item.items() if name != "event-title"} for item in job.items
    ]
    return (
        'variable="event"' in find_style_text(job.style)
        and items != job.items
        and says(replace(job, items=items), theirs)
    )


_date_looks = re.compile(
    r'\s(?:font-style|font-weight|font-variant|text-decoration|vertical-align|text-case|quotes)="[^"]*"'
)


def _drops_looks_of_dates(job: Job, ours: str, theirs: str) -> bool:
    """The fonts of a localized date, and the case of any."""
    style = find_style_text(job.style)
    bare = re.sub(r"<date\s[^>]*\bform=[^>]*>", lambda date: _date_looks.sub("", date[0]), style)
    bare = re.sub(r'(<date\s[^>]*?)\stext-case="[^"]*"', r"\1", bare)
    return bare != style and says(replace(job, style=bare), theirs)


def _initializes_never_again(job: Job, ours: str, theirs: str) -> bool:
    style = find_style_text(job.style)
    bare = style.replace(' initialize="true"', "")
    return (
        ' initialize="false"' in style and bare != style and says(replace(job, style=bare), theirs)
    )


_labelled = re.compile(r'<label\b[^>]*\bvariable="([^"]+)"')


@lru_cache(maxsize=70)
def _terms_of(locale: str, style: str) -> dict[str, list[str]]:
    """The wordings of the terms of a locale and a style, longest first."""
    found: dict[str, list[str]] = {}
    for text in (
        find_style_text(style),
        read_archived(f"locales-{locale}"),
        read_archived("locales-en-US"),
    ):
        for term in re.finditer(
            r'<term\b[^>]*\bname="([^"]+)"[^>]*>(.*?)</term>', text or "", re.DOTALL
        ):
            words = [html.unescape(word).strip() for word in re.split(r"<[^>]+>", term[2])]
            found.setdefault(term[1], []).extend(word for word in words if word)
    return found


def _labels_nothing(job: Job, ours: str, theirs: str) -> bool:
    """A term of a variable without a value, in whatever wording the locale or the style has."""
    labelled = set(_labelled.findall(find_style_text(job.style)))
    missing = {name for name in labelled if any(name not in item for item in job.items)}
    if "locator" in missing:
        missing.add("page")  # what a locator is where nobody says it
    terms = {
        name: [unicodedata.normalize("NFKC", each) for each in words]
        for name, words in _terms_of(job.locale, job.style).items()
    }
    ours = ours.replace(NO_PRINTED_FORM, "")
    # A letter that Unicode sets above the line is one in a tag in HTML.
    ours, theirs = (unicodedata.normalize("NFKC", _without_tags(text)) for text in (ours, theirs))
    more = list_words(theirs) - list_words(ours)
    one, other = strip_signs(ours), strip_signs(theirs)
    words = {strip_signs(each) for name in missing for each in terms.get(name, ())} - {""}
    words |= {word[0].upper() + word[1:] for word in words}
    if any(
        other[:place] + other[place + len(word) :] == one
        for word in words
        for place in range(len(other))
        if other.startswith(word, place)
    ):
        return True
    return (
        bool(more)
        and not list_words(ours) - list_words(theirs)
        and any(more == list_words(each) for name in missing for each in terms.get(name, ()))
    )


def _swaps_brackets(job: Job, ours: str, theirs: str) -> bool:
    brackets = str.maketrans("[]", "()")
    return (
        'class="note"' in find_style_text(job.style)
        and ours.translate(brackets) == theirs.translate(brackets)
        and (ours.count("(") > theirs.count("(") or ours.count(")") > theirs.count(")"))
    )


_small_given = re.compile(r"'given': '[a-zß-ÿ]")


def _sets_off_small_given_names(job: Job, ours: str, theirs: str) -> bool:
    """`Doe,  john`: a space behind the separator, by which the name sorts before all others."""
    small = {item["id"] for item in job.items if _small_given.search(repr(item))}
    if not small:
        return False
    if re.fullmatch(r"[\d ]+", ours):
        one, other = (
            [each for each in text.split() if each not in small] for text in (ours, theirs)
        )
        return one == other
    if "name-as-sort-order" in find_style_text(job.style) and ours != theirs:
        # Where entries are sorted, so are the numbers of their citations.
        bare, their_bare = (re.sub(r"\d+", "", text) for text in (ours, theirs))
        if bare == their_bare and 'variable="citation-number"' in find_style_text(job.style):
            return True
    given = "|".join(sorted({re.escape(name) for name in _small_givens(job)}))
    joined, their_joined = (re.sub(rf"\s*({given})", r"\1", text) for text in (ours, theirs))
    return ours != theirs and joined == their_joined


def _small_givens(job: Job) -> set[str]:
    """Given names that begin with a small letter."""
    return {name["given"] for name in _names(job) if name.get("given", "")[:1].islower()}


@lru_cache(maxsize=70)
def _eras(locale: str) -> list[str]:
    terms = "|".join(read_archived(f"locales-{name}") or "" for name in ("en-US", locale))
    return re.findall(r'<term name="(?:ad|bc)">([^<]+)</term>', terms)


def _parts_era(job: Job, ours: str, theirs: str) -> bool:
    """An era behind the affixes of its year: `(99) AD` for `(99 AD)`, `99年公元` for `99公元年`."""
    said = [era.strip() for era in _eras(job.locale) if era.strip() in theirs]
    return ours != theirs and any(
        strip_signs(ours.replace(era, "")) == strip_signs(theirs.replace(era, ""))
        and ours.count(era) == theirs.count(era)
        and re.search(r"\d[^\d]{1,8}?" + re.escape(era), theirs)
        for era in said
    )


def _says_era_once(job: Job, ours: str, theirs: str) -> bool:
    """`100–90 BC` for `100 BC–90 BC`."""

    def without(text: str) -> str:
        for era in _eras(job.locale):
            text = text.lower().replace(era.strip().lower(), "")
        return strip_signs(text)

    years = re.search(r"\[\[-?\d{1,3}\], \[", repr(job.items))
    return bool(years) and without(ours) == without(theirs) and len(ours) > len(theirs)


def _doubles_stops(job: Job, ours: str, theirs: str) -> bool:
    return ".." in theirs and theirs.replace("..", ".") == ours.replace("..", ".")


def _turns_signs(job: Job, ours: str, theirs: str) -> bool:
    """`.,` for a comma with a full stop behind it; `.;` where an inner suffix is a semicolon."""

    def ordered(text: str) -> str:
        return re.sub(r"[.,:;]{2,3}", lambda found: "".join(sorted(found[0])), text)

    inner = re.search(r'suffix="[^"]*[:;]\s*"', find_style_text(job.style))
    return ordered(theirs) == ordered(ours) or (
        inner is not None and re.sub(r"\.(?=[:;])", "", theirs) == ours
    )


def _moves_colons_into_quotes(job: Job, ours: str, theirs: str) -> bool:
    def outside(text: str) -> str:
        return re.sub(r"([:;])((?:[”’»“]|</\w+>)+)", r"\2\1", text)

    return outside(theirs) == outside(ours)


def _joins_hindi(job: Job, ours: str, theirs: str) -> bool:
    return job.locale.startswith("hi") and ours.replace(" ", "") == theirs.replace(" ", "")


def _drops_stop_after_block(job: Job, ours: str, theirs: str) -> bool:
    style = find_style_text(job.style)
    one, other = (re.sub(r"</?div[^>]*>", "", text).rstrip() for text in (ours, theirs))
    return ('display="' in style or "second-field-align" in style) and one == other + "."


def _joins_ranges(job: Job, ours: str, theirs: str) -> bool:
    """The second date of a range without the signs between its parts: `30/12/2001–0201/2002`."""
    has_range = re.search(r"\], \[|'raw': '[^']*(?:/| - )", repr(job.items))
    lost = find_lost_signs(ours, theirs)
    return (
        bool(has_range)
        and bool(lost)
        and all(
            _second_date.search(ours[:place]) and re.match(r"[^\W_]", ours[place + len(signs) :])
            for place, signs in lost or ()
        )
    )


# What stands between the sign of a range and a place inside of its second date.
_second_date = re.compile(r"[-–—/][^-–—]{1,24}$")


@lru_cache(maxsize=1)
def _english_words() -> frozenset[str]:
    text = read_archived("locales-en-US") or ""
    terms = re.findall(r">([^<>]+)</(?:term|single|multiple)>", text)
    return frozenset(word for term in terms for word in list_words(term))


def _ignores_languages_with_a_script(job: Job, ours: str, theirs: str) -> bool:
    """English terms for `sr-Cyrl-RS`, whose file has its own."""
    more = list_words(theirs) - list_words(ours)
    return job.locale.count("-") == 2 and (
        (bool(more) and set(more) <= _english_words()) or says(replace(job, locale="en-US"), theirs)
    )


_family_first = frozenset({"ja", "zh"})


def _orders_names_by_language(job: Job, ours: str, theirs: str) -> bool:
    """`Tanaka H.` of a Japanese work, though the name is in Latin letters."""
    items = [
        _with_fixed_order(item)
        if str(item.get("language", ""))[:2].lower() in _family_first
        else item
        for item in job.items
    ]
    return items != job.items and says(replace(job, items=items), theirs)


def _with_fixed_order(item: dict[str, Any]) -> dict[str, Any]:
    return {
        field: [{**name, "static-ordering": True} for name in value]
        if field in NAME_VARIABLES and isinstance(value, list)
        else value
        for field, value in item.items()
    }


def _keeps_words_beside_nothing(job: Job, ours: str, theirs: str) -> bool:
    """`In.` of a group whose variables are all empty: a text or a term of the style."""
    style = find_style_text(job.style)
    ours = ours.replace(NO_PRINTED_FORM, "")
    words = re.findall(r'<text value="([^"]+)"', style)
    for term in {"in", *re.findall(r'<text\b[^>]*\bterm="([^"]+)"', style)}:
        words += _terms_of(job.locale, job.style).get(term, [])
    more = list_words(theirs) - list_words(ours)
    labels = {
        word
        for name in {"page", *_labelled.findall(style)}
        for term in _terms_of(job.locale, job.style).get(name, [])
        for word in list_words(term)
    }
    said = Counter({word: count for word, count in more.items() if word not in labels})
    return (
        bool(more)
        and not list_words(ours) - list_words(theirs)
        and any(each in (more, said) for each in map(list_words, words))
    )


def _leaves_signs_outside_of_quotes(job: Job, ours: str, theirs: str) -> bool:
    """`“Title”,` beside an element with a font, in a locale that wants `“Title,”`."""

    def inside(text: str) -> str:
        return re.sub(r"([”’»])([.,])", r"\2\1", text)

    return ours != theirs and inside(theirs) == inside(ours) and ours == inside(ours)


def _mixes_ordinals(job: Job, ours: str, theirs: str) -> bool:
    """The suffix of a number by the terms of the locale, in a style that has its own.

    Where a locale has terms for single digits alone, it takes the fourth for those above.
    """
    terms = read_archived(f"locales-{job.locale}") or ""
    if "ordinal" not in find_style_text(job.style):
        return False
    if '<term name="ordinal-04"' in terms and '<term name="ordinal">' not in terms:
        ends = r"(?<=\d)\d{1,2}\b"
        if ours != theirs and re.sub(ends, "", ours) == re.sub(ends, "", theirs):
            return True
    if '<term name="ordinal' not in find_style_text(job.style):
        return False
    suffix = r"(?<=\d)(?:(?:<sup>[^<]{1,3}</sup>)+|[^\W\d_]{1,3}|[ᵃ-ᵿºª]+)"
    return ours != theirs and re.sub(suffix, "", ours) == re.sub(suffix, "", theirs)


# What it titles in any language: its test of the language knows the older variables.
_always_titled = (
    "reviewed-title", "original-title", "event-title", "container-title-short", "section", "source",
    "status", "version", "original-publisher", "part-title", "volume-title", "keyword",
)  # fmt: skip


def _titles_other_languages(job: Job, ours: str, theirs: str) -> bool:
    """`The Reviewed Book` of a work in German: the same text, were that its value."""
    if ours.lower() != theirs.lower() or 'text-case="title"' not in find_style_text(job.style):
        return False
    items = [
        {name: _as_written(value, theirs, name) for name, value in item.items()}
        for item in job.items
    ]
    return items != job.items and says(replace(job, items=items), theirs)


def _as_written(value: object, text: str, name: str) -> object:
    if name not in _always_titled or not isinstance(value, str):
        return value
    place = text.lower().find(value.lower())
    return text[place : place + len(value)] if place >= 0 else value


def _lowers_names(job: Job, ours: str, theirs: str) -> bool:
    """`D’alembert`: sentence case for a name in letters of both kinds."""
    if not re.search(r'<name-part[^>]*text-case="sentence"', find_style_text(job.style)):
        return False
    items = [{name: _lowered(value) for name, value in item.items()} for item in job.items]
    return items != job.items and says(replace(job, items=items), theirs)


def _lowered(value: object) -> object:
    if not isinstance(value, list):
        return value
    return [
        {**name, "family": name["family"].capitalize()}
        if isinstance(name, dict) and "family" in name
        else name
        for name in value
    ]


def _letters_words(job: Job, ours: str, theirs: str) -> bool:
    """`in pressa`: the letter of a year behind words."""
    words = {str(item["issued"].get("literal", "")) for item in job.items if "issued" in item}
    bare = theirs
    for literal in words - {""}:
        bare = re.sub(rf"{re.escape(literal)}[a-z]\b", literal, bare)
    return bare != theirs and bare == ours


def _repeats_range(job: Job, ours: str, theirs: str) -> bool:
    """`2001–2003, –2003`: in a cite of the same year again, the second year of its range."""
    bare = re.sub(r"(–\d{4}[a-z]?)(?:[,;] \1)+", r"\1", theirs)
    one, other = (re.sub(r"(?<!\d)–\d{4}(?=[a-z]\b)", "", text) for text in (ours, theirs))
    style = find_style_text(job.style)
    return 'collapse="year-suffix' in style and (
        (bare != theirs and bare == ours)
        or (other != theirs and re.sub("[,;] +", "; ", one) == re.sub("[,;] +", "; ", other))
    )


def _shortens_addresses(job: Job, ours: str, theirs: str) -> bool:
    """`https://example.org` for the whole address, where a style asks for a short one."""
    hosts = re.compile(r"^(?:https?://(?=www\.))?(\w+://)?([^/?#]+).*$")
    items = [
        {**item, "URL": hosts.sub(r"\1\2", item["URL"])} if "URL" in item else item
        for item in job.items
    ]
    asked = re.search(r'<text[^>]*variable="URL"[^>]*form="short"', find_style_text(job.style))
    return bool(asked) and items != job.items and says(replace(job, items=items), theirs)


def _leaves_single_letters_small(job: Job, ours: str, theirs: str) -> bool:
    """`τ. 1` in Greek for `Τ. 1`, a text in title case or with a capital at its beginning."""
    letters = [(one, other) for one, other in zip(ours, theirs, strict=False) if one != other]
    return (
        job.locale.startswith("el")
        and len(ours) == len(theirs)
        and bool(letters)
        and all(one.lower() == other and "α" <= other <= "ώ" for one, other in letters)
    )


def _keeps_fonts_of_names(job: Job, ours: str, theirs: str) -> bool:
    """Small capitals or italics of names for a part that the style sets without them."""
    style = find_style_text(job.style)
    bare = re.sub(r'(<name(?:-part)?\b[^>]*?)\sfont-(?:variant|style)="normal"', r"\1", style)
    return bare != style and says(replace(job, style=bare), theirs)


FAULTS = (
    Fault(
        "short form of an address",
        'Text: “If the "short" form is selected but unavailable, the "long" form is rendered '
        "instead.”",
        _shortens_addresses,
    ),
    Fault(
        "single Greek letter left small",
        "Text-case, capitalize-first: “capitalizes the first character of the first word, if the "
        "word is lowercase”",
        _leaves_single_letters_small,
    ),
    Fault(
        "fonts of names kept",
        'Formatting, font-style: “Sets the font style, with values: "normal" (default)”, '
        "font-variant: “Allows for the use of small capitals, with values: "
        '"normal" (default)”, on cs:name and cs:name-part, too',
        _keeps_fonts_of_names,
    ),
    Fault(
        "title case for another language",
        'Non-English Items: “title case conversion (with text-case set to "title") only affects '
        "English-language items”",
        _titles_other_languages,
    ),
    Fault(
        "names in sentence case lowered",
        "Sentence Case Conversion: “For lower or mixed case strings … The case of all other words "
        "stays the same.”",
        _lowers_names,
    ),
    Fault(
        "letter of a year behind words",
        "Disambiguation: “By default, the year-suffix is appended the first year rendered "
        "through cs:date”, and words are no year",
        _letters_words,
    ),
    Fault(
        "second year of a repeated range",
        'Cite Collapsing: “"year-suffix" - collapses as "year", but also suppresses '
        "repeating years within the cite group”",
        _repeats_range,
    ),
    Fault(
        "language with a script said in English",
        "Locale Fallback: “localizable units are individually drawn from the following sources, in "
        "decreasing order of priority”, of which the file of the dialect is before en-US",
        _ignores_languages_with_a_script,
    ),
    Fault(
        "order of names by the language of the work",
        "Name-part Order: “The order of name-parts depends on the values of the form and "
        "name-as-sort-order attributes on cs:name, … and the script of the individual name”",
        _orders_names_by_language,
    ),
    Fault(
        "words beside nothing",
        "Group: “suppressed if a) at least one rendering element in cs:group calls a variable "
        "(either directly or via a macro), and b) all variables that are called are empty”",
        _keeps_words_beside_nothing,
    ),
    Fault(
        "signs outside of quotes beside a font",
        "Locale Options: “for which the output is followed by a comma or period, "
        "punctuation-in-quote specifies whether this punctuation is placed … inside”",
        _leaves_signs_outside_of_quotes,
    ),
    Fault(
        "ordinals of two sources",
        "Ordinal Suffixes: “(re)defining any of the ordinal terms through cs:locale replaces all "
        "previously defined ordinal terms”",
        _mixes_ordinals,
    ),
    Fault(
        "full stop lost after a block",
        "Affixes: “The attribute value is either added before (prefix) or after (suffix) "
        "the output of the element carrying the attribute”",
        _drops_stop_after_block,
    ),
    Fault(
        "signs lost in a date range",
        "Date: “affixes may be applied to the cs:date-part elements”, of which the range has two",
        _joins_ranges,
    ),
    Fault(
        "marker for a citation without a text",
        "",
        lambda job, ours, theirs: "[NO_PRINTED_FORM]" in theirs,
    ),
    Fault(
        "undefined year",
        'Date-part, year: “"short" - e.g. "05"”',
        lambda job, ours, theirs: "undefined" in theirs.lower() and "undefined" not in ours,
    ),
    Fault(
        "markup shown raw",
        "Text: “renders the text contents of a variable”, and tags are none (Sorting: “without "
        "rich text markup”)",
        _marks_raw_markup,
    ),
    Fault(
        "event-title left out",
        "Variables, event: “Deprecated legacy variant of event-title”",
        _ignores_event_title,
    ),
    Fault(
        "looks of a date lost",
        "Date: “For both localized and non-localized dates, cs:date may carry affixes, display, "
        "formatting and text-case attributes.”",
        _drops_looks_of_dates,
    ),
    Fault(
        "initialize not set again",
        "Inheritable Name Options: “its value will override the value set at the higher level”",
        _initializes_never_again,
    ),
    Fault(
        "label of nothing",
        "Label: “The term is only rendered if the selected variable is non-empty.”",
        _labels_nothing,
    ),
    Fault(
        "brackets swapped in notes",
        "Affixes: “The attribute value is either added before (prefix) or after (suffix) "
        "the output”",
        _swaps_brackets,
    ),
    Fault(
        "space before a small given name",
        "Name, sort-separator: “Sets the delimiter for name-parts that have switched positions”, "
        "and nothing else does",
        _sets_off_small_given_names,
    ),
    Fault(
        "era apart",
        'AD and BC: “The "ad" term (Anno Domini) is automatically appended to positive '
        'years of less than four digits (e.g. "79" becomes "79AD")”',
        _parts_era,
    ),
    Fault(
        "era once in a range",
        'AD and BC: “The "bc" term (Before Christ) is automatically appended to negative years”',
        _says_era_once,
    ),
    Fault(
        "full stop twice",
        "",
        _doubles_stops,
    ),
    Fault(
        "signs turned",
        "Affixes: “added … after (suffix) the output of the element carrying the "
        "attribute”, so an inner suffix stands before an outer one",
        _turns_signs,
    ),
    Fault(
        "colon in quotes",
        "Locale Options: “for which the output is followed by a comma or period, "
        "punctuation-in-quote specifies whether this punctuation is placed outside … or "
        "inside”",
        _moves_colons_into_quotes,
    ),
    Fault(
        "Hindi words joined",
        "",
        _joins_hindi,
    ),
)


def find_fault(job: Job, ours: str, theirs: str) -> Fault | None:
    """The fault that a difference shows; those first that miss a sentence of CSL."""
    one, other = (" ".join(text.split()) for text in (ours, theirs))
    known = sorted((*FAULTS, *CITE_FAULTS, *SMALL_FAULTS), key=lambda fault: not fault.misses)
    return next((fault for fault in known if fault.shows(job, one, other)), None)
