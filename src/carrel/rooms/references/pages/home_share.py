"""What the first page says of the library."""

from __future__ import annotations

from carrel.core.pages import HomeShare, NewItem, PageRequest
from carrel.rooms.references.browsing_models import BrowsedReferences
from carrel.rooms.references.pages.item_page import item_address
from carrel.rooms.references.pages.library_filters import LIBRARY_PATH

_NEWEST = 5


async def share_with_home(request: PageRequest) -> HomeShare:
    if not request.offers("browse_references"):
        return HomeShare()
    found: BrowsedReferences = await request.ask(
        "browse_references", sort="added", is_descending=True, limit=_NEWEST
    )
    return HomeShare(
        facts=[("references.home.count", found.library_total, LIBRARY_PATH)],
        new=[
            NewItem(row.added, row.title or row.id, "references.home.added", item_address(row.id))
            for row in found.rows
            if row.added
        ],
    )


def find_path(kind: str, name: str) -> str:
    """The page of a hit of the search over the desk."""
    return item_address(name)
