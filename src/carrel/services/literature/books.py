"""Books by ISBN, from Open Library and Google Books."""

from typing import Any

from carrel.libraries.bibliography.dates import read_date
from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.bibliography.items import join_keywords, language_code, put, put_people
from carrel.libraries.identifiers import Isbn
from carrel.services.literature.errors import WorkNotFoundError
from carrel.services.literature.service_client import ServiceClient, json_object

OPEN_LIBRARY = "Open Library"
GOOGLE_BOOKS = "Google Books"


class OpenLibrary:
    """Asks Open Library for one edition."""

    def __init__(self, client: ServiceClient, base_url: str) -> None:
        self._client = client
        self._address = f"{base_url.rstrip('/')}/api/books"

    async def look_up(self, isbn: Isbn) -> CslItem:
        key = f"ISBN:{isbn}"
        params = {"bibkeys": key, "format": "json", "jscmd": "data"}
        answer = await self._client.ask(
            OPEN_LIBRARY, self._address, params=params, accept="application/json"
        )
        book = json_object(OPEN_LIBRARY, str(isbn), answer).get(key)
        if not isinstance(book, dict):
            raise WorkNotFoundError(OPEN_LIBRARY, str(isbn))
        item = _book_item(book, isbn, book.get("publish_date"), book.get("number_of_pages"))
        put(item, "publisher", "; ".join(_names(book.get("publishers"))))
        put(item, "publisher-place", "; ".join(_names(book.get("publish_places"))))
        put(item, "keyword", join_keywords(_names(book.get("subjects"))))
        put(item, "URL", str(book.get("url") or ""))
        return item


class GoogleBooks:
    """Asks Google Books for one edition; it has some that Open Library has not."""

    def __init__(self, client: ServiceClient, base_url: str) -> None:
        self._client = client
        self._address = f"{base_url.rstrip('/')}/books/v1/volumes"

    async def look_up(self, isbn: Isbn) -> CslItem:
        params = {"q": f"isbn:{isbn}"}
        answer = await self._client.ask(
            GOOGLE_BOOKS, self._address, params=params, accept="application/json"
        )
        volumes = json_object(GOOGLE_BOOKS, str(isbn), answer).get("items")
        first = volumes[0] if isinstance(volumes, list) and volumes else None
        book = first.get("volumeInfo") if isinstance(first, dict) else None
        if not isinstance(book, dict):
            raise WorkNotFoundError(GOOGLE_BOOKS, str(isbn))
        item = _book_item(book, isbn, book.get("publishedDate"), book.get("pageCount"))
        put(item, "publisher", str(book.get("publisher") or ""))
        put(item, "abstract", str(book.get("description") or ""))
        put(item, "keyword", join_keywords(_names(book.get("categories"))))
        put(item, "language", language_code(str(book["language"])) if book.get("language") else "")
        put(item, "URL", str(book.get("canonicalVolumeLink") or ""))
        return item


def _book_item(book: dict[str, Any], isbn: Isbn, date: object, pages: object) -> CslItem:
    """The fields that both catalogues share."""
    item: CslItem = {"type": "book", "ISBN": str(isbn)}
    title, subtitle = str(book.get("title") or ""), str(book.get("subtitle") or "")
    put(item, "title", f"{title}: {subtitle}" if title and subtitle else title)
    put_people(item, "author", _names(book.get("authors")))
    if date:
        item["issued"] = read_date(str(date))
    put(item, "number-of-pages", str(pages or ""))
    return item


def _names(values: Any) -> list[str]:
    return (
        [str(value.get("name", "")) if isinstance(value, dict) else str(value) for value in values]
        if isinstance(values, list)
        else []
    )
