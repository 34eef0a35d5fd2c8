"""BibTeX and BibLaTeX files to CSL-JSON items."""

from carrel.engines.bibliography.bibtex.fields import EntryReader, Titles
from carrel.engines.bibliography.bibtex.inheritance import inherit
from carrel.engines.bibliography.bibtex.scanner import Scanner
from carrel.engines.bibliography.encodings import decode
from carrel.engines.bibliography.imports import Imported, ImportedItem


def read_bibtex(content: str | bytes, titles: Titles = Titles.SENTENCE_CASE) -> Imported:
    """Every entry of a BibTeX or BibLaTeX file; the two differ only in fields, and all fields of both are known."""
    answer = Imported()
    if isinstance(content, bytes):
        content, answer.warnings = decode(content)
    entries = list(Scanner(content, answer).entries())
    inherit(entries, answer)
    reader = EntryReader(titles)
    seen: dict[str, int] = {}
    entries.reverse()
    while entries:
        entry = entries.pop()
        if entry.type == "xdata":
            continue
        if not entry.fields:
            answer.fail(entry.line, f"@{entry.type} {entry.key!r} has no field that can be read")
            continue
        first = seen.setdefault(entry.key.lower(), entry.line)
        if entry.key and first != entry.line:
            answer.warn(entry.line, f"The key {entry.key!r} was used before, on line {first}")
        answer.items.append(ImportedItem(reader.read(entry), entry.line))
    answer.warnings.sort(key=lambda warning: warning.line)
    return answer
