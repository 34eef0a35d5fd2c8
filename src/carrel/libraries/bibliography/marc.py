"""MARC 21, as library catalogues answer in XML or ISO 2709, to CSL-JSON items."""

import re
from collections.abc import Iterable

from carrel.libraries.bibliography.dates import CslDate, read_date
from carrel.libraries.bibliography.imports import CslItem, ImportResult
from carrel.libraries.bibliography.items import (
    add_note,
    join_keywords,
    put,
    put_doi,
    put_edition,
    put_language,
    put_link,
    put_other,
    put_people,
    put_standard_numbers,
)
from carrel.libraries.bibliography.marc_records import (
    MarcField,
    MarcRecord,
    binary_records,
    xml_records,
)
from carrel.libraries.bibliography.marc_roles import read_role

_PAGES_TOTAL = re.compile(r"(\d+)\s*(?:Seiten|S\.|p\.|pages|pp|Bl|leaves)", re.IGNORECASE)
_PAGES = re.compile(r"(?:pages?|Seiten?|S\.|pp?\.)[:\s]*(\d+(?:\s*[-–]\s*\d+)?)", re.IGNORECASE)
_VOLUME = re.compile(r"(?:volumes?|vol\.?|Band|Bd\.|v\.)[:\s]*([\w./-]+)", re.IGNORECASE)
_NUMBER = re.compile(r"(?:number|no\.?|Heft|H\.|issue|Nr\.)[:\s]*([\w./-]+)", re.IGNORECASE)
_ENUMERATION = re.compile(
    r"^(?P<volume>[^:<>]{1,20})(?::(?P<issue>[^<>]{1,20}))?(?:<(?P<page>\w+))?"
)
# `12(2010), 3, Seite 100-110`, as German catalogues write it.
_VOLUME_OF_YEAR = re.compile(
    r"^(?P<volume>\d+) ?\(\d{4}\)(?:,? (?:Heft |H\. ?)?(?P<issue>\d[\w/-]*))?"
)
_EDITED = re.compile(r"\b(?:edited|ed\.|eds\.|hrsg|herausgegeben|hg\.|éd\.|red\.)", re.IGNORECASE)
_THESIS_NOTE = re.compile(
    r"^(?:Thesis|Dissertation)\s*\(([^()]{1,80})\)\s*-*\s*([^,]{1,200})", re.IGNORECASE
)
_YEAR = re.compile(r"\d{4}")
_OCLC = re.compile(r"^\(OCoLC\)\s*(\S+)")
_KINDS = {
    "a": "book", "c": "musical_score", "d": "musical_score", "e": "map", "f": "map",
    "g": "motion_picture", "i": "song", "j": "song", "k": "graphic", "m": "software",
    "t": "manuscript",
}  # fmt: skip
_DOCTORATES = frozenset({"dissertation", "diss.", "ph. d.", "ph.d.", "phd", ""})
_NOTES = ("500", "501", "505", "508", "511", "518", "534", "546", "550")
_SUBJECTS = ("600", "610", "611", "630", "648", "650", "651", "653")


def read_marc_xml(content: str | bytes) -> ImportResult:
    """Every MARC record, in whatever envelope it came."""
    answer = ImportResult()
    for record in xml_records(content, answer):
        answer.add(_item(record), record.line)
    return answer


def read_marc_binary(content: str | bytes) -> ImportResult:
    """Every record of a file in ISO 2709; lines are the numbers of records."""
    answer = ImportResult()
    for record in binary_records(content, answer):
        answer.add(_item(record), record.line)
    return answer


def _item(record: MarcRecord) -> CslItem:
    item: CslItem = {"type": _type(record)}
    put(item, "title", _title(record))
    put_other(item, "titleaddon", record.text("245", "c"))
    put(item, "title-short", record.text("210", "a"))
    put_other(item, "alternative-title", record.text("246", "a"))
    _people(record, item)
    _origin(record, item)
    _thesis(record, item)
    _host(record, item)
    put_edition(item, record.text("250", "a").rstrip("."))
    total = _PAGES_TOTAL.search(record.text("300", "a"))
    put(item, "number-of-pages", total.group(1) if total else "")
    for tag in ("490", "440", "830", "800", "810"):
        put(item, "collection-title", record.text(tag, "t" if tag in {"800", "810"} else "a"))
        put(item, "collection-number", record.text(tag, "v"))
    _numbers(record, item)
    _event(record, item)
    _words(record, item)
    return item


def _title(record: MarcRecord) -> str:
    """Title, number and name of a part, and what stands below."""
    for data in record.each("245"):
        title = data.text("a")
        part = ", ".join(text.rstrip(".") for text in data.all("np"))
        title = f"{title.rstrip('.')}. {part}" if title and part else title or part
        below = data.text("b")
        return f"{title}: {below}" if title and below else title
    return record.text("240", "a") or record.text("130", "a")


def _type(record: MarcRecord) -> str:
    leader = record.leader
    kind, level = (leader[6:7], leader[7:8]) if len(leader) > 7 else ("a", "m")
    genres = " ".join(text.lower() for data in record.each("655") for text in data.all("a"))
    if record.each("502") or any(
        word in genres for word in ("hochschulschrift", "thes", "dissertation")
    ):
        return "thesis"
    if "konferenzschrift" in genres or "conference" in genres:
        return "book" if level in "msc" else "paper-conference"
    if level in "ab":
        host = record.each("773")
        is_chapter = any("z" in data.subfields for data in host) and level == "a"
        is_journal = any({"x", "q"} & data.subfields.keys() for data in host)
        return "chapter" if is_chapter and not is_journal else "article-journal"
    if level in "si":
        return "periodical"
    if kind == "m" and record.each("020"):
        return "book"
    return _KINDS.get(kind, "document")


def _people(record: MarcRecord, item: CslItem) -> None:
    is_edited = not record.each("100", "110", "111") and bool(
        _EDITED.search(record.text("245", "c"))
    )
    for data in record.each("100", "700", "720", "110", "710"):
        name = _name(data)
        if not name or "t" in data.subfields:
            # With a title it is a work that is contained or related.
            continue
        role, written = read_role(data.subfields.get("4", []), data.subfields.get("e", []))
        if not written:
            role = "editor" if is_edited else "author"
        if role:
            put_people(item, role, [name])
        else:
            # Supervisors, publishers, owners: no names that are cited.
            put_other(item, f"relator-{written}", name.rstrip(","))


def _name(data: MarcField) -> str:
    if data.tag in {"110", "710"}:
        body = ". ".join(part.rstrip(".") for part in [*data.all("a")[:1], *data.all("b")])
        return f"{body}," if body else ""
    name = data.text("a")
    if data.first == "3":
        return f"{name},"
    is_sentence = name.endswith(".") and len(name.split()[-1]) > 3
    name = name.rstrip(".") if is_sentence else name
    suffix = next((text for text in data.all("c") if text.rstrip(".").lower() in {"jr", "sr"}), "")
    family, comma, given = name.partition(",")
    return f"{family}, {suffix},{given}" if suffix and comma else name


def _origin(record: MarcRecord, item: CslItem) -> None:
    # 264 says by its second indicator what it is about; 1 is publication, 4 copyright.
    published = [data for data in record.each("264") if data.second in "1 "]
    for data in published or record.each("264"):
        _origin_of(data, item)
    for data in record.each("260"):
        _origin_of(data, item)
    for data in record.each("264"):
        if data.second == "4":
            _put_issued(item, data.text("c"))
    dates = record.control.get("008", "")
    if len(dates) > 10 and dates[7:11].isdigit():
        _put_issued(item, dates[7:11])


def _origin_of(data: MarcField, item: CslItem) -> None:
    put(item, "publisher-place", _without_brackets(data.text("a")))
    put(item, "publisher", _without_brackets(data.text("b")))
    _put_issued(item, data.text("c"))


def _without_brackets(text: str) -> str:
    """What cataloguers supplied stands in brackets as a whole."""
    is_whole = text.startswith("[") and text.endswith("]") and "[" not in text[1:]
    return text[1:-1].strip() if is_whole else text


def _put_issued(item: CslItem, text: str) -> None:
    date = _read_year(text.strip("[]. "))
    if date and "issued" not in item:
        item["issued"] = date


def _read_year(text: str) -> CslDate | None:
    if not text:
        return None
    date = read_date(text)
    years = _YEAR.findall(text)
    # `1998, c1997` and `2001 [erschienen] 2002`: the first is of the publication.
    return read_date(years[0]) if "date-parts" not in date and years else date


def _thesis(record: MarcRecord, item: CslItem) -> None:
    if item["type"] != "thesis":
        return
    degree, school = record.text("502", "b"), record.text("502", "c")
    note = record.text("502", "a")
    if not school and (found := _THESIS_NOTE.match(note)):
        degree, school = degree or found.group(1), found.group(2).strip(" .-")
    elif note and not degree:
        add_note(item, note)
    if school and "publisher" in item and item["publisher"] != school:
        put_other(item, "publisher", item["publisher"])
    if school:
        item["publisher"] = school
    _put_issued(item, record.text("502", "d"))
    put(item, "genre", "PhD thesis" if degree.lower() in _DOCTORATES else degree)


def _host(record: MarcRecord, item: CslItem) -> None:
    for data in record.each("773"):
        put(item, "container-title", data.text("t") or data.text("s") or data.text("p"))
        if item["type"] in {"chapter", "paper-conference"}:
            put_people(item, "editor", data.all("a"))
        for number in data.all("xz"):
            put_standard_numbers(item, number)
        for text in data.all("g"):
            for variable, shape in (("page", _PAGES), ("volume", _VOLUME), ("issue", _NUMBER)):
                if found := shape.search(text):
                    put(item, variable, re.sub(r"\s*[-–]\s*", "-", found.group(1)))
            if found := _VOLUME_OF_YEAR.search(text):
                for variable, value in found.groupdict().items():
                    put(item, variable, value or "")
            if "issued" not in item and (years := _YEAR.findall(text)):
                _put_issued(item, years[-1])
        if found := _ENUMERATION.match(data.text("q")):
            for variable, value in found.groupdict().items():
                put(item, variable, value or "")
    put(item, "page", record.text("941", "s") if item["type"].startswith("article") else "")


def _numbers(record: MarcRecord, item: CslItem) -> None:
    for data in record.each("020", "022"):
        put_standard_numbers(item, data.text("a").split(" ")[0])
    for data in record.each("024"):
        scheme = data.text("2").lower()
        if scheme == "doi":
            put_doi(item, data.text("a"))
        elif scheme in {"hdl", "urn", "uri"}:
            put_other(item, scheme, data.text("a"))
    links = sorted(record.each("856"), key=lambda data: data.second == "2")
    for data in links:
        for link in data.all("u"):
            put_link(item, link)
    put_other(item, "lccn", record.text("010", "a"))
    for data in record.each("035"):
        if found := _OCLC.match(data.text("a")):
            put_other(item, "oclc", found.group(1))
    for tag in ("050", "090", "082"):
        put(item, "call-number", " ".join(_first(record.each(tag), "ab")))
    put(item, "scale", record.text("255", "a") if item["type"] == "map" else "")


def _first(found: Iterable[MarcField], codes: str) -> list[str]:
    return next((data.all(codes) for data in found), [])


def _event(record: MarcRecord, item: CslItem) -> None:
    for data in record.each("111", "711"):
        put(item, "event-title", data.text("a").strip("()"))
        put(item, "event-place", data.text("c").strip("() "))
        dates = read_date(data.text("d").strip("() "))
        if "date-parts" in dates:
            item.setdefault("event-date", dates)


def _words(record: MarcRecord, item: CslItem) -> None:
    abstracts = [" ".join(data.all("ab")) for data in record.each("520")]
    put(item, "abstract", "\n".join(filter(None, abstracts)))
    for data in record.each(*_NOTES):
        for note in data.all("a"):
            add_note(item, note)
    words = [
        " -- ".join(text.rstrip(".") for text in [*data.all("a"), *data.all("xyzv")])
        if data.tag != "653"
        else text
        for data in record.each(*_SUBJECTS)
        for text in (data.all("a") if data.tag == "653" else data.all("a")[:1])
    ]
    put(item, "keyword", join_keywords(words))
    language = record.text("041", "a")[:3]
    written = record.control.get("008", "")[35:38]
    put_language(item, language or (written if written.isalpha() and written != "und" else ""))
    put(item, "license", record.text("540", "a"))
