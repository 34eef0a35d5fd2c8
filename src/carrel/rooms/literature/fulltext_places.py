"""The places where a text may be had: which are asked, and in which order."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from carrel.libraries.identifiers import ArxivId, identifier_value
from carrel.libraries.literature.records import TextLocation
from carrel.rooms.literature.fulltext_models import WantedFormat

# Sites that keep programs out, so that other copies of the same version go first: PMC by our
# recordings, the others by common experience (not proved live).
_BLOCKING_SITES = (
    "ncbi.nlm.nih.gov", "sciencedirect.com", "onlinelibrary.wiley.com", "tandfonline.com",
    "journals.sagepub.com", "pubs.acs.org", "academic.oup.com", "science.org",
    "ieeexplore.ieee.org", "researchgate.net", "academia.edu", "cell.com", "papers.ssrn.com",
    "dl.acm.org",
)  # fmt: skip
_VERSIONS = ("published", "accepted", "submitted", None)
_ARXIV_HOSTS = ("arxiv.org", "export.arxiv.org", "www.arxiv.org")
_ARXIV_PATH = re.compile(r"/(?:html|pdf|abs|e-print|src)/(.{1,60}?)(?:\.pdf)?/?$")
_FORMAT_RANKS = {"jats": 0, "html": 1, "tex": 2, "pdf": 4, "landing_page": 5}
_ARXIV_PDF_RANK = 3


@dataclass(frozen=True, slots=True)
class Place:
    """A place, and every service that named it."""

    location: TextLocation
    named_by: tuple[str, ...]


def list_places(locations: Iterable[TextLocation], wanted: WantedFormat) -> list[Place]:
    """Each place once, in the order in which they are tried.

    JATS, arXiv's HTML, its source, its PDF, other open PDFs, then pages that may name a PDF;
    among equals the published version first, and sites that block programs last.
    """
    merged: dict[str, Place] = {}
    for location in locations:
        if not _is_wanted(location, wanted):
            continue
        key = _key(location)
        known = merged.get(key)
        merged[key] = (
            Place(location, (location.service,)) if known is None else _join(known, location)
        )
    return sorted(merged.values(), key=_rank)


def _is_wanted(location: TextLocation, wanted: WantedFormat) -> bool:
    if wanted == "any":
        return True
    return location.format == wanted or (wanted == "pdf" and location.format == "landing_page")


def _key(location: TextLocation) -> str:
    """The same for one file under several spellings of its address."""
    parts = urlsplit(location.url.strip())
    host = (parts.hostname or "").lower().removeprefix("www.")
    if is_arxiv(location) and (named := _ARXIV_PATH.search(parts.path)):
        # Of one version or of the newest: the first that is named.
        return f"arxiv {location.format} {identifier_value(ArxivId, named.group(1))}"
    if parts.port:
        host = f"{host}:{parts.port}"
    return urlunsplit(("", host, parts.path.rstrip("/"), parts.query, ""))


def is_arxiv(location: TextLocation) -> bool:
    return location.service == "arxiv" or urlsplit(location.url).hostname in _ARXIV_HOSTS


def _join(known: Place, other: TextLocation) -> Place:
    """One place of two mentions: what the first leaves open the other may say."""
    first = known.location
    named = (*known.named_by, *([] if other.service in known.named_by else [other.service]))
    location = TextLocation(
        first.url,
        first.format,
        first.version or other.version,
        first.licence or other.licence,
        first.host or other.host,
        first.service,
    )
    return Place(location, named)


def _rank(place: Place) -> tuple[int, int, bool, bool]:
    location = place.location
    rank = _FORMAT_RANKS[location.format]
    if location.format == "pdf" and is_arxiv(location):
        rank = _ARXIV_PDF_RANK
    return (
        rank,
        _VERSIONS.index(location.version),
        _blocks_programs(location.url),
        location.host != "publisher",
    )


def _blocks_programs(url: str) -> bool:
    host = (urlsplit(url).hostname or "").lower()
    return any(host == site or host.endswith(f".{site}") for site in _BLOCKING_SITES)
