"""Signed, typed relations between the things a sentence names, read by patterns."""

from carrel.libraries.relations.extraction import extract_relations
from carrel.libraries.relations.lexicon import Lexicon, build_lexicon, standard_lexicon
from carrel.libraries.relations.records import Argument, Operation, Relation, RelationKind

__all__ = [
    "Argument",
    "Lexicon",
    "Operation",
    "Relation",
    "RelationKind",
    "build_lexicon",
    "extract_relations",
    "standard_lexicon",
]
