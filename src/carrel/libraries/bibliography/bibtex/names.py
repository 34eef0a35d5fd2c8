"""BibTeX and BibLaTeX name lists to CSL names."""

import re

from carrel.libraries.bibliography.bibtex.tex import to_plain
from carrel.libraries.csl.name_lists import without_et_al

Name = dict[str, str]

_AND = re.compile(r"(?<=[\s}])and(?=[\s{])|\A\s*and(?=\s)|(?<=\s)and\s*\Z", re.IGNORECASE)
_PLAIN_AND = re.compile(r"(?<!\s)\s+and\s+", re.IGNORECASE)
_HAS_TEX = re.compile(r"[{}\\~$`]")
_EXTENDED = re.compile(
    r"(?:^|,)\s*+(?:\"\s*+)?(?:family|given|prefix|suffix|useprefix|given-i|family-i|prefix-i)\s*=",
    re.IGNORECASE,
)
_EXTENDED_PART = re.compile(r"\s*+(?:\"\s*+)?([a-z-]+)\s*=(.*)\Z", re.IGNORECASE | re.DOTALL)
_UNPAIRED = re.compile(r"[{}]")
_SUFFIX = re.compile(r"^(?:jr|sr|junior|senior|[ivx]{2,4}|iii|ph\.?d|m\.?d|esq)\.?$", re.IGNORECASE)
_BETWEEN_INITIALS = re.compile(r"[\s.-]+")
_HAS_ENTITY = re.compile(r"&#?\w{2,8};")
_HOMONYM_NUMBER = re.compile(r"^0\d{3}$")
_REMEMBERED_AT_MOST = 50_000


class NameReader:
    """Reads name lists, remembering the names it has read: one author writes many works.

    `doubts` has the lists that are not parted by `and`, for whoever reports them.
    """

    def __init__(self) -> None:
        self._known: dict[str, Name] = {}
        self.doubts: list[str] = []

    def read(self, raw: str) -> tuple[list[Name], bool]:
        """The names of a list, and whether it goes on (`and others`)."""
        names: list[Name] = []
        parts = split_names(raw)
        if len(parts) == 1 and (";" in raw or raw.count(",") > 1 or "&" in raw):
            parts = self._split_otherwise(parts[0])
        texts, has_more = without_et_al(parts)
        for text in texts:
            known = self._known.get(text)
            if known is None:
                known = read_name(text)
                if len(self._known) < _REMEMBERED_AT_MOST:
                    self._known[text] = known
            if known:
                names.append(dict(known))
        return names, has_more

    def _split_otherwise(self, text: str) -> list[str]:
        """Names parted by semicolons or commas, where only one reading is possible."""
        if _EXTENDED.search(text) or (text.startswith("{") and is_one_group(text)):
            return [text]
        parts = split_at_semicolons(text) or split_at_ampersand(text) or split_at_commas(text)
        if parts or ";" in text or _count_commas(text) > 2:
            self.doubts.append(to_plain(text))
        return parts or [text]


def split_at_semicolons(text: str) -> list[str]:
    """The names of `Doe, Jane; Roe, Richard`; none where that is no list."""
    if _HAS_ENTITY.search(text):
        return []
    parts = [part.strip() for part in split_outside_braces(text, ";")]
    parts = [part for part in parts if part]
    return parts if len(parts) > 1 and all(_count_commas(part) < 3 for part in parts) else []


def split_at_ampersand(text: str) -> list[str]:
    """The names of `Doe, J. & Roe, R.` or `J. Doe, R. Roe & E. Poe`; none where one is no person.

    `Barnes & Noble` and what stands in braces are institutions.
    """
    halves = [part.strip(" \t\r\n\\,") for part in split_outside_braces(text, "&")]
    if len(halves) < 2 or "{" in text:
        return []
    names = [_whole_names(half) for half in halves]
    return [name for each in names for name in each] if all(names) else []


def _whole_names(text: str) -> list[str]:
    """One person or several parted by commas; none where a part is no whole name."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) == 2:
        if _is_initials(parts[1]) and not _is_initials(parts[0]):
            return [text]
        is_list = all(len(part.split()) > 1 and _is_initials(part.split()[0]) for part in parts)
        return parts if is_list else []
    if len(parts) > 2:
        return split_at_commas(text)
    words = text.split()
    return [text] if len(words) > 1 and _is_initials(words[0]) else []


def split_at_commas(text: str) -> list[str]:
    """The names of `Jane Doe, Richard Roe, Edgar Poe` or `Doe, J., Roe, R.`; none if in doubt."""
    parts = [to_plain(part) for part in split_outside_braces(text, ",")]
    if len(parts) < 3 or not all(parts):
        return []
    if all(_has_initials_last(part) for part in parts):
        return [f"{family}, {given}" for family, given in (part.rsplit(" ", 1) for part in parts)]
    if len(parts) % 2 == 0 and all(map(_is_initials, parts[1::2])):
        if not any(map(_is_initials, parts[::2])):
            return [", ".join(pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
        return []
    # A name has one suffix or particles behind a comma, but never two words with capitals.
    is_whole = [len(part.split()) > 1 and not _is_lower(part.split()[0]) for part in parts]
    return parts if all(is_whole) and not any(map(_SUFFIX.match, parts)) else []


def _is_initials(text: str) -> bool:
    letters = _BETWEEN_INITIALS.sub("", text)
    return letters.isalpha() and letters.isupper() and len(letters) <= (4 if "." in text else 2)


def _has_initials_last(text: str) -> bool:
    """Whether a name is written `Doe J.`."""
    words = text.split()
    return len(words) > 1 and _is_initials(words[-1]) and not any(map(_is_initials, words[:-1]))


def _count_commas(text: str) -> int:
    return len(split_outside_braces(text, ",")) - 1


def split_names(raw: str) -> list[str]:
    """The names of a list, parted by `and` outside braces."""
    if not _HAS_TEX.search(raw):
        return [
            name
            for name in (part.strip(" \t\r\n,") for part in _PLAIN_AND.split(raw.strip()))
            if name and name.lower() != "and"
        ]
    if not _is_balanced(raw):
        raw = _UNPAIRED.sub("", raw)
    names: list[str] = []
    start = seen = depth = 0
    for found in _AND.finditer(raw):
        depth += raw.count("{", seen, found.start()) - raw.count("}", seen, found.start())
        seen = found.start()
        if depth == 0:
            names.append(raw[start : found.start()])
            start = found.end()
    names.append(raw[start:])
    return [name for name in (part.strip(" \t\r\n,~") for part in names) if name]


def _is_balanced(raw: str) -> bool:
    depth = 0
    for brace in _UNPAIRED.findall(raw):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


def read_name(raw: str) -> Name:
    """`von Last, Jr, First`, `First von Last`, `family=…, given=…`, or an institution in braces."""
    if raw.startswith("{") and is_one_group(raw):
        text = to_plain(raw)
        return {"literal": text} if text else {}
    if _EXTENDED.search(raw):
        return _extended(raw)
    parts = [part.strip() for part in split_outside_braces(raw, ",")]
    if len(parts) == 1:
        return _given_first(_words(parts[0]))
    if len(parts) > 3:
        parts = [parts[0], parts[1], " ".join(parts[2:])]
    suffix = ""
    given = parts[-1]
    if len(parts) == 3:
        suffix = to_plain(parts[1])
        if given and not _SUFFIX.match(suffix) and _SUFFIX.match(to_plain(given)):
            suffix, given = to_plain(given), parts[1]
    particle, family = _particle_and_family(_words(parts[0]))
    name = _named(family=family, given=to_plain(given), particle=particle, suffix=suffix)
    if "given" not in name and "suffix" not in name and not particle:
        return {"literal": family} if family else {}
    return name


def _named(family: str, given: str, particle: str, suffix: str) -> Name:
    name: Name = {}
    if family:
        name["family"] = family
    if given:
        name["given"] = given
    if particle:
        name["non-dropping-particle"] = particle
    if suffix:
        name["suffix"] = suffix
    return name


def _given_first(words: list[str]) -> Name:
    if not words:
        return {}
    if len(words) == 1:
        text = to_plain(words[0])
        return {"literal": text} if text else {}
    suffix = ""
    # DBLP tells people of one name apart by a number.
    if len(words) > 2 and _HOMONYM_NUMBER.match(words[-1]):
        words = words[:-1]
    if (
        len(words) > 2
        and _SUFFIX.match(words[-1])
        and words[-1].rstrip(".").lower() in {"jr", "sr", "ii", "iii", "phd", "ph.d"}
    ):
        suffix = words.pop()
    starts = [place for place, word in enumerate(words[:-1]) if place and _is_lower(word)]
    if starts:
        first, last = starts[0], starts[-1]
        given, particle, family = words[:first], words[first : last + 1], words[last + 1 :]
    elif _is_lower(words[0]):
        lower = 1
        while lower < len(words) - 1 and _is_lower(words[lower]):
            lower += 1
        given, particle, family = [], words[:lower], words[lower:]
    else:
        given, particle, family = words[:-1], [], words[-1:]
    return _named(_text(family), _text(given), _text(particle), suffix)


def _particle_and_family(words: list[str]) -> tuple[str, str]:
    lower = 0
    while lower < len(words) - 1 and _is_lower(words[lower]):
        lower += 1
    return _text(words[:lower]), _text(words[lower:])


def _extended(raw: str) -> Name:
    found: dict[str, str] = {}
    for part in split_outside_braces(raw, ","):
        pair = _EXTENDED_PART.match(part)
        if pair:
            found[pair.group(1).lower()] = to_plain(
                pair.group(2).strip().removesuffix('"').rstrip()
            )
    name = _named(found.get("family", ""), found.get("given", ""), "", found.get("suffix", ""))
    if found.get("prefix"):
        is_dropping = found.get("useprefix", "").lower() == "false"
        name["dropping-particle" if is_dropping else "non-dropping-particle"] = found["prefix"]
    return name


def _text(words: list[str]) -> str:
    return to_plain(" ".join(words)) if words else ""


def _words(raw: str) -> list[str]:
    if not _HAS_TEX.search(raw):
        return raw.split()
    return [word for word in split_outside_braces(raw, " \t\r\n~\u00a0") if word]


def split_outside_braces(raw: str, separators: str) -> list[str]:
    if not _HAS_TEX.search(raw) and separators == ",":
        return raw.split(",")
    parts: list[str] = []
    depth, start = 0, 0
    for place, sign in enumerate(raw):
        if sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
        elif depth <= 0 and sign in separators and (sign != "~" or raw[place - 1 : place] != "\\"):
            parts.append(raw[start:place])
            start = place + 1
    parts.append(raw[start:])
    return parts


def _is_lower(word: str) -> bool:
    """Whether BibTeX takes the word for a particle: braces hide case but around a TeX letter."""
    if word.startswith("{") and not word.startswith("{\\"):
        return False
    for letter in word if word.isalpha() else to_plain(word):
        if letter.isalpha():
            return letter.islower()
    return False


def is_one_group(raw: str) -> bool:
    """Whether one pair of braces stands around the whole text."""
    depth = 0
    for place, sign in enumerate(raw):
        depth += (sign == "{") - (sign == "}")
        if depth == 0:
            return place == len(raw) - 1 and not raw.startswith("{\\")
    return False
