"""The references room as the catalogue shows it: every tool described once."""

from __future__ import annotations

from carrel.core.answer import Job, Text
from carrel.core.caller import Call
from carrel.core.catalogue import Room
from carrel.core.operation import Effect, Operation
from carrel.rooms.references import ROOM
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
    Fulltext,
    GetFulltext,
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
    resources,
)
from carrel.rooms.references.service import ReferencesRoom

WRITE = frozenset({"references:write"})


def room(service: ReferencesRoom) -> Room:
    """The room over one service."""

    async def search(question: SearchReferences, call: Call) -> References:
        return await service.with_notices(
            await service.search(question.query, call, page=question.page, limit=question.limit),
            call,
        )

    async def list_all(question: ListReferences, call: Call) -> References:
        return await service.with_notices(
            await service.everything(
                call, form=question.format, page=question.page, limit=question.limit
            ),
            call,
        )

    async def add(question: AddReferences, call: Call) -> AddedReferences | Job:
        added = await service.add(question.input, call)
        return added if isinstance(added, Job) else await service.with_notices(added, call)

    async def remove(question: RemoveReference, call: Call) -> RemovedReference:
        removed = await service.remove(question.id, call, is_forced=question.force)
        return await service.with_notices(RemovedReference(removed=removed), call)

    async def edit(question: EditReference, call: Call) -> OneReference:
        edited = await service.edit(question.id, question.changes, call)
        return await service.with_notices(OneReference(reference=edited), call)

    async def cite(question: CiteReferences, call: Call) -> Citations:
        return await service.with_notices(await service.cite(question, call), call)

    async def export(question: ExportReferences, call: Call) -> Text:
        return Text(
            await service.export(question.format, question.query, call, lossless=question.lossless)
        )

    async def attach(question: AttachFulltext, call: Call) -> AttachedFile:
        return await service.with_notices(
            await service.attach(question.id, question.path, call), call
        )

    async def full_text(question: GetFulltext, call: Call) -> Fulltext:
        return await service.with_notices(
            await service.full_text(
                question.id, call, offset=question.offset, max_chars=question.max_chars
            ),
            call,
        )

    async def detach(question: DetachFulltext, call: Call) -> DetachedFiles:
        return await service.with_notices(await service.detach(question.id, call), call)

    return Room(
        ROOM,
        operations=(
            Operation(
                name="search_references",
                phrases=(
                    "find a reference in my library",
                    "look up an entry in my bibliography",
                    "do I have a reference by this author",
                    "do I already have this paper in my library",
                    "is this in my library",
                    "find … in my library",
                    "do I have … in my bibliography",
                    "search my reference library for …",
                ),
                name_alone="search",
                room="references",
                title="Search references",
                description=(
                    'Find references in the library: all words must match; "phrases"; fields id: '
                    "author: title: year: doi: pmid: "
                    "isbn: url: keyword: tag: type:."
                ),
                question=SearchReferences,
                answer=References,
                run=search,
                quotes=quoted_references,
                scopes=READ,
                command="search",
            ),
            Operation(
                name="list_references",
                phrases=(
                    "list all references",
                    "show my whole library",
                    "what is in my bibliography",
                    "everything in my library",
                    "which references do I have",
                    "browse my library",
                ),
                name_alone="list",
                room="references",
                title="List references",
                description="All references, page by page, as CSL-JSON, BibTeX or readable lines.",
                question=ListReferences,
                answer=References,
                run=list_all,
                quotes=quoted_references,
                scopes=READ,
                command="list",
            ),
            Operation(
                name="add_references",
                phrases=(
                    "add a reference by DOI",
                    "import a BibTeX or RIS file into my library",
                    "import a bib file into my references",
                    "save this citation to my library",
                    "add a PMID",
                    "add a book by ISBN",
                    "put this DOI in my library",
                    "add … to my bibliography",
                    "new entry in the reference library",
                ),
                name_alone="add",
                room="references",
                title="Add references",
                description=(
                    "Add works by DOI, PMID, PMCID, arXiv id, ISBN or paper_id, or from BibTeX, "
                    "RIS, NBIB, PubMed or EndNote XML, "
                    "CSL-JSON. Answers what was added, skipped as a duplicate, and failed; slow "
                    "look-ups go on as job_id."
                ),
                question=AddReferences,
                answer=AddedReferences,
                run=add,
                quotes=quoted_additions,
                scopes=WRITE,
                effect=Effect.WRITES,
                reaches_outside=True,
                is_idempotent=True,
                timeout_seconds=120.0,
                command="add",
                may_outlast_call=True,
            ),
            Operation(
                name="remove_reference",
                phrases=(
                    "delete a reference",
                    "remove an entry from my library",
                    "remove … from my library",
                    "delete a duplicate reference",
                ),
                name_alone="remove",
                room="references",
                title="Remove a reference",
                description="Remove a reference for good. Needs force: true.",
                question=RemoveReference,
                answer=RemovedReference,
                run=remove,
                quotes=quoted_references,
                scopes=WRITE,
                effect=Effect.DESTROYS,
                command="remove",
            ),
            Operation(
                name="edit_reference",
                phrases=(
                    "correct a reference",
                    "change the title or year of a library entry",
                    "fix a typo in a reference",
                    "update a field of a reference",
                    "author of a reference is misspelt",
                    "wrong year in a reference",
                ),
                is_listed=False,
                name_alone="edit",
                room="references",
                title="Edit a reference",
                description="Change or remove fields of one reference.",
                question=EditReference,
                answer=OneReference,
                run=edit,
                quotes=quoted_references,
                scopes=WRITE,
                effect=Effect.WRITES,
                is_idempotent=True,
                command="edit",
            ),
            Operation(
                name="cite_references",
                phrases=(
                    "cite a reference",
                    "format a citation in APA",
                    "make a bibliography in Vancouver style",
                    "in-text citation",
                    "write a reference list",
                    "formatted bibliography",
                    "turn references into a formatted list",
                    "put a reference into a style",
                    "cite … in APA style",
                    "Harvard, Chicago or IEEE style",
                    "how do I cite this",
                ),
                name_alone="cite",
                room="references",
                title="Cite references",
                description="Bibliography or in-text citation of references in any CSL style, as "
                "text or HTML.",
                question=CiteReferences,
                answer=Citations,
                run=cite,
                quotes=quoted_by_ids,
                scopes=READ,
                command="cite",
            ),
            Operation(
                name="export_references",
                phrases=(
                    "export my library",
                    "write my references to BibTeX",
                    "save the bibliography as RIS",
                    "download my references",
                    "all my references as a bib file",
                    "open my library in EndNote, Zotero or another program",
                    "library as BibTeX, RIS or CSL-JSON",
                    "dump my bibliography so that Zotero can read it",
                ),
                name_alone="export",
                room="references",
                title="Export references",
                description="References as BibTeX, BibLaTeX, RIS or CSL-JSON text.",
                question=ExportReferences,
                answer=Text,
                run=export,
                quotes=quoted_library,
                scopes=READ,
                command="export",
            ),
            Operation(
                name="attach_fulltext",
                phrases=(
                    "attach a PDF to a reference",
                    "link a file to a library entry",
                    "keep the full text of a reference",
                    "store the full text with a reference",
                    "add a PDF to a library entry",
                ),
                name_alone="fulltext_attach",
                room="references",
                title="Attach a full text",
                description="Attach a PDF or Markdown file to a reference; it is copied beside "
                "the library.",
                question=AttachFulltext,
                answer=AttachedFile,
                run=attach,
                scopes=WRITE,
                effect=Effect.WRITES,
                command="attach",
            ),
            Operation(
                name="get_fulltext",
                phrases=(
                    "open the attached PDF",
                    "read the full text of a reference",
                    "read an attached file",
                    "show the full text of a reference",
                    "read the PDF of a library entry",
                ),
                name_alone="fulltext_get",
                room="references",
                title="Get a full text",
                description="The full text of a reference: a PDF by its path, Markdown by its "
                "text; max_chars limits it, offset reads on.",
                question=GetFulltext,
                answer=Fulltext,
                run=full_text,
                quotes=quoted_fulltext,
                scopes=READ,
                command="fulltext",
            ),
            Operation(
                name="detach_fulltext",
                phrases=(
                    "remove the attached file",
                    "detach a PDF from a reference",
                    "take off the wrong file",
                    "the attached file is wrong",
                    "remove the attached PDF from a reference",
                    "unlink a file from a reference",
                    "detach the full text",
                ),
                name_alone="fulltext_detach",
                room="references",
                title="Detach a full text",
                description="Detach the full text of a reference; only a copy that was made by "
                "attaching is deleted.",
                question=DetachFulltext,
                answer=DetachedFiles,
                run=detach,
                scopes=WRITE,
                effect=Effect.DESTROYS,
                command="detach",
            ),
        ),
        resources=resources(service),
        jobs=service.additions.jobs,
    )
