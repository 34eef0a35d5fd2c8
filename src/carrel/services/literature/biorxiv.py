"""bioRxiv and medRxiv: preprints by DOI, their texts and published articles.

They have no search by words; Europe PMC searches their preprints. Unproved live: no recording
shows their answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from carrel.libraries.identifiers import Doi, Identifier
from carrel.libraries.literature.biorxiv import read_work, version_of
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.raw_fields import list_of, map_of, maps_of, text_of
from carrel.libraries.literature.records import ServiceRecord
from carrel.services.literature.answers import AnswerKind
from carrel.services.literature.errors import ServiceFailedError, UnreadableAnswerError
from carrel.services.literature.listings import Account, is_unknown, list_known, read_json_object
from carrel.services.literature.record_finder import NoticeFinder
from carrel.services.literature.service_client import ServiceClient
from carrel.services.literature.service_limits import ServiceLimits

NAME = "biorxiv"
_LIMITS = ServiceLimits(max_concurrent=1, interval_seconds=0.5)
# The prefix does not tell which of the two servers has a preprint.
_PREFIXES = ("10.1101/", "10.64898/")
_SERVERS = ("biorxiv", "medrxiv")
_NOTHING = ("no posts found", "no articles found", "no preprints found")


class Biorxiv(NoticeFinder):
    """Adapter of bioRxiv and medRxiv; its notices are of preprints that were withdrawn."""

    name = NAME
    title = "bioRxiv"

    def __init__(self, client: ServiceClient, base_url: str) -> None:
        self._client = client
        self._base_url = base_url.rstrip("/")

    def knows(self, identifier: Identifier) -> bool:
        return isinstance(identifier, Doi) and identifier.value.startswith(_PREFIXES)

    async def _find(
        self, identifiers: Sequence[Identifier], kind: AnswerKind, account: Account
    ) -> list[tuple[Identifier, ServiceRecord]]:
        found: list[tuple[Identifier, ServiceRecord]] = []
        for identifier in list_known(identifiers, self.knows):
            for server in _SERVERS:
                record = await self._one(server, identifier.value, kind, account)
                if record is not None:
                    found.append((identifier, record))
                    break
        return found

    async def _one(
        self, server: str, doi: str, kind: AnswerKind, account: Account
    ) -> ServiceRecord | None:
        """The latest version of a preprint; None where this server does not have it."""
        answer = await self._client.ask(
            NAME,
            f"{self._base_url}/details/{server}/{doi}/na/json",
            accept="application/json",
            limits=_LIMITS,
            kind=kind,
        )
        account.add(answer)
        if is_unknown(answer):
            return None
        rows = _read_rows(read_json_object(NAME, answer))
        rows.sort(key=version_of, reverse=True)
        for row in rows:
            try:
                record = read_work({"server": server, **row})
            except UnreadableRecordError:
                continue
            if record.work.ids.doi == doi:
                return record
        return None


def _read_rows(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The versions; no list and no word that there is none is no answer."""
    rows = list(maps_of(found.get("collection")))
    if rows:
        return rows
    said = [text_of(map_of(each).get("status")) for each in list_of(found.get("messages"))]
    if not said or "collection" not in found:
        raise UnreadableAnswerError(NAME, "it has neither preprints nor a message")
    if all(each.lower() in {*_NOTHING, "ok"} for each in said):
        return []
    raise ServiceFailedError(NAME, f"it says {'; '.join(said)[:300]!r}")
