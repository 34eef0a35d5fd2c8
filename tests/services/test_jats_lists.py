"""References, figures and tables of JATS articles."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from carrel.libraries.text.xml import parse_xml
from carrel.services.paper_sources.jats import JatsReader
from carrel.services.paper_sources.jats_references import MAX_REFERENCES, read_references
from tests.services.test_paper_sources import PAPERS, Shelf, read_all

ARTICLE = """<article xmlns:xlink="http://www.w3.org/1999/xlink"><front><article-meta><title-group>
<article-title>A whole article</article-title></title-group></article-meta></front>
<body><sec><title>Results</title><p>Text.</p>
<fig id="f1"><label>Figure 1.</label><caption><title>All cells.</title><p>(<bold>A</bold>) One.</p>
</caption><graphic xlink:href="cells.tif"/></fig>
<fig-group><fig><label>Figure 1—figure supplement 1.</label><caption><p>More.</p></caption>
<graphic xlink:href="../secret.png"/></fig></fig-group>
<table-wrap><label>Table 1</label><caption><p>Counts.</p></caption>
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2|3</td></tr></table></table-wrap>
<table-wrap><table><tr><td>no label</td></tr></table></table-wrap></sec></body>
<back><ref-list><ref-list>
<ref id="b1"><label>1.</label><element-citation publication-type="journal">
<person-group person-group-type="author"><name><surname>de la Cruz</surname>
<given-names>M</given-names></name><collab>The Team</collab></person-group>
<person-group person-group-type="editor"><name><surname>Not</surname></name></person-group>
<year>2007a</year><article-title>On <italic>E. coli</italic></article-title><source>J Cell</source>
<volume>5</volume><issue>2</issue><fpage>9</fpage><lpage>12</lpage>
<pub-id pub-id-type="doi">https://doi.org/10.1000/ABC</pub-id>
<pub-id pub-id-type="pmid">123</pub-id></element-citation></ref></ref-list>
<ref id="b2"><label>2</label><mixed-citation publication-type="book"><name><surname>Rich</surname>
<given-names>K</given-names></name> (<year>2010</year>) <source>A book</source>.
<publisher-name>Press</publisher-name>, Town.</mixed-citation></ref>
<ref id="b3"><citation-alternatives><element-citation publication-type="preprint">
<article-title>Nets</article-title><ext-link xlink:href="https://arxiv.org/abs/1706.03762v2"/>
</element-citation><mixed-citation>Somebody wrote a text on Nets.</mixed-citation>
</citation-alternatives></ref>
<ref id="b4"><note><p>No citation.</p></note></ref>
</ref-list></back>
<sub-article><back><ref-list><ref><element-citation><article-title>Of a letter</article-title>
</element-citation></ref></ref-list></back></sub-article></article>"""


def read_article(folder: Path) -> tuple[Shelf, JatsReader]:
    (folder / "paper.xml").write_text(ARTICLE, encoding="utf-8")
    shelf = Shelf()
    return shelf, JatsReader()


def test_references_of_an_article_are_kept_with_every_field(tmp_path: Path) -> None:
    shelf, reader = read_article(tmp_path)
    (record,) = read_all(reader, tmp_path / "paper.xml", shelf).records
    first, second, third = shelf.references
    assert record.references_sha256 == "5" * 64
    assert (first.label, first.title, first.authors) == (
        "1",
        "On E. coli",
        ("de la Cruz, M", "The Team"),
    )
    assert (first.year, first.container, first.volume, first.issue) == (2007, "J Cell", "5", "2")
    assert (first.pages, first.doi, first.pmid) == ("9-12", "10.1000/abc", "123")
    assert (first.kind, first.text, first.confidence) == ("article-journal", "", 1.0)
    assert (second.title, second.container, second.publisher) == ("A book", None, "Press")
    assert second.text == "Rich K (2010) A book. Press, Town."
    assert (third.title, third.arxiv_id) == ("Nets", "1706.03762")
    assert third.text == "Somebody wrote a text on Nets."


def test_figures_and_tables_are_kept_and_only_images_beside_the_article(tmp_path: Path) -> None:
    folder = tmp_path / "inside"
    folder.mkdir()
    (tmp_path / "secret.png").write_bytes(b"x")
    (folder / "cells.png").write_bytes(b"x")
    shelf, reader = read_article(folder)
    (record,) = read_all(reader, folder / "paper.xml", shelf).records
    assert record.figures_sha256 == "6" * 64
    assert [figure.label for figure in shelf.figures] == [
        "Figure 1",
        "Figure 1—figure supplement 1",
        "Table 1",
        "Table 2",
    ]
    first, second, table, _ = shelf.figures
    assert first.caption == "All cells. (**A**) One."
    assert first.image == f"images/{'3' * 64}.png"
    assert [image.static_path for image in record.images] == [first.image]
    assert second.image is None
    assert table.markdown == "| a | b |\n|---|---|\n| 1 | 2\\|3 |"


def test_a_list_without_end_is_cut() -> None:
    entry = "<ref><element-citation><article-title>x</article-title></element-citation></ref>"
    article = parse_xml(f"<article><ref-list>{entry * (MAX_REFERENCES + 5)}</ref-list></article>")
    assert len(read_references(article)) == MAX_REFERENCES


def test_all_references_of_25_real_articles_are_read(tmp_path: Path) -> None:
    archive = PAPERS / "elife_jats_sample.tar.xz"
    if not archive.exists():
        pytest.skip(f"{archive.name} is not here")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    works = [
        work
        for path in sorted(tmp_path.rglob("*.xml"))
        for work in read_references(parse_xml(path.read_bytes()))
    ]
    assert len(works) == 1_859
    assert sum(work.doi is not None for work in works) == 1_727
    assert sum(work.title is not None for work in works) >= 1_856
    assert all(work.authors and work.year for work in works)
