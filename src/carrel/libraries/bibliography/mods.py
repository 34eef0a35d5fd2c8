"""MODS, the Library of Congress's descriptive schema, to CSL-JSON items."""

import re

from carrel.libraries.bibliography.dates import read_date
from carrel.libraries.bibliography.imports import CslItem, ImportResult, read_xml_records
from carrel.libraries.bibliography.items import (
    add_note,
    join_keywords,
    page_range,
    put,
    put_doi,
    put_edition,
    put_language,
    put_link,
    put_links,
    put_or_keep,
    put_other,
    put_people,
    put_standard_numbers,
)
from carrel.libraries.bibliography.marc_roles import read_role
from carrel.libraries.text.xml import XmlNode

_GENRES = {
    "article": "article-journal", "journal article": "article-journal",
    "academic journal": "article-journal", "book": "book", "text": "",
    "conference publication": "book", "conference paper": "paper-conference",
    "in proceedings": "paper-conference", "book chapter": "chapter", "chapter": "chapter",
    "thesis": "thesis", "theses": "thesis", "dissertation": "thesis", "ph.d. thesis": "thesis",
    "masters thesis": "thesis", "technical report": "report", "report": "report",
    "periodical": "periodical", "newspaper": "article-newspaper", "magazine": "article-magazine",
    "web page": "webpage", "web site": "webpage", "electronic resource": "webpage",
    "patent": "patent", "map": "map", "dataset": "dataset", "instruction": "report",
    "manuscript": "manuscript", "motion picture": "motion_picture", "computer program": "software",
    "letter": "personal_communication", "encyclopedia": "entry-encyclopedia",
    # BibTeX's types, as converters write them.
    "inproceedings": "paper-conference", "conference": "paper-conference", "proceedings": "book",
    "incollection": "chapter", "inbook": "chapter", "collection": "book", "phdthesis": "thesis",
    "mastersthesis": "thesis", "techreport": "report", "manual": "report", "booklet": "pamphlet",
    "unpublished": "manuscript", "online": "webpage", "www": "webpage", "electronic": "webpage",
    # The terms of MARC's list of genres.
    "atlas": "map", "globe": "map", "remote sensing image": "map", "database": "dataset",
    "numeric data": "dataset", "statistics": "dataset", "dictionary": "entry-dictionary",
    "film": "motion_picture", "videorecording": "motion_picture", "interview": "interview",
    "issue": "periodical", "journal": "periodical", "legal article": "article-journal",
    "law report or digest": "legal_case", "legal case and case notes": "legal_case",
    "legislation": "legislation", "treaty": "treaty", "review": "review", "speech": "speech",
    "sound": "song", "picture": "graphic", "graphic": "graphic", "art original": "graphic",
    "art reproduction": "graphic", "technical drawing": "graphic", "chart": "figure",
    "online system or service": "webpage", "government publication": "report",
    "multivolume monograph": "book", "novel": "book", "fiction": "book", "festschrift": "book",
    "handbook": "book", "yearbook": "book", "biography": "book", "autobiography": "book",
    "memoir": "book", "catalog": "book", "directory": "book", "series": "book",
    "game": "software", "research article": "article-journal",
    "magazine article": "article-magazine", "newspaper article": "article-newspaper",
    "conference proceedings": "book", "doctoral thesis": "thesis", "master thesis": "thesis",
    "bachelor thesis": "thesis", "phd thesis": "thesis", "working paper": "report",
    # Zotero's types.
    "book section": "chapter", "webpage": "webpage", "blog post": "post-weblog",
    "forum post": "post", "encyclopedia article": "entry-encyclopedia",
    "dictionary entry": "entry-dictionary", "video recording": "motion_picture",
    "audio recording": "song", "tv broadcast": "broadcast", "radio broadcast": "broadcast",
    "podcast": "broadcast", "presentation": "speech", "artwork": "graphic", "statute":
    "legislation", "bill": "bill", "case": "legal_case", "hearing": "hearing",
    "email": "personal_communication", "instant message": "personal_communication",
    "preprint": "article", "blog": "post-weblog", "software": "software", "standard": "standard",
}  # fmt: skip
_WITHIN_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_PAGES_TOTAL = re.compile(r"(?<!\d)(\d{1,5})\s*(?:p\.|pp\.?|pages|S\.|Seiten|leaves)")
_ROLES = {
    "author": "author", "aut": "author", "creator": "author", "cre": "author", "editor": "editor",
    "edt": "editor", "translator": "translator", "trl": "translator", "contributor": "contributor",
    "ctb": "contributor", "director": "director", "drt": "director", "illustrator": "illustrator",
    "degree grantor": "publisher", "dgg": "publisher", "publisher": "publisher", "pbl": "publisher",
    "compiler": "compiler", "com": "compiler", "composer": "composer", "cmp": "composer",
    "performer": "performer", "prf": "performer", "narrator": "narrator", "nrt": "narrator",
    "producer": "producer", "pro": "producer", "interviewee": "author", "ive": "author",
    "interviewer": "interviewer", "ivr": "interviewer", "recipient": "recipient",
    "rcp": "recipient", "ill": "illustrator", "artist": "author", "art": "author",
    "programmer": "author", "prg": "author", "inventor": "author", "inv": "author",
    "dis": "author", "dissertant": "author",
    "screenwriter": "script-writer", "aus": "script-writer", "series editor": "collection-editor",
}  # fmt: skip
_PLACES = "hierarchicalGeographic"
_MORE_TEXTS = {
    "scale": ("subject", "cartographics", "scale"),
    "medium": ("physicalDescription", "form"),
}
# Elements that CSL has no variable for.
_KEPT = {
    "coordinates": ("subject", "cartographics", "coordinates"),
    "projection": ("subject", "cartographics", "projection"),
    "frequency": ("originInfo", "frequency"),
    "date-valid": ("originInfo", "dateValid"), "date-modified": ("originInfo", "dateModified"),
    "date-other": ("originInfo", "dateOther"), "target-audience": ("targetAudience",),
    "media-type": ("physicalDescription", "internetMediaType"),
    "digital-origin": ("physicalDescription", "digitalOrigin"),
    "physical-note": ("physicalDescription", "note"),
}  # fmt: skip


def read_mods(content: str | bytes) -> ImportResult:
    """Every record of a modsCollection, or a single one."""
    return read_xml_records(content, "mods", _item)


def _item(record: XmlNode) -> CslItem:
    item: CslItem = {}
    keys = [
        node.all_text()
        for node in record.each("identifier")
        if node.get("type", "").lower() == "citekey"
    ]
    key = next((key for key in keys if key), "") or record.get("ID", "")
    if key:
        item["id"] = key
    host = next((node for node in record.each("relatedItem") if node.get("type") == "host"), None)
    series = next(
        (node for node in record.each("relatedItem") if node.get("type") == "series"), None
    )
    item["type"] = _type(record, host)
    put(item, "title", _title(record, ""))
    put(item, "title-short", _title(record, "abbreviated"))
    for kind in ("alternative", "uniform", "translated"):
        put_other(item, f"{kind}-title", _title(record, kind))
    for relation, variable in (("original", "original-title"), ("reviewOf", "reviewed-title")):
        for node in record.each("relatedItem"):
            put(item, variable, _title(node, "") if node.get("type") == relation else "")
    _people(record, item, "")
    _origin(record, item)
    if host:
        put(item, "container-title", _title(host, ""))
        put(item, "container-title-short", _title(host, "abbreviated"))
        _people(host, item, "editor")
        _origin(host, item)
        _identifiers(host, item)
        _part(host, item)
    if series:
        put(item, "collection-title", _title(series, "", has_parts=False))
        details = [node for part in series.each("part") for node in part.each("detail")]
        numbers = [node.at("number") for node in details if node.get("type") == "volume"]
        numbers += [info.at("partNumber") for info in series.each("titleInfo")]
        put(item, "collection-number", next(filter(None, numbers), ""))
    _part(record, item)
    _identifiers(record, item)
    _words(record, item)
    return item


def _type(record: XmlNode, host: XmlNode | None) -> str:
    genres = [_plain_genre(node.all_text()) for node in record.each("genre")]
    for genre in genres:
        if _GENRES.get(genre):
            kind = _GENRES[genre]
            if kind == "book" and host:
                return "paper-conference" if "conference" in genre else "chapter"
            return kind
    if host:
        around = {node.all_text().lower() for node in host.each("genre")}
        if around & {"periodical", "academic journal", "journal"} or host.at(
            "originInfo", "issuance"
        ) in {"continuing", "serial"}:
            return "article-journal"
        if around & {"newspaper"}:
            return "article-newspaper"
        if around & {"conference publication"}:
            return "paper-conference"
        return (
            "chapter"
            if around & {"book"} or host.at("originInfo", "issuance") == "monographic"
            else "article-journal"
        )
    if record.at("originInfo", "issuance") == "monographic":
        return "book"
    return "document"


def _is_known(genre: str) -> bool:
    return _plain_genre(genre) in _GENRES


def _plain_genre(text: str) -> str:
    """Zotero writes its types as genres: `journalArticle`."""
    return _WITHIN_CAMEL_CASE.sub(" ", text).lower()


def _title(node: XmlNode, kind: str, *, has_parts: bool = True) -> str:
    for info in node.each("titleInfo"):
        if info.get("type", "") == kind:
            start, title, below = info.at("nonSort"), info.at("title"), info.at("subTitle")
            # An elided article has no blank behind it: L'apostrophe.
            title = f"{start}{title}" if start.endswith(("'", "’")) else f"{start} {title}".strip()
            parts = [info.at("partNumber"), info.at("partName")] if not kind and has_parts else []
            if part := ", ".join(filter(None, parts)):
                title = f"{title}. {part}"
            return f"{title}: {below}" if below else title
    return ""


def _people(node: XmlNode, item: CslItem, default: str) -> None:
    for name in node.each("name"):
        roles = [
            term.all_text().lower() for role in name.each("role") for term in role.each("roleTerm")
        ]
        unknown = "contributor" if roles else default or "author"
        known = next((_ROLES[word] for word in roles if word in _ROLES), "")
        role = known or read_role(roles, roles)[0] or unknown
        if name.get("type") == "conference":
            put(item, "event-title", " ".join(part.all_text() for part in name.each("namePart")))
            continue
        parts: dict[str, list[str]] = {}
        for part in name.each("namePart"):
            parts.setdefault(part.get("type", ""), []).append(part.all_text())
        if role == "publisher":
            put(item, "publisher", " ".join(parts.get("", [])))
        elif "family" in parts:
            person = {
                "family": " ".join(parts["family"]),
                "given": " ".join(parts.get("given", [])),
            }
            suffix = " ".join(parts.get("termsOfAddress", []))
            person = {key: value for key, value in (person | {"suffix": suffix}).items() if value}
            item[role] = [*item.get(role, []), person]
        elif parts.get("") or name.at("displayForm"):
            whole = parts.get("") or [name.at("displayForm")]
            text = ", ".join(part.strip(" ,") for part in whole)
            put_people(
                item,
                role,
                [f"{text}," if name.get("type") == "corporate" else text],
            )


def _origin(node: XmlNode, item: CslItem) -> None:
    for origin in node.each("originInfo"):
        put(item, "publisher", origin.at("publisher"))
        terms = [term for place in origin.each("place") for term in place.each("placeTerm")]
        # The code of a country stands beside the place in words.
        worded = [term for term in terms if term.get("type") != "code"]
        put(item, "publisher-place", ", ".join(term.all_text() for term in worded or terms))
        for term in terms if worded else ():
            put_other(item, "country-code", term.all_text() if term not in worded else "")
        put_edition(item, origin.at("edition"))
        for name, variable in (
            ("dateIssued", "issued"),
            ("copyrightDate", "issued"),
            ("dateCaptured", "accessed"),
            ("dateCreated", "issued"),
        ):
            text = _date_text(origin, name)
            if text and variable not in item:
                item[variable] = read_date(text)


def _date_text(origin: XmlNode, name: str) -> str:
    """A date, of several the one for machines; two with points are a range."""
    dates = [node for node in origin.each(name) if node.all_text()]
    points = {node.get("point", ""): node.all_text() for node in dates}
    if points.keys() >= {"start", "end"} and points["start"] != points["end"]:
        return f"{points['start']}/{points['end']}"
    dates.sort(key=lambda node: not node.get("encoding", ""))
    return dates[0].all_text() if dates else ""


def _part(node: XmlNode, item: CslItem) -> None:
    for part in node.each("part"):
        for detail in part.each("detail"):
            kind = detail.get("type", "")
            text = detail.at("number") or detail.at("caption") or detail.at("title")
            variable = {
                "volume": "volume",
                "issue": "issue",
                "number": "issue",
                "chapter": "chapter-number",
                "page": "page",
            }.get(kind)
            if variable:
                put(item, variable, text)
        for extent in part.each("extent"):
            put(item, "page", page_range(extent.at("start"), extent.at("end")) or extent.at("list"))
        date = part.at("date")
        if date and "issued" not in item:
            item["issued"] = read_date(date)


def _rank_of_link(url: XmlNode) -> int:
    if "primary" in url.get("usage", ""):
        return 0
    return 2 if url.get("access") == "preview" else 1


def _identifiers(node: XmlNode, item: CslItem) -> None:
    locations = list(node.each("location"))
    if any("primary" in url.get("usage", "") for each in locations for url in each.each("url")):
        _locations(locations, item)
    for identifier in node.each("identifier"):
        kind, text = identifier.get("type", "").lower(), identifier.all_text()
        if kind == "doi":
            put_doi(item, text)
        elif kind in {"isbn", "issn"}:
            put_standard_numbers(item, text)
        elif kind in {"uri", "url", "hdl"}:
            put_link(item, text)
        elif kind in {"pubmed", "pmid", "medline"}:
            put(item, "PMID", text)
        elif kind not in {"citekey", ""}:
            put_other(item, kind, text)
    _locations(locations, item)


def _locations(locations: list[XmlNode], item: CslItem) -> None:
    for location in locations:
        # A record says itself which of its links is that of the work.
        links = sorted(location.each("url"), key=_rank_of_link)
        put_links(item, [url.all_text() for url in links])
        if days := [day for url in links if (day := url.get("dateLastAccessed", ""))]:
            item.setdefault("accessed", read_date(days[0]))
        put(item, "archive_location", location.at("physicalLocation"))
        put(item, "call-number", location.at("shelfLocator"))


def _words(record: XmlNode, item: CslItem) -> None:
    put(item, "abstract", record.at("abstract"))
    topics = [
        topic.all_text()
        for subject in record.each("subject")
        for topic in subject.nodes()
        if topic.tag in {"topic", "geographic", "temporal", "titleInfo", "occupation", "genre"}
    ]
    topics += [
        ", ".join(part.all_text() for part in name.each("namePart"))
        for subject in record.each("subject")
        for name in subject.each("name")
    ]
    put(item, "keyword", join_keywords(topics))
    language = record.first("language")
    if language:
        text = language.at("languageTerm") or language.all_text()
        put_language(item, text)
    for note in record.each("note"):
        add_note(item, note.all_text())
    total = record.at("physicalDescription", "extent", "total")
    found = _PAGES_TOTAL.search(record.at("physicalDescription", "extent"))
    put(item, "number-of-pages", total or (found.group(1) if found else ""))
    known = {node.all_text() for node in record.each("genre") if _is_known(node.all_text())}
    genres = [node.all_text() for node in record.each("genre") if node.all_text() not in known]
    put(item, "genre", "; ".join(dict.fromkeys(filter(None, genres))))
    put_or_keep(item, "call-number", record.at("classification"), "classification")
    for variable, path in _MORE_TEXTS.items():
        put(item, variable, record.at(*path))
    for name, path in _KEPT.items():
        put_other(item, name, record.at(*path))
    places = [place for each in record.each("subject") for place in each.each(_PLACES)]
    for part in (part for place in places for part in place.nodes()):
        put_other(item, part.tag.lower(), part.all_text())
    extent = record.at("physicalDescription", "extent")
    put_other(item, "extent", extent if "number-of-pages" not in item else "")
    affiliations = [node.all_text() for node in record.deep("affiliation")]
    put_other(item, "affiliation", "; ".join(dict.fromkeys(filter(None, affiliations))))
    contents = [node.all_text() for node in record.each("tableOfContents")]
    put_other(item, "table-of-contents", "; ".join(filter(None, contents)))
    put(item, "license", record.at("accessCondition"))
