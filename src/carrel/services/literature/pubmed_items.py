"""Articles by PubMed number through NCBI's E-utilities, and the other names of a PMCID."""

from collections.abc import Sequence
from dataclasses import dataclass

from carrel.libraries.bibliography.imports import BibliographyError, CslItem
from carrel.libraries.bibliography.pubmed_xml import read_pubmed_xml
from carrel.libraries.identifiers import Doi, Pmcid, Pmid
from carrel.libraries.literature.pubmed_answers import PubMedAnswerError, read_conversions
from carrel.libraries.literature.records import WorkIds
from carrel.libraries.literature.work_names import has_name
from carrel.libraries.text.budget import InputTooCostlyError
from carrel.services.literature.errors import UnreadableAnswerError, WorkNotFoundError
from carrel.services.literature.listings import split_batches
from carrel.services.literature.service_client import ServiceClient, expect_found
from carrel.services.literature.service_limits import BatchedLookup, ServiceLimits

PUBMED = "PubMed"
PMC = "PubMed Central"
# NCBI allows three questions a second, ten with a key.
_LIMITS = ServiceLimits(max_concurrent=3, interval_seconds=0.34)
_LIMITS_WITH_KEY = ServiceLimits(max_concurrent=5, interval_seconds=0.1)
_MAX_BATCH = 200
_ID_TYPES: dict[type[Doi | Pmid | Pmcid], str] = {Pmcid: "pmcid", Pmid: "pmid", Doi: "doi"}


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
        """The other names of one article; raises WorkNotFoundError where there are none."""
        found = (await self.convert_all([pmcid])).get(pmcid)
        if found is None or not (found.pmid or found.doi):
            raise WorkNotFoundError(PMC, str(pmcid))
        return ArticleNames(
            pmcid,
            Pmid(found.pmid) if found.pmid else None,
            Doi(found.doi) if found.doi else None,
        )

    async def convert_all(
        self, identifiers: Sequence[Doi | Pmid | Pmcid]
    ) -> dict[Doi | Pmid | Pmcid, WorkIds]:
        """The identifiers of each article that PubMed Central has, asked one kind at a time.

        Unproved live at the address of 2026; recordings are of the one before.
        """
        found: dict[Doi | Pmid | Pmcid, WorkIds] = {}
        for kind, name in _ID_TYPES.items():
            same = [each for each in dict.fromkeys(identifiers) if isinstance(each, kind)]
            for batch in split_batches(same, _MAX_BATCH):
                ids = await self._convert(batch, name)
                for each in batch:
                    known = next((one for one in ids if has_name(one, each)), None)
                    if known is not None:
                        found[each] = known
        return found

    async def _convert(self, batch: Sequence[Doi | Pmid | Pmcid], id_type: str) -> list[WorkIds]:
        names = ",".join(str(each) for each in batch)
        params = {"ids": names, "idtype": id_type, "format": "json", **_who_asks(self._client)}
        answer = await self._client.ask(
            PMC, self._address, params=params, accept="application/json", limits=_LIMITS
        )
        # An identifier of another shape than its kind is refused as a whole.
        if answer.status in {400, 404}:
            return []
        expect_found(PMC, names, answer)
        try:
            return [ids for _, ids in read_conversions(answer.body)]
        except PubMedAnswerError as error:
            raise UnreadableAnswerError(PMC, str(error)) from error


def _who_asks(client: ServiceClient) -> dict[str, str]:
    return {"tool": "carrel", **({"email": client.contact} if client.contact else {})}
