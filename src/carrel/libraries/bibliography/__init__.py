"""Bibliography formats to and from CSL-JSON: `read_bibliography`, `write_bibliography`.

Readers and writers are imported at their first use: whoever only searches needs none of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .bibtex.fields import TitleCase as TitleCase
    from .bibtex.names import read_name as read_name
    from .bibtex.reader import read_bibtex as read_bibtex
    from .citation_keys import distinct_key as distinct_key
    from .citation_keys import make_key as make_key
    from .citation_keys import make_paper_key as make_paper_key
    from .dates import read_date as read_date
    from .dates import read_edtf as read_edtf
    from .formats import ExportFormat as ExportFormat
    from .formats import read_bibliography as read_bibliography
    from .formats import try_read_bibliography as try_read_bibliography
    from .formats import write_bibliography as write_bibliography
    from .imports import BibliographyError as BibliographyError
    from .imports import CslItem as CslItem
    from .imports import ImportResult as ImportResult
    from .recognition import InputKind as InputKind
    from .recognition import identifier_of as identifier_of
    from .recognition import is_bibliography as is_bibliography
    from .recognition import recognise as recognise

# Each module with the names that it exports.
_EXPORTS = {
    "citation_keys": "distinct_key make_key make_paper_key",
    "dates": "read_date read_edtf",
    "formats": "ExportFormat read_bibliography try_read_bibliography write_bibliography",
    "imports": "BibliographyError CslItem ImportResult",
    "recognition": "InputKind identifier_of is_bibliography recognise",
    "bibtex.fields": "TitleCase",
    "bibtex.names": "read_name",
    "bibtex.reader": "read_bibtex",
}
_MODULES = {name: module for module, names in _EXPORTS.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    return found
