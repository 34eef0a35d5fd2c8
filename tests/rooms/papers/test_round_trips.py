"""What an export writes is read back field by field, and a guess never as a fact."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.cli import main
from carrel.cli.papers_build import run
from carrel.rooms.papers.bibliography import write_papers
from carrel.rooms.papers.building.models import SourcePart
from carrel.rooms.papers.building.paper_records import PaperRecord, mark_guesses
from carrel.rooms.papers.building.papers import PublishedPaper, collect_summaries
from carrel.rooms.papers.ports import PaperToCite
from carrel.services.paper_sources.bibliography import BibliographyReader
from carrel.services.paper_sources.json_records import JsonLinesReader
from carrel.stores.corpus.papers import shown_paper
from carrel.stores.corpus.records import decode_paper, encode_paper
from tests.services.test_paper_sources import Shelf

pytestmark = pytest.mark.promise("P14")

LIBRARY = (
    Path(__file__).parents[4] / "shared" / "data" / "citations" / "deep-review_library.csl.json"
)
_SUFFIXES = {"bibtex": ".bib", "ris": ".ris", "csl-json": ".json"}
_COMPARED = (
    "title", "authors", "editors", "venue", "publication_date", "volume", "issue", "pages",
    "publisher", "doi", "isbn", "issn", "url", "pmid", "pmcid", "kind",
)  # fmt: skip
_WORD = st.sampled_from(["Whales", "Ångström", "of", "kinase", "深度", "Theory", "A/B", "50%"])
_TITLE = st.lists(_WORD, min_size=2, max_size=5).map(" ".join)
_NAMES = st.lists(
    st.sampled_from(["Ada Lovelace", "Ludwig van Beethoven", "José Núñez", "Bo Lee"]),
    max_size=3,
    unique=True,
).map(tuple)
_NUMBER = st.integers(1, 999).map(str)
_ARTICLES = st.builds(
    PaperRecord,
    title=_TITLE,
    authors=_NAMES,
    venue=st.sampled_from(["Journal of Tests", "Nature"]),
    publication_date=st.sampled_from(["1999", "2017-06", "2020-02-29"]),
    volume=st.none() | _NUMBER,
    issue=st.none() | _NUMBER,
    pages=st.none() | st.sampled_from(["12-19", "7", "e00031"]),
    publisher=st.none() | st.sampled_from(["Test Press", "Müller & Söhne"]),
    doi=st.none() | st.sampled_from(["10.1000/x", "10.1002/(sici)1097<1::aid>3.0.co;2-#"]),
    issn=st.none() | st.just("2050-084X"),
    url=st.none() | st.just("https://example.org/a_b?c=1&d=%20"),
    pmid=st.none() | st.just("23239625"),
    pmcid=st.none() | st.just("PMC3514533"),
    kind=st.just("article-journal"),
)


def to_cite(record: PaperRecord) -> PaperToCite:
    paper = PublishedPaper("0" * 32, 1, (), record, collect_summaries(record))
    stored = decode_paper(encode_paper(paper))
    entry = record.bibtex
    return PaperToCite(shown_paper(stored).metadata, entry.raw if entry else None)


def read_back(record: PaperRecord, form: str) -> PaperRecord:
    text = asyncio.run(write_papers([to_cite(record)], form))
    with TemporaryDirectory() as folder:
        path = Path(folder, f"x{_SUFFIXES[form]}")
        path.write_text(text, encoding="utf-8")
        [found] = BibliographyReader().read(SourcePart(path), Shelf()).records
    return found


def shown(record: PaperRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in _COMPARED}


@pytest.mark.parametrize("form", _SUFFIXES)
@given(record=_ARTICLES)
def test_every_field_of_an_article_comes_back(form: str, record: PaperRecord) -> None:
    assert shown(read_back(record, form)) == shown(record)


@given(record=_ARTICLES)
def test_every_field_of_json_lines_comes_back(record: PaperRecord) -> None:
    line = to_cite(record).metadata.model_dump_json()
    part = SourcePart(Path("x.jsonl"), content=line.encode())
    [found] = JsonLinesReader().read(part, Shelf()).records
    assert shown(found) == shown(record)


@pytest.mark.parametrize("form", _SUFFIXES)
def test_a_citation_leaves_guesses_out(form: str) -> None:
    names = ("authors", "venue", "volume", "publication_date", "doi", "pages", "kind")
    record = PaperRecord(
        "A guess",
        ("Nobody Knows",),
        venue="Guessed Journal",
        volume="77",
        pages="1-2",
        publication_date="1987",
        doi="10.1000/guess",
        publisher="Test Press",
        kind="article-journal",
        origins=mark_guesses(*names),
    )
    text = asyncio.run(write_papers([to_cite(record)], form)).replace('"inferred": [', "")
    for guess in ("Nobody", "Knows", "Guessed Journal", "77", "1987", "10.1000/guess"):
        assert guess not in text
    assert "Test Press" in text


def test_a_better_source_is_cited_and_not_the_entry_it_contradicts(tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "x.bib").write_text(
        "@article{mine, title={On {DNA} tests}, author={Lovelace, Ada}, journal={J. Tests}, "
        "year=2018, volume=1, note={my note}, doi={10.1000/x}}",
        encoding="utf-8",
    )
    (sources / "x.nxml").write_text(
        "<article><front><journal-meta><journal-title>Journal of Tests</journal-title>"
        '</journal-meta><article-meta><article-id pub-id-type="doi">10.1000/x</article-id>'
        "<title-group><article-title>On DNA tests</article-title></title-group><contrib-group>"
        '<contrib contrib-type="author"><name><surname>Lovelace</surname><given-names>Ada'
        "</given-names></name></contrib></contrib-group><pub-date><year>2019</year></pub-date>"
        "<volume>12</volume></article-meta></front><body><p>Text.</p></body></article>",
        encoding="utf-8",
    )
    home = tmp_path / "home"
    assert run(["build", str(sources), "--into", str(home / "papers"), "--workers", "1"]) == 0
    from tests.rooms.papers.test_bibliography import ask

    facts = ask(home, "get_paper_metadata", paper_id="10.1000/x")
    assert (facts["year"], facts["volume"], facts["origin"]) == ("2019", "12", "publisher")
    cited = json.loads(ask(home, "export_papers", format="csl-json"))[0]
    assert (cited["issued"], cited["volume"]) == ({"date-parts": [[2019]]}, "12")
    [doubtful] = ask(home, "review_papers")
    assert [field["field"] for field in doubtful["fields"]] == ["publication_date", "volume"]


@pytest.mark.skipif(not LIBRARY.is_file(), reason="the shared data is not here")
def test_a_real_library_comes_back_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # A fifth of it, told by the identifier, so that the test stays short.
    items = [item for item in json.loads(LIBRARY.read_text()) if hash_of(item["id"]) % 5 == 0]
    source = tmp_path / "library.json"
    source.write_text(json.dumps(items), encoding="utf-8")
    into = str(tmp_path / "home" / "papers")
    assert run(["build", str(source), "--into", into, "--workers", "1"]) == 0
    capsys.readouterr()
    words = ["papers", "export", "--format", "csl-json", "--limit", "1000"]
    assert main([*words, "--home", str(tmp_path / "home")]) == 0
    exported = json.loads(capsys.readouterr().out)
    by_doi = {item["DOI"].lower(): item for item in exported if item.get("DOI")}
    names = ("volume", "issue", "page", "publisher", "ISSN", "PMID", "PMCID", "URL", "type")
    with_doi = [item for item in items if item.get("DOI")]
    assert len(with_doi) > 50
    lost = [
        (item["id"], name)
        for item in with_doi
        for name in names
        if item.get(name) and not by_doi[item["DOI"].lower()].get(name)
    ]
    assert lost == []


def hash_of(text: str) -> int:
    return sum(text.encode())
