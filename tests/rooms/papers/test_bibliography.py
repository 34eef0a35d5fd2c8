"""Papers as a bibliography: readable keys, true types, and what no source states marked and left
out of citations.
"""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from carrel.cli import main
from carrel.cli.papers_build import run
from carrel.core.answer import Text
from carrel.core.caller import Visit
from carrel.core.errors import InvalidInputError
from carrel.libraries.bibliography.formats import read_bibliography
from carrel.rooms.papers.errors import PaperNotFoundError
from carrel.settings import Settings
from carrel.wiring.desk import open_desk
from tests.services.pdf_files import Line, make_pdf

# A page without a title, names or a date: only the file itself says what it may be called.
GUESSED_TITLE = "On the Behaviour of Very Small Engines"
GUESSED: list[Line] = [
    (
        10,
        "we study them and find that they behave in a manner that is not at all unlike that of the",
    ),
    (
        10,
        "larger engines, against Jones (1998), doi:10.9999/cited.one, "
        "https://doi.org/10.9999/cited.two",
    ),
    (12, "1 Introduction"),
    (10, "1998 1998 1998 1998 arXiv:1706.03762 and doi:10.9999/cited.three"),
    (10, "Copyright 1975 is in the text."),
]
# A page that says whose it is, of when, and cites others.
PRINTED: list[Line] = [
    (22, "On the Behaviour of Very Small Engines"),
    (10, "Ann Smith, University of Somewhere"),
    (10, "(c) 2011 The Authors"),
    (11, "Abstract"),
    (10, "We study very small engines and find that they behave in a manner that is not at all"),
    (
        10,
        "unlike larger engines, against Jones (1998), doi:10.9999/cited.one, "
        "https://doi.org/10.9999/cited.two",
    ),
    (12, "1 Introduction"),
    (10, "1998 1998 1998 1998 arXiv:1706.03762 and doi:10.9999/cited.three"),
    (10, "Copyright 1975 is in the text."),
]
SECOND_PAGE: list[Line] = [(10, "See doi:10.9999/cited.four on the second page, in full.")]
SOURCES = {
    "talk.ris": "TY  - CPAPER\nAU  - Lee, Bo\nTI  - Talks\nT2  - Proceedings of Talks\nPY  - "
"2001\nSP  - 3\nEP  - 9\nER  - \n",
    "thesis.json": json.dumps(
        [
            {
                "id": "x1",
                "type": "thesis",
                "title": "My thesis",
                "author": [{"family": "Roe", "given": "Jo"}],
                "publisher": "ETH",
                "issued": {"date-parts": [[1999]]},
            }
        ]
    ),
    "book.bib": "@book{knuth84, title={The {TeX}book}, author={Knuth, Donald E.}, year=1984, "
"publisher={Addison-Wesley}}",
    "preprint.md": "---\ntitle: Attention is enough\nauthors: [Ada Vaswani]\nyear: 2017\narxiv: "
"1706.03762\n---\n# Attention is enough\n\nText.\n",
    "meeting.md": "---\ntitle: The meeting\nauthors: [Ada Lovelace]\nyear: 2018\nvenue: "
"Proceedings of the 3rd Workshop on Meetings\n---\nText.\n",
    "journal.md": "---\ntitle: A journal paper\nauthors: [Ada Lovelace]\ndate: 2019-05-17\nvenue: "
"Journal of Tests\n---\nText.\n",
    "twin.md": "---\ntitle: A journal twin\nauthors: [Ada Lovelace]\ndate: 2019\nvenue: Journal "
"of Tests\n---\nText.\n",
    "no_title_here.md": "Only text without any heading at all. It has a second sentence, too.\n",
    "article.nxml": (
        '<article><front><journal-meta><journal-title-group><journal-title>J. '
'Jats</journal-title></journal-title-group>'
        '</journal-meta><article-meta><title-group><article-title>Tagged</article-title></title-group><contrib-group>'
        '<contrib contrib-type="author"><name><surname>van '
'Dam</surname><given-names>Eva</given-names></name></contrib>'
        "</contrib-group><pub-date><year>2015</year></pub-date><volume>7</volume><fpage>11</fpage><lpage>19</lpage>"
        "</article-meta></front><body><sec><title>One</title><p>Body "
"text.</p></sec></body></article>"
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sources, home = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("home")
    for name, text in SOURCES.items():
        (sources / name).write_text(text, encoding="utf-8")
    (sources / "guessed.pdf").write_bytes(
        make_pdf(
            [GUESSED, SECOND_PAGE],
            title=GUESSED_TITLE,
        )
    )
    assert run(["build", str(sources), "--into", str(home / "papers"), "--workers", "1"]) == 0
    return home


def ask(home: Path, name: str, **arguments: Any) -> Any:
    settings = Settings.model_validate(
        {"home": home, "rooms": ("papers", "references"), "audit": {"enabled": False}}
    )

    async def scene() -> Any:
        async with open_desk(settings).session() as desk:
            visit = Visit("cli", "test")
            operation = desk.catalogue.operations[name]
            answer = await desk.gate.call(
                operation, arguments, await desk.gate.identify(visit), visit
            )
            return (
                answer.body
                if isinstance(answer, Text)
                else TypeAdapter(operation.answer).dump_python(answer, mode="json")
            )

    return asyncio.run(scene())


def found(home: Path, query: str) -> dict[str, Any]:
    hit: dict[str, Any] = ask(home, "search_papers", query=query)[0]
    return hit


def test_keys_are_readable_unique_and_types_are_true(home: Path) -> None:
    bibtex = ask(home, "export_papers", format="bibtex", limit=100)
    entries = dict(
        reversed(pair) for pair in re.findall(r"^@(\w+)\{([^,]+),", bibtex, re.MULTILINE)
    )
    twins = [key for key in entries if key.startswith("lovelace-2019-journal-")]
    assert len(twins) == 2
    assert {key: kind for key, kind in entries.items() if key not in twins} == {
        "lee-2001-talks": "inproceedings",
        "x1": "phdthesis",
        "knuth84": "book",
        "vaswani-2017-attention": "misc",
        "lovelace-2018-meeting": "inproceedings",
        "van_dam-2015-tagged": "article",
        "anon-nd-no": "misc",
        "anon-nd-behaviour": "misc",
    }
    assert {entries[key] for key in twins} == {"article"}
    assert ask(home, "export_papers", format="bibtex", limit=100) == bibtex
    assert (
        "pages = {3--9}" in bibtex
        and "school = {ETH}" in bibtex
        and "volume = {7}" in bibtex
        and "pages = {11--19}" in bibtex
    )
    assert "eprint = {1706.03762}" in bibtex and "month = may" in bibtex
    assert "carrel" not in bibtex


@pytest.mark.parametrize("form", ["csl-json", "ris"])
def test_other_forms_say_the_same(home: Path, form: str) -> None:
    items = {
        item.item["id"]: item.item
        for item in read_bibliography(ask(home, "export_papers", format=form, limit=100)).items
    }
    assert items["vaswani-2017-attention"]["type"] == "article"
    assert items["lovelace-2018-meeting"]["type"] == "paper-conference"
    assert "issued" not in items["anon-nd-behaviour"]


def test_named_papers_are_exported_once_each_in_their_order(home: Path) -> None:
    papers = [json.loads(line) for line in ask(home, "export_papers", limit=100).splitlines()]
    wanted = [papers[2]["paper_id"], papers[0]["paper_id"], papers[2]["paper_id"]]
    named = ask(home, "export_papers", ids=wanted).splitlines()
    assert [json.loads(line)["paper_id"] for line in named] == wanted[:2]
    assert ask(home, "export_papers", ids=wanted[:1], format="bibtex").count("@") == 1
    with pytest.raises(PaperNotFoundError):
        ask(home, "export_papers", ids=["0" * 32])
    with pytest.raises(InvalidInputError, match="either query or ids"):
        ask(home, "export_papers", ids=wanted, query="attention")


def test_every_paper_that_can_be_exported_has_a_bibtex_entry(home: Path) -> None:
    for line in ask(home, "export_papers", limit=100).splitlines():
        paper = json.loads(line)
        entry = ask(home, "get_paper_bibtex", paper_id=paper["paper_id"])
        assert entry.lstrip().startswith("@")
        assert read_bibliography(entry).items[0].item["title"]


def test_what_a_pdf_does_not_state_is_null_and_what_is_inferred_says_so(home: Path) -> None:
    hit = found(home, "very small engines")
    assert hit["inferred"] == ["title"]
    metadata = ask(home, "get_paper_metadata", paper_id=hit["paper_id"])
    assert (metadata["doi"], metadata["arxiv_id"], metadata["year"]) == (None, None, "unknown")
    assert metadata["inferred"] == ["title"]
    entry = ask(home, "get_paper_bibtex", paper_id=hit["paper_id"])
    assert "year" not in entry and "doi" not in entry
    assert "inferred" not in found(home, "journal twin")
    assert found(home, '"no title here"')["inferred"] == ["title"]


def test_what_a_pdf_cites_is_not_what_it_is(tmp_path: Path) -> None:
    """Title, author and year are printed, so nothing is a guess; all identifiers are of others."""
    sources, home = tmp_path / "sources", tmp_path / "home"
    sources.mkdir()
    (sources / "printed.pdf").write_bytes(make_pdf([PRINTED, SECOND_PAGE]))
    assert run(["build", str(sources), "--into", str(home / "papers"), "--workers", "1"]) == 0
    hit = found(home, "very small engines")
    metadata = ask(home, "get_paper_metadata", paper_id=hit["paper_id"])
    assert (metadata["doi"], metadata["arxiv_id"], metadata["year"]) == (None, None, "2011")
    assert metadata["title"] == "On the Behaviour of Very Small Engines"
    assert not metadata.get("inferred")
    entry = ask(home, "get_paper_bibtex", paper_id=hit["paper_id"])
    assert "10.9999" not in entry and "1706.03762" not in entry


def test_a_paper_added_to_the_library_keeps_the_mark_and_no_guess(home: Path) -> None:
    hit = found(home, "very small engines")
    ask(home, "add_references", input=hit["paper_id"])
    item = ask(home, "search_references", query="engines")["references"][0]
    assert "issued" not in item and "DOI" not in item
    assert "title" in item["custom"]["inferred"] and item["custom"]["paper_id"] == hit["paper_id"]
    assert "n.d." in ask(home, "cite_references", ids=[item["id"]])["text"]


def test_a_snapshot_without_the_marks_opens(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "a.md").write_text("# One paper\n\nText about owls.\n", encoding="utf-8")
    assert run(["build", str(sources), "--into", str(folder), "--workers", "1"]) == 0
    shared = tmp_path / "shared" / "papers"
    assert main(["papers", "export-snapshot", str(shared), "--snapshot", str(folder)]) == 0
    with sqlite3.connect(shared / "paper_snapshot.db") as connection:
        connection.execute("DROP TABLE paper_inferred")
    assert "inferred" not in found(tmp_path / "shared", "owls")
