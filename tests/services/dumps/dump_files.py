"""Small dumps in the layouts of the services, and the command that loads them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from carrel.cli import main

Shown = pytest.CaptureFixture[str]


def openalex_work(number: int, title: str, **more: Any) -> dict[str, Any]:
    """A work of a snapshot with what most of them have."""
    name = f"https://openalex.org/W{4_000_000_000 + number}"
    return {
        "id": name,
        "doi": f"https://doi.org/10.5555/oa.{number}",
        "title": title,
        "publication_year": 2020,
        "publication_date": "2020-05-17",
        "ids": {"openalex": name},
        "language": "en",
        "type": "article",
        "authorships": [{"author": {"display_name": f"Ada Author{number}"}}],
        "primary_location": {"source": {"display_name": "Journal of Tests", "type": "journal"}},
        "topics": [{"display_name": "Neuroscience"}],
        "abstract_inverted_index": {"Loaded": [0], "from": [1], "a": [2], "snapshot.": [3]},
        "referenced_works": [],
        "updated_date": "2026-05-01T00:00:00",
        **more,
    }


def arxiv_line(identifier: str, title: str, **more: Any) -> dict[str, Any]:
    return {
        "id": identifier,
        "authors": "Ada Author, Bo Writer",
        "title": title,
        "categories": "cs.LG stat.ML",
        "abstract": "  About lines of a dump.\n",
        "versions": [{"version": "v1", "created": "Thu, 22 Dec 2022 17:01:56 GMT"}],
        "update_date": "2022-12-23",
        "authors_parsed": [["Author", "Ada", ""], ["Writer", "Bo", ""]],
        **more,
    }


def crossref_item(doi: str, title: str, **more: Any) -> dict[str, Any]:
    return {
        "DOI": doi,
        "title": [title],
        "type": "journal-article",
        "author": [{"given": "Ada", "family": "Author"}],
        "container-title": ["Journal of Tests"],
        "issued": {"date-parts": [[2019, 3]]},
        "indexed": {"date-time": "2023-04-01T10:00:00Z"},
        **more,
    }


def pubmed_article(pmid: str, title: str, year: int = 2018, doi: str = "") -> str:
    ids = f'<ArticleId IdType="doi">{doi}</ArticleId>' if doi else ""
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="1">{pmid}</PMID><DateRevised>'
        "<Year>2025</Year><Month>03</Month><Day>04</Day></DateRevised><Article><Journal>"
        f"<JournalIssue><PubDate><Year>{year}</Year></PubDate></JournalIssue>"
        f"<Title>Journal of Tests</Title></Journal><ArticleTitle>{title}</ArticleTitle>"
        "<AuthorList><Author><LastName>Author</LastName><ForeName>Ada</ForeName></Author>"
        "</AuthorList><Language>eng</Language></Article></MedlineCitation><PubmedData>"
        f'<ArticleIdList><ArticleId IdType="pubmed">{pmid}</ArticleId>{ids}</ArticleIdList>'
        "</PubmedData></PubmedArticle>"
    )


def pubmed_set(*parts: str) -> bytes:
    inner = "\n".join(parts)
    return f'<?xml version="1.0"?>\n<PubmedArticleSet>\n{inner}\n</PubmedArticleSet>\n'.encode()


def write_packed(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content, mtime=0))
    return path


def write_lines(path: Path, records: Iterable[Mapping[str, Any] | bytes]) -> Path:
    """JSON lines; what is bytes already is written as it is."""
    lines = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in records]
    content = b"".join(line + b"\n" for line in lines)
    if path.suffix == ".gz":
        return write_packed(path, content)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def write_partition(folder: Path, day: str, works: Sequence[Mapping[str, Any] | bytes]) -> Path:
    return write_lines(folder / "works" / f"updated_date={day}" / "part_0000.gz", works)


class LoadingDesk:
    """A home with a corpus, used through the commands."""

    def __init__(self, home: Path, shown: Shown) -> None:
        self.home = home
        self._shown = shown

    @property
    def corpus(self) -> Path:
        return self.home / "papers"

    def run(self, *words: str) -> str:
        self._shown.readouterr()
        assert main([*words, "--home", str(self.home)]) == 0, self._shown.readouterr().err
        return self._shown.readouterr().out

    def load(self, service: str, folder: Path, *words: str) -> dict[str, Any]:
        report = json.loads(
            self.run("papers", "load", service, str(folder), "--quiet", "--json", *words)
        )
        assert isinstance(report, dict)
        return report

    def search(self, *words: str) -> list[str]:
        """The titles that a search finds."""
        found = json.loads(self.run("papers", "search", *words, "--json"))
        hits = found if isinstance(found, list) else found.get("results", found.get("hits", []))
        return [hit["title"] for hit in hits]

    def metadata(self, name: str) -> dict[str, Any]:
        found = json.loads(self.run("papers", "show", name, "--json"))
        assert isinstance(found, dict)
        return found


@pytest.fixture
def desk(tmp_path_factory: pytest.TempPathFactory, capsys: Shown) -> LoadingDesk:
    """Its home is not below the folder of a test, where dumps lie."""
    return LoadingDesk(tmp_path_factory.mktemp("desk"), capsys)
