"""Controlled vocabularies as files: MeSH, SKOS thesauri, OBO ontologies, tables of terms."""

from carrel.libraries.vocabularies.entries import (
    MOST_BYTES,
    MOST_ENTRIES,
    VocabularyEntry,
    VocabularyFileError,
)
from carrel.libraries.vocabularies.formats import read_vocabulary_file

__all__ = [
    "MOST_BYTES",
    "MOST_ENTRIES",
    "VocabularyEntry",
    "VocabularyFileError",
    "read_vocabulary_file",
]
