"""Bibliography formats to and from CSL-JSON items: `read(text).items`, `write(items, Form.RIS)`.

Readers and writers are imported at their first use: whoever only searches needs none of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .citation_keys import distinct_key, make_key
    from .dates import read_edtf
    from .errors import BibliographyError
    from .imports import CslItem, Imported
    from .reading import read, read_or_say_why
    from .recognition import identifier_of, is_bibliography, recognise
    from .writing import Form, write

_MODULES = {
    "BibliographyError": "errors",
    "CslItem": "imports",
    "Form": "writing",
    "Imported": "imports",
    "distinct_key": "citation_keys",
    "identifier_of": "recognition",
    "is_bibliography": "recognition",
    "make_key": "citation_keys",
    "read": "reading",
    "read_edtf": "dates",
    "read_or_say_why": "reading",
    "recognise": "recognition",
    "write": "writing",
}
__all__ = [
    "BibliographyError",
    "CslItem",
    "Form",
    "Imported",
    "distinct_key",
    "identifier_of",
    "is_bibliography",
    "make_key",
    "read",
    "read_edtf",
    "read_or_say_why",
    "recognise",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    return found
