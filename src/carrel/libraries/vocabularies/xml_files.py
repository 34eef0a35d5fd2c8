"""XML vocabularies, read in pieces: MeSH descriptors and SKOS thesauri in RDF/XML."""

from collections.abc import Iterator
from typing import BinaryIO
from xml.parsers import expat

from carrel.libraries.vocabularies.entries import (
    DraftEntry,
    VocabularyEntry,
    VocabularyFileError,
)

_PIECE_BYTES = 1 << 18
_SKOS = "http://www.w3.org/2004/02/skos/core# "
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns# "
_LANGUAGE = "http://www.w3.org/XML/1998/namespace lang"
_OWL_LABEL = "http://www.w3.org/2000/01/rdf-schema# label"
_BROADER = (f"{_SKOS}broader", "http://www.w3.org/2000/01/rdf-schema# subClassOf")


def read_xml(stream: BinaryIO) -> Iterator[VocabularyEntry]:
    """The entries of a MeSH or SKOS file; entities of a DTD are refused."""
    handler = _Handler()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.text.append
    parser.EntityDeclHandler = _refuse_entity
    while piece := stream.read(_PIECE_BYTES):
        try:
            parser.Parse(piece, False)
        except expat.ExpatError as error:
            raise VocabularyFileError(f"it is no well-formed XML ({error})") from error
        yield from handler.take()
    try:
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise VocabularyFileError(f"it is no well-formed XML ({error})") from error
    yield from handler.take()


def _refuse_entity(name: str, *_: object) -> None:
    raise VocabularyFileError(f"it declares the entity {name[:40]}, which is refused")


class _Handler:
    def __init__(self) -> None:
        self.text: list[str] = []
        self._path: list[str] = []
        self._languages: list[str] = []
        self._drafts: list[tuple[int, DraftEntry]] = []
        self._found: list[VocabularyEntry] = []

    def take(self) -> list[VocabularyEntry]:
        found, self._found = self._found, []
        return found

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._path.append(name)
        self._languages.append(attributes.get(_LANGUAGE, ""))
        self.text.clear()
        about = attributes.get(f"{_RDF}about")
        if name == "DescriptorRecord" or (about and not self._drafts):
            self._drafts.append((len(self._path), DraftEntry(about or "")))
        elif name in _BROADER and self._drafts and (above := attributes.get(f"{_RDF}resource")):
            self._drafts[-1][1].broader.append(above)

    def end(self, name: str) -> None:
        text = "".join(self.text).strip()
        self.text.clear()
        if self._drafts:
            depth, draft = self._drafts[-1]
            if depth == len(self._path):
                self._drafts.pop()
                if entry := draft.finish():
                    self._found.append(entry)
            elif text:
                self._read(draft, name, text)
        self._path.pop()
        self._languages.pop()

    def _read(self, draft: DraftEntry, name: str, text: str) -> None:
        language = self._languages[-1]
        if name in {f"{_SKOS}prefLabel", _OWL_LABEL}:
            draft.add_label(text, language)
        elif name in {f"{_SKOS}altLabel", f"{_SKOS}hiddenLabel"}:
            draft.synonyms.append((language, text))
        elif name == "TreeNumber":
            draft.trees.append(text)
        elif name == "DescriptorUI" and not draft.id:
            draft.id = text
        elif name == "String":
            above = self._path[-2]
            if above == "DescriptorName" and not draft.labels:
                draft.add_label(text)
            elif above == "Term":
                draft.synonyms.append(("", text))
