"""What a piece of text is, told by its shape: a bibliography format or an identifier."""

import re
from enum import Enum

from carrel.core.identifiers import ArxivId, Doi, Isbn, NotAnIdentifierError, Pmcid, Pmid

_XML_START = re.compile(r"\s*<(?:\?xml|!DOCTYPE|!--|[A-Za-z])")
_ELEMENT = re.compile(r"<(?:[\w.-]+:)?([A-Za-z][\w.-]*)[\s/>]")
_BIBTEX = re.compile(r"(?:^|[\n}])\s*@\s*[A-Za-z][\w:.+-]*\s*[{(]")
_RIS = re.compile(r"(?:^|\n)[ \t\ufeff]*TY {1,3}- ?\s*[A-Z]")
_RIS_WITHOUT_TYPE = re.compile(r"(?:^|\n)(?:AU|A1|TI|T1|PY|JO|JF) {2}- .*\n(?:[\s\S]*\n)?ER {2}-")
_NBIB = re.compile(r"(?:^|\n)(?:PMID|PMC ) ?-\s?\s*\w|(?:^|\n)FAU - ")
_REFER = re.compile(r"(?:^|\n)%[0ATJ] \S.*\n%[0-9A-Z@!] ")
_BIBLIOSCAPE = re.compile(r"(?:^|\n)--[A-Z][A-Z0-9]-- ")
_COPAC = re.compile(r"(?:^|\n)(?:TI|HL|DT)- \S.*\n(?:.*\n)*?(?:HL|PU|DT|AU)- ")
_NEP = re.compile(r"(?:^|\n)NEP: New Economics Papers")
_LOOKED_AT = 100_000


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
    BIBLIOSCAPE = "biblioscape"
    COPAC = "copac"
    REPEC_NEP = "repec-nep"
    DOI = "doi"
    PMID = "pmid"
    PMCID = "pmcid"
    ARXIV = "arxiv"
    ISBN = "isbn"


_XML_KINDS = {
    "PubmedArticleSet": Kind.PUBMED_XML, "PubmedArticle": Kind.PUBMED_XML, "PubmedBookArticleSet": Kind.PUBMED_XML,
    "PubmedBookArticle": Kind.PUBMED_XML,
    "MedlineCitationSet": Kind.PUBMED_XML, "MedlineCitation": Kind.PUBMED_XML, "BookDocument": Kind.PUBMED_XML,
    "modsCollection": Kind.MODS, "mods": Kind.MODS,
    "Sources": Kind.MS_BIB, "Source": Kind.MS_BIB, "records": Kind.ENDNOTE_XML, "ref-type": Kind.ENDNOTE_XML,
    "leader": Kind.MARC_XML,
    "controlfield": Kind.MARC_XML, "datafield": Kind.MARC_XML,
}  # fmt: skip
_IDENTIFIERS = ((Kind.DOI, Doi), (Kind.PMCID, Pmcid), (Kind.ARXIV, ArxivId), (Kind.ISBN, Isbn), (Kind.PMID, Pmid))
IDENTIFIER_KINDS = frozenset(kind for kind, _ in _IDENTIFIERS)


def recognise(text: str) -> Kind | None:
    """The kind of a text, or None when it has the shape of nothing that is known."""
    text = text.lstrip("\ufeff \t\r\n")
    if not text:
        return None
    if len(text) < 400 and "\n" not in text.strip():
        kind = _identifier(text.strip())
        if kind:
            return kind
    head = text[:_LOOKED_AT]
    if head[0] == "[" or (head[0] == "{" and '"' in head[:200]):
        return Kind.CSL_JSON
    if _XML_START.match(head):
        return _xml(head)
    if _RIS.search(head) and not (head.startswith("@") and _BIBTEX.match(head)):
        return Kind.RIS
    if _NBIB.search(head) and not head.startswith("@"):
        return Kind.NBIB
    if _BIBTEX.search(head):
        return Kind.BIBTEX
    for shape, kind in (
        (_REFER, Kind.REFER),
        (_BIBLIOSCAPE, Kind.BIBLIOSCAPE),
        (_NEP, Kind.REPEC_NEP),
        (_RIS_WITHOUT_TYPE, Kind.RIS),
        (_COPAC, Kind.COPAC),
    ):
        if shape.search(head):
            return kind
    return None


def _identifier(text: str) -> Kind | None:
    """An ISBN's check digit tells it from a PubMed number, which has nine digits at most."""
    for kind, parser in _IDENTIFIERS:
        try:
            parser.parse(text)
        except NotAnIdentifierError:
            continue
        return kind
    return None


def _xml(head: str) -> Kind | None:
    for found in _ELEMENT.finditer(head):
        name = found.group(1)
        kind = _XML_KINDS.get(name)
        if kind is Kind.ENDNOTE_XML and name == "records" and "searchRetrieveResponse" in head[: found.start()]:
            continue
        if kind:
            return kind
    return None
