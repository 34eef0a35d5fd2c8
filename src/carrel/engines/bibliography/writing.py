"""One door to all writers."""

from collections.abc import Sequence
from enum import Enum

from carrel.engines.bibliography.bibtex.writer import Dialect, write_bibtex
from carrel.engines.bibliography.csl_json import write_csl_json
from carrel.engines.bibliography.imports import CslItem
from carrel.engines.bibliography.ris.writer import write_ris


class Form(Enum):
    """What a library can be exported to."""

    CSL_JSON = "csl-json"
    BIBTEX = "bibtex"
    BIBLATEX = "biblatex"
    RIS = "ris"


def write(items: Sequence[CslItem], form: Form, *, lossless: bool = False) -> str:
    """The items as other programs expect the form; a lossless text also reads back here exactly as the items were."""
    match form:
        case Form.CSL_JSON:
            return write_csl_json(list(items))
        case Form.BIBTEX:
            return write_bibtex(list(items), Dialect.BIBTEX, lossless=lossless)
        case Form.BIBLATEX:
            return write_bibtex(list(items), Dialect.BIBLATEX, lossless=lossless)
        case Form.RIS:
            return write_ris(list(items), lossless=lossless)
