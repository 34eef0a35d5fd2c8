"""A hypothesis saved as a note, with links to the papers and passages that it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from carrel.core.caller import Call, Caller
from carrel.core.decorators import operation
from carrel.core.operation import Answer, Effect, Question
from carrel.core.quoting import QuotedSource
from carrel.rooms.research.models import EvidenceShown, HypothesisId, HypothesisInFull
from carrel.rooms.research.ports import EvidencePassage, EvidencePassages, Notebook
from carrel.rooms.research.service import ResearchRoom

_READ_PAPERS = "papers:read"
# Of a hypothesis with very many pieces of evidence the first ones, which are its strongest.
_MOST_EVIDENCE = 40
_TAG = "hypothesis"


class SaveHypothesisNote(Question):
    """Which hypothesis to save."""

    hypothesis_id: HypothesisId
    tags: Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=50)] = Field(
        default_factory=list, description=f"Beside {_TAG}"
    )


class HypothesisNote(Answer):
    """The note that was saved, and what of the evidence it links to."""

    note_id: str
    title: str
    hypothesis_id: str
    papers: list[str]
    passages: list[str]


def _saved_hypothesis(
    arguments: Mapping[str, Any], answer: HypothesisNote, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("hypothesis", answer.hypothesis_id, answer.title)]


class HypothesisNoteOperations:
    """Saving hypotheses in the knowledge room."""

    def __init__(
        self, research: ResearchRoom, notebook: Notebook, passages: EvidencePassages
    ) -> None:
        self._research = research
        self._notebook = notebook
        self._passages = passages

    @operation(
        title="Save a hypothesis as a note",
        description=(
            "Keep a hypothesis among the notes, with links to the papers and passages that are "
            "its evidence."
        ),
        scopes=frozenset({"hypotheses:read", "knowledge:write"}),
        effect=Effect.WRITES,
        quotes=_saved_hypothesis,
        command="note",
        is_listed=False,
        timeout_seconds=60.0,
        phrases=(
            "save a hypothesis as a note; keep this hypothesis with its evidence; put a "
            "hypothesis into my notes; note down a hypothesis; write the hypothesis to the "
            "knowledge base; store a hypothesis with its evidence; write a hypothesis into my "
            "notebook; keep an idea in my notes"
        ),
    )
    async def save_hypothesis_note(
        self, question: SaveHypothesisNote, call: Call
    ) -> HypothesisNote:
        hypothesis = await self._research.get_hypothesis(question.hypothesis_id, call)
        evidence = [
            (each, await self._find_passage(each, call))
            for each in hypothesis.evidence[:_MOST_EVIDENCE]
        ]
        content = write_hypothesis_note(hypothesis, evidence)
        tags = list(dict.fromkeys((_TAG, *question.tags)))
        note_id = await self._notebook.save(hypothesis.title, content, tags, call)
        found = [passage.passage_id for _, passage in evidence if passage is not None]
        return HypothesisNote(
            note_id=note_id,
            title=hypothesis.title,
            hypothesis_id=hypothesis.id,
            papers=_papers(hypothesis),
            passages=list(dict.fromkeys(found)),
        )

    async def _find_passage(self, evidence: EvidenceShown, call: Call) -> EvidencePassage | None:
        if _READ_PAPERS not in call.caller.scopes:
            return None
        return await self._passages.find(evidence.paper_id, evidence.sentence)


def write_hypothesis_note(
    hypothesis: HypothesisInFull,
    evidence: Sequence[tuple[EvidenceShown, EvidencePassage | None]],
) -> str:
    """The hypothesis as Markdown; evidence links are `[[passage:…]]` and `[[paper:…]]`."""
    parts = [
        hypothesis.summary,
        f"Hypothesis [[hypothesis:{hypothesis.id}]] ({hypothesis.status}).",
        f"## Rationale\n\n{hypothesis.rationale}",
        _list("Predictions", hypothesis.predictions),
        _list("What would refute it", hypothesis.refutations),
        f"## Protocol\n\n{hypothesis.experimental_protocol}"
        if hypothesis.experimental_protocol
        else "",
        _list("Evidence", [_evidence_line(*each) for each in evidence]),
        _list("Papers", [f"[[paper:{paper_id}]]" for paper_id in _papers(hypothesis)]),
    ]
    return "\n\n".join(part for part in parts if part)


def _papers(hypothesis: HypothesisInFull) -> list[str]:
    """The papers cited and quoted, each once."""
    quoted = (each.paper_id for each in hypothesis.evidence)
    return list(dict.fromkeys((*hypothesis.citations, *quoted)))


def _evidence_line(evidence: EvidenceShown, passage: EvidencePassage | None) -> str:
    page = "" if passage is None or passage.page is None else f", p. {passage.page}"
    link = f"paper:{evidence.paper_id}" if passage is None else f"passage:{passage.passage_id}"
    against = " (speaks against it)" if evidence.speaks_against else ""
    sentence = " ".join(evidence.sentence.split())
    return f"\u201c{sentence}\u201d [[{link}]]{page}{against}"


def _list(title: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    return f"## {title}\n\n" + "\n".join(f"- {' '.join(line.split())}" for line in lines)
