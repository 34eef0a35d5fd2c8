"""Articles by PubMed number through NCBI's E-utilities, and the other names of a PMCID."""

from collections.abc import Sequence
from dataclasses import dataclass

from carrel.libraries.bibliography.imports import BibliographyError, CslItem
from carrel.libraries.bibliography.pubmed_xml import read_pubmed_xml
from carrel.libraries.identifiers import Doi, NotAnIdentifierError, Pmcid, Pmid
from carrel.libraries.text.budget import InputTooCostlyError
from carrel.services.literature.errors import UnreadableAnswerError, WorkNotFoundError
from carrel.services.literature.service_client import ServiceClient, expect_found, json_object
from carrel.services.literature.service_limits import BatchedLookup, ServiceLimits

PUBMED = "PubMed"
PMC = "PubMed Central"
# NCBI allows three questions a second, ten with a key.
_LIMITS = ServiceLimits(max_concurrent=3, interval_seconds=0.34)
_LIMITS_WITH_KEY = ServiceLimits(max_concurrent=5, interval_seconds=0.1)
_MAX_BATCH = 200


class PubMedItems:
    """Articles as CSL items, fetched many at a time."""

    def __init__(self, client: ServiceClient, base_url: str, api_key: str = "") -> None:
        self._client = client
        self._address = f"{base_url.rstrip('/')}/efetch.fcgi"
        self._api_key = api_key
        self._batches = BatchedLookup(self._fetch, _MAX_BATCH)

    async def look_up(self, pmid: Pmid) -> CslItem:
        """One record. Numbers that are asked for side by side go into one request."""
        found = await self._batches.find(pmid)
        if found is None:
            raise WorkNotFoundError(PUBMED, str(pmid))
        return found

    async def _fetch(self, pmids: Sequence[Pmid]) -> dict[Pmid, CslItem]:
        names = ",".join(str(pmid) for pmid in pmids)
        key = {"api_key": self._api_key} if self._api_key else {}
        answer = await self._client.ask(
            PUBMED,
            self._address,
            params={"db": "pubmed", "retmode": "xml", "id": names},
            accept="application/xml",
            secret_params={**_who_asks(self._client), **key},
            limits=_LIMITS_WITH_KEY if self._api_key else _LIMITS,
        )
        if answer.status == 400:
            return {}
        expect_found(PUBMED, names, answer)
        try:
            imported = read_pubmed_xml(answer.body)
        except (BibliographyError, InputTooCostlyError) as error:
            raise UnreadableAnswerError(PUBMED, str(error)) from error
        items = (entry.item for entry in imported.items)
        return {Pmid(item["PMID"]): item for item in items if item.get("PMID")}


@dataclass(frozen=True, slots=True)
class ArticleNames:
    """The other identifiers of one article; None for missing ones."""

    pmcid: Pmcid
    pmid: Pmid | None
    doi: Doi | None


class PmcConverter:
    """Asks which identifiers name the same article."""

    def __init__(self, client: ServiceClient, address: str) -> None:
        self._client = client
        self._address = address

    async def convert(self, pmcid: Pmcid) -> ArticleNames:
        answer = await self._client.ask(
            PMC,
            self._address,
            params={"ids": str(pmcid), "format": "json"},
            accept="application/json",
            limits=_LIMITS,
            secret_params=_who_asks(self._client),
        )
        if answer.status == 400:
            raise WorkNotFoundError(PMC, str(pmcid))
        records = json_object(PMC, str(pmcid), answer).get("records")
        if not isinstance(records, list):
            raise UnreadableAnswerError(PMC, "it has no records")
        record = records[0] if records and isinstance(records[0], dict) else {}
        pmid, doi = record.get("pmid"), record.get("doi")
        if record.get("status") == "error" or not (pmid or doi):
            raise WorkNotFoundError(PMC, str(pmcid))
        try:
            return ArticleNames(
                pmcid,
                Pmid.parse(str(pmid)) if pmid else None,
                Doi.parse(str(doi)) if doi else None,
            )
        except NotAnIdentifierError as error:
            raise UnreadableAnswerError(PMC, str(error)) from error


def _who_asks(client: ServiceClient) -> dict[str, str]:
    return {"tool": "carrel", **({"email": client.contact} if client.contact else {})}
