"""What a run that fills an index reports, and its errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from carrel.core.errors import UnavailableError


@dataclass(frozen=True, slots=True)
class Synced:
    """The result of one sync run."""

    index: str
    put: int
    dropped: int
    cursor: str | None = None


def raise_first(errors: int | list[Any]) -> None:
    """A document already gone is fine; any other error ends the run before its checkpoint."""
    for error in errors if isinstance(errors, list) else []:
        ((action, facts),) = error.items()
        if not (action == "delete" and facts.get("status") == 404):
            # Only the kind of error: its reason shows a preview of the document.
            error_facts = facts.get("error")
            kind = error_facts.get("type") if isinstance(error_facts, dict) else None
            raise UnavailableError(
                f"Elasticsearch did not take document {facts.get('_id')} "
                f"({kind or 'no reason given'})",
                next_step="Look at the log of the cluster, mend it and run again.",
            )
