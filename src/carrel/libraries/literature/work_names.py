"""Names of works as people and services write them: any identifier, bare, labelled or as a URL."""

from __future__ import annotations

import re
from dataclasses import dataclass

from carrel.libraries.identifiers import (
    ArxivId,
    Doi,
    Identifier,
    Isbn,
    NotAnIdentifierError,
    Pmcid,
    Pmid,
)
from carrel.libraries.literature.records import WorkIds


@dataclass(frozen=True, slots=True)
class OwnName:
    """A record's name at one service alone; `value` is as WorkIds has it."""

    service: str
    kind: str
    value: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}"


WorkName = Identifier | OwnName

_HEX = r"[0-9a-f]{40}"
_OWN_FORMS: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (service, kind, re.compile(pattern, re.IGNORECASE))
    for service, kind, pattern in (
        (
            "openalex",
            "openalex",
            r"(?:openalex\s*:\s*)?(?:https?://(?:api\.|explore\.)?openalex\.org/(?:works/)?)?"
            r"(W[1-9][0-9]{3,12})",
        ),
        (
            "semantic_scholar",
            "semantic_scholar",
            rf"(?:(?:semantic_scholar|s2)\s*:\s*)?(?:https?://(?:www\.|api\.)?semanticscholar\.org/"
            rf"(?:paper|graph/v1/paper)/(?:[^/?#]+/)?)?({_HEX})(?:[?#].*)?",
        ),
        ("semantic_scholar", "corpus_id", r"(?:corpus_?id)\s*:\s*([1-9][0-9]{0,11})"),
        ("semantic_scholar", "mag", r"mag\s*:\s*([1-9][0-9]{0,11})"),
        ("semantic_scholar", "acl", r"acl\s*:\s*(\S{3,80})"),
        (
            "europepmc",
            "europepmc",
            r"(?:europepmc\s*:\s*|https?://(?:www\.)?europepmc\.org/(?:article|abstract)/)"
            r"([A-Z]{3}/[A-Z0-9]{1,20})",
        ),
        (
            "dblp",
            "dblp",
            r"(?:dblp\s*:\s*|https?://dblp\.(?:org|uni-trier\.de)/rec/)"
            r"((?:conf|journals|books|phd|series|reference|tr|homepages|data)/\S{1,120}?)"
            r"(?:\.html|\.bib|\.xml)?",
        ),
    )
)
_LABELS: dict[str, type[Identifier]] = {
    "doi": Doi, "pmid": Pmid, "pmcid": Pmcid, "arxiv": ArxivId, "isbn": Isbn,
}  # fmt: skip
_LABELLED = re.compile(r"^(doi|pmid|pmcid|arxiv|isbn)\s*:\s*(.+)$", re.IGNORECASE | re.DOTALL)
# A number alone may be an ISBN by its check digit; else it is taken for PubMed's.
_IN_ORDER: tuple[type[Identifier], ...] = (Doi, ArxivId, Pmcid, Isbn, Pmid)


def parse_work_name(text: str) -> WorkName:
    """The name of a work in any usual form. Raises NotAnIdentifierError."""
    asked = text.strip().strip("<>\"'").strip()
    labelled = _LABELLED.match(asked)
    if labelled is not None:
        kind = _LABELS[labelled.group(1).lower()]
        return _read_labelled(kind, labelled.group(2), asked)
    for service, form, pattern in _OWN_FORMS:
        found = pattern.fullmatch(asked)
        if found is not None:
            return OwnName(service, form, _normal_form(form, found.group(1)))
    for each in _IN_ORDER:
        try:
            return each.parse(asked)
        except NotAnIdentifierError:
            continue
    raise NotAnIdentifierError("known identifier", text)


def _read_labelled(kind: type[Identifier], value: str, asked: str) -> Identifier:
    try:
        return kind.parse(value)
    except NotAnIdentifierError:
        # A label before another label, as in `PMID: PMC123` is no identifier; `doi:` may be part.
        return kind.parse(asked)


def _normal_form(kind: str, value: str) -> str:
    if kind in {"openalex", "europepmc"}:
        return value.upper()
    return value.lower() if kind == "semantic_scholar" else value


def list_identifiers(ids: WorkIds) -> list[Identifier]:
    """The identifiers of a work that many services know, the best first."""
    named = (
        (Doi, ids.doi), (Pmid, ids.pmid), (ArxivId, ids.arxiv), (Pmcid, ids.pmcid),
        (Isbn, ids.isbn),
    )  # fmt: skip
    found: list[Identifier] = []
    for kind, value in named:
        if value is None:
            continue
        try:
            found.append(kind.parse(value))
        except NotAnIdentifierError:
            continue
    return found


def has_name(ids: WorkIds, name: WorkName) -> bool:
    """Whether these identifiers name the same work; arXiv's DOI names its preprint."""
    match name:
        case OwnName(kind=kind, value=value):
            return getattr(ids, kind, None) == value
        case Doi(value=value):
            own = None if name.arxiv is None else name.arxiv.value
            return ids.doi == value or (own is not None and ids.arxiv == own)
        case ArxivId(value=value):
            return ids.arxiv == value or ids.doi == name.doi
        case Pmid(value=value):
            return ids.pmid == value
        case Pmcid(value=value):
            return ids.pmcid == value
        case Isbn(value=value):
            return ids.isbn == value
