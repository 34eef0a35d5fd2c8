"""PubMed by number, through NCBI's E-utilities."""

from collections.abc import Sequence
from dataclasses import dataclass

from carrel.libraries.bibliography.imports import BibliographyError, CslItem
from carrel.libraries.bibliography.pubmed_xml import read_pubmed_xml
from carrel.libraries.identifiers import Doi, NotAnIdentifierError, Pmcid, Pmid
from carrel.libraries.text.budget import InputTooCostlyError
from carrel.services.literature.errors import UnreadableAnswerError, WorkNotFoundError
from carrel.services.literature.service_client import ServiceClient, expect_found, json_of
from carrel.services.literature.service_limits import BatchedLookup, ServiceLimits

PUBMED = "PubMed"
MOST_AT_ONCE = 200
# NCBI allows three questions a second, ten with a key.
PUBMED_LIMITS = ServiceLimits(max_concurrent=3, interval_seconds=0.34)
PUBMED_LIMITS_WITH_KEY = ServiceLimits(max_concurrent=5, interval_seconds=0.1)


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
            raise WorkNotFoundError(PUBMED, str(pmid))
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
        if self._client.contact:
            params["email"] = self._client.contact
        if self._api_key:
            params["api_key"] = self._api_key
        limits = PUBMED_LIMITS_WITH_KEY if self._api_key else PUBMED_LIMITS
        answer = await self._client.ask(
            PUBMED,
            f"{self._base_url}/efetch.fcgi",
            params=params,
            accept="application/xml",
            limits=limits,
        )
        if answer.status == 400:
            return {}
        expect_found(PUBMED, params["id"], answer)
        try:
            imported = read_pubmed_xml(answer.body)
        except (BibliographyError, InputTooCostlyError) as error:
            raise UnreadableAnswerError(PUBMED, str(error)) from error
        return {
            Pmid(item.item["PMID"]): item.item for item in imported.items if item.item.get("PMID")
        }


PMC = "PubMed Central"
# NCBI allows three questions a second.
PMC_LIMITS = ServiceLimits(max_concurrent=3, interval_seconds=0.34)


@dataclass(frozen=True, slots=True)
class SameWork:
    """The other names of one article; None where it has none."""

    pmcid: Pmcid
    pmid: Pmid | None
    doi: Doi | None


class PmcConverter:
    """Asks which identifiers name the same article."""

    def __init__(
        self,
        client: ServiceClient,
        base_url: str = "https://pmc.ncbi.nlm.nih.gov/tools/idconv/api/v1/articles/",
    ) -> None:
        self._client = client
        self._base_url = base_url

    async def convert(self, pmcid: Pmcid) -> SameWork:
        params = {"ids": str(pmcid), "format": "json", "tool": "carrel"}
        if self._client.contact:
            params["email"] = self._client.contact
        answer = await self._client.ask(
            PMC, self._base_url, params=params, accept="application/json", limits=PMC_LIMITS
        )
        if answer.status == 400:
            raise WorkNotFoundError(PMC, str(pmcid))
        expect_found(PMC, str(pmcid), answer)
        content = json_of(PMC, answer)
        records = content.get("records") if isinstance(content, dict) else None
        if not isinstance(records, list):
            raise UnreadableAnswerError(PMC, "it has no records")
        record = records[0] if records else {}
        if (
            not isinstance(record, dict)
            or record.get("status") == "error"
            or not (record.get("pmid") or record.get("doi"))
        ):
            raise WorkNotFoundError(PMC, str(pmcid))
        try:
            return SameWork(
                pmcid,
                Pmid.parse(str(record["pmid"])) if record.get("pmid") else None,
                Doi.parse(str(record["doi"])) if record.get("doi") else None,
            )
        except NotAnIdentifierError as error:
            raise UnreadableAnswerError(PMC, str(error)) from error
