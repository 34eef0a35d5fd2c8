"""Books by ISBN, from Google Books, for those Open Library does not have."""

from typing import Any

from carrel.libraries.bibliography.dates import read_date
from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.bibliography.items import join_keywords, put, put_people
from carrel.libraries.bibliography.languages import language_code
from carrel.libraries.identifiers import Isbn
from carrel.services.literature.answers import expect_found, json_of
from carrel.services.literature.errors import UnreadableAnswerError, WorkNotFoundError
from carrel.services.literature.service_client import ServiceClient

SERVICE = "Google Books"


class GoogleBooks:
    """Asks Google Books for one edition."""

    def __init__(self, client: ServiceClient, base_url: str = "https://www.googleapis.com") -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")

    async def look_up(self, isbn: Isbn) -> CslItem:
        answer = await self._client.ask(
            SERVICE,
            f"{self._base_url}/books/v1/volumes",
            params={"q": f"isbn:{isbn}"},
            accept="application/json",
        )
        expect_found(SERVICE, str(isbn), answer)
        content = json_of(SERVICE, answer)
        if not isinstance(content, dict):
            raise UnreadableAnswerError(SERVICE, "it is not an object")
        volumes = content.get("items")
        info = (
            volumes[0].get("volumeInfo")
            if isinstance(volumes, list) and volumes and isinstance(volumes[0], dict)
            else None
        )
        if not isinstance(info, dict):
            raise WorkNotFoundError(SERVICE, str(isbn))
        return _item(info, isbn)


def _item(info: dict[str, Any], isbn: Isbn) -> CslItem:
    item: CslItem = {"type": "book"}
    title, below = str(info.get("title") or ""), str(info.get("subtitle") or "")
    put(item, "title", f"{title}: {below}" if title and below else title)
    authors = info.get("authors")
    put_people(item, "author", [str(name) for name in authors] if isinstance(authors, list) else [])
    put(item, "publisher", str(info.get("publisher") or ""))
    if info.get("publishedDate"):
        item["issued"] = read_date(str(info["publishedDate"]))
    put(item, "abstract", str(info.get("description") or ""))
    put(item, "number-of-pages", str(info.get("pageCount") or ""))
    categories = info.get("categories")
    put(
        item,
        "keyword",
        join_keywords(str(word) for word in categories) if isinstance(categories, list) else "",
    )
    put(item, "language", language_code(str(info["language"])) if info.get("language") else "")
    put(item, "URL", str(info.get("canonicalVolumeLink") or ""))
    item["ISBN"] = str(isbn)
    return item
