"""One BibTeX or BibLaTeX entry to one CSL item."""

import json
import re
from collections.abc import Callable
from enum import Enum

from carrel.core.identifiers import ArxivId, Doi, NotAnIdentifierError, Pmcid, Pmid
from carrel.engines.bibliography.bibtex.names import NameReader
from carrel.engines.bibliography.bibtex.scanner import RawEntry
from carrel.engines.bibliography.bibtex.sentence_case import sentence_case
from carrel.engines.bibliography.bibtex.tex import to_plain, to_rich
from carrel.engines.bibliography.bibtex.vocabulary import (
    DATE_FIELDS,
    EDITOR_TYPES,
    GENRE_WORDS,
    GENRES,
    NAME_FIELDS,
    PATENT_OFFICES,
    PLAIN_FIELDS,
    RICH_FIELDS,
    SUBTYPES,
    TITLE_FIELDS,
    TYPES,
    USED_UP,
    VERBATIM_FIELDS,
)
from carrel.engines.bibliography.dates import read_date, read_edtf, read_year_and_month
from carrel.engines.bibliography.imports import CslItem
from carrel.engines.bibliography.items import put_other
from carrel.engines.bibliography.languages import language_code

# Where a writer keeps, as JSON, what the format has no field for; see writer.py.
KEPT_FIELD = "carrel-csl"

_URL = re.compile(r"https?://[^\s{}\\]+")
_COMMAND_URL = re.compile(r"\\(?:url|href|path)\s*\{([^{}]*)\}")
_MORE_URLS = re.compile(r"^(?:url_|bdsk-url-|citeulike-linkout-)|^adsurl$")
_NUMBER_IS_ISSUE = frozenset({"article-journal", "article-magazine", "article-newspaper", "periodical", "review"})
_NUMBER_IN_SERIES = frozenset({"book", "chapter", "paper-conference", "entry-encyclopedia", "pamphlet"})
_ENGLISH = frozenset({"english", "american", "usenglish", "british", "ukenglish", "canadian", "australian", "newzealand", "en", "eng"})
_MANY_LINKS = re.compile(r"\s*[;,]\s+(?=https?://)")
_EDITION = re.compile(r"^(\d+)\s*(?:st|nd|rd|th)?\.?(?:\s*ed(?:ition|n)?\.?)?$", re.IGNORECASE)
_ORDINALS = {word: str(number) for number, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), start=1)}
_KEYWORD_PARTS = re.compile(r"\s*[;]\s*")
_KEYWORD_COMMAS = re.compile(r"\s*,\s*")
_DASHES = re.compile(r"\s*(?:-{2,}|[–—‐‑−])\s*")
_PMID_IN_NOTE = re.compile(r"^\s*PMID:?\s*(\d{1,9})\s*\.?\s*$", re.IGNORECASE)


class Titles(Enum):
    """What to do with titles in title case: CSL stores sentence case, a faithful copy keeps them."""

    SENTENCE_CASE = "sentence"
    AS_WRITTEN = "as-written"


class EntryReader:
    """Turns entries into items; remembers names, which repeat."""

    def __init__(self, titles: Titles) -> None:
        self._titles = titles
        self._names = NameReader()
        self._plain: dict[str, str] = {}

    def read(self, entry: RawEntry) -> CslItem:
        fields = dict(entry.fields)
        kind = _type(entry.type, fields)
        item: CslItem = {}
        if entry.key:
            item["id"] = entry.key
        item["type"] = kind
        kept = fields.pop(KEPT_FIELD, None)
        is_english = fields.get("langid", fields.get("language", "english")).strip("{} \n").lower().split("-")[0] in _ENGLISH
        title: Callable[[str], str] = self._sentence if self._titles is Titles.SENTENCE_CASE and is_english else _as_written
        self._titles_of(fields, item, kind, entry.type, title)
        self._people(fields, item, kind)
        self._dates(fields, item)
        self._numbers(fields, item, kind)
        self._publisher(fields, item, entry.type, kind)
        self._identifiers(fields, item)
        self._words(fields, item, entry.type, kind)
        self._rest(fields, item)
        if kept is not None:
            _put_back(item, kept)
        return item

    def _text(self, raw: str) -> str:
        """Plain text; short values repeat from entry to entry and are shared."""
        if len(raw) > 120:
            return to_plain(raw)
        text = self._plain.get(raw)
        if text is None:
            text = to_plain(raw)
            if len(self._plain) < 100_000:
                self._plain[raw] = text
        return text

    def _sentence(self, raw: str) -> str:
        return sentence_case(to_rich(raw))

    def _titles_of(self, fields: dict[str, str], item: CslItem, kind: str, entry_type: str, title: Callable[[str], str]) -> None:
        text = title(_joined(fields, "title", "subtitle"))
        if entry_type == "inreference" and "lista" in fields and "booktitle" not in fields:
            item["container-title"] = text
            text = to_rich(fields.pop("lista")).text
        if text:
            item["title"] = text
        journal = _joined(fields, "journaltitle", "journalsubtitle") or _joined(fields, "journal", "journalsubtitle")
        fields.pop("journal", None)
        book = _joined(fields, "booktitle", "booksubtitle")
        main = _joined(fields, "maintitle", "mainsubtitle")
        if journal and (kind in _NUMBER_IS_ISSUE or not book):
            item["container-title"] = self._text(journal)
            if book:
                put_other(item, "booktitle", to_rich(book).text)
        elif book:
            item["container-title"] = title(book)
            if journal and fields.get("series"):
                put_other(item, "journal", self._text(journal))
            elif journal:
                item["collection-title"] = self._text(journal)
        if main:
            if "container-title" in item or kind == "book":
                item["volume-title"] = item.get("container-title") or item.get("title", "")
                if kind == "book":
                    item["title"] = title(main)
                else:
                    item["container-title"] = title(main)
            else:
                item["container-title"] = title(main)
        series = fields.pop("series", "")
        if series:
            item["collection-title"] = title(series)
        for name, variable in TITLE_FIELDS.items():
            if name in fields:
                value = title(fields.pop(name))
                if value:
                    item.setdefault(variable, value)

    def _people(self, fields: dict[str, str], item: CslItem, kind: str) -> None:
        editor_role = EDITOR_TYPES.get(fields.get("editortype", "").strip().lower(), "editor")
        for name, variable in NAME_FIELDS.items():
            if name in fields:
                names = self._names.read(fields.pop(name))
                role = editor_role if name == "editor" else variable
                if kind == "motion_picture" and name == "author":
                    role = "director"
                elif kind == "motion_picture" and role == "editor":
                    role = "script-writer"
                if names:
                    item[role] = item.get(role, []) + names
        for letter in "abc":
            if f"editor{letter}" in fields:
                role = EDITOR_TYPES.get(fields.get(f"editor{letter}type", "").strip().lower(), "editor")
                item[role] = item.get(role, []) + self._names.read(fields.pop(f"editor{letter}"))
        if "holder" in fields:
            put_other(item, "holder", "; ".join(_whole(name) for name in self._names.read(fields.pop("holder"))))

    def _dates(self, fields: dict[str, str], item: CslItem) -> None:
        year, month, day = (self._text(fields.pop(name, "")) for name in ("year", "month", "day"))
        date_text = self._text(fields.pop("date", ""))
        issued = read_edtf(date_text) if date_text else None
        if issued is None and date_text:
            issued = read_year_and_month(year, date_text) if year else read_date(date_text)
        if issued is None:
            issued = read_year_and_month(year, month, day)
        if issued:
            item["issued"] = issued
        for name, variable in DATE_FIELDS.items():
            text = self._text(fields.pop(name, ""))
            if text:
                item[variable] = read_date(text)

    def _numbers(self, fields: dict[str, str], item: CslItem, kind: str) -> None:
        pages = self._text(fields.pop("pages", ""))
        if pages:
            item["page"] = _DASHES.sub("-", pages)
        number, issue = self._text(fields.pop("number", "")), self._text(fields.pop("issue", ""))
        article_number = self._text(fields.pop("article-number", "") or fields.pop("eid", "") or fields.pop("articleno", ""))
        if kind in _NUMBER_IS_ISSUE or (kind in {"chapter", "paper-conference"} and "collection-title" not in item and "container-title" in item):
            if number or issue:
                item["issue"] = number or issue
            if number and issue and number != issue:
                put_other(item, "issue", issue)
            if article_number:
                item["number"] = article_number
        else:
            if number:
                item["collection-number" if kind in _NUMBER_IN_SERIES and "collection-title" in item else "number"] = number
            if issue:
                item["issue"] = issue
            if article_number:
                item.setdefault("number", article_number)
        for name, variable in PLAIN_FIELDS.items():
            if name in fields:
                value = self._text(fields.pop(name))
                if value:
                    item.setdefault(variable, value)

        if "edition" in item:
            item["edition"] = edition_number(item["edition"])

    def _publisher(self, fields: dict[str, str], item: CslItem, entry_type: str, kind: str) -> None:
        names = ["publisher", "institution", "school", "organization"]
        if entry_type in {"thesis", "phdthesis", "mastersthesis", "report", "techreport"}:
            names = ["institution", "school", "publisher", "organization"]
        for name in names:
            raw = fields.pop(name, "")
            text = "; ".join(self._text(part) for part in _and_list(raw)) if " and " in raw else self._text(raw)
            if not text:
                continue
            if "publisher" not in item:
                item["publisher"] = text
            elif item["publisher"] != text:
                put_other(item, name, text)
        location, address = self._text(fields.pop("location", "")), self._text(fields.pop("address", ""))
        if address and location and address != location:
            # The ACM's files say the publisher's place in one and the conference's in the other.
            item["publisher-place"] = address
            item.setdefault("event-place", location)
        elif address or location:
            item["publisher-place"] = address or location

    def _identifiers(self, fields: dict[str, str], item: CslItem) -> None:
        doi = _verbatim(fields.pop("doi", ""))
        if doi:
            item["DOI"] = _doi(doi)
        url, *others = _MANY_LINKS.split(_verbatim(fields.pop("url", "")))
        url = url.replace(" ", "%20")
        if others:
            item.setdefault("custom", {})["additional_urls"] = [link.replace(" ", "%20") for link in others]
        how = fields.pop("howpublished", "")
        if how:
            found = _COMMAND_URL.search(how) or _URL.search(how)
            if found:
                url = url or (found.group(1) if found.re is _COMMAND_URL else found.group())
                rest = "" if found.re is _COMMAND_URL and how.lstrip().startswith("\\") else to_plain(how.replace(found.group(), ""))
                rest = rest.strip(" ,.:;")
            else:
                rest = self._text(how)
            if rest:
                put_other(item, "howpublished", rest)
        self._eprint(fields, item)
        for name in [name for name in fields if _MORE_URLS.match(name)]:
            link = _link(fields.pop(name))
            if not link:
                continue
            if not url and name.startswith("bdsk-url-"):
                url = link
            elif link != url:
                more = item.setdefault("custom", {}).setdefault("additional_urls", [])
                if link not in more:
                    more.append(link)
        if url:
            item["URL"] = url
        for name in ("pmcid", "pmc"):
            if name in fields:
                text = _verbatim(fields.pop(name))
                try:
                    item["PMCID"] = str(Pmcid.parse(text if text.upper().startswith("PMC") else f"PMC{text}"))
                except NotAnIdentifierError:
                    item["PMCID"] = text

    def _eprint(self, fields: dict[str, str], item: CslItem) -> None:
        eprint = _verbatim(fields.pop("eprint", ""))
        archive = _verbatim(fields.pop("archiveprefix", "") or fields.pop("eprinttype", "")).lower()
        fields.pop("eprinttype", None)
        category = _verbatim(fields.pop("primaryclass", "") or fields.pop("eprintclass", ""))
        if not eprint:
            if archive and archive != "arxiv":
                put_other(item, "archiveprefix", archive)
            return
        if archive in {"", "arxiv"} or eprint.lower().startswith("arxiv:"):
            try:
                identifier = ArxivId.parse(eprint)
                item.setdefault("custom", {})["arxiv_id"] = str(identifier)
                if category:
                    put_other(item, "primaryclass", category)
                return
            except NotAnIdentifierError:
                pass
        if archive in {"pubmed", "pmid"} and eprint.isdigit():
            item["PMID"] = eprint
            return
        put_other(item, "eprint", eprint)
        if archive:
            put_other(item, "eprinttype", archive)
        if category:
            put_other(item, "primaryclass", category)

    def _words(self, fields: dict[str, str], item: CslItem, entry_type: str, kind: str) -> None:
        for name, variable in RICH_FIELDS.items():
            if name in fields:
                value = to_rich(fields.pop(name)).text
                if value:
                    item.setdefault(variable, value)
        note = fields.pop("note", "")
        addendum = fields.pop("addendum", "")
        comment = fields.pop("comment", "")
        notes = [to_rich(text).text for text in (note, addendum, comment) if text]
        if len(notes) == 1 and (found := _PMID_IN_NOTE.match(notes[0])):
            item.setdefault("PMID", str(Pmid.parse(found.group(1))))
        if any(notes):
            item["note"] = "\n".join(text for text in notes if text)
        language = self._text(fields.pop("language", "") or fields.get("langid", ""))
        if language:
            item["language"] = language_code(language)
        keywords = fields.pop("keywords", "") or fields.pop("keyword", "")
        keywords = self._text(keywords) if "\\" in keywords or "{" in keywords else " ".join(keywords.split())
        if keywords:
            item["keyword"] = split_keywords(keywords)
        kind_of = self._text(fields.pop("type", ""))
        office = PATENT_OFFICES.get(kind_of.lower())
        if office and kind == "patent" and str(item.get("number", "")).isdigit():
            item["number"] = office + item["number"]
        elif kind_of:
            item["genre"] = GENRE_WORDS.get(kind_of.lower(), kind_of)
        elif entry_type in GENRES:
            item["genre"] = GENRES[entry_type]

    def _rest(self, fields: dict[str, str], item: CslItem) -> None:
        for name, raw in fields.items():
            if name in USED_UP or name.startswith("bdsk-file-"):
                continue
            text = _verbatim(raw) if name in VERBATIM_FIELDS else self._text(raw)
            if text:
                put_other(item, name, text)


def _type(entry_type: str, fields: dict[str, str]) -> str:
    subtype = fields.get("entrysubtype", "").strip("{} ").lower()
    kind = TYPES.get(entry_type)
    if kind is None:
        if entry_type in set(TYPES.values()):
            kind = entry_type
        else:
            kind = "document"
            fields.setdefault("entrytype", entry_type)
    if kind == "book" and fields.get("booktitle") and fields.get("title") and fields["booktitle"] != fields["title"]:
        return "chapter"
    if subtype in SUBTYPES and kind in {"article-journal", "motion_picture", "song"}:
        return SUBTYPES[subtype]
    if kind == "article-journal" and not any(fields.get(name) for name in ("journal", "journaltitle", "volume", "number", "pages", "issn")) and _is_preprint(fields):
        return "article"
    return kind


def _is_preprint(fields: dict[str, str]) -> bool:
    return bool(fields.get("eprint")) and (fields.get("archiveprefix") or fields.get("eprinttype") or "").strip("{} ").lower() in {"arxiv", ""}


def _as_written(raw: str) -> str:
    return to_rich(raw).text


def _joined(fields: dict[str, str], main: str, sub: str) -> str:
    text = fields.pop(main, "").strip()
    below = fields.pop(sub, "").strip() if text else ""
    if below:
        text = f"{text} {below}" if text[-1] in ":.?!-–—" else f"{text}: {below}"
    return text


def _and_list(raw: str) -> list[str]:
    parts = re.split(r"\s+and\s+", raw)
    # `Taylor and Francis` is one house, `{Springer} and {Wiley}` are two.
    return [raw] if not all(part.strip().startswith("{") for part in parts) else parts


def _whole(name: dict[str, str]) -> str:
    if "literal" in name:
        return name["literal"]
    family = " ".join(part for part in (name.get("non-dropping-particle"), name.get("family")) if part)
    return ", ".join(part for part in (family, name.get("given")) if part)


def edition_number(text: str) -> str:
    """`Second`, `2nd` and `2nd edition` are 2; anything else says itself."""
    found = _EDITION.match(text)
    return found.group(1) if found else _ORDINALS.get(text.lower().removesuffix(" edition").strip(), text)


def split_keywords(text: str) -> str:
    """Keywords joined by semicolons, whichever sign parted them."""
    separator = _KEYWORD_PARTS if ";" in text else _KEYWORD_COMMAS
    seen: dict[str, None] = {}
    for word in separator.split(text):
        if word.strip():
            seen.setdefault(word.strip())
    return "; ".join(seen)


def _verbatim(raw: str) -> str:
    text = raw.strip()
    if "{" in text or "\\" in text:
        text = re.sub(r"\\(?:url|path)\s*\{([^{}]*)\}", r"\1", text)
        text = re.sub(r"\\([&%$#_{}~^])", r"\1", text)
        text = text.replace("{\\textasciitilde}", "~").replace("\\textasciitilde", "~").replace("{", "").replace("}", "")
    return " ".join(text.split())


def _link(raw: str) -> str:
    return _verbatim(raw).replace(" ", "%20")


def _doi(text: str) -> str:
    try:
        return str(Doi.parse(text))
    except NotAnIdentifierError:
        return text


def _put_back(item: CslItem, kept: str) -> None:
    """What our own writer kept aside wins over what was understood from the fields."""
    try:
        values = json.loads(kept)
    except ValueError:
        put_other(item, KEPT_FIELD, kept)
        return
    for name, value in values.items():
        if value is None:
            item.pop(name, None)
        else:
            item[name] = value
