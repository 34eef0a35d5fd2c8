"""The step from an answer's bytes to what it promised to hold."""

import json
from typing import Any

from carrel.libraries.bibliography.csl_json import read_csl_json
from carrel.libraries.bibliography.imports import CslItem
from carrel.services.literature.cache import Answer
from carrel.services.literature.errors import (
    ServiceFailedError,
    UnreadableAnswerError,
    WorkNotFoundError,
)


def expect_found(service: str, identifier: str, answer: Answer) -> None:
    """Raises unless the service answered that it has the work."""
    if answer.status in {404, 410}:
        raise WorkNotFoundError(service, identifier)
    if answer.status != 200:
        raise ServiceFailedError(service, f"it answered with status {answer.status}", answer.status)


def json_of(service: str, answer: Answer) -> Any:
    try:
        return json.loads(answer.body)
    except ValueError as error:
        raise UnreadableAnswerError(
            service, f"it is not JSON ({answer.content_type or 'no content type'})"
        ) from error


def csl_item(service: str, answer: Answer) -> CslItem:
    """The one item of a CSL-JSON answer, without the key the service gave it."""
    imported = read_csl_json(answer.body)
    if len(imported.items) != 1:
        raise UnreadableAnswerError(
            service,
            imported.failures[0].reason if imported.failures else "it does not hold one item",
        )
    item = imported.items[0].item
    item.pop("id", None)
    return item
