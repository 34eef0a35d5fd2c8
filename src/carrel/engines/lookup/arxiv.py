"""arXiv by identifier, through its Atom interface."""

from carrel.core.identifiers import ArxivId
from carrel.engines.bibliography.dates import read_date
from carrel.engines.bibliography.errors import BibliographyError
from carrel.engines.bibliography.imports import CslItem, Imported
from carrel.engines.bibliography.items import add_note, join_keywords, put, put_doi, put_other, put_people
from carrel.engines.bibliography.xml_tree import Node, read_xml
from carrel.engines.lookup.answers import expect_found
from carrel.engines.lookup.errors import UnreadableAnswerError, WorkNotFoundError
from carrel.engines.lookup.polite import PoliteClient

SERVICE = "arXiv"
# arXiv asks for three seconds between questions.
_PAUSE_SECONDS = 3.0


class Arxiv:
    """Asks arXiv for one paper."""

    def __init__(
        self, client: PoliteClient, base_url: str = "https://export.arxiv.org", pause_seconds: float = _PAUSE_SECONDS
    ) -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")
        self._pause_seconds = pause_seconds

    async def look_up(self, identifier: ArxivId) -> CslItem:
        params = {"id_list": str(identifier), "max_results": "1"}
        answer = await self._client.ask(
            SERVICE,
            f"{self._base_url}/api/query",
            params=params,
            accept="application/atom+xml",
            pause_seconds=self._pause_seconds,
        )
        if answer.status == 400:
            raise WorkNotFoundError(SERVICE, str(identifier))
        expect_found(SERVICE, str(identifier), answer)
        try:
            feed = read_xml(answer.body, Imported())
        except BibliographyError as error:
            raise UnreadableAnswerError(SERVICE, str(error)) from error
        entry = feed.first("entry")
        if entry is None or "/api/errors" in entry.at("id") or not entry.at("title"):
            raise WorkNotFoundError(SERVICE, str(identifier))
        return _item(entry, identifier)


def _item(entry: Node, identifier: ArxivId) -> CslItem:
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
    categories = [node.attributes.get("term", "") for node in entry.each("category")]
    put(item, "keyword", join_keywords(categories))
    put_other(item, "primaryclass", primary.attributes.get("term", "") if primary else "")
    put_other(item, "journal-ref", entry.at("journal_ref"))
    add_note(item, entry.at("comment"))
    item.setdefault("custom", {})["arxiv_id"] = str(identifier)
    return item
