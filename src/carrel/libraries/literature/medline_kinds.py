"""Kinds of works by the publication types of MEDLINE, which PubMed and Europe PMC both use."""

from __future__ import annotations

from collections.abc import Iterable

from carrel.libraries.literature.records import WorkKind

# The first that a record has: a retracted review is a review, its notice is a retraction.
_KINDS: tuple[tuple[str, WorkKind], ...] = (
    ("retraction of publication", "retraction"),
    ("retraction notice", "retraction"),
    ("retraction", "retraction"),
    ("published erratum", "erratum"),
    ("correction", "erratum"),
    ("preprint", "preprint"),
    ("editorial", "editorial"),
    ("letter", "letter"),
    ("dataset", "dataset"),
    ("academic dissertation", "thesis"),
    ("thesis", "thesis"),
    ("technical report", "report"),
    ("congress", "paper-conference"),
    ("book", "book"),
    ("systematic review", "review"),
    ("review", "review"),
    ("review-article", "review"),
)
RETRACTED = "retracted publication"


def read_kind(publication_types: Iterable[str]) -> WorkKind:
    """The kind of a work with these publication types, in lower case; else a journal article."""
    types = set(publication_types)
    return next((kind for name, kind in _KINDS if name in types), "article-journal")
