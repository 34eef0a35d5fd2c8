"""Writing to the corpus as the catalogue shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Protocol

from pydantic import Field

from carrel.core.caller import Call
from carrel.core.operation import Answer, Effect, Operation, Question

WRITE_SCOPES = frozenset({"papers:write"})
_LONGEST_MARKDOWN = 5_000_000
_LONGEST_PDF = 280_000_000


class AddPaper(Question):
    """One paper, in exactly one of three forms."""

    identifier: Annotated[
        str | None, Field(max_length=500, description="DOI or arXiv id, looked up")
    ] = None
    markdown: Annotated[
        str | None,
        Field(
            max_length=_LONGEST_MARKDOWN,
            description="Text, with YAML front matter (title, authors, year, doi) if known",
        ),
    ] = None
    pdf_base64: Annotated[
        str | None, Field(max_length=_LONGEST_PDF, description="PDF with a text layer")
    ] = None


class PaperAdded(Answer):
    """The paper as the corpus now knows it."""

    paper_id: str
    title: str
    is_new: bool
    notes: list[str]


class Added(Protocol):
    """What is known of a paper that was added."""

    @property
    def paper_id(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def is_new(self) -> bool: ...

    @property
    def notes(self) -> Sequence[str]: ...


class Adder(Protocol):
    """Adds one paper, in exactly one of three forms."""

    async def add(
        self, *, identifier: str | None, markdown: str | None, pdf_base64: str | None
    ) -> Added: ...


def add_paper_operation(adder: Adder) -> Operation[AddPaper]:
    """`add_paper`, to be joined to the operations of the papers room."""

    async def add_paper(question: AddPaper, call: Call) -> PaperAdded:
        added = await adder.add(
            identifier=question.identifier,
            markdown=question.markdown,
            pdf_base64=question.pdf_base64,
        )
        return PaperAdded(
            paper_id=added.paper_id, title=added.title, is_new=added.is_new, notes=list(added.notes)
        )

    return Operation(
        name="add_paper",
        phrases=(
            "add a paper to the corpus",
            "upload a PDF",
            "import an article into the corpus",
            "put this arXiv paper into the corpus",
            "add this PDF to the papers",
            "ingest a new article",
            "put a PDF into the corpus",
        ),
        room="papers",
        title="Add a paper",
        description=(
            "Adds one paper to the corpus: identifier (DOI, arXiv id), markdown or pdf_base64. "
            "Answers with its paper_id; "
            "is_new false means the corpus had it and now knows more of it."
        ),
        question=AddPaper,
        answer=PaperAdded,
        run=add_paper,
        scopes=WRITE_SCOPES,
        effect=Effect.WRITES,
        is_idempotent=True,
        reaches_outside=True,
        cost=5.0,
        command="add",
        timeout_seconds=300.0,
    )
