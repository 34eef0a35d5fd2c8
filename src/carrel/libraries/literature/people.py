"""Names of authors as services write them."""

from __future__ import annotations

import re

from carrel.libraries.bibliography.items import read_plain_person
from carrel.libraries.literature.markup import read_plain_line
from carrel.libraries.literature.raw_fields import text_of
from carrel.libraries.literature.records import Author
from carrel.libraries.text.budget import InputTooCostlyError

_ORCID = re.compile(r"(?<![\dX])(\d{4})-?(\d{4})-?(\d{4})-?(\d{3}[\dX])(?![\dX])", re.IGNORECASE)
_INITIALS = re.compile(r"[^\W\d_]{1,4}|(?:[^\W\d_][.-]+)+[^\W\d_]?\.?")
_SUFFIX = re.compile(r"(?:jr|sr|[1-4](?:st|nd|rd|th)|ii|iii|iv)\.?", re.IGNORECASE)
_GROUP_WORDS = re.compile(
    r"\b(?:consortium|collaboration|collaborators|group|team|network|committee|society|association"
    r"|institut\w*|universit\w*|department|ministry|investigators|initiative|project|programme"
    r"|organi[sz]ation|agency|cent(?:er|re)|council|foundation|commission|alliance|academy"
    r"|laborator\w*|federation|hospital|ltd|llc|gmbh|corporation|contributors|registry"
    r"|world bank|united nations|task force|working party)\b",
    re.IGNORECASE,
)
# Family names as well, so that they tell a group only in a longer name without initials.
_DOUBTFUL_GROUP_WORDS = re.compile(
    r"\b(?:bureau|board|staff|company|college|trial|study|program|inc|editors|editorial)\b",
    re.IGNORECASE,
)
_INITIAL = re.compile(r"\b[^\W\d_]\.")
_MAX_NAME_CHARACTERS = 300


def read_orcid(value: object) -> str | None:
    """An ORCID with its hyphens from any notation; None where its check digit does not hold."""
    found = _ORCID.search(text_of(value)[:100])
    if found is None:
        return None
    digits = "".join(found.groups()).upper()
    total = 0
    for digit in digits[:-1]:
        total = (total + int(digit)) * 2
    check = (12 - total % 11) % 11
    if digits[-1] != ("X" if check == 10 else str(check)):
        return None
    return "-".join(digits[at : at + 4] for at in range(0, 16, 4))


def make_author(
    family: object = "",
    given: object = "",
    *,
    literal: object = "",
    suffix: object = "",
    orcid: object = None,
) -> Author | None:
    """An author of the parts a service gives; None where there is no name in them.

    A given name alone, as of people with one name, is a literal.
    """
    last, first, whole = (
        read_plain_line(part)[:_MAX_NAME_CHARACTERS].strip(" ,;")
        for part in (family, given, literal)
    )
    known = read_orcid(orcid)
    if last:
        return Author(last, first, suffix=text_of(suffix), orcid=known)
    name = whole or first
    return Author(literal=name, orcid=known) if name else None


def read_author(name: object, orcid: object = None) -> Author | None:
    """`Given Family`, `Family, Given`, or a group; None for an empty name."""
    text = read_plain_line(name)[:_MAX_NAME_CHARACTERS].strip(" ;")
    if not text:
        return None
    if is_group_name(text):
        return make_author(literal=text, orcid=orcid)
    try:
        parts = read_plain_person(text)
    except InputTooCostlyError:
        parts = {"literal": text}
    particle = " ".join(
        parts[part] for part in ("dropping-particle", "non-dropping-particle") if part in parts
    )
    return make_author(
        f"{particle} {parts.get('family', '')}".strip(),
        parts.get("given", ""),
        literal=parts.get("literal", ""),
        suffix=parts.get("suffix", ""),
        orcid=orcid,
    )


def read_author_with_initials(name: object) -> Author | None:
    """`Family GG`, `van der Berg G Jr`, as PubMed and Europe PMC write; else as `read_author`."""
    text = read_plain_line(name)[:_MAX_NAME_CHARACTERS].strip(" .;,")
    words = text.split()
    suffix = ""
    if len(words) > 2 and _SUFFIX.fullmatch(words[-1]):
        suffix = words.pop()
    if len(words) < 2 or "," in text or is_group_name(text) or not _are_initials(words[-1]):
        return read_author(text)
    return make_author(" ".join(words[:-1]), words[-1], suffix=suffix)


def _are_initials(word: str) -> bool:
    return _INITIALS.fullmatch(word) is not None and word.upper() == word


def is_group_name(text: str) -> bool:
    """Whether a name is that of a group, by its words: a consortium, a ministry, a study."""
    if "," in text:
        return False
    if _GROUP_WORDS.search(text):
        return True
    is_long = len(text.split()) > 2 and not _INITIAL.search(text)
    return is_long and _DOUBTFUL_GROUP_WORDS.search(text) is not None
