"""One door to all readers: bytes or text of a known or unknown kind in, items out."""

from collections.abc import Callable

from carrel.libraries.bibliography.bibtex.fields import Titles
from carrel.libraries.bibliography.bibtex.reader import read_bibtex
from carrel.libraries.bibliography.citavi import ZIP_START, read_citavi
from carrel.libraries.bibliography.csl_json import read_csl_json
from carrel.libraries.bibliography.encodings import decode
from carrel.libraries.bibliography.endnote_xml import read_endnote_xml
from carrel.libraries.bibliography.errors import BibliographyError, UnknownFormatError
from carrel.libraries.bibliography.imports import Imported
from carrel.libraries.bibliography.marc_xml import read_marc_xml
from carrel.libraries.bibliography.mods import read_mods
from carrel.libraries.bibliography.ms_bib import read_ms_bib
from carrel.libraries.bibliography.nbib import read_nbib
from carrel.libraries.bibliography.other_tagged import read_biblioscape, read_copac, read_repec_nep
from carrel.libraries.bibliography.pubmed_xml import read_pubmed_xml
from carrel.libraries.bibliography.recognition import Kind, recognise
from carrel.libraries.bibliography.refer import read_refer
from carrel.libraries.bibliography.ris.reader import read_ris
from carrel.libraries.text.budget import parsing

_READERS: dict[Kind, Callable[[str | bytes], Imported]] = {
    Kind.RIS: read_ris,
    Kind.NBIB: read_nbib,
    Kind.PUBMED_XML: read_pubmed_xml,
    Kind.ENDNOTE_XML: read_endnote_xml,
    Kind.REFER: read_refer,
    Kind.CSL_JSON: read_csl_json,
    Kind.MODS: read_mods,
    Kind.MARC_XML: read_marc_xml,
    Kind.MS_BIB: read_ms_bib,
    Kind.CITAVI: read_citavi,
    Kind.BIBLIOSCAPE: read_biblioscape,
    Kind.COPAC: read_copac,
    Kind.REPEC_NEP: read_repec_nep,
}


def read(
    content: str | bytes, kind: Kind | None = None, titles: Titles = Titles.SENTENCE_CASE
) -> Imported:
    """Reads a bibliography of the kind given, or recognised. `titles` concerns BibTeX alone, where
    title case is usual.

    Raises BibliographyError for what cannot be read at all, and InputTooCostlyError for what would
    take too much to read.
    """
    with parsing("the bibliography", len(content)):
        return _read(content, kind, titles)


def read_or_say_why(content: str | bytes) -> Imported | str:
    """The same with a sentence in place of a BibliographyError, which does not travel between
    processes.
    """
    try:
        return read(content)
    except BibliographyError as error:
        return str(error)


def _read(content: str | bytes, kind: Kind | None, titles: Titles) -> Imported:
    if kind is None and isinstance(content, bytes) and content.startswith(ZIP_START):
        kind = Kind.CITAVI
    if kind is None:
        text = content if isinstance(content, str) else decode(content[:200_000])[0]
        kind = recognise(text)
    if kind is Kind.BIBTEX:
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
