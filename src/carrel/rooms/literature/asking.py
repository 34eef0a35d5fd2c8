"""Asks several literature services at the same time, each with its own deadline."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from carrel.rooms.literature.errors import FailureKind, LiteratureServiceError

log = logging.getLogger("carrel.literature")

AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True, slots=True)
class Answered(Generic[AnswerT]):
    """A service answered."""

    service: str
    answer: AnswerT


@dataclass(frozen=True, slots=True)
class Failed:
    """A service was asked and did not answer; `reason` is one sentence."""

    service: str
    failure: FailureKind
    reason: str
    retry_after_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class NotAsked:
    """A service was not asked, and why; `is_wanted` where the call or the settings named it."""

    service: str
    reason: str
    is_wanted: bool = False


@dataclass(frozen=True, slots=True)
class Asking(Generic[AnswerT]):
    """One question to one service, not yet asked."""

    service: str
    title: str
    ask: Callable[[], Awaitable[AnswerT]]


async def ask_all(
    questions: Sequence[Asking[AnswerT]], timeout_seconds: float
) -> list[Answered[AnswerT] | Failed]:
    """What became of each question, in their order; no service costs another its answer."""
    return list(await asyncio.gather(*(_ask(each, timeout_seconds) for each in questions)))


async def _ask(question: Asking[AnswerT], timeout_seconds: float) -> Answered[AnswerT] | Failed:
    service = question.service
    try:
        async with asyncio.timeout(timeout_seconds):
            return Answered(service, await question.ask())
    except LiteratureServiceError as error:
        return Failed(service, error.failure, error.reason, error.retry_after_seconds)
    except TimeoutError:
        reason = f"{question.title} did not answer within {timeout_seconds:g} seconds"
        return Failed(service, "timed_out", reason)
    except Exception:
        # A fault with one service must not cost the others.
        error_id = secrets.token_hex(8)
        log.exception("a service's answer could not be used", extra={"error_id": error_id})
        reason = f"The answer of {question.title} could not be used (error id {error_id})"
        return Failed(service, "unreadable", reason)
