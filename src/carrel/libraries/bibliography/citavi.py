"""Citavi's projects, as XML or as the zipped backup, to CSL-JSON items."""

import io
import json
import re
import zipfile

from carrel.libraries.bibliography.citavi_types import (
    TYPES,
    put_organizations,
    put_specific_fields,
)
from carrel.libraries.bibliography.dates import read_date
from carrel.libraries.bibliography.imports import BibliographyError, CslItem, ImportResult, read_xml
from carrel.libraries.bibliography.items import (
    join_keywords,
    put,
    put_doi,
    put_edition,
    put_language,
    put_link,
    put_other,
    put_standard_numbers,
)
from carrel.libraries.text.xml import XmlNode

ZIP_START = b"PK\x03\x04"
_MAX_UNZIPPED_BYTES = 300_000_000
_SHOWN_RANGE = re.compile(r"<os>([^<]*)</os>\s*(?:<ps>[^<]*</ps>\s*)?$")

_QUOTATIONS = {"1": "direct quotation", "2": "indirect quotation", "3": "summary", "4": "comment"}
_TEXTS = {
    "Volume": "volume", "PlaceOfPublication": "publisher-place",
    "NumberOfVolumes": "number-of-volumes",
    "PageCount": "number-of-pages",
    "PubMedID": "PMID", "Notes": "note", "ParallelTitle": "original-title",
}  # fmt: skip
_PEOPLE = {
    "ReferenceAuthors": "author",
    "ReferenceEditors": "editor",
    "ReferenceCollaborators": "contributor",
}


def read_citavi(content: str | bytes) -> ImportResult:
    """Every reference of a project."""
    answer = ImportResult()
    root = read_xml(_unzip(content) if isinstance(content, bytes) else content, answer)
    project = _Project(root)
    for reference in project.references:
        answer.add(project.item(reference), reference.line, "reference")
    return answer


def _unzip(content: bytes) -> bytes:
    if not content.startswith(ZIP_START):
        return content
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            projects = [
                name
                for name in archive.namelist()
                if name.lower().endswith((".ctv6", ".ctv5", ".ctv4", ".xml"))
            ]
            if not projects:
                raise BibliographyError("The archive holds no Citavi project")
            with archive.open(projects[0]) as file:
                unzipped = file.read(_MAX_UNZIPPED_BYTES + 1)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise BibliographyError(f"The archive cannot be opened: {error}") from error
    if len(unzipped) > _MAX_UNZIPPED_BYTES:
        raise BibliographyError(f"The project is larger than {_MAX_UNZIPPED_BYTES} bytes")
    return unzipped


class _Project:
    """The tables of a project, by the identifiers that join them."""

    def __init__(self, root: XmlNode) -> None:
        self.references = list(_rows(root, "References"))
        self._by_id = {reference.get("id", ""): reference for reference in self.references}
        self._people = {row.get("id", ""): _person(row) for row in _rows(root, "Persons")}
        self._names = {
            table: {row.get("id", ""): row for row in _rows(root, table)}
            for table in (
                "Keywords",
                "Publishers",
                "Periodicals",
                "SeriesTitles",
                "Groups",
                "Categories",
            )
        }
        self._links = {
            name: _links(root, name)
            for name in (
                *_PEOPLE,
                "ReferenceOrganizations",
                "ReferenceKeywords",
                "ReferencePublishers",
                "ReferenceGroups",
                "ReferenceCategories",
            )
        }
        self._wholes = {
            part: whole
            for whole, parts in _links(root, "ReferenceReferences").items()
            for part in parts
        }
        self._libraries = {row.get("id", ""): row.at("Name") for row in _rows(root, "Libraries")}
        self._locations: dict[str, list[XmlNode]] = {}
        for row in _rows(root, "Locations"):
            self._locations.setdefault(row.at("ReferenceID"), []).append(row)
        self._quotations: dict[str, list[XmlNode]] = {}
        for row in _rows(root, "KnowledgeItems"):
            self._quotations.setdefault(row.at("ReferenceID"), []).append(row)

    def item(self, reference: XmlNode) -> CslItem:
        key = reference.get("id", "")
        item: CslItem = {}
        if reference.at("CitationKey"):
            item["id"] = reference.at("CitationKey")
        item["type"] = TYPES.get(reference.at("ReferenceType"), "document")
        title, below = reference.at("Title"), reference.at("Subtitle")
        put(item, "title", f"{title}: {below}" if title and below else title)
        for link, role in _PEOPLE.items():
            people = [
                self._people[person]
                for person in self._links[link].get(key, ())
                if self._people.get(person)
            ]
            if people:
                item[role] = people
        self._container(reference, item)
        self._facts(reference, item)
        publishers = self._joined("ReferencePublishers", "Publishers", key)
        put(item, "publisher", "; ".join(publishers))
        bodies = [
            self._people[body]
            for body in self._links["ReferenceOrganizations"].get(key, ())
            if self._people.get(body)
        ]
        put_organizations(reference.at("ReferenceType"), bodies, item)
        self._locations_of(key, item)
        put(item, "keyword", join_keywords(self._joined("ReferenceKeywords", "Keywords", key)))
        put_other(item, "groups", ", ".join(self._joined("ReferenceGroups", "Groups", key)))
        categories = self._joined("ReferenceCategories", "Categories", key)
        put_other(item, "categories", "; ".join(categories))
        quotations = sorted(
            self._quotations.get(key, ()), key=lambda row: int(row.at("QuotationIndex") or 0)
        )
        put(item, "annote", "\n".join(text for text in map(_quotation, quotations) if text))
        return item

    def _joined(self, link: str, table: str, key: str) -> list[str]:
        rows = (self._names[table].get(other) for other in self._links[link].get(key, ()))
        return [row.at("Name") for row in rows if row is not None]

    def _locations_of(self, key: str, item: CslItem) -> None:
        """Files, links and the shelf of a library."""
        for row in self._locations.get(key, ()):
            put(item, "call-number", row.at("CallNumber"))
            put(item, "archive", self._libraries.get(row.at("LibraryID"), ""))
            address = _address(row.at("Address"))
            if not address.startswith(("http://", "https://", "ftp://")):
                put_other(item, "file", address)
            elif not item.get("DOI") or not address.lower().endswith(item["DOI"]):
                put_link(item, address)

    def _container(self, reference: XmlNode, item: CslItem) -> None:
        periodical = self._names["Periodicals"].get(reference.at("PeriodicalID"))
        if periodical is not None:
            put(item, "container-title", periodical.at("Name"))
            put(item, "container-title-short", periodical.at("StandardAbbreviation"))
            if periodical.at("ISSN"):
                put_standard_numbers(item, periodical.at("ISSN"))
        series = self._names["SeriesTitles"].get(reference.at("SeriesTitleID"))
        put(item, "collection-title", series.at("Name") if series is not None else "")
        whole = self._by_id.get(self._wholes.get(reference.get("id", ""), ""))
        if whole is not None and whole is not reference:
            key = whole.get("id", "")
            title, below = whole.at("Title"), whole.at("Subtitle")
            title = f"{title}: {below}" if title and below else title
            issue_of = self._names["Periodicals"].get(whole.at("PeriodicalID"))
            if whole.at("ReferenceType") == "SpecialIssue" and issue_of is not None:
                # The article of a journal, whose issue has a title of its own.
                item["type"] = "article-journal"
                put(item, "container-title", issue_of.at("Name"))
                put(item, "container-title-short", issue_of.at("StandardAbbreviation"))
                put_standard_numbers(item, *filter(None, [issue_of.at("ISSN")]))
                put_other(item, "issuetitle", title)
                put(item, "volume", whole.at("Volume"))
                put(item, "issue", whole.at("Number"))
            if whole.at("ReferenceType") == "ConferenceProceedings":
                item["type"] = "paper-conference"
                put_specific_fields(whole, item)
            put(item, "container-title", title)
            editors = [
                self._people[person]
                for person in self._links["ReferenceEditors"].get(key, ())
                if self._people.get(person)
            ]
            if editors:
                item.setdefault("editor", editors)
            put(
                item, "publisher", "; ".join(self._joined("ReferencePublishers", "Publishers", key))
            )
            put(item, "publisher-place", whole.at("PlaceOfPublication"))
            if whole.at("ISBN"):
                put_standard_numbers(item, whole.at("ISBN"))
            if whole.at("Year") and not reference.at("Year"):
                item["issued"] = read_date(whole.at("Year"))

    def _facts(self, reference: XmlNode, item: CslItem) -> None:
        for name, variable in _TEXTS.items():
            put(
                item,
                variable,
                reference.at(name) if name != "PageCount" else _shown(reference.at(name)),
            )
        put(
            item,
            "issue" if item["type"].startswith(("article", "periodical")) else "number",
            reference.at("Number"),
        )
        put_edition(item, reference.at("Edition"))
        put(item, "page", _shown(reference.at("PageRange")).replace("–", "-"))
        year, day = reference.at("Year"), reference.at("Date")
        if year or day:
            item["issued"] = read_date(day if not year or day.startswith(f"{year}-") else year)
        if reference.at("AccessDate"):
            item["accessed"] = read_date(reference.at("AccessDate"))
        put_doi(item, reference.at("DOI"))
        put_link(item, reference.at("OnlineAddress"))
        put(item, "PMCID", reference.at("PMCID"))
        if reference.at("ISBN"):
            put_standard_numbers(item, reference.at("ISBN"))
        abstract = reference.first("Abstract")
        put(item, "abstract", abstract.all_text() if abstract else "")
        put_language(item, reference.at("LanguageCode") or reference.at("Language"))
        put_specific_fields(reference, item)
        put_other(item, "table-of-contents", reference.at("TableOfContents"))
        put_other(item, "evaluation", reference.at("Evaluation"))


def _rows(root: XmlNode, table: str) -> list[XmlNode]:
    found = root.first(table)
    return list(found.nodes()) if found else []


def _links(root: XmlNode, table: str) -> dict[str, list[str]]:
    """`one;many;many` by the one."""
    rows = (row.all_text().split(";") for row in _rows(root, table))
    return {row[0]: row[1:] for row in rows if row[0]}


def _person(row: XmlNode) -> dict[str, str]:
    given = " ".join(part for part in (row.at("FirstName"), row.at("MiddleName")) if part)
    family = row.at("LastName")
    if not given:
        return {"literal": family} if family else {}
    parts = {
        "family": family,
        "given": given,
        "non-dropping-particle": row.at("Prefix"),
        "suffix": row.at("Suffix"),
    }
    return {part: text for part, text in parts.items() if text}


def _shown(text: str) -> str:
    """A range of pages is XML within the XML, whose last part is how it is shown."""
    found = _SHOWN_RANGE.search(text)
    return (found.group(1) if found else text).strip()


def _address(text: str) -> str:
    """A path or link, which newer projects have as JSON."""
    if not text.startswith("{"):
        return text
    try:
        content = json.loads(text)
    except ValueError:
        return text
    address = content.get("UriString") if isinstance(content, dict) else None
    return address if isinstance(address, str) else text


def _quotation(row: XmlNode) -> str:
    """What it says, whether in the author's words or the reader's, and where."""
    pages = _shown(row.at("PageRange"))
    kind = _QUOTATIONS.get(row.at("QuotationType"), "") if row.at("Text") else ""
    where = f"p. {pages}" if pages and pages != "n.p." else pages
    words = ": ".join(part for part in (row.at("CoreStatement"), row.at("Text")) if part)
    details = ", ".join(filter(None, (kind, where)))
    return f"{words} ({details})" if words and details else words
