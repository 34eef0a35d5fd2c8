"""Tables that Zotero and Scopus export (CSV), and Web of Science (tabs), to CSL-JSON items."""

import csv
import io
import re
from collections.abc import Callable

from carrel.libraries.bibliography.dates import read_date
from carrel.libraries.bibliography.imports import (
    BibliographyError,
    CslItem,
    ImportResult,
    open_text,
)
from carrel.libraries.bibliography.items import (
    add_note,
    join_keywords,
    page_range,
    put,
    put_doi,
    put_edition,
    put_language,
    put_link,
    put_other,
    put_people,
    put_standard_numbers,
)
from carrel.libraries.bibliography.web_of_science import read_tags
from carrel.libraries.text.budget import current_budget

Row = dict[str, str]

_ZOTERO_HEAD = ("key", "item type", "publication year")
_SCOPUS_HEADS = (("authors", "title", "year"), ("source title", "eid", "link"))
_ZOTERO_TYPES = {
    "artwork": "graphic", "audioRecording": "song", "bill": "bill", "blogPost": "post-weblog",
    "book": "book", "bookSection": "chapter", "case": "legal_case",
    "computerProgram": "software", "conferencePaper": "paper-conference", "dataset": "dataset",
    "dictionaryEntry": "entry-dictionary", "document": "document",
    "email": "personal_communication", "encyclopediaArticle": "entry-encyclopedia",
    "film": "motion_picture", "forumPost": "post", "hearing": "hearing",
    "instantMessage": "personal_communication", "interview": "interview",
    "journalArticle": "article-journal", "letter": "personal_communication",
    "magazineArticle": "article-magazine", "manuscript": "manuscript", "map": "map",
    "newspaperArticle": "article-newspaper", "patent": "patent", "podcast": "broadcast",
    "preprint": "article", "presentation": "speech", "radioBroadcast": "broadcast",
    "report": "report", "standard": "standard", "statute": "legislation", "thesis": "thesis",
    "tvBroadcast": "broadcast", "videoRecording": "motion_picture", "webpage": "webpage",
}  # fmt: skip
_ZOTERO_PEOPLE = {
    "author": "author", "editor": "editor", "series editor": "collection-editor",
    "translator": "translator", "contributor": "contributor", "book author": "container-author",
    "reviewed author": "reviewed-author", "interviewer": "interviewer", "recipient": "recipient",
    "composer": "composer", "director": "director", "producer": "producer", "performer":
    "performer", "scriptwriter": "script-writer", "guest": "guest", "commenter": "contributor",
    "attorney/agent": "contributor", "cast member": "performer", "counsel": "contributor",
    "words by": "author",
}  # fmt: skip
_ZOTERO_TEXTS = {
    "title": "title", "publication title": "container-title", "pages": "page",
    "num pages": "number-of-pages", "issue": "issue", "volume": "volume",
    "number of volumes": "number-of-volumes", "journal abbreviation": "container-title-short",
    "short title": "title-short", "series": "collection-title",
    "series number": "collection-number", "series title": "collection-title",
    "publisher": "publisher", "place": "publisher-place", "rights": "license", "type": "genre",
    "archive": "archive", "archive location": "archive_location", "library catalog": "source",
    "call number": "call-number", "section": "section", "version": "version",
    "system": "medium", "conference name": "event-title", "meeting name": "event-title",
    "number": "number", "code": "container-title", "court": "authority",
    "running time": "dimensions", "scale": "scale", "abstract note": "abstract",
}  # fmt: skip
# About Zotero's record and not about the work.
_ZOTERO_RECORD = frozenset({"item type", "publication year", "key", "date added", "date modified"})
_SCOPUS_TYPES = {
    "conference paper": "paper-conference", "book": "book", "book chapter": "chapter",
    "conference review": "paper-conference", "report": "report", "data paper": "article-journal",
}  # fmt: skip
_SCOPUS_TEXTS = {
    "title": "title", "source title": "container-title", "volume": "volume", "issue": "issue",
    "art. no.": "number", "abstract": "abstract", "publisher": "publisher",
    "conference name": "event-title", "conference location": "event-place",
    "abbreviated source title": "container-title-short", "pubmed id": "PMID",
}  # fmt: skip
_AUTHOR_ID = re.compile(r"\s*\(\d{5,}\)")


def read_csv_export(content: str | bytes) -> ImportResult:
    """Every row of a table whose head is one of those known."""
    text, answer = open_text(content)
    text = text.lstrip("\ufeff")
    head = text.split("\n", 1)[0]
    delimiter = "\t" if head.count("\t") > head.count(",") else ","
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        names = [name.strip() for name in next(rows, [])]
        read = _row_reader(names)
        for cells in rows:
            current_budget().step(1 + sum(map(len, cells)) // 100)
            if any(cell.strip() for cell in cells):
                row = {
                    name: cell.strip()
                    for name, cell in zip(names, cells, strict=False)
                    if cell.strip()
                }
                answer.add(read(row), rows.line_num, "row")
    except csv.Error as error:
        answer.fail(rows.line_num, f"The table breaks off here: {error}")
    return answer


def _row_reader(names: list[str]) -> Callable[[Row], CslItem]:
    lower = {name.lower() for name in names}
    if lower.issuperset(_ZOTERO_HEAD):
        return _zotero_item
    if all(lower.issuperset(head) for head in _SCOPUS_HEADS):
        return _scopus_item
    if names[:2] == ["PT", "AU"]:
        return _web_of_science_item
    raise BibliographyError(
        "The table is none of those that are known: export it from Zotero, Scopus or Web of "
        "Science, or as RIS or BibTeX"
    )


def _zotero_item(row: Row) -> CslItem:
    kept = {name.lower(): value for name, value in row.items()}
    item: CslItem = {"type": _ZOTERO_TYPES.get(kept.get("item type", ""), "document")}
    for name, role in _ZOTERO_PEOPLE.items():
        put_people(item, role, [_zotero_name(who) for who in kept.pop(name, "").split(";")])
    for name, variable in _ZOTERO_TEXTS.items():
        put(item, variable, kept.pop(name, ""))
    date = kept.pop("date", "") or kept.get("publication year", "")
    for text, variable in ((date, "issued"), (kept.pop("access date", ""), "accessed")):
        if text:
            item[variable] = read_date(text)
    put_doi(item, kept.pop("doi", ""))
    put_link(item, kept.pop("url", ""))
    put_standard_numbers(item, *filter(None, (kept.pop("isbn", ""), kept.pop("issn", ""))))
    put_edition(item, kept.pop("edition", ""))
    put_language(item, kept.pop("language", ""))
    tags = f"{kept.pop('manual tags', '')};{kept.pop('automatic tags', '')}"
    put(item, "keyword", join_keywords(tags.split(";")))
    for name in ("notes", "extra"):
        add_note(item, kept.pop(name, ""))
    put_other(item, "file", kept.pop("file attachments", ""))
    for link in kept.pop("link attachments", "").split(";"):
        put_link(item, link.strip())
    for name, value in kept.items():
        if name not in _ZOTERO_RECORD:
            put_other(item, name.replace(" ", "-"), value)
    return item


def _zotero_name(text: str) -> str:
    """A name without a comma is an institution: Zotero writes people family first."""
    text = text.strip()
    return text if "," in text or not text else f"{text},"


def _scopus_item(row: Row) -> CslItem:
    kept = {name.lower(): value for name, value in row.items()}
    kind = kept.pop("document type", "").lower()
    item: CslItem = {"type": _SCOPUS_TYPES.get(kind, "article-journal")}
    full = _AUTHOR_ID.sub("", kept.pop("author full names", ""))
    short = kept.pop("authors", "")
    names = (full or short).split(";" if ";" in (full or short) or full else ".,")
    put_people(item, "author", [_scopus_name(name) for name in names])
    put_people(item, "editor", [_scopus_name(name) for name in kept.pop("editors", "").split(";")])
    for name, variable in _SCOPUS_TEXTS.items():
        put(item, variable, kept.pop(name, ""))
    if year := kept.pop("year", ""):
        item["issued"] = read_date(year)
    put(item, "page", page_range(kept.pop("page start", ""), kept.pop("page end", "")))
    kept.pop("page count", None)
    put_doi(item, kept.pop("doi", ""))
    put_link(item, kept.pop("link", ""))
    put_standard_numbers(item, *filter(None, (kept.pop("issn", ""), kept.pop("isbn", ""))))
    put_language(item, kept.pop("language of original document", "").split(";")[0])
    words = f"{kept.pop('author keywords', '')};{kept.pop('index keywords', '')}"
    put(item, "keyword", join_keywords(words.split(";")))
    for name, value in kept.items():
        put_other(item, name.replace(" ", "-"), value)
    return item


def _scopus_name(text: str) -> str:
    """`Smith J.A.` has its initials behind a blank."""
    text = text.strip(" ,")
    words = text.split()
    if "," in text or len(words) < 2 or not words[-1][:1].isupper():
        return text
    initials = words[-1] if words[-1].endswith(".") or "." in words[-1] else f"{words[-1]}."
    return f"{' '.join(words[:-1])}, {initials}"


def _web_of_science_item(row: Row) -> CslItem:
    lists = {"AU", "AF", "BA", "BF", "BE", "CA"}
    return read_tags(
        {
            name: [part.strip() for part in value.split(";")] if name in lists else [value]
            for name, value in row.items()
        }
    )
