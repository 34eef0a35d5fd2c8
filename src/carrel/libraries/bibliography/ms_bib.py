"""Microsoft Word's sources to CSL-JSON items."""

from carrel.libraries.bibliography.dates import read_year_and_month
from carrel.libraries.bibliography.imports import CslItem, ImportResult, read_xml_records
from carrel.libraries.bibliography.items import (
    add_note,
    put,
    put_doi,
    put_link,
    put_other,
    put_standard_numbers,
)
from carrel.libraries.identifiers import Doi, NotAnIdentifierError
from carrel.libraries.text.xml import XmlNode

_TYPES = {
    "JournalArticle": "article-journal", "ArticleInAPeriodical": "article-magazine", "Book": "book",
    "BookSection": "chapter", "ConferenceProceedings": "paper-conference", "Report": "report",
    "InternetSite": "webpage", "DocumentFromInternetSite": "webpage",
    "ElectronicSource": "document", "Art": "graphic", "SoundRecording": "song",
    "Performance": "performance", "Film": "motion_picture", "Interview": "interview",
    "Patent": "patent", "Case": "legal_case", "Misc": "document",
}  # fmt: skip
_TEXTS = {
    "Title": "title", "ShortTitle": "title-short", "BookTitle": "container-title",
    "JournalName": "container-title", "ConferenceName": "event-title",
    "PeriodicalTitle": "container-title", "PublicationTitle": "container-title",
    "InternetSiteTitle": "container-title", "Volume": "volume", "Issue": "issue", "Pages": "page",
    "Publisher": "publisher", "Institution": "publisher", "City": "publisher-place",
    "Edition": "edition", "Medium": "medium", "NumberVolumes": "number-of-volumes",
    "ChapterNumber": "chapter-number", "PatentNumber": "number", "CaseNumber": "number",
    "ThesisType": "genre", "Version": "version", "BIBTEX_Series": "collection-title",
    "BIBTEX_Abstract": "abstract", "BIBTEX_KeyWords": "keyword",
}  # fmt: skip
_ROLES = {
    "Author": "author", "Editor": "editor", "Translator": "translator",
    "BookAuthor": "container-author", "Director": "director", "Inventor": "author",
    "Interviewer": "interviewer", "Interviewee": "author", "Composer": "composer",
    "Performer": "performer", "Artist": "author", "Compiler": "compiler", "Writer": "script-writer",
    "ProducerName": "producer", "Counsel": "contributor",
}  # fmt: skip
_NUMBERS = {"LCCN": "lccn", "MRN": "mrnumber"}
_ENGLISH_CODES = {"0", "1033", "2057", "3081", "4105"}


def read_ms_bib(content: str | bytes) -> ImportResult:
    """Every source of a Word sources file."""
    return read_xml_records(content, "Source", _item, "source")


def _item(source: XmlNode) -> CslItem:
    item: CslItem = {}
    key = source.at("Tag")
    if key:
        item["id"] = key
    kind = source.at("SourceType")
    item["type"] = _TYPES.get(kind, "document")
    for name, variable in _TEXTS.items():
        put(item, variable, source.at(name))
    if "page" in item:
        item["page"] = item["page"].replace("--", "-")
    _people(source, item)
    date = read_year_and_month(source.at("Year"), source.at("Month"), source.at("Day"))
    if date:
        item["issued"] = date
    accessed = read_year_and_month(
        source.at("YearAccessed"), source.at("MonthAccessed"), source.at("DayAccessed")
    )
    if accessed:
        item["accessed"] = accessed
    put_doi(item, source.at("DOI"))
    put_link(item, source.at("URL"))
    _standard_number(source.at("StandardNumber"), item)
    add_note(item, source.at("Comments"))
    put(item, "language", "en" if source.at("LCID") in _ENGLISH_CODES else "")
    place = ", ".join(
        part for part in (source.at("StateProvince"), source.at("CountryRegion")) if part
    )
    if place:
        item["publisher-place"] = (
            f"{item['publisher-place']}, {place}" if "publisher-place" in item else place
        )
    return item


def _people(source: XmlNode, item: CslItem) -> None:
    people = source.first("Author")
    for group in people.nodes() if people else ():
        role = _ROLES.get(group.tag)
        if role is None:
            continue
        names: list[dict[str, str]] = []
        corporate = group.at("Corporate")
        if corporate:
            names.append({"literal": corporate})
        for person in group.deep("Person"):
            given = " ".join(part for part in (person.at("First"), person.at("Middle")) if part)
            family = person.at("Last")
            if family and given:
                names.append({"family": family, "given": given})
            elif family or given:
                names.append({"literal": family or given})
        if names:
            item[role] = item.get(role, []) + names


def _standard_number(text: str, item: CslItem) -> None:
    """`ISBN: … :LCCN: …` and other such lists, in one field."""
    if not text:
        return
    for mark, name in _NUMBERS.items():
        if f":{mark}:" in text:
            before, _, after = text.partition(f":{mark}:")
            put_other(item, name, after.split(":", 1)[0].strip())
            _standard_number(before.strip(), item)
            return
    try:
        put(item, "DOI", str(Doi.parse(text)))
    except NotAnIdentifierError:
        put_standard_numbers(item, text.replace("ISBN:", "").replace("ISSN:", ""))
