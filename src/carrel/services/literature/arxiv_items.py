"""Papers of arXiv by identifier, as CSL items."""

from collections.abc import Sequence

from carrel.libraries.bibliography.dates import read_date
from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.bibliography.items import (
    add_note,
    join_keywords,
    put,
    put_doi,
    put_other,
    put_people,
)
from carrel.libraries.identifiers import ArxivId
from carrel.libraries.text.xml import XmlNode
from carrel.services.literature.arxiv_feed import LIMITS, ArxivFeed
from carrel.services.literature.errors import WorkNotFoundError
from carrel.services.literature.listings import Account
from carrel.services.literature.service_client import ServiceClient
from carrel.services.literature.service_limits import BatchedLookup, ServiceLimits

SERVICE = "arXiv"
_MAX_BATCH = 50


class ArxivItems:
    """Papers as CSL items, fetched many at a time."""

    def __init__(
        self,
        client: ServiceClient,
        base_url: str,
        limits: ServiceLimits = LIMITS,
    ) -> None:
        self._feed = ArxivFeed(client, base_url, limits)
        self._batches = BatchedLookup(self._fetch, _MAX_BATCH)

    async def look_up(self, identifier: ArxivId) -> CslItem:
        """One paper. Papers that are asked for side by side go into one request."""
        found = await self._batches.find(identifier)
        if found is None:
            raise WorkNotFoundError(SERVICE, str(identifier))
        return found

    async def _fetch(self, identifiers: Sequence[ArxivId]) -> dict[ArxivId, CslItem]:
        found = await self._feed.fetch(identifiers, Account())
        return {identifier: _item(node, identifier) for identifier, node in found.items()}


def _item(entry: XmlNode, identifier: ArxivId) -> CslItem:
    item: CslItem = {"type": "article"}
    put(item, "title", entry.at("title"))
    put_people(item, "author", [author.at("name") for author in entry.each("author")])
    published = entry.at("published") or entry.at("updated")
    if published:
        item["issued"] = read_date(published.split("T")[0])
    put(item, "abstract", entry.at("summary"))
    put(item, "publisher", "arXiv")
    put(item, "number", f"arXiv:{identifier.value}")
    put(item, "URL", f"https://arxiv.org/abs/{identifier}")
    put_doi(item, entry.at("doi"))
    primary = entry.first("primary_category")
    categories = [node.get("term", "") for node in entry.each("category")]
    put(item, "keyword", join_keywords(categories))
    put_other(item, "primaryclass", primary.get("term", "") if primary else "")
    put_other(item, "journal-ref", entry.at("journal_ref"))
    add_note(item, entry.at("comment"))
    item.setdefault("custom", {})["arxiv_id"] = str(identifier)
    return item
