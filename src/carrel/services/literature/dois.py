"""Crossref's REST interface: its own record of a DOI, turned into a CSL item."""

import re
from typing import Any
from urllib.parse import quote

from carrel.libraries.bibliography.csl_json import read_csl_json, write_csl_json
from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.identifiers import Doi
from carrel.services.literature.errors import UnreadableAnswerError
from carrel.services.literature.service_client import ServiceClient, csl_item, expect_found, json_of
from carrel.services.literature.service_limits import ServiceLimits

CROSSREF = "Crossref"
# The public pool for single records; answers announce the limits that really hold.
CROSSREF_LIMITS = ServiceLimits(max_concurrent=3, interval_seconds=0.2)
_JATS = re.compile(r"<(/?)(?:jats:)?([a-z-]+)[^<>]*+>")
_JATS_MARKS = {"italic": "i", "bold": "b", "sup": "sup", "sub": "sub", "i": "i", "b": "b"}
_JATS_BLOCKS = frozenset({"p", "sec", "title", "list", "list-item", "break", "disp-formula"})
# What Crossref says about its record and not about the work.
_NOT_OF_THE_WORK = frozenset({
    "indexed", "reference-count", "is-referenced-by-count", "references-count", "reference",
    "created", "deposited", "score",
    "prefix", "member", "content-domain", "relation", "resource", "link", "license", "funder",
    "assertion", "update-policy",
    "alternative-id", "journal-issue", "published", "published-print", "published-online",
    "issn-type", "isbn-type",
    "update-to", "institution", "content-created", "content-updated", "approved", "accepted",
    "posted", "subject", "archive",
    "aliases", "clinical-trial-number", "free-to-read", "review", "short-title", "original-title",
    "subtitle", "event", "edition-number", "domain", "status-update",
})  # fmt: skip


class Crossref:
    """Asks Crossref, in its polite pool when there is a contact address."""

    def __init__(self, client: ServiceClient, base_url: str = "https://api.crossref.org") -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")

    async def look_up(self, doi: Doi) -> CslItem:
        contact = self._client.contact
        address = f"{self._base_url}/works/{quote(str(doi), safe='')}"
        answer = await self._client.ask(
            CROSSREF,
            address,
            params={"mailto": contact} if contact else None,
            accept="application/json",
            limits=CROSSREF_LIMITS,
        )
        expect_found(CROSSREF, str(doi), answer)
        message = json_of(CROSSREF, answer).get("message")
        if not isinstance(message, dict):
            raise UnreadableAnswerError(CROSSREF, "it has no message")
        return tidied(_crossref_item(message), doi)


def _crossref_item(message: dict[str, Any]) -> CslItem:
    subtitle = message.get("subtitle")
    title = message.get("title")
    if (
        isinstance(title, list)
        and title
        and isinstance(subtitle, list)
        and subtitle
        and str(subtitle[0]).lower() not in str(title[0]).lower()
    ):
        message = message | {"title": [f"{title[0]}: {subtitle[0]}"]}
    kept = {name: value for name, value in message.items() if name not in _NOT_OF_THE_WORK}
    return read_csl_json(write_csl_json([kept])).items[0].item


def tidied(item: CslItem, doi: Doi) -> CslItem:
    """A record as a library wants it: without the registry's own fields, tags of other schemas and
    people's identifiers.
    """
    item = {
        name: value
        for name, value in item.items()
        if name not in _NOT_OF_THE_WORK and value not in (None, "", [], {})
    }
    item["DOI"] = str(doi)
    if isinstance(item.get("abstract"), str):
        item["abstract"] = " ".join(_JATS.sub(_mark, item["abstract"]).split())
    for variable in ("author", "editor", "translator"):
        people = item.get(variable)
        if isinstance(people, list):
            item[variable] = [_person(person) for person in people if isinstance(person, dict)]
    return item


def _mark(found: re.Match[str]) -> str:
    closing, name = found.groups()
    if name in _JATS_MARKS:
        return f"<{closing}{_JATS_MARKS[name]}>"
    return " " if name in _JATS_BLOCKS else ""


def _person(person: dict[str, Any]) -> dict[str, Any]:
    return {
        part: value
        for part, value in person.items()
        if part
        in {"family", "given", "literal", "suffix", "dropping-particle", "non-dropping-particle"}
    }


DOI_ORG = "doi.org"
_ACCEPT = "application/vnd.citationstyles.csl+json"
# Content negotiation counts in Crossref's pool for single records, 5 a second; answers may announce
# other limits.
DOI_ORG_LIMITS = ServiceLimits(max_concurrent=3, interval_seconds=0.2)


class DoiOrg:
    """Asks the resolver for metadata in place of the page."""

    def __init__(self, client: ServiceClient, base_url: str = "https://doi.org") -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")

    async def look_up(self, doi: Doi) -> CslItem:
        address = doi.url.replace("https://doi.org", self._base_url, 1)
        answer = await self._client.ask(DOI_ORG, address, accept=_ACCEPT, limits=DOI_ORG_LIMITS)
        expect_found(DOI_ORG, str(doi), answer)
        return tidied(csl_item(DOI_ORG, answer), doi)
