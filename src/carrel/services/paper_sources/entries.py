"""A BibTeX entry for a paper whose source is no BibTeX, so that type, volume and pages are not lost
on the way.
"""

from __future__ import annotations

import re

from carrel.core.paper_record import BibtexEntry
from carrel.libraries.bibliography.bibtex.writer import Dialect, write_bibtex
from carrel.libraries.bibliography.imports import CslItem

_HEAD = re.compile(r"@(\w+)\{([^,]*),")


def entry_of(item: CslItem) -> BibtexEntry | None:
    """The item written as BibTeX; None where it has nothing that an entry could say."""
    if not item.get("title"):
        return None
    # Abstracts are kept elsewhere, and notes are the collector's own.
    raw = write_bibtex(
        [
            {
                name: value
                for name, value in item.items()
                if name not in {"abstract", "note", "annote"}
            }
        ],
        Dialect.BIBTEX,
    )
    found = _HEAD.match(raw)
    return BibtexEntry(raw.strip(), found.group(2), found.group(1)) if found else None
