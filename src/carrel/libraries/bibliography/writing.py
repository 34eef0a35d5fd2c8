"""One door to all writers."""

from collections.abc import Sequence
from enum import Enum

from carrel.libraries.bibliography.bibtex.writer import Dialect, write_bibtex
from carrel.libraries.bibliography.csl_json import write_csl_json
from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.bibliography.ris.writer import write_ris
from carrel.libraries.csl.schema import NAME_VARIABLES
from carrel.libraries.identifiers import without_resolver


class Form(Enum):
    """What a library can be exported to."""

    CSL_JSON = "csl-json"
    BIBTEX = "bibtex"
    BIBLATEX = "biblatex"
    RIS = "ris"


def write(items: Sequence[CslItem], form: Form, *, lossless: bool = False) -> str:
    """The items as other programs expect the form; a lossless text also reads back here exactly as
    the items were.
    """
    if form is Form.CSL_JSON:
        return write_csl_json(list(items))
    if not lossless:
        items = [_as_expected(item) for item in items]
    match form:
        case Form.BIBTEX:
            return write_bibtex(list(items), Dialect.BIBTEX, lossless=lossless)
        case Form.BIBLATEX:
            return write_bibtex(list(items), Dialect.BIBLATEX, lossless=lossless)
        case Form.RIS:
            return write_ris(list(items), lossless=lossless)


def _as_expected(item: CslItem) -> CslItem:
    """What other programs wrote into a library beside CSL-JSON's rules, in the shape that the
    writers know.
    """
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
