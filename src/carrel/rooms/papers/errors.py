"""What can go wrong in the papers room, each with a code that never changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from carrel.core.errors import (
    CarrelError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
    UnavailableError,
)

_MOST_SECTIONS = 40

AssetTrouble = Literal["not_found", "timed_out", "unreadable"]

_TROUBLE_SENTENCES: dict[AssetTrouble, str] = {
    "not_found": "is listed in the snapshot but its file is missing",
    "timed_out": "did not arrive in time",
    "unreadable": "could not be read",
}


# Of a desk that has none; at the command line, the commands stand in it.
NO_PAPERS_YET = "There are no papers yet: add_paper adds the first."


class PaperNotFoundError(NotFoundError):
    """No paper of that name is in the snapshot; `is_identifier` says that it names a work."""

    code = "paper_not_found"

    def __init__(
        self, paper_id: str, *, is_identifier: bool = False, is_corpus_empty: bool = False
    ) -> None:
        if is_corpus_empty:
            next_step = NO_PAPERS_YET
        elif is_identifier:
            next_step = (
                "The corpus has no paper with this identifier: add it with add_paper "
                "(identifier), or look for another version with search_papers."
            )
        else:
            next_step = "Find the paper_id with search_papers."
        super().__init__("paper", paper_id, next_step=next_step, details={"paper_id": paper_id})


class EmptyMapError(ConflictError):
    """No paper of the corpus has words that another one has, so that none can be placed."""

    def __init__(self) -> None:
        super().__init__(
            "There is nothing to draw a map of: no two papers share a word",
            next_step="Add papers first; titles alone are enough for a map.",
        )


class MapTileNotFoundError(NotFoundError):
    """The map has no such tile, or has been drawn again meanwhile."""

    def __init__(self, tile: str) -> None:
        super().__init__("map tile", tile, next_step="Ask get_paper_map which tiles there are.")


class PassageNotFoundError(NotFoundError):
    """The paper's text has no passage of that id, or has it no longer."""

    code = "passage_not_found"

    def __init__(self, passage_id: str) -> None:
        super().__init__(
            "passage",
            passage_id,
            next_step="Find it again with find_passages, or with locate_quote by its words: a "
            "passage whose own words change gets another id.",
            details={"passage_id": passage_id},
        )


class SectionNotFoundError(NotFoundError):
    """The paper's text has no section of that heading or number."""

    code = "section_not_found"

    def __init__(self, paper_id: str, section: str, sections: Sequence[str]) -> None:
        named = ", ".join(sections[:_MOST_SECTIONS])
        super().__init__(
            "section",
            section,
            next_step=f"Call again with one of: {named}."
            if sections
            else "The text has no headings: read on with offset.",
            details={"paper_id": paper_id, "sections": list(sections[:_MOST_SECTIONS])},
        )


class PartNotFoundError(NotFoundError):
    """The paper's text has fewer parts."""

    code = "part_not_found"

    def __init__(self, paper_id: str, part: int, parts: int) -> None:
        super().__init__(
            "part",
            str(part),
            next_step=f"The text has {parts:,} parts: call again with one of them.",
            details={"paper_id": paper_id, "parts": parts},
        )


class PageNotFoundError(NotFoundError):
    """The paper's PDF has no such page, or no PDF of the paper is kept."""

    code = "page_not_found"

    def __init__(self, paper_id: str, page: int, pages: int) -> None:
        super().__init__(
            "page",
            str(page),
            next_step=f"The PDF has {pages:,} pages: call again with one of them."
            if pages
            else "No PDF of this paper is kept; read its text with get_paper_source.",
            details={"paper_id": paper_id, "pages": pages},
        )


class PageNotDrawnError(CarrelError):
    """A page of the PDF cannot be drawn."""

    code = "page_not_drawn"

    def __init__(self, paper_id: str, page: int) -> None:
        super().__init__(
            f"Page {page} of the PDF cannot be drawn",
            next_step="Read the text of the paper with get_paper_source.",
            details={"paper_id": paper_id, "page": page},
        )


class FigureNotFoundError(NotFoundError):
    """The paper has no figure or table of that label or number, as far as is known."""

    code = "figure_not_found"

    def __init__(self, paper_id: str, figure: str, figures: Sequence[str]) -> None:
        named = ", ".join(figures[:_MOST_SECTIONS])
        super().__init__(
            "figure",
            figure,
            next_step=f"Call again with one of: {named}."
            if figures
            else "No figure of this paper is known; read its text with get_paper_source.",
            details={"paper_id": paper_id, "figures": list(figures[:_MOST_SECTIONS])},
        )


class TemplateNotAvailableError(CarrelError):
    """The paper has no summary of that template."""

    code = "template_not_available"

    def __init__(self, paper_id: str, template: str, available: Sequence[str]) -> None:
        super().__init__(
            f"Paper {paper_id} has no summary '{template}'."
            if template
            else f"Paper {paper_id} has no summary.",
            next_step=f"Call again with one of: {', '.join(available)}."
            if available
            else "Read get_paper_metadata or get_paper_source.",
            details={
                "paper_id": paper_id,
                "template": template,
                "available_summary_templates": list(available),
            },
        )


class SourceNotAvailableError(CarrelError):
    """The paper is known but its full text is not."""

    code = "source_not_available"

    def __init__(self, paper_id: str) -> None:
        super().__init__(
            f"The source text of paper {paper_id} is not available.",
            next_step="Read its summary with get_paper_summary.",
            details={"paper_id": paper_id},
        )


class TranslationNotAvailableError(CarrelError):
    """The paper has no translation into that language."""

    code = "translation_not_available"

    def __init__(self, paper_id: str, language: str, available: Sequence[str]) -> None:
        super().__init__(
            f"Paper {paper_id} has no translation '{language}'.",
            next_step=f"Translations: {', '.join(available)}."
            if available
            else f"Read paper://{paper_id}/source.",
            details={
                "paper_id": paper_id,
                "lang": language,
                "available_translations": list(available),
            },
        )


class AssetFetchFailedError(CarrelError):
    """A text that the snapshot promises cannot be had now. Never says where it was looked for."""

    code = "asset_fetch_failed"
    is_retryable = True

    def __init__(
        self, paper_id: str, what: str, trouble: AssetTrouble, *, template: str | None = None
    ) -> None:
        details: dict[str, object] = {"paper_id": paper_id, "reason": trouble}
        if template is not None:
            details["template"] = template
        super().__init__(
            f"The {what} of paper {paper_id} {_TROUBLE_SENTENCES[trouble]}.",
            next_step="Try again later; if it stays so, the operator should check the static "
            "files with `carrel doctor`.",
            details=details,
        )


class SnapshotUnavailableError(UnavailableError):
    """The snapshot is missing, damaged, or not a paper snapshot."""

    code = "snapshot_unavailable"

    def __init__(
        self, reason: str, *, missing: str | None = None, next_step: str | None = None
    ) -> None:
        details: dict[str, object] = {"reason": reason}
        if missing is not None:
            details["missing"] = missing
        super().__init__(
            f"The paper snapshot cannot be used: {reason}.",
            next_step=next_step
            or "`carrel papers build FOLDER` makes one; --snapshot or the setting "
            "papers.snapshot names another.",
            details=details,
        )


class DamagedCorpusError(SnapshotUnavailableError):
    """Files of the corpus are there and are not what was written."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} is damaged",
            next_step="`carrel restore BACKUP --force` gives back a backup. Without one, `carrel "
            "doctor --fix` moves a corpus aside that cannot be read (one that only cannot be "
            "changed, move aside by hand: the folder `papers` of the home), then `carrel papers "
            "build FOLDER` makes the papers again from the folders they came from.",
        )


class BuildInProgressError(ConflictError):
    """Another build is writing into the same folder."""

    def __init__(self) -> None:
        super().__init__(
            "Another build is working on this corpus.",
            next_step="Wait until it has ended, then start again.",
        )


class NewerBuildStateError(ConflictError):
    """The memory of earlier builds is of a newer version than this product knows."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"{reason}.",
            next_step="Build with the newer Carrel, or into another folder; nothing was changed.",
        )


class NothingToBuildError(InvalidInputError):
    """None of the sources that were named exists."""

    def __init__(self, sources: list[str]) -> None:
        super().__init__(
            "None of the sources exists.",
            next_step="Name files or folders that exist; nothing was changed.",
            details={"sources": sources},
        )


class PaperNotAddedError(CarrelError):
    """What was sent could not be made into a paper."""

    code = "paper_not_added"


class ReviewNotAvailableError(CarrelError):
    """The corpus is a snapshot, which does not say what is doubtful."""

    code = "review_not_available"

    def __init__(self) -> None:
        super().__init__(
            "This corpus is a snapshot, which does not say where its fields come from.",
            next_step="Build the corpus with carrel papers build FOLDER; then it can be reviewed.",
        )


class PathNotAllowedError(CarrelError):
    """A path outside the folders that may be read over this door."""

    code = "permission_denied"

    def __init__(self) -> None:
        super().__init__(
            "Files may be added over HTTP only from folders named in papers.allowed_folders",
            next_step="Upload the file (POST /uploads) and send its upload_id, name the folder in "
            "the settings, or use the command line.",
            details={"setting": "papers.allowed_folders"},
        )


class ForeignSnapshotError(ConflictError):
    """The folder holds a snapshot that was built elsewhere."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The folder holds a {name} that Carrel did not build.",
            next_step="Build into another folder; the snapshot there was left as it is.",
        )


class PaperChangedError(ConflictError):
    """Somebody else changed the paper since the caller looked at it."""

    code = "paper_changed"

    def __init__(self, paper_id: str, expected: str, version: str) -> None:
        super().__init__(
            f"Paper {paper_id} has changed since version {expected}; nothing was done.",
            next_step="Look at it with paper_history and call again with its version.",
            details={"paper_id": paper_id, "expected_version": expected, "version": version},
        )


class DecisionNotFoundError(NotFoundError):
    """No decision of that number, or none that can be undone."""

    code = "decision_not_found"

    def __init__(self, number: str) -> None:
        super().__init__(
            "decision", number, next_step="paper_history lists what can be undone, with numbers."
        )


class CitationsUnknownError(CarrelError):
    """No reference list is known that a question needs: of the whole corpus, or `of_papers`."""

    code = "citations_unknown"

    def __init__(self, papers: int, of_papers: Sequence[str] = ()) -> None:
        if of_papers:
            super().__init__(
                "What this paper cites is not known."
                if len(of_papers) == 1
                else f"What these {len(of_papers):,} papers cite is not known.",
                next_step="Add its PDF or JATS file with its references, or ask with "
                "by=co-citation, which needs only the lists of others.",
                details={"papers": papers, "paper_ids": list(of_papers)},
            )
            return
        if not papers:
            super().__init__(
                "There are no papers yet, and so no reference lists.",
                next_step="add_paper adds the first.",
                details={"papers": 0},
            )
            return
        super().__init__(
            f"None of the {papers:,} papers of this corpus has a known reference list.",
            next_step="Build it with `carrel papers build FOLDER` from JATS, PDF or Markdown files "
            "with their references; records alone have none.",
            details={"papers": papers},
        )


class ReadOnlyCorpusError(ConflictError):
    """The corpus was built elsewhere, so that nothing here knows what its papers are made of."""

    code = "read_only_corpus"

    def __init__(self) -> None:
        super().__init__(
            "This corpus was built elsewhere and can only be read: its papers cannot be corrected.",
            next_step="Correct it where it is built, or build one of your own with carrel papers "
            "build FOLDER.",
        )


class PapersElsewhereError(ConflictError):
    """This server only reads the papers, which another one keeps."""

    code = "read_only_corpus"

    def __init__(self) -> None:
        super().__init__(
            "This server reads its papers from a cluster (papers.store = elasticsearch) and keeps "
            "no corpus: papers cannot be added, corrected or reviewed here.",
            next_step="Ask the server that keeps the corpus; what it adds is found here as soon as "
            "the cluster follows.",
            details={"setting": "papers.store"},
        )

    def again(self) -> PapersElsewhereError:
        """A new one: an exception that is raised twice carries both tracebacks."""
        return PapersElsewhereError()
