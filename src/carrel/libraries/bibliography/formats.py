"""Reads and writes bibliographies of every format; detects unknown ones."""

from collections.abc import Callable, Sequence
from enum import Enum

from carrel.libraries.bibliography.bibtex.fields import TitleCase
from carrel.libraries.bibliography.bibtex.reader import read_bibtex
from carrel.libraries.bibliography.bibtex.writer import BibtexDialect, write_bibtex
from carrel.libraries.bibliography.bibtex_xml import read_bibtex_xml
from carrel.libraries.bibliography.citation_file import read_citation_file
from carrel.libraries.bibliography.citavi import ZIP_START, read_citavi
from carrel.libraries.bibliography.csl_json import read_csl_json, write_csl_json
from carrel.libraries.bibliography.csv_exports import read_csv_export
from carrel.libraries.bibliography.endnote_xml import read_endnote_xml
from carrel.libraries.bibliography.imports import (
    BibliographyError,
    CslItem,
    ImportResult,
    UnknownFormatError,
    decode,
)
from carrel.libraries.bibliography.marc import read_marc_binary, read_marc_xml
from carrel.libraries.bibliography.mods import read_mods
from carrel.libraries.bibliography.ms_bib import read_ms_bib
from carrel.libraries.bibliography.nbib import read_nbib
from carrel.libraries.bibliography.ovid import read_ovid
from carrel.libraries.bibliography.pica_xml import read_pica_xml
from carrel.libraries.bibliography.pubmed_xml import read_pubmed_xml
from carrel.libraries.bibliography.recognition import InputKind, recognise
from carrel.libraries.bibliography.refer import read_refer
from carrel.libraries.bibliography.ris import read_ris
from carrel.libraries.bibliography.ris_writer import write_ris
from carrel.libraries.bibliography.silver_platter import read_silver_platter
from carrel.libraries.bibliography.tagged_formats import (
    read_biblioscape,
    read_copac,
    read_repec_nep,
)
from carrel.libraries.bibliography.web_of_science import read_web_of_science
from carrel.libraries.csl.schema import NAME_VARIABLES
from carrel.libraries.identifiers import without_resolver
from carrel.libraries.text.budget import parsing

_READERS: dict[InputKind, Callable[[str | bytes], ImportResult]] = {
    InputKind.RIS: read_ris,
    InputKind.NBIB: read_nbib,
    InputKind.PUBMED_XML: read_pubmed_xml,
    InputKind.ENDNOTE_XML: read_endnote_xml,
    InputKind.REFER: read_refer,
    InputKind.CSL_JSON: read_csl_json,
    InputKind.MODS: read_mods,
    InputKind.MARC_XML: read_marc_xml,
    InputKind.MARC: read_marc_binary,
    InputKind.PICA_XML: read_pica_xml,
    InputKind.CSV: read_csv_export,
    InputKind.MS_BIB: read_ms_bib,
    InputKind.CITAVI: read_citavi,
    InputKind.BIBLIOSCAPE: read_biblioscape,
    InputKind.COPAC: read_copac,
    InputKind.REPEC_NEP: read_repec_nep,
    InputKind.WEB_OF_SCIENCE: read_web_of_science,
    InputKind.OVID: read_ovid,
    InputKind.SILVER_PLATTER: read_silver_platter,
    InputKind.CITATION_FILE: read_citation_file,
    InputKind.BIBTEX_XML: read_bibtex_xml,
}


def read_bibliography(
    content: str | bytes, kind: InputKind | None = None, titles: TitleCase = TitleCase.AS_WRITTEN
) -> ImportResult:
    """Read a bibliography of the given or detected format; `titles` concerns BibTeX alone.

    Raises BibliographyError for unreadable input, InputTooCostlyError beyond the parsing budget.
    """
    with parsing("the bibliography", len(content)):
        return _read(content, kind, titles)


def try_read_bibliography(
    content: str | bytes, titles: str = TitleCase.AS_WRITTEN.value
) -> ImportResult | str:
    """The result, or the message of a BibliographyError, which cannot be pickled.

    `titles` is the value of a TitleCase, which callers need not import.
    """
    try:
        return read_bibliography(content, titles=TitleCase(titles))
    except BibliographyError as error:
        return str(error)


def _read(content: str | bytes, kind: InputKind | None, titles: TitleCase) -> ImportResult:
    if kind is None and isinstance(content, bytes) and content.startswith(ZIP_START):
        kind = InputKind.CITAVI
    if kind is None:
        text = content if isinstance(content, str) else decode(content[:200_000])[0]
        kind = recognise(text)
    if kind is InputKind.BIBTEX:
        return read_bibtex(content, titles)
    reader = _READERS.get(kind) if kind else None
    if reader is None:
        beginning = (
            content[:60]
            if isinstance(content, str)
            else content[:60].decode("utf-8", errors="replace")
        )
        raise UnknownFormatError(beginning)
    return reader(content)


class ExportFormat(Enum):
    """What a library can be exported to."""

    CSL_JSON = "csl-json"
    BIBTEX = "bibtex"
    BIBLATEX = "biblatex"
    RIS = "ris"


def write_bibliography(
    items: Sequence[CslItem], form: ExportFormat, *, lossless: bool = False
) -> str:
    """The items in a format; `lossless` adds a field with which they read back exactly."""
    if form is ExportFormat.CSL_JSON:
        return write_csl_json(list(items))
    if not lossless:
        items = [_normalize_item(item) for item in items]
    match form:
        case ExportFormat.BIBTEX:
            return write_bibtex(list(items), BibtexDialect.BIBTEX, lossless=lossless)
        case ExportFormat.BIBLATEX:
            return write_bibtex(list(items), BibtexDialect.BIBLATEX, lossless=lossless)
        case ExportFormat.RIS:
            return write_ris(list(items), lossless=lossless)


def _normalize_item(item: CslItem) -> CslItem:
    """The item with names and DOI in the shape that the writers know."""
    shaped = dict(item)
    if isinstance(doi := item.get("DOI"), str):
        shaped["DOI"] = without_resolver(doi)
    for variable in NAME_VARIABLES & item.keys():
        people = [item[variable]] if isinstance(item[variable], str | dict) else item[variable]
        if isinstance(people, list):
            shaped[variable] = [
                {"literal": person} if isinstance(person, str) else person for person in people
            ]
    return shaped
