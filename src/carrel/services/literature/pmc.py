"""PubMed Central's converter: which PubMed number and DOI belong to a PMCID."""

from dataclasses import dataclass

from carrel.libraries.identifiers import Doi, NotAnIdentifierError, Pmcid, Pmid
from carrel.services.literature.answers import expect_found, json_of
from carrel.services.literature.errors import UnreadableAnswerError, WorkNotFoundError
from carrel.services.literature.service_client import ServiceClient
from carrel.services.literature.service_limits import ServiceLimits

SERVICE = "PubMed Central"
# NCBI allows three questions a second.
LIMITS = ServiceLimits(max_concurrent=3, interval_seconds=0.34)


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
        if self._client.policy.contact:
            params["email"] = self._client.policy.contact
        answer = await self._client.ask(
            SERVICE, self._base_url, params=params, accept="application/json", limits=LIMITS
        )
        if answer.status == 400:
            raise WorkNotFoundError(SERVICE, str(pmcid))
        expect_found(SERVICE, str(pmcid), answer)
        content = json_of(SERVICE, answer)
        records = content.get("records") if isinstance(content, dict) else None
        if not isinstance(records, list):
            raise UnreadableAnswerError(SERVICE, "it has no records")
        record = records[0] if records else {}
        if (
            not isinstance(record, dict)
            or record.get("status") == "error"
            or not (record.get("pmid") or record.get("doi"))
        ):
            raise WorkNotFoundError(SERVICE, str(pmcid))
        try:
            return SameWork(
                pmcid,
                Pmid.parse(str(record["pmid"])) if record.get("pmid") else None,
                Doi.parse(str(record["doi"])) if record.get("doi") else None,
            )
        except NotAnIdentifierError as error:
            raise UnreadableAnswerError(SERVICE, str(error)) from error
