"""Microsoft Word's sources to CSL-JSON items."""

import re

from carrel.libraries.bibliography.bibtex.names import NameReader
from carrel.libraries.bibliography.bibtex.tex import to_plain
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
    "BroadcastTitle": "container-title",
    "AlbumTitle": "container-title", "Reporter": "container-title", "Broadcaster": "publisher",
    "ProductionCompany": "publisher", "Distributor": "publisher", "Theater": "event-place",
    "Court": "authority", "RecordingNumber": "number", "DatabaseTitle": "archive",
}  # fmt: skip
# What other programs put into Word's sources for fields that Word has not.
_BIBTEX = {
    "keywords": "keyword", "abstract": "abstract", "series": "collection-title", "isbn": "ISBN",
    "issn": "ISSN", "chapter": "chapter-number", "number": "number", "note": "note",
    "annote": "annote", "language": "language", "eprint": "", "pagetotal": "number-of-pages",
}  # fmt: skip
_BIBTEX_TYPES = {
    "article": "article-journal", "book": "book", "inbook": "chapter", "incollection": "chapter",
    "booklet": "pamphlet", "inproceedings": "paper-conference", "conference": "paper-conference",
    "proceedings": "book", "collection": "book", "phdthesis": "thesis", "mastersthesis": "thesis",
    "thesis": "thesis", "techreport": "report", "report": "report", "manual": "report",
    "unpublished": "manuscript", "patent": "patent", "online": "webpage", "electronic": "webpage",
}  # fmt: skip
_NOT_OF_THE_WORK = frozenset({
    "Tag", "SourceType", "Author", "Guid", "LCID", "RefOrder", "Year", "Month", "Day", "DOI", "URL",
    "YearAccessed", "MonthAccessed", "DayAccessed", "StandardNumber", "Comments", "StateProvince",
    "CountryRegion", "BIBTEX_Entry",
})  # fmt: skip
_ROLES = {
    "Author": "author", "Editor": "editor", "Translator": "translator",
    "BookAuthor": "container-author", "Director": "director", "Inventor": "author",
    "Interviewer": "interviewer", "Interviewee": "author", "Composer": "composer",
    "Performer": "performer", "Artist": "author", "Compiler": "compiler", "Writer": "script-writer",
    "ProducerName": "producer", "Counsel": "contributor", "Conductor": "contributor",
}  # fmt: skip
_LANGUAGE_TAG = re.compile(r"^[a-z]{2,3}(?:-[A-Za-z]{2,4}){0,2}$")
_FURTHER_NAME = re.compile(r"(?:^|\s)and\s\S[^,]{0,200},")
_NUMBERS = {"LCCN": "lccn", "MRN": "mrnumber"}
# Windows' numbers of languages.
_LANGUAGES = {
    "0": "en", "1033": "en", "2057": "en", "3081": "en", "4105": "en", "5129": "en", "1031": "de",
    "2055": "de", "3079": "de", "1036": "fr", "2060": "fr", "3084": "fr", "4108": "fr",
    "1034": "es", "2058": "es", "3082": "es", "1040": "it", "1043": "nl", "2067": "nl",
    "1046": "pt", "2070": "pt", "1053": "sv", "1030": "da", "1044": "nb", "2068": "nn",
    "1035": "fi", "1045": "pl", "1029": "cs", "1051": "sk", "1060": "sl", "1050": "hr",
    "1038": "hu", "1048": "ro", "1026": "bg", "1049": "ru", "1058": "uk", "1032": "el",
    "1055": "tr", "1037": "he", "1025": "ar", "1065": "fa", "1041": "ja", "1042": "ko",
    "2052": "zh", "1028": "zh", "3076": "zh", "1081": "hi", "1054": "th", "1066": "vi",
    "1057": "id", "1027": "ca", "1069": "eu", "1110": "gl", "1061": "et", "1062": "lv",
    "1063": "lt", "1039": "is",
}  # fmt: skip


def read_ms_bib(content: str | bytes) -> ImportResult:
    """Every source of a Word sources file."""
    return read_xml_records(content, "Source", _item, "source")


def _item(source: XmlNode) -> CslItem:
    item: CslItem = {}
    key = source.at("Tag")
    if key:
        item["id"] = key
    kind = source.at("SourceType")
    item["type"] = _type(kind, source)
    if kind and kind not in _TYPES:
        put_other(item, "sourcetype", kind)
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
    language = source.at("LCID")
    put(
        item,
        "language",
        language if _LANGUAGE_TAG.match(language) else _LANGUAGES.get(language, ""),
    )
    place = ", ".join(
        part for part in (source.at("StateProvince"), source.at("CountryRegion")) if part
    )
    if place:
        item["publisher-place"] = (
            f"{item['publisher-place']}, {place}" if "publisher-place" in item else place
        )
    _put_others(source, item)
    return item


def _type(kind: str, source: XmlNode) -> str:
    entry = _BIBTEX_TYPES.get(source.at("BIBTEX_Entry").lower())
    if entry:
        return entry
    if kind == "Report" and any(
        word in source.at("ThesisType").lower() for word in ("thes", "diss", "tesi", "thès")
    ):
        return "thesis"
    return _TYPES.get(kind, "document")


def _put_others(source: XmlNode, item: CslItem) -> None:
    """Keep what has no variable, and a second value for one, under the name it had."""
    for node in source.nodes():
        text = node.all_text()
        if node.tag in _NOT_OF_THE_WORK or not text:
            continue
        name = node.tag.removeprefix("BIBTEX_").lower()
        variable = _TEXTS.get(node.tag) or (_BIBTEX.get(name) if name != node.tag.lower() else None)
        if variable:
            put(item, variable, text)
        if not variable or item[variable].replace("-", "") != text.replace("-", ""):
            put_other(item, name, text)


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
            if _FURTHER_NAME.search(given):
                # Other programs put a whole list of BibTeX into one person.
                names += NameReader().read(f"{family}, {given}")[0]
                continue
            family, given = (to_plain(part) if "\\" in part else part for part in (family, given))
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
