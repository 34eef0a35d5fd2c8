"""Books by ISBN, from Open Library."""

from typing import Any

from carrel.libraries.bibliography.dates import read_date
from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.bibliography.items import join_keywords, language_code, put, put_people
from carrel.libraries.identifiers import Isbn
from carrel.services.literature.errors import UnreadableAnswerError, WorkNotFoundError
from carrel.services.literature.service_client import ServiceClient, expect_found, json_of

OPEN_LIBRARY = "Open Library"


class OpenLibrary:
    """Asks Open Library for one edition."""

    def __init__(self, client: ServiceClient, base_url: str = "https://openlibrary.org") -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")

    async def look_up(self, isbn: Isbn) -> CslItem:
        key = f"ISBN:{isbn}"
        params = {"bibkeys": key, "format": "json", "jscmd": "data"}
        answer = await self._client.ask(
            OPEN_LIBRARY, f"{self._base_url}/api/books", params=params, accept="application/json"
        )
        expect_found(OPEN_LIBRARY, str(isbn), answer)
        content = json_of(OPEN_LIBRARY, answer)
        if not isinstance(content, dict):
            raise UnreadableAnswerError(OPEN_LIBRARY, "it is not an object")
        if not isinstance(content.get(key), dict):
            raise WorkNotFoundError(OPEN_LIBRARY, str(isbn))
        return _book_item(content[key], isbn)


def _names(values: Any) -> list[str]:
    return (
        [str(value.get("name", "")) if isinstance(value, dict) else str(value) for value in values]
        if isinstance(values, list)
        else []
    )


def _book_item(book: dict[str, Any], isbn: Isbn) -> CslItem:
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


GOOGLE_BOOKS = "Google Books"


class GoogleBooks:
    """Asks Google Books for one edition."""

    def __init__(self, client: ServiceClient, base_url: str = "https://www.googleapis.com") -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")

    async def look_up(self, isbn: Isbn) -> CslItem:
        answer = await self._client.ask(
            GOOGLE_BOOKS,
            f"{self._base_url}/books/v1/volumes",
            params={"q": f"isbn:{isbn}"},
            accept="application/json",
        )
        expect_found(GOOGLE_BOOKS, str(isbn), answer)
        content = json_of(GOOGLE_BOOKS, answer)
        if not isinstance(content, dict):
            raise UnreadableAnswerError(GOOGLE_BOOKS, "it is not an object")
        volumes = content.get("items")
        info = (
            volumes[0].get("volumeInfo")
            if isinstance(volumes, list) and volumes and isinstance(volumes[0], dict)
            else None
        )
        if not isinstance(info, dict):
            raise WorkNotFoundError(GOOGLE_BOOKS, str(isbn))
        return _volume_item(info, isbn)


def _volume_item(info: dict[str, Any], isbn: Isbn) -> CslItem:
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
