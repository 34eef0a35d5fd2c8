"""Nothing dropped: what a source says for a citation is in its record, with its origin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.bibliography.imports import ORIGIN_MARK
from carrel.rooms.papers.building.models import SourcePart
from carrel.rooms.papers.building.paper_records import PaperRecord, RelatedWork
from carrel.services.paper_sources.bibliography import BibliographyReader
from carrel.services.paper_sources.fields import parse_fields
from carrel.services.paper_sources.jats import JatsReader
from carrel.services.paper_sources.json_records import JsonLinesReader
from carrel.services.paper_sources.markdown import MarkdownReader
from tests.services.test_paper_sources import Shelf

pytestmark = pytest.mark.promise("P14")

_FIELDS = ("venue", "volume", "issue", "pages", "publisher", "issn", "doi", "publication_date")
_EXPECTED = {
    "venue": "Journal of Tests",
    "volume": "12",
    "issue": "3",
    "pages": "45-67",
    "publisher": "Test Press",
    "issn": "2050-084X",
    "doi": "10.1000/x",
    "publication_date": "2019-05",
}
FRONT_MATTER = {
    "plain": """
title: On tests
journal: Journal of Tests
volume: 12
issue: 3
pages: 45--67
publisher: Test Press
issn: 2050084x
doi: https://doi.org/10.1000/x
year: 2019
month: 5
""",
    "nested journal": """
title: On tests
journal: {name: Journal of Tests, volume: 12, number: 3, issn: 2050-084X, publisher: Test Press}
pages: {start: 45, end: 67}
doi: 10.1000/X
date: 2019-05
""",
    "Quarto": """
title: On tests
date: 2019-05
doi: 10.1000/x
citation:
  type: article-journal
  container-title: Journal of Tests
  volume: 12
  issue: 3
  page: 45–67
  issn: 2050-084X
  publisher: Test Press
""",
    "Pandoc for JATS": """
title: On tests
article:
  doi: 10.1000/x
  volume: 12
  issue: 3
  fpage: 45
  lpage: 67
journal:
  title: Journal of Tests
  eissn: 2050-084X
  publisher-name: Test Press
date: 2019-05
""",
    "Obsidian with Zotero": """
title: On tests
itemType: journalArticle
publicationTitle: "[[Journal of Tests]]"
Volume: "12"
Issue: "3"
Pages: 45-67
Publisher: Test Press
ISSN: 2050-084X
DOI: 10.1000/x
year: 2019
month: 05
date: 2024-02-02
citekey: doe2019
""",
    "Hugo": """
title: On tests
publication: "*Journal of Tests*"
volume: 12
issue: 3
pages: 45 – 67
publisher: Test Press
issn: 2050-084X
doi: 10.1000/x
publishDate: 2019-05
""",
}


def read_markdown(folder: Path, text: str) -> PaperRecord:
    path = folder / "paper.md"
    path.write_text(text, encoding="utf-8")
    [record] = MarkdownReader().read(SourcePart(path), Shelf()).records
    return record


def read_bibliography(folder: Path, name: str, text: str) -> list[PaperRecord]:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    reading = BibliographyReader().read(SourcePart(path), Shelf())
    return list(reading.records)


def shown(record: PaperRecord, *names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names or _FIELDS}


@pytest.mark.parametrize("habit", FRONT_MATTER)
def test_front_matter_of_every_habit_reaches_the_record(tmp_path: Path, habit: str) -> None:
    record = read_markdown(tmp_path, f"---{FRONT_MATTER[habit]}---\n# On tests\n\nText.\n")
    assert shown(record) == _EXPECTED
    assert record.origin == "list"
    assert record.inferred == ()


def test_people_of_notes_are_names_and_not_links() -> None:
    record = parse_fields(
        {
            "title": "T",
            "authors": ["[[Ada Lovelace]]", "[[people/Bo Lee|Bo Lee]]", [["Cy Roe"]]],
            "editor": [{"firstName": "Di", "lastName": "Fox"}],
            "creators": "ignored",
        }
    ).record
    assert record.authors == ("Ada Lovelace", "Bo Lee", "Cy Roe")
    assert record.editors == ("Di Fox",)
    nested = parse_fields(
        {
            "author": [
                {"name": {"given": "Ada", "family": "Lovelace"}, "affiliation": "Analytical Office"}
            ]
        }
    ).record
    assert nested.authors == ("Ada Lovelace",)
    assert nested.affiliations == (("Ada Lovelace", "Analytical Office"),)


def test_a_heading_is_layout_and_a_file_name_a_guess(tmp_path: Path) -> None:
    heading = read_markdown(tmp_path, "# A title\n\n## Abstract\n\nShort.\n")
    assert heading.origin_of("title").origin == "layout"
    assert heading.origin_of("abstract").origin == "layout"
    assert heading.inferred == ()
    prose = "Only text without a heading. It has a second sentence, too.\n"
    assert read_markdown(tmp_path, prose).inferred == ("title",)


def test_a_type_says_what_was_published_and_words_of_notes_say_nothing() -> None:
    kinds = {
        "journalArticle": "article-journal",
        "inproceedings": "paper-conference",
        "book-chapter": "chapter",
        "Preprint": "article",
        "literature-note": None,
        "post": "post",
        "misc": None,
    }
    assert {each: parse_fields({"title": "T", "type": each}).record.kind for each in kinds} == kinds
    journal = parse_fields({"title": "T", "type": "article", "journal": "J. Tests"}).record
    assert journal.kind == "article-journal"
    preprint = parse_fields({"title": "T", "type": "article", "journal": "bioRxiv"}).record
    assert preprint.kind == "article"


def test_bibtex_and_ris_keep_numbers_identifiers_and_editors(tmp_path: Path) -> None:
    [book] = read_bibliography(
        tmp_path,
        "x.bib",
        "@incollection{k, title={On tests}, author={Ada Lovelace}, editor={Bo Lee and Cy Roe}, "
        "booktitle={Handbook of Tests}, publisher={Test Press}, isbn={978-3-16-148410-0}, "
        "pages={45--67}, volume=2, year=2019, month=may, pmid={12345}, pmcid={PMC77}, "
        "url={https://example.org/a}, language={english}}",
    )
    assert shown(book, "kind", "pages", "publisher", "isbn", "pmid", "pmcid", "url", "volume") == {
        "kind": "chapter",
        "pages": "45-67",
        "publisher": "Test Press",
        "isbn": "9783161484100",
        "pmid": "12345",
        "pmcid": "PMC77",
        "url": "https://example.org/a",
        "volume": "2",
    }
    assert (book.authors, book.editors) == (("Ada Lovelace",), ("Bo Lee", "Cy Roe"))
    assert book.publication_date == "2019-05"
    [article] = read_bibliography(
        tmp_path,
        "x.ris",
        "TY  - JOUR\nTI  - On tests\nAU  - Lovelace, Ada\nJO  - Journal of Tests\nVL  - 12\n"
        "IS  - 3\nSP  - 45\nEP  - 67\nSN  - 2050-084X\nPB  - Test Press\nPY  - 2019/05//\n"
        "DO  - 10.1000/x\nER  - \n",
    )
    assert shown(article) == _EXPECTED
    assert article.kind == "article-journal"


def test_what_a_service_answered_is_the_publishers_word(tmp_path: Path) -> None:
    item = {"type": "article-journal", "title": "On tests", "number": "e31", "custom": {}}
    [listed] = read_bibliography(tmp_path, "x.json", json.dumps([item]))
    assert (listed.origin, listed.pages) == ("list", "e31")
    item["custom"] = {ORIGIN_MARK: "publisher", "inferred": ["title", "year", "nonsense"]}
    [looked_up] = read_bibliography(tmp_path, "y.json", json.dumps([item]))
    assert (looked_up.origin, looked_up.inferred) == ("publisher", ("title",))


def test_jats_is_the_publishers_word_with_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "a.nxml"
    path.write_text(
        '<article article-type="research-article"><front><journal-meta><journal-title>Journal of '
        "Tests</journal-title><issn>2050-084X</issn><publisher><publisher-name>Test Press"
        "</publisher-name></publisher></journal-meta><article-meta>"
        '<article-id pub-id-type="pmid">12345</article-id><article-id pub-id-type="pmc">77'
        '</article-id><article-id pub-id-type="doi">10.1000/x</article-id>'
        "<title-group><article-title>On tests</article-title></title-group><contrib-group>"
        '<contrib contrib-type="author"><name><surname>Lovelace</surname><given-names>Ada'
        '</given-names></name><xref ref-type="aff" rid="a1"/></contrib>'
        '<contrib contrib-type="editor"><name><surname>Lee</surname><given-names>Bo</given-names>'
        '</name></contrib><aff id="a1"><institution>Analytical Office</institution></aff>'
        "</contrib-group><pub-date><year>2019</year><month>5</month></pub-date><volume>12</volume>"
        "<issue>3</issue><fpage>45</fpage><lpage>67</lpage>"
        '<related-article related-article-type="corrected-article" ext-link-type="doi" '
        'xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="10.1000/old"/>'
        '<permissions><license license-type="open-access"/></permissions>'
        "</article-meta></front><body><p>Text.</p></body></article>",
        encoding="utf-8",
    )
    [record] = JatsReader().read(SourcePart(path), Shelf()).records
    assert shown(record) == _EXPECTED
    assert (record.origin, record.confidence, record.kind) == ("publisher", 1.0, "article-journal")
    assert (record.pmid, record.pmcid, record.license) == ("12345", "PMC77", "open-access")
    assert (record.authors, record.editors) == (("Ada Lovelace",), ("Bo Lee",))
    assert record.affiliations == (("Ada Lovelace", "Analytical Office"),)
    assert record.related == (RelatedWork("correction_of", "10.1000/old"),)


def test_an_exported_guess_is_read_back_as_a_guess(tmp_path: Path) -> None:
    line = {
        "title": "T",
        "inferred": ["title", "year"],
        "origins": {
            "doi": {"origin": "layout", "confidence": 0.7},
            "venue": {"origin": "person", "confidence": 1},
            "authors": "nonsense",
        },
        "doi": "10.1000/x",
        "venue": "J",
    }
    part = SourcePart(tmp_path / "x.jsonl", content=json.dumps(line).encode())
    [record] = JsonLinesReader().read(part, Shelf()).records
    assert record.inferred == ("title",)
    assert record.origin_of("doi").confidence == 0.7
    assert record.origin_of("venue").origin == "list"


_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
_NAME = st.sampled_from(
    [
        "title",
        "authors",
        "journal",
        "citation",
        "article",
        "pages",
        "issued",
        "date",
        "year",
        "month",
        "type",
        "pmid",
        "pmcid",
        "isbn",
        "issn",
        "url",
        "license",
        "editor",
        "origins",
        "inferred",
        "number",
        "volume",
        "publication",
        "venue",
        "bibtex",
    ]
)


@given(st.dictionaries(_NAME, _VALUE, max_size=8))
def test_any_value_under_any_name_is_read_or_left_out(fields: dict[str, Any]) -> None:
    record = parse_fields(fields).record
    assert isinstance(record.title, str)
    assert all(isinstance(name, str) and name for name in (*record.authors, *record.editors))
