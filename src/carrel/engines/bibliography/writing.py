"""One door to all writers."""

from collections.abc import Callable, Sequence
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


_WRITERS: dict[Form, Callable[[list[CslItem]], str]] = {
    Form.CSL_JSON: write_csl_json,
    Form.BIBTEX: lambda items: write_bibtex(items, Dialect.BIBTEX),
    Form.BIBLATEX: lambda items: write_bibtex(items, Dialect.BIBLATEX),
    Form.RIS: write_ris,
}


def write(items: Sequence[CslItem], form: Form) -> str:
    """The items in a form that reads back as they were."""
    return _WRITERS[form](list(items))
