"""What a piece of text is, told by its shape: a bibliography format or an identifier."""

import re
from enum import Enum

from carrel.libraries.identifiers import (
    ArxivId,
    Doi,
    Identifier,
    Isbn,
    NotAnIdentifierError,
    Pmcid,
    Pmid,
)

_XML_START = re.compile(r"\s*<(?:\?xml|!DOCTYPE|!--|[A-Za-z])")
_ELEMENT = re.compile(r"<(?:[\w.-]+:)?([A-Za-z][\w.-]*)[\s/>]")
_BIBTEX_START = re.compile(r"@\s*[A-Za-z][\w:.+-]*\s*[{(]")
_RIS = re.compile(r"(?:^|\n)[ \t\ufeff]*TY {1,3}- ?\s*[A-Z]")
_RIS_FIELD = re.compile(r"(?:^|\n)(?:AU|A1|TI|T1|PY|JO|JF) {2}- ")
_RIS_END = re.compile(r"\nER {2}-")
_NBIB = re.compile(r"(?:^|\n)(?:PMID|PMC ) ?-\s?\s*\w|(?:^|\n)FAU - ")
_REFER = re.compile(r"(?:^|\n)%[0ATJ] \S.*\n%[0-9A-Z@!] ")
_BIBLIOSCAPE = re.compile(r"(?:^|\n)--[A-Z][A-Z0-9]-- ")
_COPAC_TITLE = re.compile(r"(?:^|\n)TI- \S")
_COPAC_FIELD = re.compile(r"(?:^|\n)(?:HL|PU|DT|AU)- ")
_NEP = re.compile(r"(?:^|\n)NEP: New Economics Papers")
_LOOKED_AT = 100_000
_MAX_IDENTIFIER_CHARS = 400


class Kind(Enum):
    """Everything that `add` takes as text."""

    BIBTEX = "bibtex"
    RIS = "ris"
    NBIB = "nbib"
    PUBMED_XML = "pubmed-xml"
    ENDNOTE_XML = "endnote-xml"
    REFER = "refer"
    CSL_JSON = "csl-json"
    MODS = "mods"
    MARC_XML = "marc-xml"
    MS_BIB = "ms-bib"
    CITAVI = "citavi"
    BIBLIOSCAPE = "biblioscape"
    COPAC = "copac"
    REPEC_NEP = "repec-nep"
    DOI = "doi"
    PMID = "pmid"
    PMCID = "pmcid"
    ARXIV = "arxiv"
    ISBN = "isbn"


_XML_KINDS = {
    "PubmedArticleSet": Kind.PUBMED_XML, "PubmedArticle": Kind.PUBMED_XML,
    "PubmedBookArticleSet": Kind.PUBMED_XML,
    "PubmedBookArticle": Kind.PUBMED_XML,
    "MedlineCitationSet": Kind.PUBMED_XML, "MedlineCitation": Kind.PUBMED_XML,
    "BookDocument": Kind.PUBMED_XML,
    "modsCollection": Kind.MODS, "mods": Kind.MODS,
    "CitaviExchangeData": Kind.CITAVI, "Sources": Kind.MS_BIB, "Source": Kind.MS_BIB,
    "records": Kind.ENDNOTE_XML,
    "ref-type": Kind.ENDNOTE_XML,
    "leader": Kind.MARC_XML,
    "controlfield": Kind.MARC_XML, "datafield": Kind.MARC_XML,
}  # fmt: skip
_SHAPES = (
    ((_REFER,), Kind.REFER),
    ((_BIBLIOSCAPE,), Kind.BIBLIOSCAPE),
    ((_NEP,), Kind.REPEC_NEP),
    ((_RIS_FIELD, _RIS_END), Kind.RIS),
    ((_COPAC_TITLE, _COPAC_FIELD), Kind.COPAC),
)
_IDENTIFIERS: tuple[tuple[Kind, type[Identifier]], ...] = (
    (Kind.DOI, Doi),
    (Kind.PMCID, Pmcid),
    (Kind.ARXIV, ArxivId),
    (Kind.ISBN, Isbn),
    (Kind.PMID, Pmid),
)
IDENTIFIER_KINDS = frozenset(kind for kind, _ in _IDENTIFIERS)


def recognise(text: str) -> Kind | None:
    """The kind of a text, or None when it has the shape of nothing that is known."""
    text = text.lstrip("\ufeff \t\r\n")
    if not text:
        return None
    kind = _identifier_kind(text.strip())
    if kind:
        return kind
    head = text[:_LOOKED_AT]
    if head[0] == "[" or (head[0] == "{" and '"' in head[:200]):
        return Kind.CSL_JSON
    if _XML_START.match(head):
        return _xml(head)
    if _RIS.search(head) and not _BIBTEX_START.match(head):
        return Kind.RIS
    if _NBIB.search(head) and not head.startswith("@"):
        return Kind.NBIB
    if _has_bibtex(head):
        return Kind.BIBTEX
    for shapes, kind in _SHAPES:
        if all(shape.search(head) for shape in shapes):
            return kind
    return None


def is_bibliography(text: str) -> bool:
    """Whether a text has the shape of a bibliography format."""
    kind = recognise(text)
    return kind is not None and kind not in IDENTIFIER_KINDS


def identifier_of(text: str) -> Identifier | None:
    """The identifier that a text is, or None."""
    if len(text) >= _MAX_IDENTIFIER_CHARS or "\n" in text.strip():
        return None
    # Its check digit tells an ISBN from a PubMed number, which is shorter.
    for _, parser in _IDENTIFIERS:
        try:
            return parser.parse(text)
        except NotAnIdentifierError:
            continue
    return None


def _identifier_kind(text: str) -> Kind | None:
    found = identifier_of(text)
    return next((kind for kind, parser in _IDENTIFIERS if isinstance(found, parser)), None)


def _has_bibtex(head: str) -> bool:
    """Whether an entry begins on a line of its own, or right behind another."""
    end = 0
    for found in _BIBTEX_START.finditer(head):
        before = head[end : found.start()]
        kept = before.rstrip()
        if (
            "\n" in before[len(kept) :]
            or kept.endswith("}")
            or (not kept and (end == 0 or head[end - 1] in "\n}"))
        ):
            return True
        end = found.end()
    return False


def _xml(head: str) -> Kind | None:
    search_answer = head.find("searchRetrieveResponse")
    for found in _ELEMENT.finditer(head):
        name = found.group(1)
        kind = _XML_KINDS.get(name)
        if kind is Kind.ENDNOTE_XML and name == "records" and 0 <= search_answer < found.start():
            continue
        if kind:
            return kind
    return None
