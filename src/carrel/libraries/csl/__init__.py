"""Citations in any CSL 1.0.2 style: `render_bibliography(items, style="apa")`, or a `Processor`.

Its parts are imported at their first use, so that a program which never cites does not wait.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .catalogue import StyleInfo, list_styles
    from .context import Cite
    from .errors import (
        CitationStyleError,
        ItemBrokenError,
        ItemNotFoundError,
        LocaleBrokenError,
        StyleBrokenError,
        StyleNotFoundError,
    )
    from .formats import OutputName, Run
    from .library import SHORT_NAMES, load_style
    from .positions import Cluster
    from .processor import Entry, Processor, render_bibliography
    from .style import Style

_MODULES = {
    "SHORT_NAMES": "library",
    "CitationStyleError": "errors",
    "Cite": "context",
    "Cluster": "positions",
    "Entry": "processor",
    "ItemBrokenError": "errors",
    "ItemNotFoundError": "errors",
    "LocaleBrokenError": "errors",
    "OutputName": "formats",
    "Processor": "processor",
    "Run": "formats",
    "Style": "style",
    "StyleBrokenError": "errors",
    "StyleInfo": "catalogue",
    "StyleNotFoundError": "errors",
    "list_styles": "catalogue",
    "load_style": "library",
    "render_bibliography": "processor",
}
__all__ = [
    "SHORT_NAMES",
    "CitationStyleError",
    "Cite",
    "Cluster",
    "Entry",
    "ItemBrokenError",
    "ItemNotFoundError",
    "LocaleBrokenError",
    "OutputName",
    "Processor",
    "Run",
    "Style",
    "StyleBrokenError",
    "StyleInfo",
    "StyleNotFoundError",
    "list_styles",
    "load_style",
    "render_bibliography",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    return found
