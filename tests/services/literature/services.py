"""A local server that answers as the real services do, and remembers what it was asked."""

# Samples keep the lines that programs write.
# ruff: noqa: E501

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

CROSSREF = {
    "indexed": {"date-parts": [[2024, 1, 1]]}, "reference-count": 2,
    "publisher": "Springer Science and Business Media LLC", "issue": "7461",
    "content-domain": {"domain": [], "crossmark-restriction": False},
    "short-container-title": ["Nature"], "DOI": "10.1038/nature12373", "type": "journal-article",
    "page": "54-58", "source": "Crossref", "is-referenced-by-count": 100,
    "title": ["Nanometre-scale thermometry in a living cell"], "prefix": "10.1038",
    "volume": "500",
    "author": [{"given": "G.", "family": "Kucsko", "sequence": "first", "affiliation": [], "ORCID": "http://orcid.org/0"}, {"name": "A Consortium", "sequence": "additional"}],
    "container-title": ["Nature"], "language": "en",
    "link": [{"URL": "http://www.nature.com/x.pdf"}], "issued": {"date-parts": [[2013, 7, 31]]},
    "ISSN": ["0028-0836", "1476-4687"], "URL": "http://dx.doi.org/10.1038/nature12373",
    "abstract": "<jats:p>Sensitive "
"<jats:italic>probing</jats:italic>.</jats:p>",
    "subtitle": [], "reference": [{"key": "1"}], "score": 1,
}  # fmt: skip
PUBMED = """<?xml version="1.0" ?><!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2024//EN" "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_240101.dtd">
<PubmedArticleSet>%s</PubmedArticleSet>"""
PUBMED_ARTICLE = """<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">%s</PMID><Article PubModel="Print">
<Journal><ISSN IssnType="Print">0028-0836</ISSN><JournalIssue CitedMedium="Internet"><Volume>500</Volume><Issue>7461</Issue><PubDate><Year>2013</Year><Month>Aug</Month></PubDate></JournalIssue>
<Title>Nature</Title></Journal><ArticleTitle>Nanometre-scale <i>thermometry</i></ArticleTitle><Pagination><MedlinePgn>54-8</MedlinePgn></Pagination>
<AuthorList CompleteYN="Y"><Author><LastName>Kucsko</LastName><ForeName>G</ForeName></Author></AuthorList><Language>eng</Language></Article></MedlineCitation>
<PubmedData><ArticleIdList><ArticleId IdType="doi">10.1038/nature12373</ArticleId></ArticleIdList></PubmedData></PubmedArticle>"""
ARXIV = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><opensearch:totalResults xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">1</opensearch:totalResults>%s</feed>"""
ARXIV_ENTRY = """<entry><id>http://arxiv.org/abs/hep-ex/0307015v1</id><updated>2003-07-07T13:46:39Z</updated><published>2003-07-07T13:46:39Z</published>
<title>Multi-Electron Production at High Transverse
  Momenta in ep Collisions at HERA</title><summary>  Multi-electron production is studied.
</summary><author><name>H1 Collaboration</name></author><author><name>Jane van Doe</name></author>
<arxiv:comment xmlns:arxiv="http://arxiv.org/schemas/atom">23 pages</arxiv:comment><arxiv:journal_ref xmlns:arxiv="http://arxiv.org/schemas/atom">Eur.Phys.J. C31 (2003) 17-29</arxiv:journal_ref>
<arxiv:doi xmlns:arxiv="http://arxiv.org/schemas/atom">10.1140/epjc/s2003-01326-x</arxiv:doi>
<link href="http://arxiv.org/abs/hep-ex/0307015v1" rel="alternate" type="text/html"/><arxiv:primary_category xmlns:arxiv="http://arxiv.org/schemas/atom" term="hep-ex"/><category term="hep-ex"/></entry>"""
ARXIV_ERROR = """<entry><id>http://arxiv.org/api/errors#incorrect_id_format_for_x</id><title>Error</title><summary>incorrect id format</summary></entry>"""


@dataclass
class Reply:
    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Services:
    """What the server was asked, and replies to give first, in order, before it answers as
    usual.
    """

    url: str = ""
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    first: list[Reply] = field(default_factory=list)
    # How many requests were under way together.
    most_at_once: int = 0
    under_way: int = 0

    def reply(self, path: str, headers: dict[str, str]) -> Reply:
        self.asked.append((path, headers))
        if self.first:
            return self.first.pop(0)
        parts = urlsplit(path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path.startswith("/works/"):
            return (
                _json({"status": "ok", "message": CROSSREF})
                if unquote(parts.path) == "/works/10.1038/nature12373"
                else Reply(404, b"Resource not found.")
            )
        if parts.path == "/efetch.fcgi":
            known = [number for number in query["id"].split(",") if number in {"23903748", "1"}]
            return Reply(
                200,
                (PUBMED % "".join(PUBMED_ARTICLE % number for number in known)).encode(),
                {"Content-Type": "text/xml; charset=UTF-8"},
            )
        if parts.path == "/idconv":
            record = {
                "pmcid": "PMC3531190",
                "pmid": 23193287,
                "doi": "10.1093/nar/gks1195",
                "requested-id": query["ids"],
            }
            missing = {
                "requested-id": query["ids"],
                "pmcid": query["ids"],
                "status": "error",
                "errmsg": "Identifier not found in PMC",
            }
            return _json(
                {"status": "ok", "records": [record if query["ids"] == "PMC3531190" else missing]}
            )
        if parts.path == "/api/query":
            entry = {"hep-ex/0307015": ARXIV_ENTRY, "2101.99999": ""}.get(
                query["id_list"], ARXIV_ERROR
            )
            return Reply(200, (ARXIV % entry).encode(), {"Content-Type": "application/atom+xml"})
        if parts.path == "/api/books":
            book = {
                "title": "Sea Ice",
                "subtitle": "An Introduction",
                "authors": [{"name": "David N. Thomas", "url": "x"}],
                "publishers": [{"name": "Blackwell"}],
                "publish_places": [{"name": "Oxford"}],
                "publish_date": "August 2003",
                "number_of_pages": 402,
                "subjects": [{"name": "Sea ice"}],
            }
            return _json(
                {query["bibkeys"]: book} if query["bibkeys"] == "ISBN:9780632058082" else {}
            )
        if parts.path == "/books/v1/volumes":
            info = {
                "title": "Sea Ice",
                "authors": ["David N. Thomas"],
                "publisher": "Wiley",
                "publishedDate": "2003-08-01",
                "language": "en",
                "pageCount": 402,
            }
            return _json(
                {"kind": "books#volumes", "totalItems": 1, "items": [{"volumeInfo": info}]}
                if query["q"] == "isbn:9780632058082"
                else {"kind": "books#volumes", "totalItems": 0}
            )
        if unquote(parts.path) == "/10.1038/nature12373":
            return Reply(302, b"", {"Location": "/registered/10.1038/nature12373"})
        if unquote(
            parts.path
        ) == "/registered/10.1038/nature12373" and "citationstyles" in headers.get("Accept", ""):
            return _json(CROSSREF, "application/vnd.citationstyles.csl+json")
        if unquote(parts.path) == "/10.5555/page":
            return Reply(200, b"<html>no metadata</html>", {"Content-Type": "text/html"})
        return Reply(404, b"DOI not found")


def _json(content: Any, kind: str = "application/json") -> Reply:
    return Reply(200, json.dumps(content).encode(), {"Content-Type": kind})


@contextmanager
def running() -> Iterator[Services]:
    services = Services()
    lock = threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with lock:
                services.under_way += 1
                services.most_at_once = max(services.most_at_once, services.under_way)
            reply = services.reply(self.path, dict(self.headers.items()))
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            with lock:
                services.under_way -= 1
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    services.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield services
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
