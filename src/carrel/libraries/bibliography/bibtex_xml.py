"""BibTeXML (`<bibtex:entry id="…"><bibtex:article>…`) to CSL-JSON items."""

from carrel.libraries.bibliography.bibtex.fields import EntryReader, TitleCase
from carrel.libraries.bibliography.bibtex.scanner import RawEntry
from carrel.libraries.bibliography.imports import CslItem, ImportResult, read_xml_records
from carrel.libraries.text.xml import XmlNode

_LISTS = {"keywords": ("keyword", ", "), "authors": ("author", " and ")}


def _nested(value: XmlNode) -> str:
    """The extended form parts names into persons and titles into two."""
    if people := list(value.deep("person")):
        return " and ".join(_person(person) for person in people)
    titles = [value.at("title"), value.at("subtitle")]
    return ": ".join(filter(None, titles)) if titles[0] else value.all_text()


def _person(person: XmlNode) -> str:
    given = " ".join(filter(None, (person.at("first"), person.at("middle"))))
    family = " ".join(filter(None, (person.at("prelast"), person.at("last"))))
    return ", ".join(filter(None, (family, person.at("lineage"), given))) or person.all_text()


def read_bibtex_xml(content: str | bytes) -> ImportResult:
    """Every entry; its values are read as BibTeX, which they are."""
    reader = EntryReader(TitleCase.AS_WRITTEN)

    def read_entry(node: XmlNode) -> CslItem:
        kind = next(node.nodes(), None)
        if kind is None:
            return {}
        fields: dict[str, str] = {}
        for value in kind.nodes():
            inner, separator = _LISTS.get(value.tag.lower(), ("", ""))
            parts = [each.all_text() for each in value.each(inner)] if inner else []
            text = separator.join(parts) if parts else _nested(value)
            if text.strip():
                fields.setdefault(value.tag.lower(), text)
        return reader.read(RawEntry(kind.tag.lower(), node.get("id", ""), node.line, fields))

    return read_xml_records(content, "entry", read_entry)
