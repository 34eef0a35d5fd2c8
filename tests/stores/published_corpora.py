"""Corpus folders that follow one published corpus, and papers to add to them."""

from __future__ import annotations

from pathlib import Path

from carrel.rooms.papers.models import PaperAdded
from carrel.stores.corpus.folder import CorpusFolder
from carrel.stores.corpus.manifest import read_manifest
from carrel.stores.corpus.papers import list_ids
from carrel.stores.corpus.published.folder import PublishedFolder
from carrel.stores.objects.addresses import open_objects
from carrel.stores.static_folder import PaperInboxFolder
from carrel.wiring.papers_build import add_paper_file, build_papers


def paper_text(title: str, words: str = "It floats.") -> bytes:
    return f"---\ntitle: {title}\nauthors: [Ann Lee]\nyear: 2001\n---\n\n{words}\n".encode()


def make_copy(folder: Path, url: str) -> PublishedFolder:
    """A folder that follows the corpus at an address."""
    copy = PublishedFolder(folder, open_objects(url))
    copy.become_copy()
    return copy


def add_text(folder: Path, title: str, words: str = "It floats.") -> PaperAdded:
    """Add a paper as a server does: into the inbox, then into the corpus."""
    file = PaperInboxFolder(folder / "added").put(paper_text(title, words), ".md")
    return add_paper_file(folder, file)


def build_here(folder: Path, sources: Path, titles: list[str]) -> None:
    """A corpus of one's own."""
    sources.mkdir(parents=True, exist_ok=True)
    for title in titles:
        (sources / f"{title.replace(' ', '-')}.md").write_bytes(paper_text(title))
    build_papers([sources], folder)


def paper_ids(folder: Path) -> set[str]:
    """The papers that a reader of the folder finds."""
    if read_manifest(folder) is None:
        return set()
    corpus = CorpusFolder(folder)
    try:
        with corpus.current().session() as session:
            return set(list_ids(session, 0, 10_000))
    finally:
        corpus.close()
