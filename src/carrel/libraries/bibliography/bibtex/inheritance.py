"""What an entry takes over from the entries it points to: crossref, xdata and BibDesk-style
parents.
"""

from carrel.libraries.bibliography.bibtex.scanner import RawEntry
from carrel.libraries.bibliography.imports import Imported
from carrel.libraries.text.budget import MAX_DEPTH, Budget, current_budget

_NEVER_INHERITED = frozenset({
    "crossref", "xdata", "xref", "ids", "entryset", "entrysubtype", "execute", "label", "options",
    "presort", "related",
    "relatedoptions", "relatedstring", "relatedtype", "shorthand", "shorthandintro", "sortkey",
    "sortname", "sorttitle",
    "sortyear", "key", "keywords", "abstract", "doi", "url", "urldate", "file", "timestamp",
    "owner", "groups", "date-added",
    "date-modified", "bdsk-file-1", "bdsk-url-1", "annote", "note", "pages", "pagetotal", "eprint",
    "eprinttype", "author",
    "title", "subtitle", "titleaddon", "shorttitle", "isbn-child", "comment", "creationdate",
    "modificationdate", "langid",
})  # fmt: skip
_BOOK_LIKE = frozenset(
    {
        "book",
        "collection",
        "proceedings",
        "reference",
        "mvbook",
        "mvcollection",
        "mvproceedings",
        "mvreference",
    }
)
_PARTS = frozenset({
    "inbook", "incollection", "inproceedings", "conference", "inreference", "suppbook",
    "suppcollection", "bookinbook",
    "suppperiodical",
})  # fmt: skip
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


def inherit(entries: list[RawEntry], report: Imported) -> None:
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
    """Fills in each entry once, its parents first. Everything that is taken over counts as
    output.
    """

    def __init__(self, by_key: dict[str, RawEntry], report: Imported) -> None:
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
    has_container = any(child.fields.get(name) for name in ("booktitle", "journal", "journaltitle"))
    for name, value in parent.fields.items():
        if name in titles:
            target = titles[name]
            if target and not (has_container and name != "title"):
                child.fields.setdefault(target, value)
        elif name not in _NEVER_INHERITED and not (name == "author" and child.type in _PARTS):
            if name in {"date", "year"} and ("date" in child.fields or "year" in child.fields):
                continue
            child.fields.setdefault(name, value)
