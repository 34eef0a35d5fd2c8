"""arXiv by identifier, through its Atom interface."""

from collections.abc import Sequence
from contextlib import suppress

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
from carrel.libraries.identifiers import ArxivId, NotAnIdentifierError
from carrel.libraries.text.budget import InputTooCostlyError
from carrel.libraries.text.xml import XmlError, XmlNode, parse_xml_nodes
from carrel.services.fetching import HttpAnswer
from carrel.services.literature.errors import UnreadableAnswerError, WorkNotFoundError
from carrel.services.literature.service_client import ServiceClient, expect_found
from carrel.services.literature.service_limits import BatchedLookup, ServiceLimits

SERVICE = "arXiv"
# arXiv asks for one connection and 3 s between requests, each of which may name many papers.
LIMITS = ServiceLimits(max_concurrent=1, interval_seconds=3.0)
_MAX_BATCH = 50


class ArxivItems:
    """Papers as CSL items, fetched many at a time."""

    def __init__(
        self,
        client: ServiceClient,
        base_url: str,
        limits: ServiceLimits = LIMITS,
    ) -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")
        self._limits = limits
        self._batches = BatchedLookup(self._fetch, _MAX_BATCH)

    async def look_up(self, identifier: ArxivId) -> CslItem:
        """One paper. Papers that are asked for side by side go into one request."""
        found = await self._batches.find(identifier)
        if found is None:
            raise WorkNotFoundError(SERVICE, str(identifier))
        return found

    async def _fetch(self, identifiers: Sequence[ArxivId]) -> dict[ArxivId, CslItem]:
        """The papers found; arXiv refuses a list with one malformed id, so it is then halved."""
        names = ",".join(str(identifier) for identifier in identifiers)
        answer = await self._client.ask(
            SERVICE,
            f"{self._base_url}/api/query",
            params={"id_list": names, "max_results": str(len(identifiers))},
            accept="application/atom+xml",
            limits=self._limits,
        )
        if answer.status != 400:
            expect_found(SERVICE, names, answer)
            entries = _entries(answer)
            if not any("/api/errors" in entry.at("id") for entry in entries):
                return _items_by_identifier(entries, identifiers)
        if len(identifiers) == 1:
            return {}
        half = len(identifiers) // 2
        return {**await self._fetch(identifiers[:half]), **await self._fetch(identifiers[half:])}


def _entries(answer: HttpAnswer) -> list[XmlNode]:
    try:
        # An answer that was cut off still holds whole entries.
        return list(parse_xml_nodes(answer.body, on_break=lambda _: None).each("entry"))
    except (XmlError, InputTooCostlyError) as error:
        raise UnreadableAnswerError(SERVICE, str(error)) from error


def _items_by_identifier(
    entries: Sequence[XmlNode], identifiers: Sequence[ArxivId]
) -> dict[ArxivId, CslItem]:
    """Each identifier with its entry; one without a version matches any version."""
    found: dict[tuple[str, int | None], XmlNode] = {}
    for entry in entries:
        with suppress(NotAnIdentifierError):
            name = ArxivId.parse(entry.at("id"))
            if entry.at("title"):
                found[name.value, name.version] = found[name.value, None] = entry
    return {
        identifier: _item(node, identifier)
        for identifier in identifiers
        if (node := found.get((identifier.value, identifier.version))) is not None
    }


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
