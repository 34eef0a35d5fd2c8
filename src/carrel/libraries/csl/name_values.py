"""Persons and institutions as items give them, with particles and suffixes told apart."""

import re
from dataclasses import dataclass
from functools import lru_cache

_latin_like = re.compile(r"[A-Za-zªºÀ-ɏͰ-ϿЀ-ԯ԰-֏֐-ۿ܀-࿿Ⴀ-ჿḀ-ỿἀ-῿]")
_not_latin_like = re.compile(r"[ᄀ-ᇿ⺀-鿿가-힯豈-﫿]")
# A no-break space is part of a name: it parts no particle from it.
_small_word = r"(?:['’]?[^\W\dA-Z_][^\sA-Z]*[ \t]+)"
_elided = r"(?:d|l|dell|dall|nell|sull|all|t|s|da|de|del)['’]"
_hyphenated = r"(?:al|el|ul|as|ad|at|ibn|bin|ben|ter|ten)[-‐]"
_family_particle = re.compile(
    rf"^({_small_word}+|{_small_word}*(?:{_elided}|{_hyphenated})(?=[A-ZÀ-Þ]))"
)
_given_particle = re.compile(r"^(.*?[A-ZÀ-Þ.][^\s]*)\s+((?:['’]?[^\W\dA-Z_][^\sA-Z]*\s*)+)$")
_particles = """'s 't aan aben abu ad af al al- am an and ap as at auf aus aus'm av aw az ben bet
    bin d d' da dal
    dall' dalla das dat de degli dei del dela dell' della delle den der des di do dos du e el el-
    fon
    fra gl' i ibn im in la las le les lo los mac of op pietro ritter saint san sen sant sir st 't t'
    te
    ten ter the til to tom ur van vande vanden vander ve vel ver vir vom von vor war y zu zum zur z
    ze"""
_particle_words = frozenset(_particles.split())


_hyphened = re.compile(r"[A-Z]\.?(?:[-‐–][A-Z]\.?)+")
# What somebody is called stays as it is.
_nickname = re.compile(r"[\"“‘«]|'.+'$")
# Two capitals before small letters are one sound, as in TSerendorj.
_doubled = re.compile(r"([A-Z])([A-Z]+)[a-z]")


@dataclass(frozen=True, slots=True)
class PersonName:
    family: str = ""
    given: str = ""
    dropping: str = ""
    non_dropping: str = ""
    suffix: str = ""
    comma_suffix: bool = False
    literal: str = ""
    static_ordering: bool = False

    @property
    def identity(self) -> str:
        """Who it is, in whatever order and form the name is shown."""
        parts = (self.literal or self.family, self.given, self.dropping, self.non_dropping)
        return "|".join((*parts, self.suffix))


def read_name(value: object) -> PersonName | None:
    """A name of a CSL-JSON list, or None where it is empty. Raises TypeError for anything else."""
    if isinstance(value, str):
        text = value.strip()
        return PersonName(literal=text) if text else None
    if not isinstance(value, dict):
        raise TypeError("a name is a family and a given name, or one literal")
    literal = _text(value, "literal")
    family, given = _text(value, "family"), _text(value, "given")
    if literal and not family and not given:
        return PersonName(literal=literal)
    dropping, non_dropping = (
        _text(value, "dropping-particle"),
        _text(value, "non-dropping-particle"),
    )
    suffix = _text(value, "suffix")
    if not (family or given or dropping or non_dropping or suffix):
        return None
    if _is_set(value.get("isInstitution")) and family and not given:
        return PersonName(literal=family)
    parse = value.get("parse-names")
    return _parse_name(
        family=family,
        given=given,
        dropping=dropping,
        non_dropping=non_dropping,
        suffix=suffix,
        comma_suffix=_is_set(value.get("comma-suffix")),
        static=_is_set(value.get("static-ordering")),
        parse=parse is None or _is_set(parse),
    )


def _text(value: dict[object, object], key: str) -> str:
    found = value.get(key)
    return (
        str(found).strip()
        if isinstance(found, str | int | float) and not isinstance(found, bool)
        else ""
    )


def _is_set(value: object) -> bool:
    return bool(value) and str(value).lower() not in {"0", "false"}


# No name of a person is longer; what is longer is shown as it stands, without particles or
# initials, and is not remembered.
_longest_name = 300


def _parse_name(
    *,
    family: str,
    given: str,
    dropping: str,
    non_dropping: str,
    suffix: str,
    comma_suffix: bool,
    static: bool,
    parse: bool,
) -> PersonName:
    if len(family) > _longest_name or len(given) > _longest_name:
        return PersonName(family, given, dropping, non_dropping, suffix, comma_suffix, "", static)
    return _parse_short_name(
        family=family,
        given=given,
        dropping=dropping,
        non_dropping=non_dropping,
        suffix=suffix,
        comma_suffix=comma_suffix,
        static=static,
        parse=parse,
    )


@lru_cache(maxsize=16384)
def _parse_short_name(
    *,
    family: str,
    given: str,
    dropping: str,
    non_dropping: str,
    suffix: str,
    comma_suffix: bool,
    static: bool,
    parse: bool,
) -> PersonName:
    if len(family) > 1 and family[0] == '"' == family[-1]:
        family, parse = family[1:-1], False
    if given and not suffix and "," in given:
        given, _, suffix = given.partition(",")
        if suffix.startswith("!"):
            suffix, comma_suffix = suffix[1:], True
        given, suffix = given.strip(), suffix.strip()
    # A family name alone is shown as it stands.
    if parse and given and not non_dropping and family and not family.islower():
        found = _family_particle.match(family)
        if found and _are_particles(found[1]):
            non_dropping, family = found[1].strip(), family[found.end() :]
            if found[1][-1].isspace() and non_dropping[-1] in "'’":
                non_dropping += " "  # `de' Medici` keeps the space that `d'Arc` does not have
    if parse and given and not dropping:
        found = _given_particle.match(given)
        if found and _are_particles(found[2]):
            given, dropping = found[1], found[2].strip()
    return PersonName(family, given, dropping, non_dropping, suffix, comma_suffix, "", static)


def _are_particles(text: str) -> bool:
    return all(
        word.rstrip("-‐").replace("’", "'") in _particle_words
        or word.replace("’", "'").endswith("'")
        or word[:1].islower()
        for word in text.split()
    )


def is_latin_like(text: str) -> bool:
    """Written in a script that sets words apart and puts the given name first."""
    return not _not_latin_like.search(text) or bool(_latin_like.search(text))


def initials(given: str, sign: str, initialize: bool, hyphen: bool) -> str:
    """A given name as initials with this sign; without `initialize` only single letters change."""
    if len(given) > _longest_name or "<span" in given:
        return given
    if "<" in given:
        return _initials_in_tags(given, sign, initialize, hyphen)
    return _initials(given, sign, initialize, hyphen)


_tag = re.compile(r"(</?(?:i|b|sup|sub|sc)>)")


def _initials_in_tags(given: str, sign: str, initialize: bool, hyphen: bool) -> str:
    """The initials of what stands between tags, with the tags around them."""
    out = space = ""
    for place, piece in enumerate(_tag.split(given)):
        if place % 2 or not initialize:
            out += piece
        elif piece.islower() or not any(letter.isalpha() for letter in piece):
            # What is raised above the line is no name of its own.
            out += piece if not piece.strip().isalpha() else space + piece.strip()
            space = ""
        else:
            out += space + _initials(piece, sign, initialize, hyphen)
            space = " " if sign.endswith(" ") else ""
    return out


@lru_cache(maxsize=16384)
def _initials(given: str, sign: str, initialize: bool, hyphen: bool) -> str:
    words = re.sub(r"\.(?=[^\s\-‐.])", ". ", given.replace("\u00a0", " ")).split()
    out = ""
    for word in words:
        is_small = word[0].islower() and not word.endswith(".") and len(word) > 1
        if is_small or word[0] in "([" or _nickname.match(word):
            out = f"{out.rstrip()} {word} " if out else f"{word} "
            continue
        if not initialize:
            if _hyphened.fullmatch(word):
                out += "".join(letter + sign for letter in word if letter.isalpha())
            elif word[0].isupper() and (word.endswith(".") or len(word) == 1):
                core = word.rstrip(".")
                apart = out and len(core) > 1  # what is no single letter stands for itself
                out = f"{out.rstrip()} {core}{sign}" if apart else out + core + sign
            else:
                out = f"{out.rstrip()} {word} " if out else f"{word} "
            continue
        parts = [part for part in re.split(r"[-‐–]", word) if part]
        for index, part in enumerate(parts):
            if index and part[0].islower():
                continue
            if index and hyphen:
                out = out.rstrip() + "-"
            out += _initial(part) + sign
    return re.sub(r"\s+", " ", out).strip()


def _initial(word: str) -> str:
    """One letter, but a name that is already cut (`Ph.`, `Ts.`) keeps what it has."""
    letter = word[0]
    doubled = _doubled.match(word)
    if doubled:
        return doubled[1] + doubled[2].lower()
    if word.endswith(".") and len(word) > 2 and "." not in word[:-1]:
        return word[:-1]
    if letter == "." or not letter.isalnum():
        found = re.search(r"\w", word)
        letter = found[0] if found else letter
    return letter.upper() if not letter.isupper() else letter
