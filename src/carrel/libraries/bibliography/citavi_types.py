"""What Citavi's general fields mean for single types of reference."""

import re

from carrel.libraries.bibliography.dates import read_date
from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.bibliography.items import put, put_other
from carrel.libraries.text.xml import XmlNode

TYPES = {
    "JournalArticle": "article-journal", "SpecialIssue": "periodical",
    "NewspaperArticle": "article-newspaper", "NewsAgencyReport": "article-newspaper",
    "Book": "book", "BookEdited": "book", "CollectedWorks": "book", "LegalCommentary": "book",
    "ConferenceProceedings": "book", "Contribution": "chapter",
    "ContributionInLegalCommentary": "chapter", "Thesis": "thesis",
    # Shown to users as "Gray literature / report".
    "UnpublishedWork": "report", "InternetDocument": "webpage",
    "AudioOrVideoDocument": "motion_picture",
    "Movie": "motion_picture", "Broadcast": "broadcast", "RadioPlay": "broadcast",
    "AudioBook": "song", "MusicAlbum": "song", "MusicTrack": "song",
    "PressRelease": "article-newspaper", "StatuteOrRegulation": "legislation",
    "CourtDecision": "legal_case", "Patent": "patent", "Standard": "standard", "Map": "map",
    "ComputerProgram": "software", "InterviewMaterial": "interview",
    "PersonalCommunication": "personal_communication", "Lecture": "speech",
    "Manuscript": "manuscript", "ArchiveMaterial": "document", "ReportOrGrayLiterature": "report",
    "Report": "report",
}  # fmt: skip
_DURATION = {"SpecificField2": "dimensions"}
# The specific fields of a type by CSL's variables; a name that CSL has not is kept as it is.
_SPECIFIC = {
    "ConferenceProceedings": {
        "SpecificField1": "event-place", "SpecificField4": "event-date",
        "SpecificField7": "event-title",
    },
    "ComputerProgram": {"SpecificField3": "system", "SpecificField4": "version"},
    "CourtDecision": {"SpecificField2": "reporter", "SpecificField3": "genre"},
    "Patent": {
        "SpecificField2": "assignee", "SpecificField5": "application-number",
        "SpecificField6": "submitted",
    },
    "PressRelease": {"SpecificField2": "contact"},
    "AudioOrVideoDocument": _DURATION, "Movie": _DURATION, "AudioBook": _DURATION,
    "Broadcast": _DURATION, "RadioPlay": _DURATION, "MusicAlbum": _DURATION,
    "MusicTrack": _DURATION,
}  # fmt: skip
_VARIABLES = frozenset({"dimensions", "event-place", "event-title", "version", "genre"})
_DATES = frozenset({"event-date", "submitted"})
# `232 U.S. 399`: volume, reporter and page.
_REPORTER = re.compile(r"^(\d{1,4}) ([A-Z][\w. ]{0,30}?) (\d{1,5})$")
_SECOND_DATES = {"Movie": "original-date", "AudioOrVideoDocument": "original-date"}


def put_specific_fields(reference: XmlNode, item: CslItem) -> None:
    """The numbered fields, called as the program calls them for the type."""
    kind = reference.at("ReferenceType")
    names = _SPECIFIC.get(kind, {})
    for number in range(1, 8):
        value = reference.at(f"SpecificField{number}")
        name = names.get(f"SpecificField{number}", f"specific-field-{number}")
        _put(item, name, value)
    supplement = reference.at("TitleSupplement")
    if kind == "Thesis":
        put(item, "genre", supplement)
    else:
        put_other(item, "title-supplement", supplement)
    if kind == "PressRelease":
        put(item, "genre", "Press release")
    put(item, "medium", reference.at("StorageMedium"))
    if second := reference.at("Date2"):
        _put_second_date(kind, second, item)


def _put(item: CslItem, name: str, value: str) -> None:
    if name in _DATES and value:
        date = read_date(value)
        if "date-parts" in date:
            item.setdefault(name, date)
            return
    if name == "reporter" and (found := _REPORTER.match(value)):
        for variable, part in zip(
            ("volume", "container-title", "page"), found.groups(), strict=True
        ):
            put(item, variable, part)
        return
    if name in _VARIABLES:
        put(item, name, value)
    else:
        put_other(item, name, value)


def _put_second_date(kind: str, text: str, item: CslItem) -> None:
    """The day of a patent whose year is given, the first release of a film."""
    date = read_date(text)
    if "date-parts" not in date:
        put_other(item, "second-date", text)
        return
    first = item.get("issued", {}).get("date-parts", [[]])[0]
    if kind == "Patent" and first == date["date-parts"][0][:1]:
        item["issued"] = date
    elif kind in _SECOND_DATES:
        item.setdefault(_SECOND_DATES[kind], date)
    else:
        put_other(item, "second-date", text)


def put_organizations(kind: str, bodies: list[dict[str, str]], item: CslItem) -> None:
    """A thesis's university, a case's court, a conference's organizer; else who wrote it."""
    names = "; ".join(body.get("literal", body.get("family", "")) for body in bodies)
    if not bodies:
        return
    if kind == "Thesis":
        put(item, "publisher", names)
    elif kind == "CourtDecision":
        put(item, "authority", names)
    elif kind == "ConferenceProceedings":
        item["organizer"] = bodies
    elif "author" not in item and not (kind.startswith("Book") and "editor" in item):
        item["author"] = bodies
    else:
        put(item, "publisher", names)
        put_other(item, "organization", names if item["publisher"] != names else "")
