"""PubMed by number, through NCBI's E-utilities."""

from collections.abc import Sequence

from carrel.libraries.bibliography.errors import BibliographyError
from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.bibliography.pubmed_xml import read_pubmed_xml
from carrel.libraries.identifiers import Pmid
from carrel.services.literature.answers import expect_found
from carrel.services.literature.batching import BatchedLookup
from carrel.services.literature.errors import UnreadableAnswerError, WorkNotFoundError
from carrel.services.literature.service_client import ServiceClient
from carrel.services.literature.service_limits import ServiceLimits

SERVICE = "PubMed"
MOST_AT_ONCE = 200
# NCBI allows three questions a second, ten with a key.
LIMITS = ServiceLimits(max_concurrent=3, interval_seconds=0.34)
LIMITS_WITH_KEY = ServiceLimits(max_concurrent=5, interval_seconds=0.1)


class PubMed:
    """Fetches whole records, many at a time."""

    def __init__(
        self,
        client: ServiceClient,
        base_url: str = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils",
        api_key: str = "",
    ) -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")
        self._api_key = api_key
        self._batches = BatchedLookup(self._fetch, MOST_AT_ONCE)

    async def look_up(self, pmid: Pmid) -> CslItem:
        """One record. Numbers that are asked for side by side go into one request."""
        found = await self._batches.find(pmid)
        if found is None:
            raise WorkNotFoundError(SERVICE, str(pmid))
        return found

    async def look_up_many(self, pmids: Sequence[Pmid]) -> dict[Pmid, CslItem]:
        """The records that PubMed has; a number it does not know is not in the answer."""
        found: dict[Pmid, CslItem] = {}
        for start in range(0, len(pmids), MOST_AT_ONCE):
            found |= await self._fetch(pmids[start : start + MOST_AT_ONCE])
        return found

    async def _fetch(self, pmids: Sequence[Pmid]) -> dict[Pmid, CslItem]:
        params = {
            "db": "pubmed",
            "retmode": "xml",
            "id": ",".join(str(pmid) for pmid in pmids),
            "tool": "carrel",
        }
        if self._client.policy.contact:
            params["email"] = self._client.policy.contact
        if self._api_key:
            params["api_key"] = self._api_key
        limits = LIMITS_WITH_KEY if self._api_key else LIMITS
        answer = await self._client.ask(
            SERVICE,
            f"{self._base_url}/efetch.fcgi",
            params=params,
            accept="application/xml",
            limits=limits,
        )
        if answer.status == 400:
            return {}
        expect_found(SERVICE, params["id"], answer)
        try:
            imported = read_pubmed_xml(answer.body)
        except BibliographyError as error:
            raise UnreadableAnswerError(SERVICE, str(error)) from error
        return {
            Pmid(item.item["PMID"]): item.item for item in imported.items if item.item.get("PMID")
        }
