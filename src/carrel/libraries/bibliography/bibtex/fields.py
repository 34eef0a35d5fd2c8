"""One BibTeX or BibLaTeX entry to one CSL item."""

import re
from collections.abc import Callable
from enum import Enum

from carrel.libraries.bibliography.bibtex.field_values import (
    and_list,
    full_name,
    join_title,
    keep_extra_lines,
    put_links,
    split_keywords,
    verbatim,
)
from carrel.libraries.bibliography.bibtex.groups import join_groups
from carrel.libraries.bibliography.bibtex.names import NameReader, is_one_group
from carrel.libraries.bibliography.bibtex.scanner import RawEntry
from carrel.libraries.bibliography.bibtex.sentence_case import sentence_case
from carrel.libraries.bibliography.bibtex.tex import HREF, to_paragraphs, to_plain, to_rich
from carrel.libraries.bibliography.bibtex.tex_reader import collect_unknown_commands
from carrel.libraries.bibliography.bibtex.vocabulary import (
    ACCESSED_FIELDS,
    COUNTRIES,
    DATE_FIELDS,
    EDITOR_TYPES,
    GENRE_WORDS,
    GENRES,
    IGNORED_FIELDS,
    KEYWORD_FIELDS,
    NAME_FIELDS,
    PATENT_OFFICES,
    PLAIN_FIELDS,
    PUBLICATION_STATES,
    RICH_FIELDS,
    SUBTYPED,
    SUBTYPES,
    TITLE_FIELDS,
    TYPE_ALIASES,
    TYPES,
    VERBATIM_FIELDS,
)
from carrel.libraries.bibliography.dates import read_date, read_edtf, read_year_and_month
from carrel.libraries.bibliography.file_links import bibdesk_path
from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.bibliography.items import (
    edition_number,
    join_keywords,
    language_code,
    put_other,
)
from carrel.libraries.bibliography.lossless import apply_difference
from carrel.libraries.csl.name_lists import mark_et_al
from carrel.libraries.identifiers import Pmid

# Where our writer keeps what the format has no field for; see lossless.py.
LOSSLESS_FIELD = "carrel-csl"

# Mendeley's folders: paths parted by commas, as JabRef's field `groups`.
_MENDELEY_GROUPS = "mendeley-groups"
_NUMBER_IS_ISSUE = frozenset(
    {"article-journal", "article-magazine", "article-newspaper", "periodical", "review"}
)
_NUMBER_IN_SERIES = frozenset(
    {"book", "chapter", "paper-conference", "entry-encyclopedia", "pamphlet"}
)
_PROCEEDINGS = frozenset({"proceedings", "mvproceedings"})
_ENGLISH = frozenset({
    "english", "american", "usenglish", "british", "ukenglish", "canadian", "australian",
    "newzealand", "en", "eng",
})  # fmt: skip
_WITHOUT_JOINERS = str.maketrans("", "", "_-")
_DASHES = re.compile(r"(?<!\s)\s*(?:-{2,}|[–—‐‑−])\s*")
# Pages such as `12 - 15`, however they were typed.
_SPACED_RANGE = re.compile(r"(?<=\d) *- *(?=\w*\d)")
_PMID_IN_NOTE = re.compile(r"^\s*PMID:?\s*(\d{1,9})\s*\.?\s*$", re.IGNORECASE)
_PMCID_IN_NOTE = re.compile(r"^\s*PMCID:?\s*(PMC\d{1,9})\s*\.?\s*$", re.IGNORECASE)
_SHORT_WORD = re.compile(r"^[^\W\d_](?:[^\W\d_]|[-'’.&])*\.,?$")
_TITLE_OF_PERSON = re.compile(r"^(?:Dr|St|Ste|Mr|Mrs|Ms|Prof|vs?|No|Inc|Co|Ltd)\.$")
_LONGEST_SHARED = 400
_SHARED_AT_MOST = 50_000


class TitleCase(Enum):
    """Whether titles are put into sentence case, as CSL stores them, or kept as written."""

    SENTENCE_CASE = "sentence"
    AS_WRITTEN = "as-written"


class EntryReader:
    """Turns entries into items; remembers names, which repeat."""

    def __init__(self, titles: TitleCase) -> None:
        self._titles = titles
        self._names = NameReader()
        self._unknown_commands: set[str] = set()
        self._plain: dict[str, str] = {}

    def take_doubts(self) -> list[str]:
        """What was read with doubts since the last time, for the report."""
        doubts = [f"The names {text!r} are not parted by 'and'" for text in self._names.doubts]
        if self._unknown_commands:
            named = ", ".join(f"\\{name}" for name in sorted(self._unknown_commands))
            doubts.append(f"Unknown TeX was kept as text: {named}")
        self._names.doubts.clear()
        self._unknown_commands.clear()
        return doubts

    def read(self, entry: RawEntry) -> CslItem:
        with collect_unknown_commands(self._unknown_commands):
            return self._read(entry)

    def _read(self, entry: RawEntry) -> CslItem:
        fields = dict(entry.fields)
        kind = _type(entry.type, fields)
        item: CslItem = {}
        if entry.key:
            item["id"] = entry.key
        item["type"] = kind
        kept = fields.pop(LOSSLESS_FIELD, None)
        if "hyphenation" in fields:
            fields.setdefault("langid", fields.pop("hyphenation"))
        is_english = (
            fields.get("langid", fields.get("language", "english"))
            .strip("{} \n")
            .lower()
            .split("-")[0]
            in _ENGLISH
        )
        title: Callable[[str], str] = _keep_case
        if self._titles is TitleCase.SENTENCE_CASE and is_english:
            title = _to_sentence_case
        written = fields.get("title", "")
        self._titles_of(fields, item, kind, entry.type, title)
        if title is not _keep_case:
            _keep_original(item, written)
        self._people(fields, item, kind)
        self._dates(fields, item)
        self._numbers(fields, item, kind)
        self._publisher(fields, item, entry.type, kind)
        put_links(fields, item)
        self._words(fields, item, entry.type, kind)
        self._rest(fields, item)
        if kept is not None and not apply_difference(item, kept):
            put_other(item, LOSSLESS_FIELD, kept)
        return item

    def _text(self, raw: str) -> str:
        """Plain text; short values such as those of @string repeat and are cached."""
        if len(raw) > _LONGEST_SHARED:
            return to_plain(raw)
        text = self._plain.get(raw)
        if text is None:
            text = to_plain(raw)
            if len(self._plain) < _SHARED_AT_MOST:
                self._plain[raw] = text
        return text

    def _titles_of(
        self,
        fields: dict[str, str],
        item: CslItem,
        kind: str,
        entry_type: str,
        title: Callable[[str], str],
    ) -> None:
        if kind == "book" and fields.get("booktitle") == fields.get("title"):
            # For the parts that refer to the volume; it is no part of itself.
            fields.pop("booktitle", None)
        if entry_type in _PROCEEDINGS and "title" in fields:
            # What the papers in it call it, by BibTeX's cross-references.
            put_other(item, "booktitle", to_rich(fields.pop("booktitle", "")).text)
        if (found := HREF.search(fields.get("title", ""))) and found.group(1) != fields.get("url"):
            fields["url_of_title" if fields.get("url") else "url"] = found.group(1)
        text = title(join_title(fields, "title", "subtitle"))
        if entry_type == "inreference" and "lista" in fields and "booktitle" not in fields:
            item["container-title"] = text
            text = to_rich(fields.pop("lista")).text
        if text:
            item["title"] = text
        self._put_containers(fields, item, kind, title)
        series = fields.pop("series", "")
        if series:
            item["collection-title"] = title(series)
        for name, variable in TITLE_FIELDS.items():
            if name in fields:
                raw = fields.pop(name)
                # The name of a conference is a proper noun.
                value = _keep_case(raw) if variable == "event-title" else title(raw)
                if value:
                    item.setdefault(variable, value)

    def _put_containers(
        self, fields: dict[str, str], item: CslItem, kind: str, title: Callable[[str], str]
    ) -> None:
        """The journal, book or work of several volumes that the work is part of."""
        journal = join_title(fields, "journaltitle", "journalsubtitle") or join_title(
            fields, "journal", "journalsubtitle"
        )
        fields.pop("journal", None)
        book = join_title(fields, "booktitle", "booksubtitle")
        main = join_title(fields, "maintitle", "mainsubtitle")
        if journal and (kind in _NUMBER_IS_ISSUE or not book):
            item["container-title"] = self._text(journal)
            if "shortjournal" not in fields and _is_abbreviated(item["container-title"]):
                item["container-title-short"] = item["container-title"]
            if book:
                put_other(item, "booktitle", to_rich(book).text)
        elif book:
            item["container-title"] = title(book)
            if journal and fields.get("series"):
                put_other(item, "journal", self._text(journal))
            elif journal:
                item["collection-title"] = self._text(journal)
        if main and journal:
            # A journal is no volume of a work.
            put_other(item, "maintitle", to_rich(main).text)
        elif main:
            if "container-title" in item or kind == "book":
                item["volume-title"] = item.get("container-title") or item.get("title", "")
                if kind == "book":
                    item["title"] = title(main)
                else:
                    item["container-title"] = title(main)
            else:
                item["container-title"] = title(main)

    def _people(self, fields: dict[str, str], item: CslItem, kind: str) -> None:
        editor_role = EDITOR_TYPES.get(fields.get("editortype", "").strip().lower(), "editor")
        for name, variable in NAME_FIELDS.items():
            if name in fields:
                names, has_more = self._names.read(fields.pop(name))
                role = editor_role if name == "editor" else variable
                if kind == "motion_picture" and name == "author":
                    role = "director"
                elif kind == "motion_picture" and role == "editor":
                    role = "script-writer"
                if names:
                    item[role] = item.get(role, []) + names
                if has_more:
                    mark_et_al(item, role)
        for letter in "abc":
            if f"editor{letter}" in fields:
                written = fields.get(f"editor{letter}type", "").strip().lower()
                role = EDITOR_TYPES.get(written, "editor")
                if role == "editor" and written not in {"", "editor"}:
                    put_other(item, f"editor{letter}type", written)
                names, has_more = self._names.read(fields.pop(f"editor{letter}"))
                item[role] = item.get(role, []) + names
                if has_more:
                    mark_et_al(item, role)
        if "holder" in fields:
            holders, has_more = self._names.read(fields.pop("holder"))
            put_other(
                item,
                "holder",
                "; ".join(
                    [*(full_name(name) for name in holders), *(["et al."] if has_more else [])]
                ),
            )

    def _dates(self, fields: dict[str, str], item: CslItem) -> None:
        year, month, day = (self._text(fields.pop(name, "")) for name in ("year", "month", "day"))
        date_text = verbatim(fields.pop("date", ""))
        issued = read_edtf(date_text) if date_text else None
        if issued is None and date_text:
            issued = read_year_and_month(year, date_text) if year else read_date(date_text)
        if issued is None:
            issued = read_year_and_month(year, month, day)
        if issued:
            item["issued"] = issued
        for name, variable in DATE_FIELDS.items():
            text = verbatim(fields.pop(name, ""))
            if text:
                item[variable] = read_date(text)
        for name in ACCESSED_FIELDS & fields.keys():
            accessed = read_date(self._text(fields[name]))
            if "date-parts" in accessed:
                item.setdefault("accessed", accessed)
                del fields[name]

    def _numbers(self, fields: dict[str, str], item: CslItem, kind: str) -> None:
        pages = self._text(fields.pop("pages", ""))
        if pages:
            item["page"] = _SPACED_RANGE.sub("-", _DASHES.sub("-", pages))
        self._put_issue(fields, item, kind)
        for name, variable in PLAIN_FIELDS.items():
            if name in fields:
                value = self._text(fields.pop(name))
                if value:
                    item.setdefault(variable, value)
        if "edition" in item:
            item["edition"] = edition_number(item["edition"])
        if "status" in item:
            item["status"] = PUBLICATION_STATES.get(item["status"].lower(), item["status"])

    def _put_issue(self, fields: dict[str, str], item: CslItem, kind: str) -> None:
        """Number, issue and article number: which is which depends on the type of the work."""
        number, issue = self._text(fields.pop("number", "")), self._text(fields.pop("issue", ""))
        article_number = self._text(
            fields.pop("article-number", "") or fields.pop("eid", "") or fields.pop("articleno", "")
        )
        if kind in _NUMBER_IS_ISSUE or (
            kind in {"chapter", "paper-conference"}
            and "collection-title" not in item
            and "container-title" in item
        ):
            if number or issue:
                item["issue"] = number or issue
            if number and issue and number != issue:
                put_other(item, "issue", issue)
            if article_number:
                item["number"] = article_number
        else:
            if number:
                item[
                    "collection-number"
                    if kind in _NUMBER_IN_SERIES and "collection-title" in item
                    else "number"
                ] = number
            if issue:
                item["issue"] = issue
            if article_number:
                item.setdefault("number", article_number)

    def _publisher(self, fields: dict[str, str], item: CslItem, entry_type: str, kind: str) -> None:
        names = ["publisher", "institution", "school", "organization"]
        if entry_type in {"thesis", "phdthesis", "mastersthesis", "report", "techreport"}:
            names = ["institution", "school", "publisher", "organization"]
        for name in names:
            raw = fields.pop(name, "")
            text = (
                "; ".join(self._text(part) for part in and_list(raw))
                if " and " in raw
                else self._text(raw)
            )
            if not text:
                continue
            if "publisher" not in item:
                item["publisher"] = text
            elif item["publisher"] != text:
                put_other(item, name, text)
        location, address = (
            self._text(fields.pop("location", "")),
            self._text(fields.pop("address", "")),
        )
        if address and location and address != location:
            # The ACM's files say the publisher's place in one and the conference's in the other.
            item["publisher-place"] = address
            item.setdefault("event-place", location)
        elif address or location:
            place = address or location
            places = [COUNTRIES.get(each.lower(), "") for each in place.split(" and ")]
            item["publisher-place"] = "; ".join(places) if all(places) else place

    def _words(self, fields: dict[str, str], item: CslItem, entry_type: str, kind: str) -> None:
        for name, variable in RICH_FIELDS.items():
            if name in fields:
                value = to_paragraphs(fields.pop(name))
                if value and value != item.setdefault(variable, value):
                    item[variable] += f"\n{value}"
        _put_notes(fields, item)
        self._put_language(fields, item)
        keywords = [
            # Without a command or a brace nothing in a keyword is TeX.
            self._text(word) if "\\" in word or "{" in word else word
            for name in KEYWORD_FIELDS
            for word in split_keywords(fields.pop(name, ""))
        ]
        if joined := join_keywords(keywords):
            item["keyword"] = joined
        kind_of = self._text(fields.pop("type", ""))
        office = PATENT_OFFICES.get(kind_of.lower())
        if office and kind == "patent" and str(item.get("number", "")).isdigit():
            item["number"] = office + item["number"]
        elif kind_of:
            item["genre"] = GENRE_WORDS.get(kind_of.lower(), kind_of)
        elif (plain := entry_type.translate(_WITHOUT_JOINERS)) in GENRES:
            item["genre"] = GENRES[plain]

    def _put_language(self, fields: dict[str, str], item: CslItem) -> None:
        """The first of several languages; the whole list and another `langid` stay beside it."""
        written, identifier = (
            self._text(fields.pop("language", "")),
            self._text(fields.pop("langid", "")),
        )
        languages = [each.strip() for each in written.split(" and ") if each.strip()]
        if languages or identifier:
            item["language"] = language_code(languages[0] if languages else identifier)
        if len(languages) > 1:
            put_other(item, "language", written)
        if languages and identifier and language_code(identifier) != item["language"]:
            put_other(item, "langid", identifier)

    def _rest(self, fields: dict[str, str], item: CslItem) -> None:
        for name, raw in fields.items():
            if name in IGNORED_FIELDS:
                continue
            if name.startswith("bdsk-file-"):
                path = bibdesk_path(raw)
                put_other(item, "file" if path else name, path or raw)
                continue
            text = verbatim(raw) if name in VERBATIM_FIELDS else self._text(raw)
            if text and name == _MENDELEY_GROUPS:
                others = item.setdefault("custom", {}).setdefault("fields", {})
                others["groups"] = join_groups(others.get("groups", ""), text.split(","))
            elif text:
                put_other(item, name, text)


def _put_notes(fields: dict[str, str], item: CslItem) -> None:
    note = keep_extra_lines(fields.pop("note", ""))
    addendum = fields.pop("addendum", "")
    comment = fields.pop("comment", "")
    if remark := to_paragraphs(comment):
        # JabRef's own words of the reader, which no style prints; `note` is printed.
        item["annote"] = "\n".join(filter(None, (item.get("annote", ""), remark)))
    notes = [to_paragraphs(text) for text in (note, addendum) if text]
    for line in "\n".join(notes).split("\n"):
        if found := _PMID_IN_NOTE.match(line):
            item.setdefault("PMID", str(Pmid.parse(found.group(1))))
        elif found := _PMCID_IN_NOTE.match(line):
            item.setdefault("PMCID", found.group(1).upper())
    if any(notes):
        item["note"] = "\n".join(text for text in notes if text)


def _type(entry_type: str, fields: dict[str, str]) -> str:
    subtype = fields.get("entrysubtype", "").strip("{} ").lower()
    plain = entry_type.translate(_WITHOUT_JOINERS)
    kind = TYPES.get(entry_type) or TYPES.get(plain) or TYPE_ALIASES.get(plain)
    if kind is None:
        if entry_type in set(TYPES.values()):
            kind = entry_type
        else:
            kind = "document"
            fields.setdefault("entrytype", entry_type)
    if (
        kind == "book"
        and entry_type not in _PROCEEDINGS
        and fields.get("booktitle")
        and fields.get("title")
        and fields["booktitle"] != fields["title"]
    ):
        return "chapter"
    if subtype in SUBTYPES and kind in SUBTYPED:
        del fields["entrysubtype"]
        return SUBTYPES[subtype]
    if (
        (kind == "article-journal" or (entry_type in {"misc", "online"} and fields.get("eprint")))
        and not any(
            fields.get(name)
            for name in ("journal", "journaltitle", "volume", "number", "pages", "issn")
        )
        and _is_preprint(fields)
    ):
        return "article"
    return kind


def _is_preprint(fields: dict[str, str]) -> bool:
    return bool(fields.get("eprint")) and (
        fields.get("archiveprefix") or fields.get("eprinttype") or ""
    ).strip("{} ").lower() in {"arxiv", ""}


def _is_abbreviated(journal: str) -> bool:
    """Whether a journal's name is written short: several words, or the last, end in full stops."""
    words = [word for word in journal.split() if not _TITLE_OF_PERSON.match(word)]
    short = [word for word in words if _SHORT_WORD.match(word)]
    return len(short) > 1 or (len(words) > 1 and short == words[-1:])


def _to_sentence_case(raw: str) -> str:
    title, inner = to_rich(raw), raw.strip()[1:-1].strip()
    # One pair of braces around a whole title is habit, two are meant.
    is_meant = inner.startswith("{") and is_one_group(raw.strip()) and is_one_group(inner)
    return title.text if is_meant else sentence_case(title)


def _keep_original(item: CslItem, written: str) -> None:
    """Beside a title that was put into sentence case, the one that was written."""
    title = item.get("title", "")
    original = _keep_case(written)
    if title != original and title.casefold() == original.casefold():
        item.setdefault("custom", {})["title_as_written"] = original


def _keep_case(raw: str) -> str:
    return to_rich(raw).text
