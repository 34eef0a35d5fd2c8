"""The links and identifiers of a BibTeX entry."""

import re

from carrel.libraries.bibliography.bibtex.tex import to_plain
from carrel.libraries.bibliography.bibtex.values import doi_text, link_text, verbatim
from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.bibliography.items import put_other
from carrel.libraries.identifiers import ArxivId, NotAnIdentifierError, Pmcid

_URL = re.compile(r"https?://[^\s{}\\]+")
_COMMAND_URL = re.compile(r"\\(?:url|href|path)\s*\{([^{}]*)\}")
_MORE_URLS = re.compile(r"^(?:url_|bdsk-url-|citeulike-linkout-)|^adsurl$")
_MANY_LINKS = re.compile(r"\s*[;,]\s+(?=https?://)")


def put_links(fields: dict[str, str], item: CslItem) -> None:
    """DOI, URL, e-print and what else leads to the work; the fields are used up."""
    doi = verbatim(fields.pop("doi", ""))
    if doi:
        item["DOI"] = doi_text(doi)
    url, *others = _MANY_LINKS.split(verbatim(fields.pop("url", "")))
    url = url.replace(" ", "%20")
    if others:
        item.setdefault("custom", {})["additional_urls"] = [
            link.replace(" ", "%20") for link in others
        ]
    how = fields.pop("howpublished", "")
    if how:
        found = _COMMAND_URL.search(how) or _URL.search(how)
        if found:
            url = url or (found.group(1) if found.re is _COMMAND_URL else found.group())
            rest = (
                ""
                if found.re is _COMMAND_URL and how.lstrip().startswith("\\")
                else to_plain(how.replace(found.group(), ""))
            )
            rest = rest.strip(" ,.:;")
        else:
            rest = to_plain(how)
        if rest:
            put_other(item, "howpublished", rest)
    _eprint(fields, item)
    further: dict[str, None] = dict.fromkeys(item.get("custom", {}).get("additional_urls", ()))
    for name in [name for name in fields if _MORE_URLS.match(name)]:
        link = link_text(fields.pop(name))
        if not link:
            continue
        if not url and name.startswith("bdsk-url-"):
            url = link
        elif link != url:
            further.setdefault(link)
    if further:
        item.setdefault("custom", {})["additional_urls"] = list(further)
    if url:
        item["URL"] = url
    for name in ("pmcid", "pmc"):
        if name in fields:
            text = verbatim(fields.pop(name))
            try:
                item["PMCID"] = str(
                    Pmcid.parse(text if text.upper().startswith("PMC") else f"PMC{text}")
                )
            except NotAnIdentifierError:
                item["PMCID"] = text


def _eprint(fields: dict[str, str], item: CslItem) -> None:
    eprint = verbatim(fields.pop("eprint", ""))
    archive = verbatim(fields.pop("archiveprefix", "") or fields.pop("eprinttype", "")).lower()
    fields.pop("eprinttype", None)
    category = verbatim(fields.pop("primaryclass", "") or fields.pop("eprintclass", ""))
    if not eprint:
        if archive and archive != "arxiv":
            put_other(item, "archiveprefix", archive)
        return
    if archive in {"", "arxiv"} or eprint.lower().startswith("arxiv:"):
        try:
            identifier = ArxivId.parse(eprint)
            item.setdefault("custom", {})["arxiv_id"] = str(identifier)
            if category:
                put_other(item, "primaryclass", category)
            return
        except NotAnIdentifierError:
            pass
    if archive in {"pubmed", "pmid"} and eprint.isdigit():
        item["PMID"] = eprint
        return
    put_other(item, "eprint", eprint)
    if archive:
        put_other(item, "eprinttype", archive)
    if category:
        put_other(item, "primaryclass", category)
