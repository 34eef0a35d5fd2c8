"""The keys by which a paper is known, made of a record; paper_id is made of the strongest."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from carrel.libraries.identifiers import ARXIV_DOI_PREFIX
from carrel.rooms.papers.building.paper_records import PaperRecord

UNKNOWN = "unknown"
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d{2}(?!\d)")
_NUMERIC_MONTH = re.compile(r"(?<!\d)(?:1[5-9]|20)\d{2}[-/.](0?[1-9]|1[0-2])(?!\d)")
_MONTH_WORD = re.compile(
    r"\b(?:(jan)(?:uary)?|(feb)(?:ruary)?|(mar)(?:ch)?|(apr)(?:il)?|(may)|(jun)e?|(jul)y?|(aug)(?:ust)?|(sep)(?:t(?:ember)?)?"
    r"|(oct)(?:ober)?|(nov)(?:ember)?|(dec)(?:ember)?)\b"
)


class _SpaceForPunctuation(dict[int, int]):
    """A translation table from punctuation and symbols to spaces, filled at need."""

    def __missing__(self, code: int) -> int:
        self[code] = 32 if unicodedata.category(chr(code))[0] in "PS" else code
        return self[code]


_SPACE_FOR_PUNCTUATION = _SpaceForPunctuation()


class KeyKind(IntEnum):
    """A paper's id is made of the lowest; numbers are part of stored records."""

    DOI = 0
    ARXIV = 1
    BIB = 2
    META = 3
    # Younger than stored ids, so that none is made of them where a paper has another key.
    PMID = 4
    PMCID = 5
    OPENALEX = 6
    # An id of ours: one that the paper had before papers were joined, or its own in need.
    ID = 9


@dataclass(frozen=True, slots=True)
class PaperKey:
    """One name of a paper. `fingerprint` is the readable form behind a meta key's hash."""

    kind: KeyKind
    value: str
    fingerprint: str | None = None

    @property
    def kind_name(self) -> str:
        return self.kind.name.lower()


def make_paper_id(key: str) -> str:
    """The paper identifier for this key, the same in every snapshot."""
    return hashlib.sha256(f"v1|{key}".encode()).hexdigest()[:32]


def paper_keys(record: PaperRecord) -> tuple[PaperKey, ...]:
    """All keys of a record, those that ids are made of first; empty without any."""
    keys: list[PaperKey] = []
    arxiv_id = record.arxiv_id
    if record.doi:
        doi = record.doi.rstrip(".,;)")
        keys.append(PaperKey(KeyKind.DOI, f"doi:{doi}"))
        if arxiv_id is None and doi.startswith(ARXIV_DOI_PREFIX):
            arxiv_id = doi.removeprefix(ARXIV_DOI_PREFIX)
    if arxiv_id:
        keys.append(PaperKey(KeyKind.ARXIV, f"arxiv:{re.sub(r'v[0-9]+$', '', arxiv_id.lower())}"))
    if record.citation_key:
        keys.append(PaperKey(KeyKind.BIB, f"bib:{record.citation_key}"))
    # OpenAlex knows thousands of works such as "Index" without authors, which are no one paper.
    is_unsigned = record.openalex_id is not None and not record.authors
    if not is_unsigned and normalise_title(record.title):
        fingerprint = meta_fingerprint(record)
        keys.append(
            PaperKey(
                KeyKind.META,
                f"meta:{hashlib.sha256(fingerprint.encode()).hexdigest()}",
                fingerprint,
            )
        )
    if record.pmid:
        keys.append(PaperKey(KeyKind.PMID, f"pmid:{record.pmid}"))
    if record.pmcid:
        keys.append(PaperKey(KeyKind.PMCID, f"pmcid:{record.pmcid.lower()}"))
    if record.openalex_id:
        keys.append(PaperKey(KeyKind.OPENALEX, f"openalex:{record.openalex_id.lower()}"))
    return tuple(keys)


def meta_fingerprint(record: PaperRecord) -> str:
    """Title, authors, venue and year, normalised so that spelling does not matter."""
    facts = {
        "authors": sorted(name for author in record.authors if (name := _normalise(author))),
        "title": normalise_title(record.title),
        "venue": _normalise(record.venue or ""),
        "year": find_year(record.publication_date),
    }
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def normalise_title(title: str) -> str:
    """The title in lower case, with only letters, digits, marks and single spaces."""
    return " ".join(
        unicodedata.normalize("NFKC", title).lower().translate(_SPACE_FOR_PUNCTUATION).split()
    )


def find_year(date: str | None) -> str:
    found = _YEAR.search(date or "")
    return found.group() if found else UNKNOWN


def find_month(date: str | None) -> str:
    """The month of '2017-06', '2017/6/12' or 'March 2021' as two digits."""
    text = (date or "").lower()
    if found := _NUMERIC_MONTH.search(text):
        return f"{int(found.group(1)):02d}"
    if found := _MONTH_WORD.search(text):
        return f"{found.lastindex or 0:02d}"
    return UNKNOWN


def facet_value(text: str | None) -> str | None:
    """A facet value in lower case with single spaces; None if empty or unknown."""
    value = " ".join((text or "").lower().split())
    return None if value in {"", UNKNOWN} else value


def _normalise(text: str) -> str:
    # Not `fold_text`: the fingerprint is part of paper_id, in the snapshots of other tools as well.
    return " ".join(unicodedata.normalize("NFKC", text).lower().split())


def has_only_title(key: PaperKey) -> bool:
    """Whether the fields behind a meta key are a title without people, and without a place."""
    if key.kind is not KeyKind.META or key.fingerprint is None:
        return False
    facts: dict[str, Any] = json.loads(key.fingerprint)
    has_place = facts.get("venue") and facts.get("year") not in {"", UNKNOWN, None}
    return not facts["authors"] and not has_place
