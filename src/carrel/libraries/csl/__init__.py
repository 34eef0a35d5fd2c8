"""Citations and bibliographies in any CSL 1.0.2 style: `render_bibliography(items, style="apa")`,
or a `Processor` for more.
"""

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
