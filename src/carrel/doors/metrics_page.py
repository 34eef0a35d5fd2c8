"""`/metrics`: what this server measures, as Prometheus reads it."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable, Iterable

from carrel.core.caller import Visit
from carrel.core.errors import CarrelError, InsufficientPermissionsError
from carrel.doors.http.app import Route
from carrel.doors.http.messages import HttpRequest, Response
from carrel.libraries.telemetry.exposition import CONTENT_TYPE, write_text
from carrel.libraries.telemetry.instruments import Family
from carrel.policy.gate import Gate
from carrel.policy.identity import InvalidTokenError, NoTokenError, bearer_token

PATH = "/metrics"
_SCOPES = frozenset({"admin"})
_HEADERS = ((b"content-type", CONTENT_TYPE.encode()), (b"cache-control", b"no-store"))

Collect = Callable[[], Awaitable[Iterable[Family]]]
Refuse = Callable[[CarrelError, Visit], Response]


class MetricsPage:
    """Shows the metrics to whoever has the token of the settings, else to administrators.

    In local mode without a token that is the local user, whom every door believes.
    """

    def __init__(self, collect: Collect, gate: Gate, refuse: Refuse, token: str | None) -> None:
        self._collect = collect
        self._gate = gate
        self._refuse = refuse
        self._token = token
        self._collecting: asyncio.Task[Iterable[Family]] | None = None

    def routes(self) -> dict[str, Route]:
        """The route. With a token the Host header does not matter: a scraper asks a pod by its
        address, and a page that lured a browser here does not know the token.
        """
        is_open = self._token is not None
        return {PATH: Route({"GET": self._answer}, is_open=is_open, is_shared_with_pages=False)}

    async def _answer(self, request: HttpRequest) -> Response:
        visit = request.visit
        try:
            await self._admit(visit)
        except CarrelError as error:
            return self._refuse(error, visit)
        # Whoever asks while others do waits for the same answer.
        if self._collecting is None:
            self._collecting = asyncio.ensure_future(self._collect())
            self._collecting.add_done_callback(self._forget)
        families = await asyncio.shield(self._collecting)
        return Response(200, write_text(families).encode(), _HEADERS)

    async def _admit(self, visit: Visit) -> None:
        if self._token is None:
            caller = await self._gate.identify(visit)
            if not caller.scopes >= _SCOPES:
                refusal = InsufficientPermissionsError(_SCOPES, caller.scopes)
                self._gate.record_refusal(visit, "metrics", PATH, refusal, caller)
                raise refusal
            return
        try:
            if visit.authorization is None:
                raise NoTokenError
            if not hmac.compare_digest(bearer_token(visit.authorization), self._token):
                raise InvalidTokenError(
                    "This is not the token of the metrics",
                    next_step="Send the one of observability.metrics_token.",
                )
        except CarrelError as refusal:
            self._gate.record_refusal(visit, "metrics", PATH, refusal)
            raise

    def _forget(self, task: asyncio.Task[Iterable[Family]]) -> None:
        self._collecting = None
