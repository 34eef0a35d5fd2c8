"""Which RIS reference types and tags are which CSL types and variables."""

import re
from collections.abc import Iterator

from carrel.libraries.bibliography.dates import (
    CslDate,
    read_date,
    read_year_and_month,
    words_of_slashed_date,
)
from carrel.libraries.bibliography.endnote_types import settle_by_type, split_work_number
from carrel.libraries.bibliography.imports import CslItem, ImportResult, open_text
from carrel.libraries.bibliography.items import (
    add_note,
    edition_number,
    join_keywords,
    language_code,
    page_range,
    put,
    put_doi,
    put_links,
    put_or_keep,
    put_other,
    put_pages,
    put_people,
    put_standard_numbers,
)
from carrel.libraries.bibliography.lossless import apply_difference
from carrel.libraries.bibliography.tagged_formats import Tags, tagged_fields
from carrel.libraries.identifiers import ArxivId, NotAnIdentifierError, Pmcid

TYPES = {
    "JOUR": "article-journal", "JFULL": "periodical", "EJOUR": "article-journal",
    "MGZN": "article-magazine", "NEWS": "article-newspaper", "ABST": "article-journal",
    "INPR": "article-journal", "BOOK": "book", "EBOOK": "book", "EDBOOK": "book", "CHAP": "chapter",
    "ECHAP": "chapter", "CONF": "book", "CPAPER": "paper-conference", "THES": "thesis",
    "RPRT": "report", "GOVDOC": "report", "STAND": "standard", "PAT": "patent", "ELEC": "webpage",
    "WEB": "webpage", "ICOMM": "post", "BLOG": "post-weblog", "COMP": "software", "DATA": "dataset",
    "DBASE": "dataset", "AGGR": "dataset", "GEN": "document", "MISC": "document",
    "UNPB": "manuscript", "MANSCPT": "manuscript", "PAMP": "pamphlet", "MAP": "map",
    "ART": "graphic", "FIGURE": "figure", "CHART": "figure", "EQUA": "figure", "SLIDE": "speech",
    "HEAR": "hearing", "BILL": "bill", "UNBILL": "bill", "STAT": "legislation",
    "LEGAL": "legislation", "CASE": "legal_case", "ENCYC": "entry-encyclopedia",
    "DICT": "entry-dictionary", "MPCT": "motion_picture", "VIDEO": "motion_picture",
    "ADVS": "motion_picture", "MULTI": "motion_picture", "SOUND": "song", "MUSIC": "musical_score",
    "PCOMM": "personal_communication", "SER": "periodical", "CLSWK": "classic",
    "ANCIENT": "classic", "BLOGP": "post-weblog", "PREPRINT": "article", "INTV": "interview",
    "PODCAST": "broadcast", "DISS": "thesis", "CTLG": "book", "JOURNAL": "article-journal",
    "CATALOG": "book",
}  # fmt: skip

# For writing: the RIS type of each CSL type.
TYPES_WRITTEN = {
    "article-journal": "JOUR", "article": "PREPRINT", "article-magazine": "MGZN",
    "article-newspaper": "NEWS", "book": "BOOK", "chapter": "CHAP", "paper-conference": "CPAPER",
    "thesis": "THES", "report": "RPRT", "standard": "STAND", "patent": "PAT", "webpage": "WEB",
    "post": "ICOMM", "post-weblog": "BLOG", "software": "COMP", "dataset": "DATA",
    "document": "GEN", "manuscript": "UNPB", "pamphlet": "PAMP", "map": "MAP", "graphic": "ART",
    "figure": "FIGURE", "speech": "SLIDE", "hearing": "HEAR", "bill": "BILL", "legislation": "STAT",
    "legal_case": "CASE", "entry-encyclopedia": "ENCYC", "entry-dictionary": "DICT",
    "motion_picture": "MPCT", "song": "SOUND", "musical_score": "MUSIC",
    "personal_communication": "PCOMM", "periodical": "JFULL", "classic": "CLSWK",
    "interview": "INTV", "broadcast": "PODCAST", "entry": "ENCYC", "review": "JOUR",
    "review-book": "JOUR",
}  # fmt: skip

PARTS = frozenset(
    {"chapter", "paper-conference", "entry-encyclopedia", "entry-dictionary", "entry"}
)
ARTICLES = frozenset({
    "article-journal", "article-magazine", "article-newspaper", "periodical", "article", "review",
    "document", "webpage", "post-weblog",
})  # fmt: skip

# Tags that mean the same wherever they stand.
PLAIN_TAGS = {
    "VL": "volume", "VO": "volume", "PB": "publisher", "CY": "publisher-place",
    "PP": "publisher-place",
    "ET": "edition", "LA": "language", "DB": "archive", "DP": "source", "CN": "call-number",
    "ST": "title-short", "NV": "number-of-volumes", "SE": "section", "RI": "reviewed-title",
    "OP": "original-title", "AV": "archive_location",
}  # fmt: skip
# Tags without a variable, under names that say what they are.
OTHER_TAGS = {
    "AD": "author-address", "AN": "accession-number", "CA": "caption", "RN": "research-notes",
    "RP": "reprint-edition", "SV": "series-volume", "TA": "translated-author",
    "TT": "translated-title", "C1": "custom1", "C2": "custom2", "C3": "custom3", "C4": "custom4",
    "C5": "custom5", "C6": "custom6", "C7": "custom7", "C8": "custom8", "U1": "user1",
    "U2": "user2", "U3": "user3", "U4": "user4", "U5": "user5", "M1": "m1", "M2": "m2",
}  # fmt: skip


# Who stands in A2, A3 and A4 where it is not the editor, that of a series and the translator.
_LATER_ROLES = {
    "BOOK": ("collection-editor", "collection-editor", "translator"),
    "EDBOOK": ("collection-editor", "collection-editor", "translator"),
    "PCOMM": ("recipient", "collection-editor", "translator"),
    "THES": ("editor", "contributor", "translator"),
    "MPCT": ("contributor", "producer", "performer"),
    "INTV": ("interviewer", "collection-editor", "translator"),
}

# Where our writer keeps what the format has no tag for; see lossless.py.
LOSSLESS_PREFIX = "carrel-csl: "

_TAG = re.compile(r"^[ \t\ufeff]{0,3}([A-Z][A-Z0-9])(?: {1,3}| {0,2}\t)-(?: (.*)|(.*))$")
_YEAR = re.compile(r"\d{4}(?:/|$)")
_MARKED = re.compile(r"^(\S+)\s*\[(pmid|pmcid|doi)\]$", re.IGNORECASE)
_DOI_ALONE = re.compile(r"^doi:? *10\.\d{4,9}/\S+$", re.IGNORECASE)
_LINKS = re.compile(r"(?<!\s)\s*;\s*(?=(?:https?|ftp)://)")


def read_ris(content: str | bytes) -> ImportResult:
    """Every reference of a RIS file."""
    text, answer = open_text(content)
    for line, tags in _references(text, answer):
        if set(tags) <= {"TY", "ID"}:
            answer.fail(line, "The reference has no field that can be read")
            continue
        item = _item(tags)
        answer.keep(item, line)
    return answer


def _references(text: str, answer: ImportResult) -> Iterator[tuple[int, Tags]]:
    tags: Tags = {}
    start, line = 0, 1
    for field in tagged_fields(text, _TAG):
        line = field.line
        if field.tag == "ER":
            if tags:
                yield start, tags
            tags = {}
            continue
        if field.tag == "TY" and tags:
            answer.warn(line, "The reference before has no ER line; it was ended here")
            yield start, tags
            tags = {}
        if not tags:
            start = line
            if field.tag != "TY":
                answer.warn(line, "The reference has no TY line; it was taken for a generic one")
                tags["TY"] = ["GEN"]
        tags.setdefault(field.tag, []).append(field.joined("\n"))
    if tags:
        answer.warn(line, "The last reference has no ER line")
        yield start, tags


def _item(tags: Tags) -> CslItem:
    ris_type = tags.pop("TY")[0].split(" ")[0].upper()
    kind = TYPES.get(ris_type, "document")
    if ris_type == "CONF" and (
        tags.get("T2") or tags.get("BT") or tags.get("JO") or tags.get("JF") or tags.get("SP")
    ):
        kind = "paper-conference"
    item: CslItem = {}
    key = _take(tags, "ID")
    if key:
        item["id"] = key
    item["type"] = kind
    if ris_type not in TYPES:
        put_other(item, "ty", ris_type)
    _by_type(tags, item, kind)
    _titles(tags, item, kind)
    _people(tags, item, ris_type)
    _dates(tags, item)
    _numbers(tags, item, kind)
    _links(tags, item)
    _words(tags, item)
    settle_by_type(item)
    kept = [
        value.removeprefix(LOSSLESS_PREFIX)
        for value in tags.pop("N1", ())
        if value.startswith(LOSSLESS_PREFIX)
    ]
    for tag in list(tags):
        put_other(
            item,
            OTHER_TAGS.get(tag, tag.lower()),
            "; ".join(value for value in tags.pop(tag) if value),
        )
    for text in kept:
        if not apply_difference(item, text):
            add_note(item, LOSSLESS_PREFIX + text)
    return item


def _by_type(tags: Tags, item: CslItem, kind: str) -> None:
    """What EndNote's table of RIS tags says for one type alone."""
    has_number = any(tags.get("M1", ())) or any(tags.get("IS", ()))
    if kind == "patent" or not has_number:
        number, tags["SN"] = split_work_number(kind, tags.get("SN", []))
        put(item, "number", number)
    if kind == "paper-conference" and any(tags.get("C3", ())):
        put(item, "event-title", _take(tags, "T2"))
        put(item, "container-title", _take(tags, "C3"))
        if any(tags.get("C1", ())):
            put(item, "event-place", _take(tags, "CY"))
            put(item, "publisher-place", _take(tags, "C1"))
    if kind == "map":
        put(item, "scale", _take(tags, "C1"))
        put(item, "dimensions", _take(tags, "C3"))


def _take(tags: Tags, *names: str) -> str:
    """The first value of the first of these tags; that tag is removed with its further values."""
    for name in names:
        values = [value for value in tags.get(name, ()) if value]
        if values:
            if len(values) > 1:
                tags[name] = values[1:]
            else:
                del tags[name]
            return " ".join(values[0].split())
        tags.pop(name, None)
    return ""


def _titles(tags: Tags, item: CslItem, kind: str) -> None:
    if kind in PARTS or kind in ARTICLES:
        put(item, "title", _take(tags, "TI", "T1", "CT"))
        if kind in PARTS:
            put(item, "container-title", _take(tags, "T2", "BT", "JF", "JO", "JA"))
        if "container-title" not in item:
            short_first = [name for name in ("JF", "T2", "JO") if any(tags.get(name, ()))]
            put(item, "container-title", _take(tags, *(short_first or ["BT"])))
        if "title" not in item:
            put(item, "title", _take(tags, "T2"))
    else:
        put(item, "title", _take(tags, "TI", "T1", "BT", "CT"))
        if kind in {"book", "thesis", "report", "standard"}:
            put(item, "collection-title", _take(tags, "T2"))
        put(item, "container-title", _take(tags, "JF", "T2", "JO"))
    put_or_keep(item, "collection-title", _take(tags, "T3"), "tertiary-title")
    put(item, "container-title-short", _take(tags, "JA", "J2", "J1", "JO"))
    if item.get("container-title-short") == item.get("container-title"):
        item.pop("container-title-short", None)
    for leftover in ("JO", "JF", "J1", "J2", "JA", "T2"):
        known = {
            item.get("container-title"),
            item.get("container-title-short"),
            item.get("title"),
            item.get("collection-title"),
        }
        tags[leftover] = [value for value in tags.get(leftover, ()) if value and value not in known]
        if not tags[leftover]:
            del tags[leftover]


def _people(tags: Tags, item: CslItem, ris_type: str) -> None:
    """What EndNote's table of RIS tags calls the people of each type."""
    # Both are first authors; whichever comes first in the file leads.
    leading = [tag for tag in tags if tag in {"AU", "A1"}]
    put_people(
        item,
        "editor" if ris_type == "EDBOOK" else "author",
        [name for tag in leading for name in tags.pop(tag)],
    )
    put_people(item, "editor", tags.pop("ED", []))
    roles = _LATER_ROLES.get(ris_type, ("editor", "collection-editor", "translator"))
    for tag, role in zip(("A2", "A3", "A4"), roles, strict=True):
        put_people(item, role, tags.pop(tag, []))


def _dates(tags: Tags, item: CslItem) -> None:
    written = [(tag, value) for tag in ("DA", "PY", "Y1") for value in tags.pop(tag, ()) if value]
    year = next((value for tag, value in written if tag != "DA" and _YEAR.match(value)), "")
    dates = [_day_of_year(value, year[:4]) for _, value in written]
    exact = [date for date in dates if "date-parts" in date]
    if exact:
        item["issued"] = max(
            exact,
            key=lambda date: (
                len(date["date-parts"]),
                len(date["date-parts"][0]),
                "season" in date,
            ),
        )
    elif dates:
        item["issued"] = dates[0]
    for (tag, value), date in zip(written, dates, strict=True):
        if not _is_within(date, item["issued"]):
            put_other(item, tag.lower(), value)
        else:
            put_other(item, "date-note", words_of_slashed_date(value))
    accessed = _take(tags, "Y2")
    if accessed:
        item["accessed"] = read_date(accessed)
        put_other(item, "accessed-note", words_of_slashed_date(accessed))


def _day_of_year(text: str, year: str) -> CslDate:
    """A date, which EndNote writes without its year: `May 3` beside another tag's 2010."""
    date = read_date(text)
    if "date-parts" in date or not year:
        return date
    whole = read_year_and_month(year, text)
    return whole if whole and "date-parts" in whole else date


def _is_within(date: CslDate, other: CslDate) -> bool:
    """Whether a date says nothing that the other does not say."""
    points, others = date.get("date-parts"), other.get("date-parts")
    if points is None or others is None:
        return date == other
    return date.get("season") in {None, other.get("season")} and all(
        point == fuller[: len(point)] for point, fuller in zip(points, others, strict=False)
    )


def _numbers(tags: Tags, item: CslItem, kind: str) -> None:
    for tag, variable in PLAIN_TAGS.items():
        value = _take(tags, tag)
        if value and item.get(variable, value) != value:
            put_other(item, tag.lower(), value)
        put(item, variable, value)
    if "edition" in item:
        item["edition"] = edition_number(item["edition"])
    if "language" in item:
        item["language"] = language_code(item["language"])
    start, end = _take(tags, "SP"), _take(tags, "EP")
    pages = page_range(start, end)
    if pages:
        put_pages(item, pages)
    issue, number = _take(tags, "IS", "CP"), _take(tags, "M1")
    if kind in ARTICLES or kind in PARTS:
        put(item, "issue", issue)
        if number and not issue and len(number) <= 20:
            put(item, "issue", number)
        elif number:
            put(item, "number", number)
        elif kind in ARTICLES:
            put(item, "number", _take(tags, "C7"))
    else:
        for tag, value in (("is", issue), ("m1", number)):
            put(item, "number", value)
            name = "application-number" if kind == "patent" and tag == "is" else tag
            put_other(item, name, value if value != item.get("number") else "")
    put_standard_numbers(item, *tags.pop("SN", ()))


def _links(tags: Tags, item: CslItem) -> None:
    for value in tags.pop("DO", ()):
        put_doi(item, value)
    medium = _take(tags, "M3")
    if medium.lower().startswith(("10.", "doi")):
        put_doi(item, medium)
    elif medium:
        put(item, "genre", medium)
    links = [link.strip() for value in tags.pop("UR", ()) for link in _LINKS.split(value)]
    for tag in ("L1", "L2", "L3", "L4", "LK"):
        values = tags.pop(tag, [])
        addresses = [
            value for value in values if value.startswith(("http://", "https://", "ftp://"))
        ]
        links.extend(addresses)
        put_other(
            item,
            tag.lower(),
            "; ".join(
                dict.fromkeys(
                    value
                    for value in values
                    if value and not value.startswith(("http://", "https://", "ftp://"))
                )
            ),
        )
    put_links(item, links)
    if (
        tags.get("AN")
        and item.get("archive", "").lower() in {"pubmed", "medline"}
        and tags["AN"][0].isdigit()
    ):
        put(item, "PMID", _take(tags, "AN"))
    for tag in ("U1", "U2", "U3", "U4", "U5", "AN", "C2"):
        if tag in tags:
            tags[tag] = [value for value in tags[tag] if not _identifier(item, value)]
            if not tags[tag]:
                del tags[tag]
    if item.get("publisher", "").lower() == "arxiv":
        try:
            arxiv = str(ArxivId.parse(item.get("number", "")))
        except NotAnIdentifierError:
            return
        item.setdefault("custom", {})["arxiv_id"] = arxiv


def _identifier(item: CslItem, value: str) -> bool:
    found = _MARKED.match(value.strip())
    if found and found.group(2).lower() == "pmid":
        put(item, "PMID", found.group(1))
        return True
    if found and found.group(2).lower() == "doi":
        put_doi(item, found.group(1))
        return True
    try:
        put(item, "PMCID", str(Pmcid.parse(found.group(1) if found else value)))
    except NotAnIdentifierError:
        return False
    return True


def _words(tags: Tags, item: CslItem) -> None:
    abstracts = [*tags.pop("AB", []), *tags.pop("N2", [])]
    abstract = "\n".join(dict.fromkeys(" ".join(value.split()) for value in abstracts if value))
    if abstract:
        item["abstract"] = abstract
    keywords = join_keywords(
        word for value in tags.pop("KW", ()) for word in re.split(r"[;\n]", value)
    )
    if keywords:
        item["keyword"] = keywords
    notes = tags.get("N1", [])
    for note in notes:
        if _DOI_ALONE.match(note):
            put_doi(item, note)
    add_note(
        item,
        "\n".join(
            value
            for value in [*notes, *tags.pop("NO", [])]
            if value and not value.startswith(LOSSLESS_PREFIX)
        ),
    )
