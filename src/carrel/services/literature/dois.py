"""Works by DOI: doi.org's content negotiation, and Crossref's own record as a CSL item."""

from typing import Any
from urllib.parse import quote

from carrel.libraries.bibliography.csl_json import read_csl_json, write_csl_json
from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.identifiers import Doi
from carrel.libraries.literature.markup import read_abstract
from carrel.libraries.text.budget import InputTooCostlyError
from carrel.services.literature.errors import UnreadableAnswerError
from carrel.services.literature.service_client import ServiceClient, expect_found, json_object
from carrel.services.literature.service_limits import ServiceLimits

DOI_ORG = "doi.org"
CROSSREF = "Crossref"
# The public pool for single records and content negotiation; answers announce the actual limits.
_LIMITS = ServiceLimits(max_concurrent=3, interval_seconds=0.2)
_CSL_JSON = "application/vnd.citationstyles.csl+json"
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


class DoiOrg:
    """Asks the resolver for a registration agency's record of a DOI, in place of the page."""

    def __init__(self, client: ServiceClient, base_url: str) -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")

    async def look_up(self, doi: Doi) -> CslItem:
        address = doi.url.replace("https://doi.org", self._base_url, 1)
        answer = await self._client.ask(DOI_ORG, address, accept=_CSL_JSON, limits=_LIMITS)
        expect_found(DOI_ORG, str(doi), answer)
        try:
            imported = read_csl_json(answer.body)
        except InputTooCostlyError as error:
            raise UnreadableAnswerError(DOI_ORG, error.message) from error
        if len(imported.items) != 1:
            failure = imported.failures[0].reason if imported.failures else ""
            raise UnreadableAnswerError(DOI_ORG, failure or "it does not hold one item")
        item = imported.items[0].item
        item.pop("id", None)
        return tidy_record(item, doi)


class CrossrefItems:
    """Asks Crossref for CSL items, in its polite pool when there is a contact address."""

    def __init__(self, client: ServiceClient, base_url: str) -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")

    async def look_up(self, doi: Doi) -> CslItem:
        contact = self._client.contact
        address = f"{self._base_url}/works/{quote(str(doi), safe='')}"
        answer = await self._client.ask(
            CROSSREF,
            address,
            accept="application/json",
            secret_params={"mailto": contact} if contact else None,
            limits=_LIMITS,
        )
        message = json_object(CROSSREF, str(doi), answer).get("message")
        if not isinstance(message, dict):
            raise UnreadableAnswerError(CROSSREF, "it has no message")
        return tidy_record(_crossref_item(message), doi)


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


def tidy_record(item: CslItem, doi: Doi) -> CslItem:
    """A record without the registry's own fields, foreign markup and people's identifiers."""
    item = {
        name: value
        for name, value in item.items()
        if name not in _NOT_OF_THE_WORK and value not in (None, "", [], {})
    }
    item["DOI"] = str(doi)
    if isinstance(item.get("abstract"), str):
        item["abstract"] = read_abstract(item["abstract"])
    for variable in ("author", "editor", "translator"):
        people = item.get(variable)
        if isinstance(people, list):
            item[variable] = [_person(person) for person in people if isinstance(person, dict)]
    return item


def _person(person: dict[str, Any]) -> dict[str, Any]:
    return {
        part: value
        for part, value in person.items()
        if part
        in {"family", "given", "literal", "suffix", "dropping-particle", "non-dropping-particle"}
    }
