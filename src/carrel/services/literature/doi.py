"""doi.org's content negotiation: any registration agency's record of a DOI as CSL-JSON."""

from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.identifiers import Doi
from carrel.services.literature.answers import csl_item, expect_found
from carrel.services.literature.crossref import tidied
from carrel.services.literature.service_client import ServiceClient
from carrel.services.literature.service_limits import ServiceLimits

SERVICE = "doi.org"
_ACCEPT = "application/vnd.citationstyles.csl+json"
# Content negotiation counts in Crossref's pool for single records, 5 a second; answers may announce
# other limits.
LIMITS = ServiceLimits(max_concurrent=3, interval_seconds=0.2)


class DoiOrg:
    """Asks the resolver for metadata in place of the page."""

    def __init__(self, client: ServiceClient, base_url: str = "https://doi.org") -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")

    async def look_up(self, doi: Doi) -> CslItem:
        address = doi.url.replace("https://doi.org", self._base_url, 1)
        answer = await self._client.ask(SERVICE, address, accept=_ACCEPT, limits=LIMITS)
        expect_found(SERVICE, str(doi), answer)
        return tidied(csl_item(SERVICE, answer), doi)
