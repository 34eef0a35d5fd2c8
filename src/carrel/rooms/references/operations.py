"""The operations of the references room."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from carrel.core.answer import Explained, Job, Text
from carrel.core.caller import Call
from carrel.core.decorators import operation
from carrel.core.note_links import NoNotes, NotesAbout, find_notes
from carrel.core.operation import Effect
from carrel.core.paging import explain_past_end
from carrel.rooms.references.models import (
    AddedReferences,
    AddReferences,
    AttachedFile,
    AttachFulltext,
    Citations,
    CiteReferences,
    DetachedFiles,
    DetachFulltext,
    EditReference,
    ExportReferences,
    FoundStyles,
    Fulltext,
    GetFulltext,
    GetReference,
    ListCitationStyles,
    ListReferences,
    OneReference,
    References,
    RemovedReference,
    RemoveReference,
    SearchReferences,
)
from carrel.rooms.references.resources import (
    READ,
    quoted_additions,
    quoted_by_ids,
    quoted_fulltext,
    quoted_library,
    quoted_references,
)
from carrel.rooms.references.service import ReferencesRoom

WRITE = frozenset({"references:write"})


class ReferencesOperations:
    """The operations of the references room, over its service."""

    def __init__(self, references: ReferencesRoom, notes: NotesAbout | None = None) -> None:
        self._references = references
        self._notes = notes or NoNotes()

    @operation(
        title="Search references",
        description=(
            'Find references in the library, best first: all words must match; "phrases", OR, '
            "-word; fields id: author: title: year: venue: doi: pmid: isbn: url: keyword: tag: "
            "type: has:."
        ),
        scopes=READ,
        quotes=quoted_references,
        command="search",
        next_command="carrel references cite ID cites one.",
        name_alone="search",
        phrases=(
            "find a reference in my library; look up an entry in my bibliography; do I have a "
            "reference by this author; do I already have this paper in my library; is this in my "
            "library; find … in my library; do I have … in my bibliography; search my reference "
            "library for …; is … already in my library; references with a tag; which entries of "
            "my bibliography have …; look up a reference by author and year"
        ),
    )
    async def search_references(
        self, question: SearchReferences, call: Call
    ) -> References | Explained:
        found = await self._references.search(question, call)
        return found if isinstance(found, Explained) else await self._with_notes(found, call)

    @operation(
        title="List references",
        description="All references, page by page, as CSL-JSON, BibTeX or readable lines.",
        scopes=READ,
        quotes=quoted_references,
        command="list",
        name_alone="list",
        phrases=(
            "list all references; show my whole library; what is in my bibliography; everything "
            "in my library; which references do I have; browse my library; go through my library "
            "page by page; list my bibliography"
        ),
    )
    async def list_references(self, question: ListReferences, call: Call) -> References | Explained:
        found = await self._with_notes(await self._references.list_page(question, call), call)
        if question.page > 1 and (question.page - 1) * question.limit >= found.total:
            past = explain_past_end(question.page, question.limit, found.total, "references")
            return Explained(found, past)
        return found

    @operation(
        title="Add references",
        description=(
            "Add works by DOI, PMID, PMCID, arXiv id, ISBN or paper_id, or from BibTeX, RIS, "
            "NBIB, PubMed or EndNote XML, CSL-JSON. Answers what was added, skipped as a "
            "duplicate, and failed; slow look-ups go on as job_id."
        ),
        scopes=WRITE,
        effect=Effect.WRITES,
        is_idempotent=True,
        reaches_outside=True,
        timeout_seconds=120.0,
        quotes=quoted_additions,
        command="add",
        next_command=(
            "carrel references cite ID --style vancouver cites one, carrel references export "
            "writes a bibliography."
        ),
        name_alone="add",
        phrases=(
            "add a reference by DOI; import a BibTeX or RIS file into my library; import a bib "
            "file into my references; save this citation to my library; add a PMID; add a book by "
            "ISBN; put this DOI in my library; add … to my bibliography; new entry in the "
            "reference library; store a DOI in my reference manager; import my Zotero library; "
            "import from EndNote or Mendeley; save a reference; load a bibliography"
        ),
    )
    async def add_references(self, question: AddReferences, call: Call) -> AddedReferences | Job:
        return await self._references.add(question, call)

    @operation(
        title="Remove a reference",
        description="Remove a reference for good. Needs force: true.",
        scopes=WRITE,
        effect=Effect.DESTROYS,
        quotes=quoted_references,
        command="remove",
        name_alone="remove",
        phrases=(
            "delete a reference; remove an entry from my library; remove … from my library; "
            "delete a duplicate reference; throw an entry out of my bibliography; get rid of a "
            "reference"
        ),
    )
    async def remove_reference(self, question: RemoveReference, call: Call) -> RemovedReference:
        return await self._references.remove(question, call)

    @operation(
        title="Get a reference",
        description="One reference with all its fields, and the notes about it.",
        scopes=READ,
        quotes=quoted_references,
        command="show",
        name_alone="get",
        is_listed=False,
        phrases=(
            "show one reference with all its fields; details of a library entry; look at the "
            "entry with this key; what is stored about a reference; all fields of a library "
            "entry; everything stored about an entry; show the entry with this key"
        ),
    )
    async def get_reference(self, question: GetReference, call: Call) -> OneReference:
        found = await self._references.get(question, call)
        notes = await find_notes(self._notes, _link_targets(found.reference), call.caller)
        return found.model_copy(update={"notes": notes})

    @operation(
        title="Edit a reference",
        description="Change or remove fields of one reference.",
        scopes=WRITE,
        effect=Effect.WRITES,
        is_idempotent=True,
        quotes=quoted_references,
        command="edit",
        name_alone="edit",
        is_listed=False,
        phrases=(
            "correct a reference; change the title, year or journal name of a library entry; "
            "change the journal of a reference; fix a typo in a reference; update a field of a "
            "reference; author of a reference is misspelt; wrong year in a reference; tag a "
            "reference; set a field of a library entry; change the citation key of a reference; "
            "rename a key; missing volume or pages of an entry; set the publisher of a reference; "
            "complete a bibliography entry"
        ),
    )
    async def edit_reference(self, question: EditReference, call: Call) -> OneReference:
        return await self._references.edit(question, call)

    @operation(
        title="Cite references",
        description=(
            "Bibliography or in-text citation of references or papers in any CSL style, as text "
            "or HTML; in-text with places such as pages."
        ),
        scopes=READ,
        quotes=quoted_by_ids,
        command="cite",
        name_alone="cite",
        phrases=(
            "cite a reference; format a citation in APA; make a bibliography in Vancouver style; "
            "in-text citation; write a reference list; formatted bibliography; turn references "
            "into a formatted list; put a reference into a style; cite … in APA style; Harvard, "
            "Chicago or IEEE style; how do I cite this; cite a page of a work; cite a paper of "
            "the corpus; format these in APA; bibliography for my manuscript; in-text citation "
            "with a page number; reference list for my thesis; cite this in the text"
        ),
    )
    async def cite_references(self, question: CiteReferences, call: Call) -> Citations:
        return await self._references.cite(question, call)

    @operation(
        title="List citation styles",
        description=(
            "Citation styles by words of names and fields of science, by format, parent or field."
        ),
        scopes=READ,
        command="styles",
        name_alone="styles",
        is_listed=False,
        phrases=(
            "which citation styles are there; find the style of a journal; list CSL styles; name "
            "of a citation style; does it know the style of a journal; which formatting styles "
            "can I choose; is there a style for …; available styles"
        ),
    )
    async def list_citation_styles(self, question: ListCitationStyles, call: Call) -> FoundStyles:
        return await self._references.list_styles(question)

    @operation(
        title="Export references",
        description="References as BibTeX, BibLaTeX, RIS or CSL-JSON text.",
        scopes=READ,
        timeout_seconds=120.0,
        quotes=quoted_library,
        command="export",
        name_alone="export",
        is_listed=False,
        phrases=(
            "export my library; write my references to BibTeX; save the bibliography as RIS; "
            "download my references; all my references as a bib file; open my library in EndNote, "
            "Zotero or another program; library as BibTeX, RIS or CSL-JSON; dump my bibliography "
            "so that Zotero can read it; get my library into EndNote; move my references to "
            "another program"
        ),
    )
    async def export_references(self, question: ExportReferences, call: Call) -> Text:
        return await self._references.export(question, call)

    @operation(
        title="Attach a full text",
        description=(
            "Attach a PDF or Markdown file to a reference; it is copied beside the library."
        ),
        scopes=WRITE,
        effect=Effect.WRITES,
        command="attach",
        next_command="carrel references fulltext ID reads it back.",
        name_alone="fulltext_attach",
        phrases=(
            "attach a PDF to a reference; link a file to a library entry; keep the full text of a "
            "reference; store the full text with a reference; add a PDF to a library entry; add "
            "the PDF to a reference; put a file with a library entry"
        ),
    )
    async def attach_fulltext(self, question: AttachFulltext, call: Call) -> AttachedFile:
        return await self._references.attach(question, call)

    @operation(
        title="Get a full text",
        description=(
            "The full text of a reference: a PDF by its path, Markdown by its text, else that of "
            "its paper in the corpus; max_chars limits it, offset reads on."
        ),
        scopes=READ,
        quotes=quoted_fulltext,
        command="fulltext",
        name_alone="fulltext_get",
        phrases=(
            "open the attached PDF; read the full text of a reference; read an attached file; "
            "show the full text of a reference; read the PDF of a library entry; open the file of "
            "a library entry; what does the attached PDF say"
        ),
    )
    async def get_fulltext(self, question: GetFulltext, call: Call) -> Fulltext:
        return await self._references.get_fulltext(question, call)

    @operation(
        title="Detach a full text",
        description=(
            "Detach the full text of a reference; only a copy that was made by attaching is "
            "deleted."
        ),
        scopes=WRITE,
        effect=Effect.DESTROYS,
        command="detach",
        name_alone="fulltext_detach",
        phrases=(
            "remove the attached file; detach a PDF from a reference; take off the wrong file; "
            "the attached file is wrong; remove the attached PDF from a reference; unlink a file "
            "from a reference; detach the full text; wrong PDF on a reference; take the wrong PDF "
            "off an entry"
        ),
    )
    async def detach_fulltext(self, question: DetachFulltext, call: Call) -> DetachedFiles:
        return await self._references.detach(question, call)

    async def _with_notes(self, answer: References, call: Call) -> References:
        """The answer with the notes about its references, asked for together first."""
        targets = {str(item.get("id", "")): _link_targets(item) for item in answer.references or []}
        every = [target for each in targets.values() for target in each]
        if not every or not await find_notes(self._notes, every, call.caller):
            return answer
        found = {
            reference_id: await find_notes(self._notes, each, call.caller)
            for reference_id, each in targets.items()
        }
        about = {reference_id: notes for reference_id, notes in found.items() if notes}
        return answer.model_copy(update={"notes": about})


def _link_targets(item: Mapping[str, Any]) -> list[str]:
    """What a note links to that means this reference: its id or its DOI."""
    doi = item.get("DOI")
    own = [f"ref:{item.get('id', '')}"]
    return [*own, f"doi:{doi}"] if isinstance(doi, str) and doi else own
