"""Detects whether a text is a bibliography format or an identifier."""

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
_WEB_OF_SCIENCE = re.compile(
    r"(?:^|\n)(?:FN (?:ISI|Thomson|Clarivate)|VR 1\.\d|PT (?:[A-Z]|Journal)[ \t]*\r?\n)"
)
_WEB_OF_SCIENCE_FIELD = re.compile(r"(?:^|\n)(?:AU|TI|SO|PY|AB) \S")
_OVID_RECORD = re.compile(r"(?:^|\n)<\d{1,7}>[ \t]*\r?\n")
_OVID_FIELD = re.compile(r"\n(?:Title|Authors?|Source|Unique Identifier)[^\n]{0,40}\n[ \t]+\S")
_SILVER_PLATTER_TITLE = re.compile(r"(?:^|\n)TI:[ \t]+\S")
_SILVER_PLATTER_FIELD = re.compile(r"(?:^|\n)(?:AU|SO|PB|DT|RT|AB):[ \t]+\S")
_CITATION_FILE = re.compile(r"(?:^|\n)cff-version[ \t]*:")
_BIBTEX_XML = "bibtexml.sf.net"
_MARC = re.compile(r"\d{5}[a-z][a-z][a-z ].[ a]22\d{5}[^\n]{3}4500\d{12}")
_PICA_TAG = re.compile(r"<(?:[\w.-]+:)?datafield\s[^<>]*tag=[\"']\d{3}[A-Z@][\"']")
_CSV_HEAD = re.compile(
    r'"?Key"?,"?Item Type"?,"?Publication Year"?|"?Authors"?,[^\n]{0,200}"?Title"?,"?Year"?,'
    r'"?Source title"?|PT\tAU\t'
)
_NEP = re.compile(r"(?:^|\n)NEP: New Economics Papers")
_LOOKED_AT = 100_000
_MAX_IDENTIFIER_CHARS = 400


class InputKind(Enum):
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
    MARC = "marc"
    PICA_XML = "pica-xml"
    CSV = "csv"
    MS_BIB = "ms-bib"
    CITAVI = "citavi"
    BIBLIOSCAPE = "biblioscape"
    COPAC = "copac"
    REPEC_NEP = "repec-nep"
    WEB_OF_SCIENCE = "web-of-science"
    OVID = "ovid"
    SILVER_PLATTER = "silver-platter"
    CITATION_FILE = "citation-file"
    BIBTEX_XML = "bibtex-xml"
    DOI = "doi"
    PMID = "pmid"
    PMCID = "pmcid"
    ARXIV = "arxiv"
    ISBN = "isbn"


_XML_KINDS = {
    "PubmedArticleSet": InputKind.PUBMED_XML, "PubmedArticle": InputKind.PUBMED_XML,
    "PubmedBookArticleSet": InputKind.PUBMED_XML, "PubmedBookArticle": InputKind.PUBMED_XML,
    "MedlineCitationSet": InputKind.PUBMED_XML, "MedlineCitation": InputKind.PUBMED_XML,
    "BookDocument": InputKind.PUBMED_XML, "modsCollection": InputKind.MODS, "mods": InputKind.MODS,
    "CitaviExchangeData": InputKind.CITAVI, "Sources": InputKind.MS_BIB, "Source": InputKind.MS_BIB,
    "records": InputKind.ENDNOTE_XML, "ref-type": InputKind.ENDNOTE_XML,
    "leader": InputKind.MARC_XML, "controlfield": InputKind.MARC_XML,
    "datafield": InputKind.MARC_XML,
}  # fmt: skip
_SHAPES = (
    ((_REFER,), InputKind.REFER),
    ((_BIBLIOSCAPE,), InputKind.BIBLIOSCAPE),
    ((_NEP,), InputKind.REPEC_NEP),
    ((_RIS_FIELD, _RIS_END), InputKind.RIS),
    ((_COPAC_TITLE, _COPAC_FIELD), InputKind.COPAC),
    ((_CITATION_FILE,), InputKind.CITATION_FILE),
    ((_OVID_RECORD, _OVID_FIELD), InputKind.OVID),
    ((_SILVER_PLATTER_TITLE, _SILVER_PLATTER_FIELD), InputKind.SILVER_PLATTER),
    ((_WEB_OF_SCIENCE, _WEB_OF_SCIENCE_FIELD), InputKind.WEB_OF_SCIENCE),
)
_IDENTIFIERS: tuple[tuple[InputKind, type[Identifier]], ...] = (
    (InputKind.DOI, Doi),
    (InputKind.PMCID, Pmcid),
    (InputKind.ARXIV, ArxivId),
    (InputKind.ISBN, Isbn),
    (InputKind.PMID, Pmid),
)
IDENTIFIER_KINDS = frozenset(kind for kind, _ in _IDENTIFIERS)


def recognise(text: str) -> InputKind | None:
    """The kind of a text, or None when it is not recognised."""
    text = text.lstrip("\ufeff \t\r\n")
    if not text:
        return None
    kind = _identifier_kind(text.strip())
    if kind:
        return kind
    head = text[:_LOOKED_AT]
    if head[0] == "[" or (head[0] == "{" and '"' in head[:200]):
        return InputKind.CSL_JSON
    if _XML_START.match(head):
        return _xml(head)
    if _MARC.match(head):
        return InputKind.MARC
    if _CSV_HEAD.match(head):
        return InputKind.CSV
    if _RIS.search(head) and not _BIBTEX_START.match(head):
        return InputKind.RIS
    if _NBIB.search(head) and not head.startswith("@"):
        return InputKind.NBIB
    if _has_bibtex(head):
        return InputKind.BIBTEX
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


def _identifier_kind(text: str) -> InputKind | None:
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


def _xml(head: str) -> InputKind | None:
    if _BIBTEX_XML in head:
        return InputKind.BIBTEX_XML
    search_answer = head.find("searchRetrieveResponse")
    for found in _ELEMENT.finditer(head):
        name = found.group(1)
        kind = _XML_KINDS.get(name)
        if (
            kind is InputKind.ENDNOTE_XML
            and name == "records"
            and 0 <= search_answer < found.start()
        ):
            continue
        if kind is InputKind.MARC_XML and _PICA_TAG.search(head, found.start()):
            return InputKind.PICA_XML
        if kind:
            return kind
    return None
