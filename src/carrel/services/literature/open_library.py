"""Books by ISBN, from Open Library."""

from typing import Any

from carrel.libraries.bibliography.dates import read_date
from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.bibliography.items import join_keywords, put, put_people
from carrel.libraries.identifiers import Isbn
from carrel.services.literature.answers import expect_found, json_of
from carrel.services.literature.errors import UnreadableAnswerError, WorkNotFoundError
from carrel.services.literature.service_client import ServiceClient

SERVICE = "Open Library"


class OpenLibrary:
    """Asks Open Library for one edition."""

    def __init__(self, client: ServiceClient, base_url: str = "https://openlibrary.org") -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")

    async def look_up(self, isbn: Isbn) -> CslItem:
        key = f"ISBN:{isbn}"
        params = {"bibkeys": key, "format": "json", "jscmd": "data"}
        answer = await self._client.ask(
            SERVICE, f"{self._base_url}/api/books", params=params, accept="application/json"
        )
        expect_found(SERVICE, str(isbn), answer)
        content = json_of(SERVICE, answer)
        if not isinstance(content, dict):
            raise UnreadableAnswerError(SERVICE, "it is not an object")
        if not isinstance(content.get(key), dict):
            raise WorkNotFoundError(SERVICE, str(isbn))
        return _item(content[key], isbn)


def _names(values: Any) -> list[str]:
    return (
        [str(value.get("name", "")) if isinstance(value, dict) else str(value) for value in values]
        if isinstance(values, list)
        else []
    )


def _item(book: dict[str, Any], isbn: Isbn) -> CslItem:
    item: CslItem = {"type": "book"}
    title, below = str(book.get("title") or ""), str(book.get("subtitle") or "")
    put(item, "title", f"{title}: {below}" if title and below else title)
    put_people(item, "author", _names(book.get("authors")))
    put(item, "publisher", "; ".join(_names(book.get("publishers"))))
    put(item, "publisher-place", "; ".join(_names(book.get("publish_places"))))
    if book.get("publish_date"):
        item["issued"] = read_date(str(book["publish_date"]))
    put(item, "number-of-pages", str(book.get("number_of_pages") or ""))
    put(item, "keyword", join_keywords(_names(book.get("subjects"))))
    put(item, "URL", str(book.get("url") or ""))
    item["ISBN"] = str(isbn)
    return item
