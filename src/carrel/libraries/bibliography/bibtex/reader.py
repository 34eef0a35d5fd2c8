"""BibTeX and BibLaTeX files to CSL-JSON items."""

import re

from carrel.libraries.bibliography.bibtex.fields import EntryReader, Titles
from carrel.libraries.bibliography.bibtex.inheritance import inherit
from carrel.libraries.bibliography.bibtex.scanner import RawEntry, Scanner
from carrel.libraries.bibliography.encodings import decode
from carrel.libraries.bibliography.imports import CslItem, Imported, ImportedItem
from carrel.libraries.text.budget import InputTooCostlyError, parsing

_REFERENCE = re.compile(r"\b(?:crossref|xdata)\s*=\s*[\"{]*([^\"{}]*)")


def read_bibtex(content: str | bytes, titles: Titles = Titles.SENTENCE_CASE) -> Imported:
    """Every entry of a BibTeX or BibLaTeX file; the two differ only in fields, and all fields of
    both are known.

    Where the budget of the reading ends, the entries before that place are kept and a failure says
    why the rest was not read.
    """
    with parsing("the BibTeX", len(content)):
        return _read(content, titles)


def _read(content: str | bytes, titles: Titles) -> Imported:
    answer = Imported()
    if isinstance(content, bytes):
        content, answer.warnings = decode(content)
    if "\r" in content and "\n" not in content:
        content = content.replace("\r", "\n")
    # Only entries that give or take fields wait for the end of the file; the others need not be
    # held twice.
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
    answer.warnings.sort(key=lambda warning: warning.line)
    return answer


def _item(reader: EntryReader, entry: RawEntry, answer: Imported) -> CslItem:
    """The item of an entry; empty when it is nested too deep, which harms no other entry."""
    try:
        return reader.read(entry)
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


def _is_fit(entry: RawEntry, seen: dict[str, int], answer: Imported) -> bool:
    if not entry.fields and not entry.key:
        answer.fail(entry.line, f"@{entry.type} has neither a key nor a field that can be read")
        return False
    if not entry.fields:
        answer.warn(entry.line, f"@{entry.type} {entry.key!r} has no fields")
    first = seen.setdefault(entry.key.lower(), entry.line)
    if entry.key and first != entry.line:
        answer.warn(entry.line, f"The key {entry.key!r} was used before, on line {first}")
    return True
