"""Readers of paper sources: what they parse_fields, and that nothing at all makes them fail."""

from __future__ import annotations

import lzma
import sys
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from carrel.libraries.works.cited_works import CitedWork
from carrel.libraries.works.figures import PaperFigure
from carrel.rooms.papers.building.models import PartJob, Reading, SourcePart
from carrel.rooms.papers.building.paper_records import PaperRecord
from carrel.services.paper_sources.bibliography import BibliographyReader
from carrel.services.paper_sources.fields import parse_fields, split_authors
from carrel.services.paper_sources.file_search import find_sources
from carrel.services.paper_sources.jats import JatsReader
from carrel.services.paper_sources.json_records import JsonLinesReader, PaperInfosReader
from carrel.services.paper_sources.markdown import MarkdownReader
from carrel.services.paper_sources.pdf_source import PdfSource
from carrel.services.paper_sources.reading_processes import read_in_processes
from carrel.services.paper_sources.source_reader import SourceReader, read_here, read_part
from tests.services.pdf_files import make_form_bomb, make_pdf

PAPERS = Path(__file__).parents[2] / ".." / "shared" / "data" / "papers"


class Shelf:
    """Keeps assets in memory."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.references: list[CitedWork] = []
        self.figures: list[PaperFigure] = []

    def keep_markdown(self, text: str) -> str:
        self.texts.append(text)
        return "0" * 64

    def keep_translation(self, text: str, language: str) -> str:
        return "1" * 64

    def keep_pdf(self, path: Path) -> str:
        return "2" * 64

    def keep_image(self, path: Path) -> str:
        return "3" * 64

    def keep_image_bytes(self, content: bytes, extension: str) -> str:
        return "4" * 64

    def keep_references(self, works: Sequence[CitedWork]) -> str:
        self.references.extend(works)
        return "5" * 64

    def keep_figures(self, figures: Sequence[PaperFigure]) -> str:
        self.figures.extend(figures)
        return "6" * 64


def read_all(reader: SourceReader, path: Path, shelf: Shelf | None = None) -> Reading:
    readings = [read_part(reader, part, shelf or Shelf()) for part in reader.parts(path, ())]
    return Reading(
        tuple(record for reading in readings for record in reading.records),
        tuple(problem for reading in readings for problem in reading.problems),
    )


def codes(reading: Reading) -> list[str]:
    return [problem.code for problem in reading.problems]


def only(reading: Reading) -> PaperRecord:
    [record] = reading.records
    return record


ARTICLE = """<?xml version="1.0"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS v1.3//EN" "JATS-archivearticle1-3.dtd">
<article article-type="research-article" xml:lang="en"><front>
<journal-meta><journal-title-group><journal-title>Journal of Tests</journal-title></journal-title-group></journal-meta>
<article-meta><article-id pub-id-type="doi">10.1234/T.5</article-id>
<article-id pub-id-type="doi" specific-use="version">10.1234/T.5.2</article-id>
<article-categories><subj-group subj-group-type="heading"><subject>Physics</subject></subj-group></article-categories>
<title-group><article-title>Small <italic>engines</italic><xref ref-type="fn" rid="f">*</xref></article-title></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>M&uuml;ller</surname><given-names>Ann</given-names></name></contrib>
<contrib contrib-type="author"><collab>The Engine Group</collab></contrib>
<aff><institution content-type="dept">Dept</institution><institution>University of Tests</institution></aff></contrib-group>
<contrib-group><contrib contrib-type="editor"><name><surname>Ed</surname></name></contrib></contrib-group>
<pub-date date-type="publication"><day>4</day><month>3</month><year>2021</year></pub-date>
<abstract abstract-type="teaser"><p>Buy it.</p></abstract><abstract><p>Engines are <bold>small</bold>.</p></abstract>
<kwd-group><kwd>engine</kwd></kwd-group><kwd-group kwd-group-type="research-organism"><kwd>Mouse</kwd></kwd-group>
</article-meta></front><body>
<sec><title>Introduction</title><p>First<sup><xref ref-type="bibr" rid="b1">1</xref></sup> text with H<sub>2</sub>O.</p>
<sec><title>Detail</title><p>Before <list><list-item><p>one</p></list-item></list> after.</p></sec></sec>
<sec><title>Results</title><fig><label>Figure 1</label><caption><title>A figure.</title><p>It shows.</p></caption></fig>
<table-wrap><table><tr><th>a</th><th>b</th></tr><tr><td>1</td></tr></table></table-wrap>
<disp-formula><tex-math>\\begin{document}$$x^2$$\\end{document}</tex-math></disp-formula></sec></body>
<back><ref-list><ref><element-citation><name><surname>Lee</surname><given-names>B</given-names></name><year>1999</year>
<article-title>Old engines</article-title><pub-id pub-id-type="doi">10.1/2</pub-id></element-citation></ref></ref-list></back>
<sub-article><body><sec><title>Decision letter</title></sec></body></sub-article></article>"""  # noqa: E501


@pytest.mark.promise("P9")
def test_jats_gives_metadata_and_a_readable_text(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(ARTICLE)
    shelf = Shelf()
    record = only(read_all(JatsReader(), path, shelf))
    assert (record.title, record.doi, record.publication_date, record.venue) == (
        "Small engines",
        "10.1234/t.5",
        "2021-03-04",
        "Journal of Tests",
    )
    assert record.authors == ("Ann Müller", "The Engine Group")
    assert (record.institutions, record.keywords, record.tags) == (
        ("University of Tests",),
        ("engine",),
        ("Physics",),
    )
    assert record.abstract == "Engines are **small**."
    assert [(heading.level, heading.title) for heading in record.headings] == [
        *[(2, "Introduction"), (3, "Detail")],
        *[(2, "Results"), (2, "References")],
    ]
    [text] = shelf.texts
    for piece in (
        *(
            "# Small engines",
            "First [1] text with H2O.",
            "Before\n\n- one\n\nafter.",
            "**Figure 1.** A figure. It shows.",
        ),
        *("| a | b |\n|---|---|\n| 1 |  |", "$$x^2$$", "1. Lee B. 1999. Old engines. doi:10.1/2"),
    ):
        assert piece in text
    assert "Decision letter" not in text


@pytest.mark.promise("Q3")
@pytest.mark.parametrize(
    ("content", "code"),
    [
        (ARTICLE[:900], "xml_not_valid"),
        ('<!DOCTYPE a [<!ENTITY x "y">]><article>&x;</article>', "xml_not_safe"),
        (
            '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><article>&x;</article>',
            "xml_not_safe",
        ),
        ("<jats><x/></jats>", "no_article"),
    ],
)
def test_xml_that_is_broken_or_not_safe_is_reported(
    tmp_path: Path, content: str, code: str
) -> None:
    path = tmp_path / "a.xml"
    path.write_text(content)
    assert codes(read_all(JatsReader(), path)) == [code]


def test_entities_are_refused_in_every_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.nxml"
    path.write_bytes(
        '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE a [<!ENTITY x '
        '"y">]><article>&x;</article>'.encode("utf-16")
    )
    assert codes(read_all(JatsReader(), path)) == ["xml_not_safe"]


PAGE = [
    (9, "Journal of Tests 12. Published 3 May 2019. doi: 10.1234/abc.55."),
    (22, "On the Behaviour of"),
    (22, "Very Small Engines"),
    (11, "Abstract"),
    (10, "We study very small engines and find that they behave in a manner that is not"),
    (10, "at all unlike that of larger services."),
    (12, "1 Introduction"),
    (10, "Engines were first described in 1998."),
]


@pytest.mark.promise("P9")
def test_a_pdf_gives_pages_title_doi_year_and_abstract(tmp_path: Path) -> None:
    path = tmp_path / "scan_01.pdf"
    path.write_bytes(make_pdf([PAGE, [(10, "The second page goes on about services.")]]))
    shelf = Shelf()
    reading = read_all(PdfSource(), path, shelf)
    record = only(reading)
    assert (record.title, record.doi, record.publication_date) == (
        "On the Behaviour of Very Small Engines",
        "10.1234/abc.55",
        "2019-05-03",
    )
    assert (record.abstract or "").startswith("We study very small engines")
    assert (record.abstract or "").endswith("larger services.")
    assert reading.problems == ()
    assert "<!-- page 2 -->\n\nThe second page" in shelf.texts[0]


def test_a_title_that_a_pdf_states_gives_way_to_the_printed_one(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    printed = "On the Behaviour of Very Small Engines"
    for stated in ("A Treatise on Engines", "Microsoft Word - draft7.doc"):
        path.write_bytes(make_pdf([PAGE], title=stated))
        assert only(read_all(PdfSource(), path)).title == printed
    untitled = [(10, "of engines and of the other things that we have seen in this house")] * 9
    path.write_bytes(make_pdf([untitled], title="A Treatise on Engines"))
    record = only(read_all(PdfSource(), path))
    assert (record.title, record.inferred) == ("A Treatise on Engines", ("title",))


@pytest.mark.promise("Q3")
@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"hello", "not_a_pdf"),
        (b"%PDF-1.7 nothing more", "pdf_not_valid"),
        (make_pdf([[], [], []]), "no_text_layer"),
    ],
)
def test_a_pdf_that_is_none_or_was_scanned_is_reported(
    tmp_path: Path, content: bytes, code: str
) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(content)
    reading = read_all(PdfSource(), path)
    assert (codes(reading), reading.records) == ([code], ())


def break_pages(content: bytes, *numbers: int) -> bytes:
    """The same PDF, with pages (from 1) that are no pages and cannot be loaded."""
    pieces = content.split(b"/Type /Page /Parent")
    joints = [
        b"/Type /Paje /Parent" if number in numbers else b"/Type /Page /Parent"
        for number in range(1, len(pieces))
    ]
    return pieces[0] + b"".join(
        joint + piece for joint, piece in zip(joints, pieces[1:], strict=True)
    )


@pytest.mark.promise("Q3")
@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ((1,), "page 1 of 6"),
        ((2, 3, 4, 6), "pages 2 to 4 and 6 of 6"),
        ((2, 5), "pages 2 and 5 of 6"),
    ],
)
def test_pages_that_cannot_be_loaded_are_named_and_the_others_kept(
    tmp_path: Path, broken: tuple[int, ...], said: str
) -> None:
    path = tmp_path / "a.pdf"
    pages = [
        PAGE,
        *(
            [(10, f"This is the text of page {number}, which is long enough.")]
            for number in range(2, 7)
        ),
    ]
    path.write_bytes(break_pages(make_pdf(pages, title="A Treatise on Engines"), *broken))
    shelf = Shelf()
    reading = read_all(PdfSource(), path, shelf)
    printed = "On the Behaviour of Very Small Engines"
    assert only(reading).title == ("A Treatise on Engines" if 1 in broken else printed)
    assert [(each.code, each.is_fatal) for each in reading.problems] == [
        ("pages_not_readable", False)
    ]
    assert reading.problems[0].message.startswith(said)
    assert [
        number for number in range(1, 7) if f"<!-- page {number} -->" not in shelf.texts[0]
    ] == list(broken)


@pytest.mark.promise("Q3")
def test_a_pdf_without_one_page_that_can_be_loaded_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(break_pages(make_pdf([PAGE, PAGE]), 1, 2))
    reading = read_all(PdfSource(), path)
    assert (codes(reading), reading.records) == (["pdf_not_valid"], ())


BIB = """% a comment
@article{lee1999, author = {Lee, Bob and {The Group}}, title = {Old {E}ngines}, journal = {J. Tests},
  year = 1999, month = mar, doi = {10.1/xyz}}

@misc{bad, title = {Second}, doi = {10.1/with space}, eprint = {2101.00001v2}, archiveprefix = {arXiv}}
"""  # noqa: E501


@pytest.mark.promise("P9")
def test_bibtex_entries_are_papers_and_keep_their_raw_form(tmp_path: Path) -> None:
    path = tmp_path / "refs.bib"
    path.write_text(BIB)
    reading = read_all(BibliographyReader(), path)
    first, second = reading.records
    assert (first.title, first.venue, first.publication_date, first.citation_key) == (
        "Old Engines",
        "J. Tests",
        "1999-03",
        "lee1999",
    )
    assert first.authors == ("Bob Lee", "The Group")
    assert (
        first.bibtex is not None
        and first.bibtex.raw.startswith("@article{lee1999,")
        and first.bibtex.raw.endswith("{10.1/xyz}}")
    )
    assert (second.doi, second.arxiv_id) == (None, "2101.00001")


@pytest.mark.promise("P9")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.ris", "TY  - JOUR\nTI  - Old Engines\nAU  - Lee, Bob\nPY  - 1999\nDO  - "
"10.1234/xyz\nER  - \n"),
        ("a.json", '[{"id": "x", "type": "article-journal", "title": "Old Engines", "DOI": '
'"10.1234/xyz", '
         '"author": [{"family": "Lee", "given": "Bob"}], "issued": {"date-parts": [[1999]]}}]'),
    ],
)  # fmt: skip
def test_ris_and_csl_json_are_read_as_well(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    [found], passed = find_sources([path], (PaperInfosReader(), BibliographyReader()), 10**6)
    assert found.reader == "bibliography"
    record = only(read_all(BibliographyReader(), path))
    assert (record.title, record.authors, record.doi, record.publication_date) == (
        "Old Engines",
        ("Bob Lee",),
        "10.1234/xyz",
        "1999",
    )
    assert passed == []


def test_names_are_split_only_where_they_may_be() -> None:
    assert split_authors("Ann Lee and Bob Ray") == ("Ann Lee", "Bob Ray")
    assert split_authors("Ann Lee, Bob Ray") == ("Ann Lee", "Bob Ray")
    assert split_authors("Lee, Ann") == ("Lee, Ann",)
    assert split_authors([{"given": "Ann", "family": "Lee"}, "Bob Ray", None, 7]) == (
        "Ann Lee",
        "Bob Ray",
        "7",
    )


def test_a_long_file_is_read_in_parts_that_end_at_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.xz"
    lines = [orjson.dumps({"title": f"Paper {at}", "abstract": "x" * 2000}) for at in range(1500)]
    path.write_bytes(lzma.compress(b"\n".join(lines), preset=0))
    parts = list(JsonLinesReader().parts(path, ()))
    assert len(parts) == 3
    assert parts[1].first_line == 1 + (parts[0].content or b"").count(b"\n")
    assert [record.title for record in read_all(JsonLinesReader(), path).records] == [
        f"Paper {at}" for at in range(1500)
    ]


def test_a_line_without_end_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.jsonl.xz"
    path.write_bytes(lzma.compress(b'{"title": "ok"}\n' + b"x" * (17 * 1024 * 1024), preset=0))
    reading = read_all(JsonLinesReader(), path)
    assert (len(reading.records), codes(reading)) == (1, ["not_unpacked"])


class CrashingReader:
    """Dies as a broken parser might, without a word."""

    name = "crashing"
    version = 1

    def accepts(self, path: Path, head: bytes) -> bool:
        return True

    def parts(self, path: Path, companions: tuple[Path, ...]):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    def read(self, part, keeper) -> Reading:  # type: ignore[no-untyped-def]
        if "bad" in part.path.name:
            import os

            os._exit(9)
        if "endless" in part.path.name:
            # As PDFium would: without a look at any budget.
            while True:
                pass
        if "huge" in part.path.name:
            bytearray(3 * 1024**3)
        return Reading((PaperRecord(part.path.name),))


def by_name(readings: Iterator[tuple[PartJob, Reading]]) -> dict[str, Reading]:
    return {job.part.path.stem: reading for job, reading in readings}


def crashing_equipment() -> tuple[tuple[SourceReader, ...], Shelf]:
    return (CrashingReader(),), Shelf()


@pytest.mark.promise("Q3")
def test_a_reader_that_crashes_its_process_costs_one_file(tmp_path: Path) -> None:
    names = ["a", "b", "bad", "c", "d", "e", "f", "g", "h"]
    jobs = [PartJob("crashing", SourcePart(tmp_path / name), 0) for name in names]
    answers = by_name(read_in_processes(jobs, crashing_equipment, workers=2))
    assert sorted(answers) == sorted(names)
    assert codes(answers["bad"]) == ["reader_crashed"]
    assert [name for name in names if not answers[name].records] == ["bad"]


@pytest.mark.promise("D14")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limits for a process")
def test_a_file_that_never_ends_or_takes_all_memory_costs_one_file(tmp_path: Path) -> None:
    names = ["a", "endless", "b", "huge", "c"]
    jobs = [PartJob("crashing", SourcePart(tmp_path / name), 0) for name in names]
    answers = by_name(read_in_processes(jobs, crashing_equipment, workers=2, cpu_seconds=2))
    assert codes(answers["endless"]) == ["too_costly"]
    assert codes(answers["huge"]) == ["too_large"]
    assert [name for name in names if answers[name].records] == ["a", "b", "c"]


def pdf_equipment() -> tuple[tuple[SourceReader, ...], Shelf]:
    return (PdfSource(),), Shelf()


@pytest.mark.promise("D14")
def test_a_pdf_that_makes_a_great_deal_of_text_of_a_few_lines_is_too_costly(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(make_form_bomb(16))
    assert codes(read_part(PdfSource(), SourcePart(path), Shelf())) == ["too_costly"]


@pytest.mark.promise("D14")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a process to its memory")
def test_a_pdf_that_would_fill_the_memory_costs_one_file(tmp_path: Path) -> None:
    contents = {"a": make_pdf([PAGE]), "bomb": make_form_bomb(30), "b": make_pdf([PAGE])}
    for name, content in contents.items():
        (tmp_path / f"{name}.pdf").write_bytes(content)
    jobs = [PartJob("pdf", SourcePart(tmp_path / f"{name}.pdf"), 0) for name in contents]
    answers = by_name(read_in_processes(jobs, pdf_equipment, workers=1))
    assert codes(answers["bomb"])[0] in {"reader_crashed", "too_costly", "too_large"}
    assert [name for name in contents if answers[name].records] == ["a", "b"]


READERS: list[tuple[SourceReader, str]] = [
    (MarkdownReader(), "a.md"),
    (JsonLinesReader(), "a.jsonl"),
    (JsonLinesReader(), "a.jsonl.xz"),
    (PaperInfosReader(), "a.json"),
    (JatsReader(), "a.xml"),
    (BibliographyReader(), "a.bib"),
    (BibliographyReader(), "a.ris"),
    (PdfSource(), "a.pdf"),
]
SEEDS = [
    *[
        b"---\ntitle: x\nauthors: [a]\n---\n# x\n![a](b.png)\n",
        b'{"title": "x", "authors": [{"family": "y"}]}\n',
    ],
    *[
        b'{"papers": [{"paper_title": "x", "source_path": "y.md"}]}',
        ARTICLE.encode(),
        BIB.encode(),
        make_pdf([PAGE]),
    ],
]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Anything at all, or something good with a piece cut out, put in or changed."""
    seed = draw(st.one_of(st.binary(max_size=300), st.sampled_from(SEEDS)))
    start = draw(st.integers(0, len(seed)))
    end = draw(st.integers(start, min(len(seed), start + 40)))
    return seed[:start] + draw(st.binary(max_size=30)) + seed[end:]


@pytest.mark.promise("Q3")
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=damaged(), chosen=st.sampled_from(READERS))
def test_no_input_makes_anything_but_records_and_report_lines(
    tmp_path: Path, content: bytes, chosen: tuple[SourceReader, str]
) -> None:
    reader, name = chosen
    path = tmp_path / name
    path.write_bytes(content)
    reader.accepts(path, content[:4096])
    for part in reader.parts(path, ()):
        reading = reader.read(part, Shelf())
        for record in reading.records:
            orjson.dumps(record)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False)
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "given", "raw", "fields", "x"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)
FIELD = st.sampled_from(
    [
        "title",
        "authors",
        "doi",
        "year",
        "month",
        "date",
        "keywords",
        "bibtex",
        "id",
        "abstract",
        "arxiv",
        "tags",
    ]
)


@pytest.mark.promise("Q3")
@settings(max_examples=100, deadline=None)
@given(fields=st.dictionaries(FIELD, JSON, max_size=6))
def test_fields_of_any_type_are_understood_or_left_out(fields: dict[str, object]) -> None:
    record = parse_fields(fields).record
    assert isinstance(record.title, str)
    orjson.dumps(record)


@pytest.mark.promise("P9")
def test_genuine_elife_articles_are_read_without_a_problem(tmp_path: Path) -> None:
    archive = PAPERS / "elife_jats_sample.tar.xz"
    if not archive.is_file():
        pytest.skip(f"the sample of eLife articles is not at {archive}")
    with tarfile.open(archive) as opened:
        members = [member for member in opened.getmembers() if member.name.endswith(".xml")][:4]
        opened.extractall(tmp_path, members, filter="data")
    jobs = [
        PartJob("jats", part, 0)
        for path in tmp_path.rglob("*.xml")
        for part in JatsReader().parts(path, ())
    ]
    readings = by_name(read_here(jobs, lambda: ((JatsReader(),), Shelf())))
    for reading in readings.values():
        record = only(reading)
        assert reading.problems == ()
        assert record.doi and record.doi.startswith("10.7554/elife.")
        assert record.venue == "eLife"
        assert record.authors and record.headings
