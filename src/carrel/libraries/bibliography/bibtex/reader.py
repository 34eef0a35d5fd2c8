"""BibTeX and BibLaTeX files to CSL-JSON items."""

import re

from carrel.libraries.bibliography.bibtex.fields import EntryReader, TitleCase
from carrel.libraries.bibliography.bibtex.groups import join_groups
from carrel.libraries.bibliography.bibtex.scanner import RawEntry, Scanner
from carrel.libraries.bibliography.dates import doubtful_dates
from carrel.libraries.bibliography.imports import CslItem, ImportedItem, ImportResult, open_text
from carrel.libraries.text.budget import (
    MAX_DEPTH,
    Budget,
    InputTooCostlyError,
    current_budget,
    parsing,
)

_NEVER_INHERITED = frozenset({
    "crossref", "xdata", "xref", "ids", "entryset", "entrysubtype", "execute", "label", "options",
    "presort", "related", "relatedoptions", "relatedstring", "relatedtype", "shorthand",
    "shorthandintro", "sortkey", "sortname", "sorttitle", "sortyear", "key", "keywords", "abstract",
    "doi", "url", "urldate", "file", "timestamp", "owner", "groups", "date-added", "date-modified",
    "bdsk-file-1", "bdsk-url-1", "annote", "note", "pages", "pagetotal", "eprint", "eprinttype",
    "author", "title", "subtitle", "titleaddon", "shorttitle", "isbn-child", "comment",
    "creationdate", "modificationdate", "langid",
})  # fmt: skip
_BOOK_LIKE = frozenset({
    "book", "collection", "proceedings", "reference", "mvbook", "mvcollection", "mvproceedings",
    "mvreference",
})  # fmt: skip
_PARTS = frozenset({
    "inbook", "incollection", "inproceedings", "conference", "inreference", "suppbook",
    "suppcollection", "bookinbook", "suppperiodical",
})  # fmt: skip
# Entries that tell a bibliography style what to do.
_CONTROL_TYPES = frozenset({"ieeetranbstctl", "control", "bibnote-control"})
_TITLES = {
    "title": "booktitle",
    "subtitle": "booksubtitle",
    "titleaddon": "booktitleaddon",
    "shorttitle": "",
}
_MAIN_TITLES = {
    "title": "maintitle",
    "subtitle": "mainsubtitle",
    "titleaddon": "maintitleaddon",
    "shorttitle": "",
}
_JOURNAL_TITLES = {
    "title": "journaltitle",
    "subtitle": "journalsubtitle",
    "shorttitle": "shortjournal",
    "titleaddon": "",
}


def inherit(entries: list[RawEntry], report: ImportResult) -> None:
    """Fills in, for every entry, what its parents say and it does not."""
    if not any("crossref" in entry.fields or "xdata" in entry.fields for entry in entries):
        return
    by_key = {entry.key.lower(): entry for entry in entries if entry.key}
    for entry in entries:
        for alias in entry.fields.get("ids", "").split(","):
            if alias.strip():
                by_key.setdefault(alias.strip().lower(), entry)
    family = _Family(by_key, report)
    for entry in entries:
        family.fill(entry)


class _Family:
    """Resolves crossref and xdata, parents first; everything inherited counts as output."""

    def __init__(self, by_key: dict[str, RawEntry], report: ImportResult) -> None:
        self._by_key = by_key
        self._report = report
        self._budget: Budget = current_budget()
        self._done: set[int] = set()
        self._path: dict[int, None] = {}

    def fill(self, entry: RawEntry) -> None:
        if id(entry) in self._done:
            return
        if id(entry) in self._path:
            self._report.warn(entry.line, f"{entry.key!r} refers to itself by crossref or xdata")
            return
        if len(self._path) >= MAX_DEPTH:
            self._report.warn(
                entry.line,
                f"{entry.key!r} is the parent of more than {MAX_DEPTH} generations; it gives no "
                f"fields",
            )
            return
        self._budget.step()
        self._path[id(entry)] = None
        for key in _keys(entry, "xdata"):
            parent = self._parent(entry, key, "takes data from")
            if parent is not None:
                self.fill(parent)
                self._spend(entry, parent)
                for name, value in parent.fields.items():
                    entry.fields.setdefault(name, value)
        for key in _keys(entry, "crossref"):
            parent = self._parent(entry, key, "refers to")
            if parent is not None and parent is not entry:
                self.fill(parent)
                self._spend(entry, parent)
                _take(entry, parent)
        del self._path[id(entry)]
        self._done.add(id(entry))

    def _parent(self, entry: RawEntry, key: str, relation: str) -> RawEntry | None:
        parent = self._by_key.get(key.lower())
        if parent is None:
            self._report.warn(
                entry.line, f"{entry.key!r} {relation} {key!r}, which is not in this file"
            )
        return parent

    def _spend(self, entry: RawEntry, parent: RawEntry) -> None:
        self._budget.spend_output(
            sum(
                len(name) + len(value)
                for name, value in parent.fields.items()
                if name not in entry.fields
            )
        )


def _keys(entry: RawEntry, name: str) -> list[str]:
    value = entry.fields.get(name, "")
    return [key.strip() for key in value.split(",") if key.strip()] if value else []


def _take(child: RawEntry, parent: RawEntry) -> None:
    if parent.type == child.type and parent.type not in _BOOK_LIKE:
        # Not a part and its whole but one work entered twice: it says the same.
        for name, value in parent.fields.items():
            if name not in {"crossref", "ids"}:
                child.fields.setdefault(name, value)
        return
    if child.type == "article" or parent.type == "periodical":
        titles = _JOURNAL_TITLES
    elif child.type in _PARTS:
        titles = (
            _MAIN_TITLES
            if parent.type.startswith("mv") and "booktitle" in child.fields
            else _TITLES
        )
    elif parent.type.startswith("mv") or (child.type in _BOOK_LIKE and parent.type in _BOOK_LIKE):
        titles = _MAIN_TITLES
    else:
        titles = _TITLES
    _take_author(child, parent)
    has_container = any(child.fields.get(name) for name in ("booktitle", "journal", "journaltitle"))
    for name, value in parent.fields.items():
        if name in titles:
            target = titles[name]
            if target and not (has_container and name != "title"):
                child.fields.setdefault(target, value)
        elif name not in _NEVER_INHERITED:
            if name in {"date", "year"} and ("date" in child.fields or "year" in child.fields):
                continue
            child.fields.setdefault(name, value)


def _take_author(child: RawEntry, parent: RawEntry) -> None:
    """A volume has the author of the whole; a part of a book too, or its author is the book's."""
    value = parent.fields.get("author", "")
    if not value:
        return
    if child.type in _BOOK_LIKE and parent.type.startswith("mv"):
        child.fields.setdefault("author", value)
    elif child.type in _PARTS and parent.type in {"book", "mvbook"}:
        if "author" in child.fields:
            child.fields.setdefault("bookauthor", value)
        else:
            child.fields["author"] = value


_REFERENCE = re.compile(r"\b(?:crossref|xdata)\s*=\s*[\"{]*([^\"{}]*)")


def read_bibtex(content: str | bytes, titles: TitleCase = TitleCase.AS_WRITTEN) -> ImportResult:
    """Parse the entries of a BibTeX or BibLaTeX file; the fields of both dialects are known.

    Where the parsing budget ends, the entries before are kept and a failure says why.
    """
    with parsing("the BibTeX", len(content)):
        return _read(content, titles)


def _read(content: str | bytes, titles: TitleCase) -> ImportResult:
    content, answer = open_text(content)
    if "\r" in content and "\n" not in content:
        content = content.replace("\r", "\n")
    # Only entries that give or take fields wait for the end of the file.
    parents = _parents(content.lower())
    reader = EntryReader(titles)
    seen: dict[str, int] = {}
    waiting: list[tuple[int, RawEntry]] = []
    scanner = Scanner(content, answer)
    try:
        for entry in scanner.entries():
            if entry.type != "xdata" and not _is_fit(entry, seen, answer):
                continue
            if parents and (entry.type == "xdata" or _waits(entry, parents)):
                waiting.append((len(answer.items), entry))
                answer.items.append(ImportedItem({}, entry.line))
            elif entry.type != "xdata":
                answer.items.append(ImportedItem(_item(reader, entry, answer), entry.line))
        if waiting:
            inherit([entry for _, entry in waiting], answer)
            for place, entry in waiting:
                if entry.type != "xdata":
                    answer.items[place] = ImportedItem(_item(reader, entry, answer), entry.line)
    except InputTooCostlyError as error:
        if error.exceeded == "cancelled":
            raise
        answer.fail(scanner.line, f"{error.message}; what follows was not read. {error.next_step}")
    answer.items = [imported for imported in answer.items if imported.item]
    if scanner.groups:
        _put_groups(answer, scanner.groups)
    answer.warnings.sort(key=lambda warning: warning.line)
    return answer


def _put_groups(answer: ImportResult, groups: dict[str, list[str]]) -> None:
    """JabRef writes its groups behind the entries."""
    for imported in answer.items:
        names = groups.get(str(imported.item.get("id", "")).lower())
        if names:
            fields = imported.item.setdefault("custom", {}).setdefault("fields", {})
            fields["groups"] = join_groups(fields.get("groups", ""), names)


def _item(reader: EntryReader, entry: RawEntry, answer: ImportResult) -> CslItem:
    """The item of an entry; empty when it is nested too deep, which harms no other entry."""
    try:
        item = reader.read(entry)
        for doubt in (*reader.take_doubts(), *doubtful_dates(item)):
            answer.warn(entry.line, doubt)
        return item
    except InputTooCostlyError as error:
        if error.exceeded != "depth":
            raise
        answer.fail(entry.line, f"{error.message}. {error.next_step}")
        return {}


def _parents(text: str) -> set[str]:
    """The keys that some entry refers to."""
    if "crossref" not in text and "xdata" not in text:
        return set()
    return {key.strip() for found in _REFERENCE.finditer(text) for key in found.group(1).split(",")}


def _waits(entry: RawEntry, parents: set[str]) -> bool:
    if "crossref" in entry.fields or "xdata" in entry.fields or entry.key.lower() in parents:
        return True
    return any(alias.strip().lower() in parents for alias in entry.fields.get("ids", "").split(","))


def _is_fit(entry: RawEntry, seen: dict[str, int], answer: ImportResult) -> bool:
    if entry.type in _CONTROL_TYPES:
        answer.warn(entry.line, f"@{entry.type} steers a style and names no work; it was left out")
        return False
    if not entry.fields and not entry.key:
        answer.fail(entry.line, f"@{entry.type} has neither a key nor a field that can be read")
        return False
    if not entry.fields:
        answer.warn(entry.line, f"@{entry.type} {entry.key!r} has no fields")
    first = seen.setdefault(entry.key.lower(), entry.line)
    if entry.key and first != entry.line:
        answer.warn(entry.line, f"The key {entry.key!r} was used before, on line {first}")
    return True
