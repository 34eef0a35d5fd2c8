"""GROBID and docling-serve are asked in their formats; our reading stands where they fail."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

from carrel.libraries.works.cited_works import CitedWork
from carrel.libraries.works.grobid import read_grobid
from carrel.rooms.papers.building.models import SourcePart
from carrel.services.paper_sources.pdf_source import PdfSource
from tests.services.pdf_files import make_pdf
from tests.services.test_paper_sources import PAGE, Shelf

TEI = """<?xml version="1.0" encoding="UTF-8"?>
<TEI xml:space="preserve" xmlns="http://www.tei-c.org/ns/1.0">
<teiHeader xml:lang="en"><fileDesc>
<titleStmt><title level="a" type="main">On Engines, as GROBID reads it</title></titleStmt>
<publicationStmt><publisher/><date type="published" when="2019-05-03">3 May 2019</date>
</publicationStmt>
<sourceDesc><biblStruct><analytic>
<author role="corresp"><persName><forename type="first">Ada</forename>
<forename type="middle">M</forename>
<surname>Lovelace</surname></persName><affiliation key="aff0">
<orgName type="department">Maths</orgName>
<orgName type="institution">University of London</orgName></affiliation></author>
<author><persName><forename type="first">Charles</forename>
<surname>Babbage</surname></persName></author>
</analytic><monogr><imprint><date/></imprint></monogr>
<idno type="MD5">AAAA</idno><idno type="DOI">10.9999/of.another</idno></biblStruct></sourceDesc>
</fileDesc>
<profileDesc><abstract><div><p>We read engines.</p></div></abstract></profileDesc></teiHeader>
<text><body/><back><div type="references"><listBibl>
<biblStruct xml:id="b0"><analytic><title level="a" type="main">Sketch of the engine</title>
<author><persName><forename type="first">L</forename><surname>Menabrea</surname></persName></author>
<idno type="DOI">10.1000/sketch.1</idno></analytic>
<monogr><title level="j">Scientific Memoirs</title><imprint><biblScope unit="volume">3</biblScope>
<biblScope unit="page" from="666" to="731"/><date type="published" when="1843"/></imprint></monogr>
<note type="raw_reference">L. Menabrea, Sketch of the engine, 1843.</note></biblStruct>
</listBibl></div></back></text></TEI>"""


class Answers(BaseHTTPRequestHandler):
    """Speaks the interfaces of both servers, and keeps what it was sent."""

    received: ClassVar[list[tuple[str, bytes]]] = []
    status: ClassVar[int] = 200

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Answers.received.append((self.path, body))
        if self.path == "/api/processFulltextDocument":
            content = TEI.encode()
        else:
            markdown = "## A heading\n\nFirst page.<!-- page break -->Second page."
            content = json.dumps(
                {"document": {"md_content": markdown}, "status": "success"}
            ).encode()
        self.send_response(Answers.status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serve(status: int = 200) -> Iterator[str]:
    Answers.received, Answers.status = [], status
    server = HTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_tei_of_grobid_gives_title_page_and_references() -> None:
    paper = read_grobid(TEI.encode())
    assert paper.authors == ("Ada M Lovelace", "Charles Babbage")
    assert paper.affiliations == (("Ada M Lovelace", "University of London"),)
    assert (paper.title, paper.date) == ("On Engines, as GROBID reads it", "2019-05-03")
    assert paper.references == (
        CitedWork(
            text="L. Menabrea, Sketch of the engine, 1843.",
            label="1",
            title="Sketch of the engine",
            authors=("L Menabrea",),
            year=1843,
            container="Scientific Memoirs",
            volume="3",
            pages="666-731",
            doi="10.1000/sketch.1",
            confidence=0.8,
        ),
    )


def test_a_configured_grobid_gives_title_authors_and_references_but_no_doi(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(make_pdf([PAGE]))
    with serve() as address:
        reading = PdfSource(grobid_url=address).read(SourcePart(path), Shelf())
    ((asked, body),) = Answers.received
    assert asked == "/api/processFulltextDocument"
    assert b'name="input"; filename="paper.pdf"' in body and b"%PDF-1.4" in body
    (record,) = reading.records
    assert record.title == "On Engines, as GROBID reads it"
    assert record.authors == ("Ada M Lovelace", "Charles Babbage")
    assert record.origin_of("authors").origin == "layout"
    assert record.doi == "10.1234/abc.55"
    assert record.references_sha256 is not None


def test_a_configured_docling_gives_the_text_with_pages(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(make_pdf([PAGE]))
    shelf = Shelf()
    with serve() as address:
        PdfSource(docling_url=address + "/").read(SourcePart(path), shelf)
    assert Answers.received[0][0] == "/v1/convert/file"
    assert shelf.texts[0].endswith(
        "<!-- page 1 -->\n\n## A heading\n\nFirst page.\n\n<!-- page 2 -->\n\nSecond page.\n"
    )


def test_our_own_reading_stands_where_a_server_fails_and_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(make_pdf([PAGE]))
    with serve(status=503) as address:
        reading = PdfSource(grobid_url=address, docling_url=address).read(SourcePart(path), Shelf())
    gone = PdfSource(grobid_url=address).read(SourcePart(path), Shelf())
    for each in (reading, gone):
        (record,) = each.records
        assert record.title == "On the Behaviour of Very Small Engines"
        assert {problem.code for problem in each.problems} == {"pdf_service_failed"}
    assert "it answered 503" in reading.problems[0].message
