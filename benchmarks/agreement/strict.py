"""The strict scale: records of exact texts, paired by identity, every difference counted.

Two texts agree when they are equal in Unicode NFC with runs of white space as one space. Case,
punctuation, quotation marks and markup are compared. Folded on both sides, because they are two
spellings of one value: characters that are never seen (soft hyphens, zero-width spaces), DOIs
(resolver, case), ISBN and ISSN (hyphens; ten digits and thirteen), ranges of pages (dashes),
languages (name or code), sub- and superscript digits (as signs or as markup).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

Record = dict[str, str]

NAME_VARIABLES = frozenset({
    "author", "editor", "translator", "container-author", "collection-editor", "director",
    "contributor", "script-writer", "reviewed-author", "interviewer", "recipient", "composer",
    "illustrator", "performer", "narrator", "producer", "compiler", "organizer", "curator",
    "original-author", "editorial-director", "editor-translator", "chair", "guest", "host",
    "series-creator", "executive-producer",
})  # fmt: skip
DATE_VARIABLES = frozenset(
    {"issued", "accessed", "original-date", "event-date", "submitted", "available-date"}
)
_LANGUAGES = {
    "english": "en", "eng": "en", "american": "en", "british": "en", "usenglish": "en",
    "ukenglish": "en", "german": "de", "ngerman": "de", "ger": "de", "deu": "de", "french": "fr",
    "fre": "fr", "fra": "fr", "francais": "fr", "spanish": "es", "spa": "es", "italian": "it",
    "ita": "it", "portuguese": "pt", "por": "pt", "dutch": "nl", "dut": "nl", "nld": "nl",
    "hebrew": "he", "heb": "he", "russian": "ru", "rus": "ru", "chinese": "zh", "chi": "zh",
    "zho": "zh", "japanese": "ja", "jpn": "ja", "swedish": "sv", "swe": "sv", "danish": "da",
    "dan": "da", "norwegian": "no", "nor": "no", "finnish": "fi", "fin": "fi", "polish": "pl",
    "pol": "pl", "latin": "la", "lat": "la", "korean": "ko", "kor": "ko", "turkish": "tr",
    "greek": "el", "hungarian": "hu", "czech": "cs",
}  # fmt: skip
_SPACES = re.compile(r"\s+")
_DIGIT_SIGNS = {
    **{sign: ("sup", str(number)) for number, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    **{sign: ("sub", str(number)) for number, sign in enumerate("₀₁₂₃₄₅₆₇₈₉")},
    "⁺": ("sup", "+"), "⁻": ("sup", "-"), "₊": ("sub", "+"), "₋": ("sub", "-"),
}  # fmt: skip
_INVISIBLE = re.compile("[\u00ad\u200b\u200c\u200d\u2060\ufeff]")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_NOT_A_WORD = re.compile(r"[\W_]+")


def normal(text: str) -> str:
    text = _INVISIBLE.sub("", unicodedata.normalize("NFC", text))
    if any(sign in text for sign in _DIGIT_SIGNS):
        text = "".join(
            f"<{_DIGIT_SIGNS[sign][0]}>{_DIGIT_SIGNS[sign][1]}</{_DIGIT_SIGNS[sign][0]}>"
            if sign in _DIGIT_SIGNS
            else sign
            for sign in text
        )
        text = text.replace("</sup><sup>", "").replace("</sub><sub>", "")
    return _SPACES.sub(" ", text).strip()


def name_text(name: dict[str, Any]) -> str:
    if "literal" in name:
        return normal(name["literal"])
    particles = (name.get("dropping-particle"), name.get("non-dropping-particle"))
    family = " ".join(part for part in (*particles, name.get("family")) if part)
    parts = (family, name.get("given"), name.get("suffix"))
    return normal(", ".join(part for part in parts if part))


def date_text(date: dict[str, Any]) -> str:
    if "date-parts" not in date:
        return normal(str(date.get("literal") or date.get("raw") or ""))
    points = [
        "-".join(f"{int(part):02d}" if place else str(part) for place, part in enumerate(parts))
        for parts in date["date-parts"]
    ]
    season = f" season {date['season']}" if "season" in date else ""
    return "/".join(points) + season + ("~" if date.get("circa") else "")


def words_text(words: Iterable[str]) -> str:
    return " | ".join(sorted({normal(word) for word in words if word.strip()}))


def lines_text(*texts: str) -> str:
    """Notes as the set of their lines: programs join several notes in different orders."""
    lines = {normal(line) for text in texts for line in text.split("\n")}
    return " | ".join(sorted(line for line in lines if line))


def field_text(name: str, value: Any) -> str:
    if name in NAME_VARIABLES and isinstance(value, list):
        return " & ".join(name_text(person) for person in value)
    if name in DATE_VARIABLES and isinstance(value, dict):
        return date_text(value)
    text = normal(str(value))
    if name == "DOI":
        return re.sub(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", "", text.lower())
    if name in {"ISBN", "ISSN"}:
        return standard_numbers(text)
    if name == "keyword":
        return words_text(text.split(";"))
    if name == "language":
        plain = text.lower().replace("_", "-").split("-")[0]
        return _LANGUAGES.get(plain, plain if len(plain) == 2 else text)
    if name == "page":
        return re.sub(r"\s*[-‐‑‒–—]+\s*", "-", text)
    return text


def standard_numbers(text: str) -> str:
    """ISBN and ISSN in order; an ISBN of ten digits is that of thirteen, and said once."""
    found = re.findall(r"[0-9Xx]{8,}", re.sub(r"(?<=\d)[-–](?=[\dXx])", "", text))
    return " ".join(sorted({_thirteen(number.upper()) for number in found})) or text


def _thirteen(number: str) -> str:
    """The form of an ISBN since 2007: 978 before its nine digits, and another check digit."""
    if not re.fullmatch(r"\d{9}[\dX]", number):
        return number
    weighed = zip(number, range(10, 0, -1), strict=True)
    if sum((10 if digit == "X" else int(digit)) * weight for digit, weight in weighed) % 11:
        return number
    body = f"978{number[:9]}"
    check = -sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(body)) % 10
    return f"{body}{check}"


def record_of(item: dict[str, Any]) -> Record:
    """Our own item as a record; `custom.fields` are fields of their own."""
    record: Record = {}
    for name, value in item.items():
        if name != "custom":
            record[name] = field_text(name, value)
            continue
        for inner, content in value.items():
            if inner == "fields":
                record |= {f"other.{key}": normal(str(text)) for key, text in content.items()}
            elif isinstance(content, list):
                record[f"custom.{inner}"] = words_text(str(each) for each in content)
            else:
                record[f"custom.{inner}"] = normal(str(content))
    return {name: text for name, text in record.items() if text}


@dataclass(frozen=True, slots=True)
class Difference:
    """One field on which two records differ."""

    place: str
    field: str
    cause: str
    expected: str
    ours: str


@dataclass(slots=True)
class StrictAgreement:
    """Counts over many records; a missing and an extra field are one difference each."""

    same: int = 0
    extra: int = 0
    differences: list[Difference] = field(default_factory=list)

    @property
    def total(self) -> int:
        return self.same + len(self.differences)

    @property
    def share(self) -> float:
        return self.same / self.total if self.total else 1.0

    @property
    def share_of_expected(self) -> float:
        return self.same / (self.total - self.extra) if self.total > self.extra else 1.0

    def add(self, place: str, expected: Record, ours: Record) -> None:
        for name in sorted(expected.keys() | ours.keys()):
            theirs, mine = expected.get(name), ours.get(name)
            if theirs == mine:
                self.same += 1
                continue
            cause = _cause(name, theirs, mine)
            if not expected or not ours:
                cause = "record missing" if expected else "record only ours"
            self.extra += theirs is None
            self.differences.append(Difference(place, name, cause, theirs or "", mine or ""))

    def fail(self, place: str, expected: Iterable[Record], reason: str) -> None:
        """Count every field of a file that was not read."""
        for record in expected:
            self.differences += [
                Difference(place, name, f"file not read: {reason}"[:60], text, "")
                for name, text in record.items()
            ]

    def join(self, other: "StrictAgreement") -> None:
        self.same += other.same
        self.extra += other.extra
        self.differences += other.differences

    def causes(self) -> Counter[str]:
        return Counter(difference.cause for difference in self.differences)


def _cause(name: str, theirs: str | None, mine: str | None) -> str:
    kind = "people" if name in NAME_VARIABLES else "date" if name in DATE_VARIABLES else ""
    if mine is None or theirs is None:
        return f"{'missing' if mine is None else 'only ours'}: {name}"
    if theirs.casefold() == mine.casefold():
        return "case"
    bare = [_TAG.sub("", text) for text in (theirs, mine)]
    if bare[0] == bare[1]:
        return "markup"
    if _NOT_A_WORD.sub("", bare[0]) == _NOT_A_WORD.sub("", bare[1]):
        return "punctuation"
    return f"different: {kind or name}"


def pair(expected: list[Record], ours: list[Record]) -> list[tuple[Record, Record]]:
    """Records of one identity: key, DOI, title and first author, title, title before its colon.

    Those left over are a record missing and a record that only we have.
    """
    pairs: list[tuple[Record, Record]] = []
    theirs_left, ours_left = list(expected), list(ours)
    for identity in (_key, _doi, _title_and_author, _title, _main_title):
        waiting: dict[str, list[Record]] = {}
        for record in ours_left:
            if mark := identity(record):
                waiting.setdefault(mark, []).append(record)
        still: list[Record] = []
        for record in theirs_left:
            found = waiting.get(identity(record) or "\0")
            if found:
                mine = found.pop(0)
                pairs.append((record, mine))
                ours_left = [each for each in ours_left if each is not mine]
            else:
                still.append(record)
        theirs_left = still
    if len(theirs_left) == len(ours_left) == 1:
        return [*pairs, (theirs_left[0], ours_left[0])]
    return [*pairs, *((each, {}) for each in theirs_left), *(({}, each) for each in ours_left)]


def _key(record: Record) -> str:
    return record.get("id", "")


def _doi(record: Record) -> str:
    return record.get("DOI", record.get("doi", ""))


def _title(record: Record) -> str:
    return _NOT_A_WORD.sub("", _TAG.sub("", record.get("title", ""))).casefold()


def _main_title(record: Record) -> str:
    return _title({"title": record.get("title", "").partition(": ")[0]})


def _title_and_author(record: Record) -> str:
    title, author = _title(record), record.get("author", "").split(",")[0]
    return f"{title}|{author.casefold()}" if title and author else ""
