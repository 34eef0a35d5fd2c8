"""Texts for the research room from the corpus at a place, whichever kind lies there now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from carrel.libraries.discovery.records import Paper
from carrel.stores.corpus.current import ReaderByKind


class PaperTextSource(Protocol):
    """Titles, abstracts and keywords, as the research room reads them."""

    def signature(self) -> object: ...

    def fingerprints(self) -> Iterator[tuple[str, str]]: ...

    def everything(self) -> Iterator[tuple[Paper, str]]: ...

    def paper(self, id: str, /) -> Paper | None: ...

    def papers(self, paper_ids: Sequence[str]) -> list[Paper]: ...


class CurrentTexts:
    """Titles, abstracts and keywords of the corpus at a place."""

    def __init__(self, readers: ReaderByKind[PaperTextSource]) -> None:
        self._readers = readers

    def signature(self) -> object:
        return self._readers.now.signature()

    def fingerprints(self) -> Iterator[tuple[str, str]]:
        return self._readers.now.fingerprints()

    def everything(self) -> Iterator[tuple[Paper, str]]:
        return self._readers.now.everything()

    def paper(self, paper_id: str) -> Paper | None:
        return self._readers.now.paper(paper_id)

    def papers(self, paper_ids: Sequence[str]) -> list[Paper]:
        return self._readers.now.papers(paper_ids)
