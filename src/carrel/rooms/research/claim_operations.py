"""The operations of claim checking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from carrel.core.caller import Call, Caller
from carrel.core.decorators import operation
from carrel.core.quoting import QuotedSource
from carrel.rooms.research.claim_checks import ClaimChecks
from carrel.rooms.research.claim_models import (
    CheckClaim,
    ClaimChecked,
    ContradictionsFound,
    FindContradictions,
    QuotedSentence,
)
from carrel.rooms.research.contradictions import Contradictions
from carrel.rooms.research.work_notices import (
    NoPaperNotices,
    NoticesOfPapers,
    add_to_claims,
    add_to_contradictions,
)

_READ_PAPERS = frozenset({"papers:read"})
_PATIENT_SECONDS = 120.0


def _quoted_in_checks(
    arguments: Mapping[str, Any], answer: ClaimChecked, caller: Caller
) -> Iterable[QuotedSource]:
    sentences = [
        sentence
        for each in answer.statements
        for sentence in (*each.supporting, *each.contradicting, *each.bearing, *each.nearest)
    ]
    notes = [] if answer.note_id is None else [QuotedSource("note", answer.note_id)]
    return [*notes, *_sources(sentences)]


def _quoted_in_contradictions(
    arguments: Mapping[str, Any], answer: ContradictionsFound, caller: Caller
) -> Iterable[QuotedSource]:
    return _sources([side for each in answer.contradictions for side in (each.one, each.other)])


def _sources(sentences: Iterable[QuotedSentence]) -> list[QuotedSource]:
    named = {each.paper_id: each.title for each in sentences}
    return [
        QuotedSource("reference", name.removeprefix("ref:"), title)
        if name.startswith("ref:")
        else QuotedSource("paper", name, title)
        for name, title in named.items()
    ]


class ClaimOperations:
    """Checking claims, and finding papers that deny each other."""

    def __init__(
        self,
        checks: ClaimChecks,
        contradictions: Contradictions,
        notices: NoticesOfPapers | None = None,
    ) -> None:
        self._checks = checks
        self._contradictions = contradictions
        self._notices = notices or NoPaperNotices()

    @operation(
        title="Check a claim",
        description=(
            "What papers say of each statement: supports, contradicts, mixed, silent or "
            "undecided, with the sentences for and against."
        ),
        scopes=_READ_PAPERS,
        quotes=_quoted_in_checks,
        command="check-claim",
        cost=3.0,
        timeout_seconds=_PATIENT_SECONDS,
        phrases=(
            "check a claim; is this true according to the papers; what speaks for and against …; "
            "do the papers support this statement; is there evidence against …; fact-check a "
            "paragraph of my draft; does the cited paper really say this; verify a statement "
            "against the literature; which papers contradict this claim; check the claims of a "
            "note; is this sentence backed by its reference"
        ),
    )
    async def check_claim(self, question: CheckClaim, call: Call) -> ClaimChecked:
        return await add_to_claims(await self._checks.check(question, call), self._notices)

    @operation(
        title="Find contradictions",
        description=(
            "Pairs of sentences of different papers that deny each other: among some papers, "
            "those a search finds, or the whole corpus; says what was covered."
        ),
        scopes=_READ_PAPERS,
        quotes=_quoted_in_contradictions,
        command="contradictions",
        cost=5.0,
        timeout_seconds=_PATIENT_SECONDS,
        is_listed=False,
        phrases=(
            "find contradictions between papers; which papers disagree; conflicting results on …; "
            "papers that deny each other; where do studies contradict one another; opposite "
            "findings in the literature; controversies in my corpus; do these papers agree; "
            "inconsistent evidence about …"
        ),
    )
    async def find_contradictions(
        self, question: FindContradictions, call: Call
    ) -> ContradictionsFound:
        return await add_to_contradictions(await self._contradictions.find(question), self._notices)
