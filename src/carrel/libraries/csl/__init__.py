"""Citations in any CSL 1.0.2 style: `render_bibliography(items, style="apa")`, or a `Document`.

Its parts are imported at their first use, so that a program which never cites does not wait.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .archive import StyleInfo as StyleInfo
    from .catalogue import SHORT_NAMES as SHORT_NAMES
    from .catalogue import list_locales as list_locales
    from .catalogue import list_styles as list_styles
    from .catalogue import load_style as load_style
    from .context import Cite as Cite
    from .context import Cluster as Cluster
    from .document import LOCATOR_LABELS as LOCATOR_LABELS
    from .document import Bibliography as Bibliography
    from .document import Document as Document
    from .document import DocumentEntry as DocumentEntry
    from .document import DocumentUpdate as DocumentUpdate
    from .errors import CitationStyleError as CitationStyleError
    from .errors import CiteBrokenError as CiteBrokenError
    from .errors import ClusterNotFoundError as ClusterNotFoundError
    from .errors import ItemBrokenError as ItemBrokenError
    from .errors import ItemNotFoundError as ItemNotFoundError
    from .errors import LocaleBrokenError as LocaleBrokenError
    from .errors import LocaleNotFoundError as LocaleNotFoundError
    from .errors import OutputUnknownError as OutputUnknownError
    from .errors import StyleBrokenError as StyleBrokenError
    from .errors import StyleNotFoundError as StyleNotFoundError
    from .errors import StylesMissingError as StylesMissingError
    from .formats import OutputName as OutputName
    from .formats import TextRun as TextRun
    from .json_types import CslDate as CslDate
    from .json_types import CslItem as CslItem
    from .json_types import CslName as CslName
    from .processor import BibliographyEntry as BibliographyEntry
    from .processor import Processor as Processor
    from .processor import render_bibliography as render_bibliography
    from .rendered import RenderedText as RenderedText
    from .schema import FieldProblem as FieldProblem
    from .schema import check_item as check_item
    from .style import Style as Style

# Each module with the names that it exports.
_EXPORTS = {
    "archive": "StyleInfo",
    "catalogue": "SHORT_NAMES list_locales list_styles load_style",
    "context": "Cite Cluster",
    "document": "LOCATOR_LABELS Bibliography Document DocumentEntry DocumentUpdate",
    "errors": "CitationStyleError CiteBrokenError ClusterNotFoundError ItemBrokenError "
    "ItemNotFoundError LocaleBrokenError LocaleNotFoundError OutputUnknownError StyleBrokenError "
    "StyleNotFoundError StylesMissingError",
    "formats": "OutputName TextRun",
    "json_types": "CslDate CslItem CslName",
    "processor": "BibliographyEntry Processor render_bibliography",
    "rendered": "RenderedText",
    "schema": "FieldProblem check_item",
    "style": "Style",
}
_MODULES = {name: module for module, names in _EXPORTS.items() for name in names.split()}


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    return found
