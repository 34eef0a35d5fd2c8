"""The names a paper is known by, and the identifier that follows from the best of them."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from dataclasses import dataclass
from enum import IntEnum

from carrel.core.paper_record import PaperRecord

UNKNOWN = "unknown"
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d{2}(?!\d)")
_NUMERIC_MONTH = re.compile(r"(?<!\d)(?:1[5-9]|20)\d{2}[-/.](0?[1-9]|1[0-2])(?!\d)")
_MONTH_WORD = re.compile(
    r"\b(?:(jan)(?:uary)?|(feb)(?:ruary)?|(mar)(?:ch)?|(apr)(?:il)?|(may)|(jun)e?|(jul)y?|(aug)(?:ust)?|(sep)(?:t(?:ember)?)?"
    r"|(oct)(?:ober)?|(nov)(?:ember)?|(dec)(?:ember)?)\b"
)
_ARXIV_DOI = "10.48550/arxiv."


class _SpaceForPunctuation(dict[int, int]):
    """Maps every character to itself and punctuation and symbols to a space, looking each up
    once.
    """

    def __missing__(self, code: int) -> int:
        self[code] = 32 if unicodedata.category(chr(code))[0] in "PS" else code
        return self[code]


_SPACE_FOR_PUNCTUATION = _SpaceForPunctuation()


class KeyKind(IntEnum):
    """Lower is stronger."""

    DOI = 0
    ARXIV = 1
    BIB = 2
    META = 3


@dataclass(frozen=True, slots=True)
class PaperKey:
    """One name of a paper. `fingerprint` is the readable form behind a meta key's hash."""

    kind: KeyKind
    value: str
    fingerprint: str | None = None

    @property
    def kind_name(self) -> str:
        return self.kind.name.lower()


def paper_id_of(key: str) -> str:
    """The identifier of a paper known by this key; the same in every snapshot, ours or others'."""
    return hashlib.sha256(f"v1|{key}".encode()).hexdigest()[:32]


def keys_of(record: PaperRecord) -> tuple[PaperKey, ...]:
    """Every name the record gives its paper, strongest first. A record without title and
    identifiers has none.
    """
    keys: list[PaperKey] = []
    arxiv_id = record.arxiv_id
    if record.doi:
        doi = record.doi.rstrip(".,;)")
        keys.append(PaperKey(KeyKind.DOI, f"doi:{doi}"))
        if arxiv_id is None and doi.startswith(_ARXIV_DOI):
            arxiv_id = doi.removeprefix(_ARXIV_DOI)
    if arxiv_id:
        keys.append(PaperKey(KeyKind.ARXIV, f"arxiv:{re.sub(r'v[0-9]+$', '', arxiv_id.lower())}"))
    if record.citation_key:
        keys.append(PaperKey(KeyKind.BIB, f"bib:{record.citation_key}"))
    if title_words(record.title):
        fingerprint = meta_fingerprint(record)
        keys.append(
            PaperKey(
                KeyKind.META,
                f"meta:{hashlib.sha256(fingerprint.encode()).hexdigest()}",
                fingerprint,
            )
        )
    return tuple(keys)


def meta_fingerprint(record: PaperRecord) -> str:
    """What is left of title, authors, venue and year when spelling no longer matters."""
    facts = {
        "authors": sorted(name for author in record.authors if (name := _folded(author))),
        "title": title_words(record.title),
        "venue": _folded(record.venue or ""),
        "year": year_of(record.publication_date),
    }
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def title_words(title: str) -> str:
    """The title in lower case, with everything but letters, digits and marks turned into single
    spaces.
    """
    return " ".join(
        unicodedata.normalize("NFKC", title).lower().translate(_SPACE_FOR_PUNCTUATION).split()
    )


def year_of(date: str | None) -> str:
    found = _YEAR.search(date or "")
    return found.group() if found else UNKNOWN


def month_of(date: str | None) -> str:
    """The month of '2017-06', '2017/6/12' or 'March 2021' as two digits."""
    text = (date or "").lower()
    if found := _NUMERIC_MONTH.search(text):
        return f"{int(found.group(1)):02d}"
    if found := _MONTH_WORD.search(text):
        return f"{found.lastindex or 0:02d}"
    return UNKNOWN


def facet_value(text: str | None) -> str | None:
    """A facet's spelling: lower case, single spaces; None for what says nothing."""
    value = " ".join((text or "").lower().split())
    return None if value in {"", UNKNOWN} else value


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).lower().split())
