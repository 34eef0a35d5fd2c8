"""A JSON object over HTTP, bounded in size and time, without redirects."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx2
import orjson

from carrel.core.errors import UnavailableError


async def bounded_json(
    client: httpx2.AsyncClient,
    url: str,
    timeout_seconds: float,
    most_bytes: int,
    *,
    headers: Mapping[str, str] | None = None,
    extensions: Mapping[str, Any] | None = None,
) -> tuple[Mapping[str, Any], httpx2.Headers]:
    """The object and the headers it came with. Raises UnavailableError for everything else."""
    try:
        async with asyncio.timeout(timeout_seconds):
            asked = client.stream(
                "GET",
                url,
                headers={
                    "accept": "application/json",
                    "accept-encoding": "identity",
                    **(headers or {}),
                },
                extensions=dict(extensions or {}),
            )
            async with asked as answer:
                if answer.status_code != 200:
                    raise UnavailableError(f"the answer has status {answer.status_code}")
                body = bytearray()
                if answer.headers.get("content-encoding", "identity").lower() != "identity":
                    # A small packed answer may unpack to any size before it can be measured.
                    raise UnavailableError("the answer is compressed, which was not asked for")
                async for chunk in answer.aiter_bytes():
                    body += chunk
                    if len(body) > most_bytes:
                        raise UnavailableError(f"the answer is larger than {most_bytes} bytes")
                facts = orjson.loads(bytes(body))
                if not isinstance(facts, dict):
                    raise UnavailableError("the answer is not a JSON object")
                return facts, answer.headers
    except TimeoutError:
        raise UnavailableError(f"no answer within {timeout_seconds:g} seconds") from None
    except orjson.JSONDecodeError:
        raise UnavailableError("the answer is not JSON") from None
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise UnavailableError(f"no answer ({type(error).__name__})") from error
