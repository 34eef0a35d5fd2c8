"""EndNote's XML export to CSL-JSON items."""

from collections.abc import Iterator

from carrel.libraries.bibliography.dates import read_date, read_year_and_month
from carrel.libraries.bibliography.endnote_types import settle_by_type, split_work_number
from carrel.libraries.bibliography.imports import CslItem, ImportResult, read_xml_records
from carrel.libraries.bibliography.items import (
    add_note,
    join_keywords,
    put,
    put_doi,
    put_edition,
    put_language,
    put_link,
    put_or_keep,
    put_other,
    put_pages,
    put_people,
    put_standard_numbers,
)
from carrel.libraries.bibliography.refer import TYPES
from carrel.libraries.identifiers import NotAnIdentifierError, Pmcid
from carrel.libraries.text.xml import XmlNode

_JOURNALS = frozenset({"article-journal", "article-magazine", "article-newspaper"})
_PARTS = frozenset({"chapter", "paper-conference", "entry-encyclopedia", "entry-dictionary"})
_ROLES = {
    "authors": "author",
    "secondary-authors": "editor",
    "tertiary-authors": "collection-editor",
    "subsidiary-authors": "translator",
    "translated-authors": "translator",
}
_ROLES_OF_TYPES = {
    "edited book": {"authors": "editor"},
    "personal communication": {"secondary-authors": "recipient"},
    "interview": {"secondary-authors": "interviewer"},
    "thesis": {"tertiary-authors": "contributor"},
    "film or broadcast": {
        "secondary-authors": "contributor",
        "tertiary-authors": "producer",
        "subsidiary-authors": "performer",
    },
}
_PLAIN = {
    "volume": "volume", "publisher": "publisher", "pub-location": "publisher-place",
    "num-vols": "number-of-volumes", "section": "section", "call-num": "call-number",
    "remote-database-name": "archive", "remote-database-provider": "source", "work-type": "genre",
}  # fmt: skip
_OTHER_FIELDS = {
    "auth-address": "author-address", "accession-num": "accession-number", "label": "label",
    "custom1": "custom1", "custom2": "custom2", "custom3": "custom3", "custom4": "custom4",
    "custom5": "custom5", "custom6": "custom6", "custom7": "custom7",
    "research-notes": "research-notes", "reprint-edition": "reprint-edition",
    "reprint-status": "reprint-status", "user16": "user16", "caption": "caption",
    "orig-pub": "original-publication",
}  # fmt: skip
_FACES = {"italic": "i", "bold": "b", "superscript": "sup", "subscript": "sub"}
# Older exports and other programs give a reference type by its number alone.
_NUMBERED_TYPES = {
    "0": "Journal Article", "1": "Book", "2": "Artwork", "3": "Audiovisual Material", "4": "Bill",
    "5": "Book Section", "6": "Book", "7": "Case", "8": "Chart or Table", "9": "Computer Program",
    "10": "Conference Proceedings", "12": "Web Page", "13": "Generic", "17": "Journal Article",
    "18": "Hearing", "19": "Magazine Article", "20": "Map", "21": "Film or Broadcast",
    "23": "Newspaper Article", "25": "Patent", "26": "Personal Communication", "27": "Report",
    "28": "Edited Book", "31": "Statute", "32": "Thesis", "34": "Unpublished Work",
    "36": "Manuscript", "37": "Figure", "38": "Chart or Table", "39": "Equation",
    "43": "Electronic Article", "44": "Electronic Book", "45": "Online Database",
    "46": "Government Document", "47": "Conference Paper", "48": "Online Multimedia",
    "49": "Classical Work", "50": "Legal Rule or Regulation", "52": "Dictionary",
    "53": "Encyclopedia", "54": "Grant", "56": "Blog", "57": "Serial", "58": "Standard",
    "59": "Dataset", "60": "Electronic Book Section", "61": "Music", "62": "Interview",
}  # fmt: skip


def read_endnote_xml(content: str | bytes) -> ImportResult:
    """Every record of an EndNote XML file."""
    return read_xml_records(content, "record", _item)


def _item(record: XmlNode) -> CslItem:
    kind_node = record.first("ref-type")
    kind = (kind_node.get("name") if kind_node else "") or (
        kind_node.all_text() if kind_node else ""
    )
    kind = _NUMBERED_TYPES.get(kind.strip(), kind)
    item: CslItem = {"type": TYPES.get(kind.strip().lower(), "document")}
    if kind and item["type"] == "document" and kind.lower() != "generic":
        put_other(item, "reference-type", kind)
    _titles(record, item)
    _people(record, item, kind.strip().lower())
    _dates(record, item)
    accessed = record.at("access-date")
    if accessed:
        item["accessed"] = read_date(accessed)
    for name, variable in _PLAIN.items():
        put(item, variable, record.at(name))
    isbns = [isbn.all_text() for isbn in record.each("isbn")]
    own_number, isbns = split_work_number(item["type"], isbns)
    put(item, "number", own_number)
    place = "issue" if item["type"] in _JOURNALS or item["type"] in _PARTS else "number"
    other_name = "application-number" if item["type"] == "patent" else "number"
    put_or_keep(item, place, record.at("number"), other_name)
    put_or_keep(item, place, record.at("issue"), "issue")
    put_edition(item, record.at("edition"))
    put_pages(item, record.at("pages"))
    if item["type"] == "book" and "container-title" in item and "-" in item.get("page", ""):
        item["type"] = "chapter"
    put_standard_numbers(item, *isbns)
    put_doi(item, record.at("electronic-resource-num"))
    _urls(record, item)
    keywords = record.first("keywords")
    if keywords:
        put(
            item,
            "keyword",
            join_keywords(
                part for word in keywords.each("keyword") for part in word.all_text().split(";")
            ),
        )
    put(item, "abstract", _lines(record.first("abstract")))
    add_note(item, _lines(record.first("notes")))
    put_language(item, record.at("language"))
    for name, kept in _OTHER_FIELDS.items():
        value = record.at(name)
        try:
            put(item, "PMCID", str(Pmcid.parse(value)))
        except NotAnIdentifierError:
            put_other(item, kept, value)
    settle_by_type(item)
    return item


def _styled_text(node: XmlNode) -> str:
    """A title with its markup; a style around the whole of it is how the program shows it."""
    styles = list(node.each("style"))
    if len(styles) < 2:
        return node.all_text()
    parts = [node.text or ""]
    for style in styles:
        text = "".join(style.itertext())
        marks = [_FACES[face] for face in style.get("face", "").split() if face in _FACES]
        bare = text.strip()
        if bare:
            before, _, after = text.partition(bare)
            opening = "".join(f"<{mark}>" for mark in marks)
            closing = "".join(f"</{mark}>" for mark in reversed(marks))
            text = f"{before}{opening}{bare}{closing}{after}"
        parts += [text, style.tail or ""]
    return " ".join("".join(parts).split())


def _lines(node: XmlNode | None) -> str:
    """A text whose lines are parted by carriage returns, as EndNote writes them."""
    lines = ("".join(node.itertext()) if node else "").split("\r")
    return "\n".join(filter(None, (" ".join(line.split()) for line in lines)))


def _people(record: XmlNode, item: CslItem, kind: str) -> None:
    """The contributors, called as EndNote's table of reference types calls them."""
    contributors = record.first("contributors")
    roles = _ROLES | _ROLES_OF_TYPES.get(kind, {})
    for group, role in roles.items():
        people = contributors.first(group) if contributors else None
        if people:
            put_people(item, role, [author.all_text() for author in people.each("author")])


def _titles(record: XmlNode, item: CslItem) -> None:
    titles = record.first("titles")
    periodical = record.at("periodical", "full-title")
    short = record.at("periodical", "abbr-1") or record.at("alt-periodical", "abbr-1")
    if titles is None:
        put(item, "container-title", periodical)
        return
    found = list(titles.each("title"))
    put(item, "title", _styled_text(found[0]) if found else "")
    second, third = titles.at("secondary-title"), titles.at("tertiary-title")
    if item["type"] in {"book", "thesis", "report"} and not periodical:
        put(item, "collection-title", second)
    else:
        put(item, "container-title", second or periodical)
    put_or_keep(item, "collection-title", third, "tertiary-title")
    put(item, "title-short", titles.at("short-title"))
    alternative = titles.at("alt-title")
    other = short or alternative
    if other and other not in {item.get("container-title"), item.get("title")}:
        put(item, "container-title-short", other)
    for name, text in (("alternate-title", alternative), ("full-title", periodical)):
        known = {item.get("container-title"), item.get("container-title-short"), item.get("title")}
        put_other(item, name, text if text not in known else "")
    if titles.at("translated-title"):
        put_other(item, "translated-title", titles.at("translated-title"))


def _dates(record: XmlNode, item: CslItem) -> None:
    dates = record.first("dates")
    if dates is None:
        return
    year = dates.at("year")
    day = dates.at("pub-dates", "date")
    date = (read_year_and_month(year, day) if year else read_date(day)) if year or day else None
    if date and year and "date-parts" not in date and "date-parts" in read_date(year):
        date = read_date(year)
    if date:
        item["issued"] = date


def _urls(record: XmlNode, item: CslItem) -> None:
    urls = record.first("urls")
    if urls is None:
        return
    for group in _groups(urls):
        for url in group.each("url"):
            text = url.all_text()
            if group.tag in {"pdf-urls", "text-urls", "image-urls"} and not text.startswith(
                ("http://", "https://")
            ):
                put_other(item, "file", text)
            else:
                put_link(item, text)


def _groups(urls: XmlNode) -> Iterator[XmlNode]:
    for name in ("web-urls", "related-urls", "pdf-urls", "text-urls", "image-urls"):
        yield from urls.each(name)
