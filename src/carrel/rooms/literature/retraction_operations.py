"""The operations on retractions: checking works, and loading the table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from carrel.core.caller import Call, Caller
from carrel.core.decorators import operation
from carrel.core.errors import InvalidInputError
from carrel.core.operation import POSITIONAL, Answer, Effect, Question
from carrel.core.quoting import QuotedSource
from carrel.rooms.literature.retraction_models import CheckRetractions, RetractionsChecked
from carrel.rooms.literature.retraction_ports import (
    LoadedTable,
    TableContent,
    UnreadableTableError,
)
from carrel.rooms.literature.retractions import Retractions

READ = frozenset({"literature:read"})
WRITE = frozenset({"literature:write"})
_KINDS = {"corpus": "paper", "library": "reference", "draft": "work"}


def _quoted(
    arguments: Mapping[str, Any], answer: RetractionsChecked, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource(_KINDS[each.where], each.id, each.title) for each in answer.works]


class RetractionOperations:
    """Checks for retracted and corrected works."""

    def __init__(self, retractions: Retractions) -> None:
        self._retractions = retractions

    @operation(
        title="Check for retractions",
        description=(
            "Which works of the corpus, the library or a draft were retracted, corrected or are "
            "under concern, with date and notice; off line by the Retraction Watch table, outside "
            "also asks services."
        ),
        scopes=READ,
        reaches_outside=True,
        cost=3.0,
        timeout_seconds=120.0,
        quotes=_quoted,
        command="check-retractions",
        is_listed=False,
        phrases=(
            "is this paper retracted; check my library for retractions; retracted papers in my "
            "corpus; does my draft cite retracted work; has this article been withdrawn; "
            "corrections and errata of my references; expression of concern about a paper; "
            "retraction watch; are any of my citations retracted; which references were retracted"
        ),
    )
    async def check_retractions(self, question: CheckRetractions, call: Call) -> RetractionsChecked:
        return await self._retractions.check(question, call)


class LoadRetractions(Question):
    file: str = Field(
        description="The Retraction Watch table (CSV, may be packed with gzip)",
        json_schema_extra=POSITIONAL,
    )


class RetractionsLoaded(Answer):
    """What the table has now; `skipped` counts rows that name no work, by reason."""

    records: int
    keys: int
    skipped: dict[str, int]
    loaded_at: str
    file: str


LoadTable = Callable[[Path], Awaitable[tuple[LoadedTable, TableContent]]]


class RetractionTableOperations:
    """Local: the table lies on the server's machine and is the same for everybody."""

    def __init__(self, load: LoadTable) -> None:
        self._load = load

    @operation(
        title="Load the table of retractions",
        description="Put the Retraction Watch table in the place of the one before.",
        scopes=WRITE,
        effect=Effect.WRITES,
        is_idempotent=True,
        is_local=True,
        command="load-retractions",
    )
    async def load_retractions(self, question: LoadRetractions, call: Call) -> RetractionsLoaded:
        try:
            loaded, content = await self._load(Path(question.file))
        except UnreadableTableError as error:
            raise InvalidInputError(
                str(error),
                next_step="Name the CSV file that Crossref publishes as Retraction Watch data.",
            ) from error
        return RetractionsLoaded(
            records=loaded.row_count,
            keys=len({row.key for row in content.rows}),
            skipped=dict(content.skipped),
            loaded_at=loaded.loaded_at,
            file=loaded.place,
        )
