"""The world outside for texts: services that know one work, and a host that gives files.

Services answer in their own formats with what `records` has for each; what they are not told of
they do not know, in the words they have for it. `files` are what the host gives, by path.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from carrel.settings import Settings
from tests.loopback_server import Asked, Canned, LoopbackServer
from tests.services.literature.recorded import SERVICES_DATA

JATS = SERVICES_DATA / "fulltext-jats"
PDFS = SERVICES_DATA / "pdfs"
_JSON = {"content-type": "application/json"}
_EMPTY_FEED = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"
  xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">
<title>ArXiv Query</title><id>http://arxiv.org/api/x</id>
<opensearch:totalResults>{count}</opensearch:totalResults>{entries}</feed>"""


@dataclass
class TextsOutside(LoopbackServer):
    """Open it with `with`; `settings` points a desk to it."""

    # By service, the record of the work in the service's own format.
    records: dict[str, Any] = field(default_factory=dict)
    files: dict[str, Canned] = field(default_factory=dict)
    # By service, an answer that is given to everything asked there.
    faults: dict[str, Canned] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def give(self, path: str, content: bytes, content_type: str = "", status: int = 200) -> str:
        """Put a file at a path of the host; returns its address."""
        headers = {"content-type": content_type} if content_type else {}
        self.files[path] = (status, headers, content)
        return f"{self.base}{path}"

    def asked_of(self, service: str) -> list[str]:
        return [each for each in self.asked if each.startswith(f"/{service}/")]

    def answer(self, asked: Asked) -> Canned:
        path = asked.path
        self.asked.append(path)
        for known in (path, path.partition("?")[0]):
            if known in self.files:
                return self.files[known]
        service = path.split("/")[1]
        if service in self.faults:
            return self.faults[service]
        match service:
            case "openalex" | "crossref":
                return self._answer_works(service, path)
            case "europepmc" if "fullTextXML" not in path:
                found = [self.records[service]] if service in self.records else []
                page = {"hitCount": len(found), "resultList": {"result": found}}
                return 200, _JSON, _dump(page)
            case "arxiv" if "/query" in path:
                entry = self.records.get(service, "")
                feed = _EMPTY_FEED.format(count=int(bool(entry)), entries=entry)
                return 200, {"content-type": "application/atom+xml"}, feed.encode()
            case "unpaywall" if service in self.records:
                return 200, _JSON, _dump(self.records[service])
            case "unpaywall":
                return 404, _JSON, _dump({"error": True, "message": "not in Unpaywall"})
            case "pubmed":
                none = b"<eSearchResult><Count>0</Count><RetMax>0</RetMax><IdList/></eSearchResult>"
                return 200, {"content-type": "text/xml"}, none
            case "biorxiv":
                no_posts = {"messages": [{"status": "no posts found"}], "collection": []}
                return 200, _JSON, _dump(self.records.get(service, no_posts))
            case _:
                return 404, {"content-type": "text/html"}, b"<html>Not found</html>"

    def _answer_works(self, service: str, path: str) -> Canned:
        record = self.records.get(service)
        if record is not None and service == "crossref":
            record = record if record["DOI"].lower() in unquote(path).lower() else None
        is_list = unquote(urlsplit(path).path).rstrip("/").endswith("/works")
        found = [] if record is None else [record]
        if service == "openalex":
            page = {"meta": {"count": len(found), "next_cursor": None}, "results": found}
        else:
            page = {"status": "ok", "message": {"total-results": len(found), "items": found}}
        if is_list:
            return 200, _JSON, _dump(page)
        if record is None:
            return 404, {"content-type": "text/plain"}, b"Resource not found."
        whole = record if service == "openalex" else {"status": "ok", "message": record}
        return 200, _JSON, _dump(whole)

    def settings(self, home: Path, **literature: Any) -> Settings:
        """A desk whose every service is here, and that may download from here."""
        names = (
            "openalex", "crossref", "pubmed", "europepmc", "arxiv", "semantic_scholar", "dblp",
            "datacite", "doaj", "unpaywall", "opencitations", "biorxiv",
        )  # fmt: skip
        addresses = {name: f"{self.base}/{name}" for name in names}
        return Settings.model_validate(
            {
                "home": home,
                "audit": {"enabled": False},
                "literature": {
                    "addresses": {**addresses, "arxiv_texts": f"{self.base}/arxiv-texts"},
                    "contact": "reader@desk.example",
                    "private_hosts": [urlsplit(self.base).netloc],
                    **literature,
                },
            }
        )


def europepmc_record(doi: str, pmcid: str, title: str, **more: Any) -> dict[str, Any]:
    """A `core` result, with the fields that recordings have."""
    return {
        "id": pmcid.removeprefix("PMC"),
        "source": "MED",
        "pmid": pmcid.removeprefix("PMC"),
        "pmcid": pmcid,
        "doi": doi,
        "title": f"{title}.",
        "authorString": "Lovelace A, Hopper G.",
        "pubYear": "2012",
        "isOpenAccess": "Y",
        "inEPMC": "Y",
        "license": "cc by",
        **more,
    }


def unpaywall_record(doi: str, title: str, *places: Mapping[str, Any]) -> dict[str, Any]:
    """An answer as recordings have it, with these open places."""
    return {
        "doi": doi,
        "title": title,
        "genre": "journal-article",
        "is_oa": bool(places),
        "oa_status": "green" if places else "closed",
        "year": 2018,
        "journal_name": "Journal of Tests",
        "best_oa_location": places[0] if places else None,
        "oa_locations": list(places),
    }


def place(url: str, version: str, host: str = "repository", **more: Any) -> dict[str, Any]:
    return {
        "url": url,
        "url_for_pdf": url,
        "version": version,
        "host_type": host,
        "license": "cc-by",
        **more,
    }


def arxiv_entry(identifier: str, title: str, doi: str = "") -> str:
    link = f"<arxiv:doi>{doi}</arxiv:doi>" if doi else ""
    return (
        f'<entry xmlns:arxiv="http://arxiv.org/schemas/atom">'
        f"<id>http://arxiv.org/abs/{identifier}v2</id><updated>2024-05-01T00:00:00Z</updated>"
        f"<published>2024-04-01T00:00:00Z</published><title>{title}</title>"
        f"<summary>We study nets.</summary><author><name>Ada Lovelace</name></author>{link}"
        f'<arxiv:primary_category term="cs.CL"/><category term="cs.CL"/></entry>'
    )


def jats(name: str) -> bytes:
    return gzip.decompress((JATS / f"{name}.nxml.gz").read_bytes())


def pdf(name: str) -> bytes:
    return (PDFS / f"{name}.pdf").read_bytes()


def latexml_page(title: str, sentence: str) -> bytes:
    """A page in the shape that arXiv serves."""
    filler = "Words about nets follow one another here. " * 40
    return f"""<!DOCTYPE html><html><head><title>{title}</title></head><body>
<header><a id="license-tr" href="https://info.arxiv.org/help">License: CC BY 4.0</a></header>
<article class="ltx_document">
<h1 class="ltx_title ltx_title_document">{title}</h1>
<div class="ltx_abstract"><h6 class="ltx_title ltx_title_abstract">Abstract</h6>
<p class="ltx_p">We study nets.</p></div>
<section class="ltx_section"><h2 class="ltx_title ltx_title_section"><span class="ltx_tag">1 </span>
Introduction</h2><div class="ltx_para"><p class="ltx_p">{sentence} With <math
alttext="x_{{i}}\\leq 3" display="inline"><mi>x</mi></math>. {filler}</p></div></section>
<section class="ltx_bibliography"><h2 class="ltx_title ltx_title_bibliography">References</h2>
<ul class="ltx_biblist"><li class="ltx_bibitem"><span class="ltx_tag ltx_tag_bibitem">[1]</span>
<span class="ltx_bibblock">J. Ba. Layer normalization. arXiv:1607.06450, 2016.</span></li></ul>
</section></article></body></html>""".encode()


def tex_archive(title: str, sentence: str, **files: str) -> bytes:
    """A source as arXiv gives it: a packed archive with a main file and its reference list."""
    main = (
        r"\documentclass{article}\newcommand{\net}{\mathcal{N}}" + f"\\title{{{title}}}"
        r"\begin{document}\begin{abstract}We study nets.\end{abstract}\section{Introduction} "
        + f"{sentence} Let $\\net$ be a net \\cite{{ba2016}}. "
        + "Words about nets follow one another here. " * 40
        + r"\bibliography{refs}\end{document}"
    )
    entries = {
        "main.tex": main,
        "main.bbl": r"\begin{thebibliography}{1}\bibitem{ba2016} J. Ba. \newblock Layer "
        r"normalization. 2016.\end{thebibliography}",
        **files,
    }
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in entries.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return packed.getvalue()


def _dump(value: object) -> bytes:
    return json.dumps(value).encode()
