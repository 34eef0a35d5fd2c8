"""Items as flat records of named texts, and the share of fields on which two such records agree.

A record has one field for the type, one for the key, one per CSL variable, one per role of people
(all names in order), one
for all
keywords (as a set), and one per other field. Two fields agree when their texts are equal after this
folding and no other:

- Unicode NFKC, so that ² is 2 and 𝜇 is μ; spaces of all kinds and lengths are one space;
- the kinds of dashes, and the kinds of quotation marks, are one kind each; markup tags are not
  compared, what they mark is;
- invisible characters (soft hyphens, zero-width spaces) are not compared; DOIs in lower case,
  without resolver; ISBN and ISSN
by their digits; languages by their two-letter code; page ranges without spaces;
- a family name is compared with its particle before it; one full stop at the end of a text is not
  compared.

Case is compared. A field that only one side has counts as one disagreement, so missing and extra
fields both count against us.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from carrel.libraries.bibliography.items import language_code, two_letters

Record = dict[str, str]

_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_DASHES = re.compile(r"[‐‑‒–—―−]+|-{2,}")
_SINGLE = re.compile(r"[‘’‚‛`´′]")
_DOUBLE = re.compile(r"[“”„‟«»″]|''")
_SPACES = re.compile(r"\s+")
_INVISIBLE = re.compile("[\u00ad\u200b\u200c\u200d\u2060\ufeff]")
_NAME_VARIABLES = frozenset({
    "author", "editor", "translator", "container-author", "collection-editor", "director",
    "contributor", "script-writer",
    "reviewed-author", "interviewer", "recipient", "composer", "illustrator", "performer",
    "narrator", "producer",
    "compiler", "organizer", "curator", "original-author", "editorial-director",
    "editor-translator", "chair",
})  # fmt: skip
_DATES = frozenset(
    {"issued", "accessed", "original-date", "event-date", "submitted", "available-date"}
)


def fold(text: str) -> str:
    text = _TAG.sub("", unicodedata.normalize("NFKC", text))
    text = _DOUBLE.sub('"', _SINGLE.sub("'", _DASHES.sub("-", unicodedata.normalize("NFKC", text))))
    text = _SPACES.sub(" ", _INVISIBLE.sub("", text)).strip()
    return text.removesuffix(".").strip()


def name_text(name: dict[str, Any]) -> str:
    if "literal" in name:
        return fold(name["literal"])
    family = " ".join(
        part
        for part in (
            name.get("dropping-particle"),
            name.get("non-dropping-particle"),
            name.get("family"),
        )
        if part
    )
    return fold(", ".join(part for part in (family, name.get("given"), name.get("suffix")) if part))


def date_text(date: dict[str, Any]) -> str:
    if "date-parts" in date:
        points = ["-".join(f"{part:02d}" for part in parts) for parts in date["date-parts"]]
        return "/".join(points) + (f" season {date['season']}" if "season" in date else "")
    return fold(str(date.get("literal") or date.get("raw") or ""))


def keywords_text(words: Iterable[str]) -> str:
    return " | ".join(sorted({fold(word) for word in words if word.strip()}))


def field_text(name: str, value: Any) -> str:
    if name in _NAME_VARIABLES and isinstance(value, list):
        return " & ".join(name_text(person) for person in value)
    if name in _DATES and isinstance(value, dict):
        return date_text(value)
    text = str(value)
    if name == "DOI":
        return re.sub(r"^(?:https?://(?:dx\.)?doi\.org/|doi:)", "", fold(text).lower())
    if name in {"ISBN", "ISSN"}:
        return " ".join(
            sorted(re.findall(r"[0-9Xx]{8,}", re.sub(r"(?<=\d)[-–](?=[\dXx])", "", text)))
        ).upper() or fold(text)
    if name == "keyword":
        return keywords_text(text.split(";"))
    if name == "language":
        return two_letters(language_code(text))
    if name in {"page", "volume", "issue"}:
        return fold(text).replace(" ", "")
    return fold(text)


def record_of(item: dict[str, Any]) -> Record:
    """Our own item as a record."""
    record: Record = {}
    for name, value in item.items():
        if name == "custom":
            for inner, content in value.items():
                if inner == "fields":
                    record |= {f"other.{key}": fold(str(text)) for key, text in content.items()}
                elif inner == "additional_urls":
                    record["additional_urls"] = " ".join(sorted(content))
                else:
                    record[f"custom.{inner}"] = fold(str(content))
        else:
            record[name] = field_text(name, value)
    return {name: text for name, text in record.items() if text}


@dataclass(slots=True)
class Agreement:
    """Counts of fields over many records."""

    same: int = 0
    different: int = 0
    missing: int = 0
    extra: int = 0
    examples: list[tuple[str, str, str, str, str]] = field(default_factory=list)

    @property
    def total(self) -> int:
        return self.same + self.different + self.missing + self.extra

    @property
    def share(self) -> float:
        return self.same / self.total if self.total else 1.0

    @property
    def share_of_expected(self) -> float:
        """The share without the fields that only we have."""
        expected = self.total - self.extra
        return self.same / expected if expected else 1.0

    def add(self, place: str, expected: Record, ours: Record) -> None:
        for name in sorted(expected.keys() | ours.keys()):
            theirs, mine = expected.get(name), ours.get(name)
            if theirs == mine:
                self.same += 1
                continue
            if mine is None:
                kind, self.missing = "missing", self.missing + 1
            elif theirs is None:
                kind, self.extra = "extra", self.extra + 1
            else:
                kind, self.different = "different", self.different + 1
            self.examples.append((place, name, kind, theirs or "", mine or ""))

    def join(self, other: "Agreement") -> None:
        self.same += other.same
        self.different += other.different
        self.missing += other.missing
        self.extra += other.extra
        self.examples += other.examples
