"""The faults of services that the facts list, drawn at random: titles, people, years, places."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from carrel.libraries.literature.records import Author, WorkRecord

# How often a field is so; chosen by hand after looking through the recordings. `noise` of a writer
# multiplies all of them.
SUBTITLE_DROPPED = 0.04
TITLE_IN_CAPITALS = 0.03
TITLE_IN_TITLE_CASE = 0.15
TITLE_IN_LOWER_CASE = 0.1
MARKUP = 0.12
TYPOGRAPHY = 0.25
YEAR_OFF = 0.1
YEAR_MISSING = 0.02
AUTHORS_MISSING = 0.02
AUTHORS_CUT = 0.06
GIVEN_MISSING = 0.04
PLACE_MISSING = 0.35
VENUE_SHORTENED = 0.3
VENUE_MISSING = 0.08
GREEK_BY_NAME = 0.4
SPELLED_OTHERWISE = 0.1
ACCENTS_LOST = 0.15

_GREEK = {"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "κ": "kappa", "μ": "mu"}
_SPELLINGS = (
    ("behaviour", "behavior"), ("colour", "color"), ("tumour", "tumor"), ("modelling", "modeling"),
    ("isation", "ization"), ("analyse", "analyze"), ("centre", "center"), ("labour", "labor"),
)  # fmt: skip

_TAG = re.compile(r"</?(?:i|b|sub|sup)>")
_BREAK = re.compile(r"(?<=\w{3})[:.?] ")


def write_title(title: str, rng: random.Random, *, has_markup: bool = False) -> str:
    """A title as a service writes it: another case, markup, other signs, without its subtitle."""
    plain = _TAG.sub("", title) if rng.random() < 0.5 or not has_markup else title
    parts = _BREAK.split(plain, maxsplit=1)
    if len(parts) == 2 and len(parts[0]) > 25 and rng.random() < SUBTITLE_DROPPED:
        plain = parts[0]
    drawn = rng.random()
    if drawn < TITLE_IN_CAPITALS:
        plain = _TAG.sub("", plain).upper()
    elif drawn < TITLE_IN_CAPITALS + TITLE_IN_TITLE_CASE:
        plain = " ".join(word[:1].upper() + word[1:] for word in plain.split())
    elif drawn < TITLE_IN_CAPITALS + TITLE_IN_TITLE_CASE + TITLE_IN_LOWER_CASE:
        plain = plain[:1] + plain[1:].lower()
    plain = _spell_otherwise(plain, rng)
    if rng.random() < TYPOGRAPHY:
        plain = plain.replace("-", "\u2010").replace("'", "\u2019").replace("--", "\u2013")
    if has_markup and rng.random() < MARKUP:
        words = plain.split(" ")
        at = rng.randrange(len(words))
        mark = rng.choice(("i", "b", "scp", "jats:italic"))
        words[at] = f"<{mark}>{words[at]}</{mark}>"
        plain = rng.choice((" ", "  ", "\n    ")).join(words).replace(" & ", " &amp;amp; ")
    return plain


def _spell_otherwise(title: str, rng: random.Random) -> str:
    """Greek letters by their names, formulas without dollars, the other spelling of a word."""
    if rng.random() < GREEK_BY_NAME:
        title = "".join(_GREEK.get(letter, letter) for letter in title)
    if "$" in title and rng.random() < 0.3:
        title = title.replace("$", "")
    if rng.random() < SPELLED_OTHERWISE:
        for one, other in _SPELLINGS:
            title = title.replace(other, one) if one not in title else title.replace(one, other)
    return title


def write_year(work: WorkRecord, rng: random.Random) -> int | None:
    if work.year is None or rng.random() < YEAR_MISSING:
        return None
    return work.year + (rng.choice((-1, 1)) if rng.random() < YEAR_OFF else 0)


def write_authors(work: WorkRecord, rng: random.Random) -> list[Author]:
    """Names with parts missing, the list cut or missing."""
    authors = list(work.authors)
    if rng.random() < AUTHORS_MISSING:
        return []
    if len(authors) > 3 and rng.random() < AUTHORS_CUT:
        authors = authors[: rng.randint(1, 3)]
    if rng.random() < ACCENTS_LOST:
        authors = [
            replace(each, family=_drop_accents(each.family), given=_drop_accents(each.given))
            for each in authors
        ]
    if rng.random() < GIVEN_MISSING:
        authors = [replace(each, given=each.given[:1]) for each in authors]
    return authors


def _drop_accents(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def shorten_given(author: Author, rng: random.Random) -> str:
    """The given names as first letters: `J. A.`, `J.A.` or `J`."""
    letters = [part[0] for part in re.split(r"[\s.\-]+", author.given) if part]
    style = rng.random()
    if style < 0.4:
        return " ".join(f"{letter}." for letter in letters)
    return f"{letters[0]}." if letters and style < 0.7 else "".join(letters)


def full_name(author: Author, rng: random.Random, *, shortens: float = 0.0) -> str:
    if not author.family:
        return author.literal
    given = shorten_given(author, rng) if rng.random() < shortens else author.given
    return f"{given} {author.family}".strip()


def shorten_venue(name: str) -> str:
    """`Journal of Simulated Results` as `J Simul Results`."""
    minor = {"of", "the", "and", "in", "for", "on", "de", "la", "&"}
    words = [word for word in name.split() if word.lower() not in minor]
    if len(words) < 2:
        return name
    return " ".join(word[:5] if len(word) > 7 else word for word in words)


def write_venue(work: WorkRecord, rng: random.Random) -> str:
    if rng.random() < VENUE_MISSING:
        return ""
    return shorten_venue(work.venue.name) if rng.random() < VENUE_SHORTENED else work.venue.name


def write_place(work: WorkRecord, rng: random.Random) -> tuple[str, str, str]:
    """Volume, issue and pages, or nothing of them."""
    if rng.random() < PLACE_MISSING:
        return "", "", ""
    pages = work.pages
    first, _, last = pages.partition("-")
    if last and len(first) == len(last) > 2 and rng.random() < 0.3 and first[:-2] == last[:-2]:
        pages = f"{first}-{last[-2:]}"
    elif last and rng.random() < 0.15:
        pages = first
    return work.volume, work.issue, pages


def join_names(names: Sequence[str], rng: random.Random) -> str:
    return rng.choice((", ", "; ")).join(names)
