"""doi.org's content negotiation: any registration agency's record of a DOI as CSL-JSON."""

from carrel.core.identifiers import Doi
from carrel.engines.bibliography.imports import CslItem
from carrel.engines.lookup.answers import csl_item, expect_found
from carrel.engines.lookup.crossref import tidied
from carrel.engines.lookup.polite import PoliteClient

SERVICE = "doi.org"
_ACCEPT = "application/vnd.citationstyles.csl+json"


class DoiOrg:
    """Asks the resolver for metadata in place of the page."""

    def __init__(self, client: PoliteClient, base_url: str = "https://doi.org") -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")

    async def look_up(self, doi: Doi) -> CslItem:
        answer = await self._client.ask(SERVICE, doi.url.replace("https://doi.org", self._base_url, 1), accept=_ACCEPT)
        expect_found(SERVICE, str(doi), answer)
        return tidied(csl_item(SERVICE, answer), doi)
