"""MARC 21 in both dresses, PICA+, and the tables of Zotero, Scopus and Web of Science."""

from html import escape

import pytest

from carrel.libraries.bibliography.formats import read_bibliography
from carrel.libraries.bibliography.imports import BibliographyError, CslItem
from carrel.libraries.bibliography.recognition import InputKind, recognise

Fields = list[tuple[str, str]]
BOOK: Fields = [
    ("008", "010203s1999    nyu           000 0 eng d"),
    ("020", "  \x1fa0262033844 (hbk.)"),
    ("100", "1 \x1faDvo\u0159\u00e1k, Anton\u00edn,\x1fd1841-1904."),
    ("245", "10\x1faThe whole work.\x1fnPart 2,\x1fpThe end :\x1fba subtitle /\x1fcby A. D."),
    ("250", "  \x1fa3rd ed."),
    ("264", " 1\x1fa[Cambridge] :\x1fbMIT Press [u.a.],\x1fc[2001]"),
    ("264", " 4\x1fc\u00a91999"),
    ("300", "  \x1faxi, 312 p. :\x1fbill."),
    ("490", "1 \x1faStudies in things ;\x1fv12"),
    ("520", "  \x1faAn abstract."),
    ("650", " 0\x1faCats\x1fxDiseases\x1fzFrance."),
    ("700", "1 \x1faSmith, Ann,\x1fetranslator."),
    ("700", "1 \x1faRoe, Jane.\x1ftAnother work."),
    ("710", "2 \x1faUniversity.\x1fbPhysics Dept.\x1f4http://id.loc.gov/vocabulary/relators/edt"),
    ("856", "42\x1fuhttp://a.b/toc"),
    ("856", "40\x1fuhttp://a.b/text"),
]


def iso_2709(fields: Fields, leader: str = "nam a", encoding: str = "utf-8") -> bytes:
    values = [value.encode(encoding) + b"\x1e" for _, value in fields]
    directory, start = "", 0
    for (tag, _), value in zip(fields, values, strict=True):
        directory += f"{tag}{len(value):04d}{start:05d}"
        start += len(value)
    base = 24 + len(directory) + 1
    head = f"{base + start + 1:05d}{leader}22{base:05d} i 4500"
    return head.encode() + directory.encode() + b"\x1e" + b"".join(values) + b"\x1d"


def marc_xml(fields: Fields) -> str:
    rows = ["<record><leader>00000nam a2200000 i 4500</leader>"]
    for tag, value in fields:
        if tag.startswith("00"):
            rows.append(f'<controlfield tag="{tag}">{value}</controlfield>')
            continue
        head, *parts = value.split("\x1f")
        inner = "".join(f'<subfield code="{p[0]}">{escape(p[1:])}</subfield>' for p in parts)
        rows.append(f'<datafield tag="{tag}" ind1="{head[0]}" ind2="{head[1]}">{inner}</datafield>')
    return "".join([*rows, "</record>"])


def one(content: str | bytes) -> CslItem:
    answer = read_bibliography(content)
    assert not answer.failures
    assert len(answer.items) == 1
    return answer.items[0].item


def test_a_table_that_is_not_known_is_refused_and_a_broken_record_is_said() -> None:
    with pytest.raises(BibliographyError):
        read_bibliography("Name,Age\nAnn,3\n", InputKind.CSV)
    answer = read_bibliography(iso_2709(BOOK) + b"00012 broken\x1d")
    assert len(answer.items) == 1
    assert "Record 2" in answer.failures[0].reason


def test_marc_is_read_alike_from_xml_and_iso_2709() -> None:
    item = one(iso_2709(BOOK))
    assert item == one(marc_xml(BOOK))
    assert item["title"] == "The whole work. Part 2, The end: a subtitle"
    assert item["author"] == [{"family": "Dvořák", "given": "Antonín"}]
    assert item["translator"] == [{"family": "Smith", "given": "Ann"}]
    assert item["editor"] == [{"literal": "University. Physics Dept"}]
    assert item["publisher-place"] == "Cambridge"
    assert item["publisher"] == "MIT Press [u.a.]"
    assert item["issued"] == {"date-parts": [[2001]]}
    assert item["edition"] == "3"
    assert item["number-of-pages"] == "312"
    assert (item["collection-title"], item["collection-number"]) == ("Studies in things", "12")
    assert item["keyword"] == "Cats -- Diseases -- France"
    assert item["URL"] == "http://a.b/text"
    assert item["ISBN"] == "0262033844"
    assert item["language"] == "en"


def test_the_old_signs_of_marc_become_letters() -> None:
    raw = iso_2709([("245", "00\x1fa\u00e8Uber\u00b2")], leader="nam  ", encoding="latin-1")
    assert one(raw)["title"] == "Überø"


def test_editors_without_a_relator_are_told_by_the_statement_of_responsibility() -> None:
    fields = [("245", "00\x1faA book /\x1fcedited by Ann Smith."), ("700", "1 \x1faSmith, Ann.")]
    assert one(marc_xml(fields))["editor"] == [{"family": "Smith", "given": "Ann"}]


def test_an_article_and_a_thesis_of_a_catalogue() -> None:
    article = marc_xml([("245", "00\x1faT"), ("773", "0 \x1ftJ\x1fx1234-5678\x1fq12:3<45")])
    item = one(article.replace("nam a", "naa a"))
    assert item["type"] == "article-journal"
    assert (item["volume"], item["issue"], item["page"]) == ("12", "3", "45")
    thesis = [("245", "00\x1faT"), ("502", "  \x1faThesis (M.A.)--Harvard University, 1990.")]
    item = one(marc_xml(thesis))
    assert (item["type"], item["genre"]) == ("thesis", "M.A.")
    assert item["publisher"] == "Harvard University"


def test_pica() -> None:
    text = (
        '<record xmlns="info:srw/schema/5/picaXML-v1.0"><datafield tag="002@">'
        '<subfield code="0">Aau</subfield></datafield><datafield tag="021A">'
        '<subfield code="a">Die @Welt</subfield><subfield code="d">heute</subfield></datafield>'
        '<datafield tag="028A"><subfield code="d">Eva</subfield><subfield code="a">Lang'
        '</subfield></datafield><datafield tag="028C"><subfield code="a">Roe</subfield>'
        '<subfield code="d">Max</subfield><subfield code="4">edt</subfield></datafield>'
        '<datafield tag="033A"><subfield code="p">Berlin</subfield><subfield code="n">Verlag'
        '</subfield></datafield><datafield tag="011@"><subfield code="a">2004</subfield>'
        "</datafield></record>"
    )
    assert recognise(text) is InputKind.PICA_XML
    item = one(text)
    assert item["title"] == "Die Welt: heute"
    assert item["author"] == [{"family": "Lang", "given": "Eva"}]
    assert item["editor"] == [{"family": "Roe", "given": "Max"}]
    assert (item["publisher"], item["issued"]) == ("Verlag", {"date-parts": [[2004]]})


def test_the_table_of_zotero() -> None:
    item = one(
        '"Key","Item Type","Publication Year","Author","Title","Publication Title","ISSN","DOI",'
        '"Date","Pages","Manual Tags","File Attachments","Editor"\r\n'
        '"AB","bookSection","2004","Doe, Jane; The Group","A ""Title""","Book","1234-5678",'
        '"10.1000/x","2004-05-06","1-9","a; b","/home/me/a.pdf","Roe, Max"\r\n'
    )
    assert item["type"] == "chapter"
    assert item["author"] == [{"family": "Doe", "given": "Jane"}, {"literal": "The Group"}]
    assert item["title"] == 'A "Title"'
    assert item["issued"] == {"date-parts": [[2004, 5, 6]]}
    assert (item["keyword"], item["DOI"]) == ("a; b", "10.1000/x")


def test_the_tables_of_scopus_and_web_of_science() -> None:
    item = one(
        '\ufeff"Authors","Author full names","Title","Year","Source title","Volume","Page start",'
        '"Page end","DOI","Link","Document Type","EID"\n'
        '"Doe J.; Roe M.","Doe, Jane (123456); Roe, Max (654321)","T","2020","J","3","1","9",'
        '"10.1000/y","http://s","Article","2-s2.0-1"\n'
    )
    assert item["author"] == [{"family": "Doe", "given": "Jane"}, {"family": "Roe", "given": "Max"}]
    assert (item["page"], item["custom"]["fields"]["eid"]) == ("1-9", "2-s2.0-1")
    item = one("PT\tAU\tAF\tTI\tSO\tPY\tBP\tEP\nJ\tDoe, J\tDoe, Jane\tT\tJOURNAL\t2020\t1\t9\n")
    assert (item["type"], item["page"]) == ("article-journal", "1-9")
    assert item["author"] == [{"family": "Doe", "given": "Jane"}]
