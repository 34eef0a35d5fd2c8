"""What can go wrong in the references room, each with a code that never changes."""

from __future__ import annotations

from collections.abc import Sequence

from carrel.core.errors import (
    CarrelError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
    UnavailableError,
)


class ReferenceNotFoundError(NotFoundError):
    """No reference of that id is in the library; ids that are like it are named."""

    def __init__(self, reference_id: str, nearest: Sequence[str] = ()) -> None:
        super().__init__(
            "Reference",
            reference_id,
            next_step=_find_step(nearest),
            details={"nearest": list(nearest)} if nearest else None,
        )


class ReferencesNotFoundError(CarrelError):
    """Some of the ids that were asked for are not in the library; all of them are named."""

    code = "resource_not_found"

    def __init__(self, missing: list[str], nearest: Sequence[str] = ()) -> None:
        details = {"resource_type": "Reference", "resource_id": missing[0], "missing": missing}
        super().__init__(
            f"Reference not found: {', '.join(missing)}",
            next_step=_find_step(nearest),
            details=details | ({"nearest": list(nearest)} if nearest else {}),
        )


def _find_step(nearest: Sequence[str]) -> str:
    near = f"The nearest: {', '.join(map(repr, nearest))}. " if nearest else ""
    return f"{near}Find the id with search_references."


class ReferenceChangedError(ConflictError):
    """The reference is not what the editor was given: somebody changed it since."""

    def __init__(self, reference_id: str, version: str) -> None:
        super().__init__(
            f"{reference_id} was changed by somebody else since it was opened",
            next_step="Look at what it says now, and save again with its version.",
            details={"id": reference_id, "version": version},
        )


class ChangeNotUndoableError(ConflictError):
    """A change cannot be undone: its references were changed since, or their texts are gone."""

    def __init__(self, revision: int, ids: Sequence[str], reason: str) -> None:
        named = ", ".join(ids[:5]) + (f" and {len(ids) - 5} more" if len(ids) > 5 else "")
        super().__init__(
            f"Change {revision} cannot be undone: {named} {reason}",
            next_step="Undo the later changes first, or restore one reference by its id.",
            details={"revision": revision, "ids": list(ids[:100])},
        )


class ForceRequiredError(InvalidInputError):
    """Removing needs a yes."""

    def __init__(self, reference_id: str) -> None:
        super().__init__(
            f"Removing {reference_id} needs force: true",
            next_step="Call again with force: true if it should really be removed.",
            details={"id": reference_id},
        )


class LibraryUnreadableError(UnavailableError):
    """The library file is not what it should be; nothing was changed."""

    code = "library_unavailable"

    def __init__(self, reason: str, newest_version: int | None = None, folder: str = "") -> None:
        restore = (
            ""
            if newest_version is None
            else f"`carrel doctor --fix` or `carrel references restore --version {newest_version}` "
            f"moves it aside and puts back the newest version of those kept in {folder} beside it; "
        )
        super().__init__(
            f"The library cannot be used: {reason}",
            next_step=f"{restore}or mend the file; nothing was changed."
            if restore
            else "Mend the file, or restore a backup with `carrel restore`; nothing was changed.",
            details={"reason": reason},
        )


class LibraryDiskFullError(UnavailableError):
    """There is no space left beside the library; nothing was changed."""

    code = "library_unavailable"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The library cannot be used: {reason}",
            next_step="Free some space where the library is, then try again; nothing was changed.",
            details={"reason": reason},
        )


class LibraryClosedError(UnavailableError):
    """The rights on the library's file or folder refuse it; nothing was changed."""

    code = "library_unavailable"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The library cannot be used: {reason}",
            next_step="Give the account that runs Carrel the right to it, or name another library; "
            "nothing was changed.",
            details={"reason": reason},
        )


class LibraryHalfChangedError(UnavailableError):
    """Something failed after the library file had begun to change."""

    code = "library_unavailable"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The library may have been changed, but the change could not be finished: {reason}",
            next_step="Look whether the change is there before repeating it; what was there "
            "before is in the folder of backups.",
            details={"reason": reason, "may_have_changed": True},
        )


class StyleNotFoundError(CarrelError):
    """No citation style of that name is known."""

    code = "style_not_found"

    def __init__(self, style: str, similar: list[str]) -> None:
        super().__init__(
            f"There is no citation style called {style}",
            next_step=f"Use one of: {', '.join(similar)}; library://styles lists all."
            if similar
            else "library://styles lists all.",
            details={"style": style, "similar": similar},
        )


class CitationFailedError(CarrelError):
    """The style or an item is broken; says which and where."""

    code = "citation_failed"


class FullTextNotAvailableError(CarrelError):
    """The reference has no full text attached, or its file is gone."""

    code = "fulltext_not_available"

    def __init__(self, reference_id: str, reason: str) -> None:
        super().__init__(
            f"{reference_id} has no full text: {reason}",
            next_step="Attach one first.",
            details={"id": reference_id},
        )


class FullTextExistsError(ConflictError):
    """A full text of that kind is attached already."""

    def __init__(self, reference_id: str, role: str) -> None:
        super().__init__(
            f"{reference_id} already has a {role} attached",
            next_step="Detach it first.",
            details={"id": reference_id, "role": role},
        )


class PathNotAllowedError(CarrelError):
    """A path outside the folders that may be read over this door."""

    code = "permission_denied"

    def __init__(self) -> None:
        super().__init__(
            "Files may be read over HTTP only from folders named in references.allowed_folders",
            next_step="Name the folder in the settings, or use the command line.",
        )


class NotRecognisedError(InvalidInputError):
    """An element of an input that is nothing which can be added."""

    def __init__(
        self,
        problem: str = "It is no identifier, bibliography, paper_id or file that can be read here",
    ) -> None:
        super().__init__(
            problem,
            next_step="Send a DOI, PMID, PMCID, arXiv id, ISBN or paper_id, or a bibliography as "
            "text.",
        )


class FileNotUsableError(InvalidInputError):
    """A path that names no file of a kind that is taken."""


class AttachmentNotFoundError(NotFoundError):
    """The reference has no file of that name, or it is gone."""

    def __init__(self, reference_id: str, name: str, *, is_gone: bool = False) -> None:
        super().__init__(
            "Attachment",
            f"{name} of {reference_id}",
            next_step="The file is gone; detach_file takes its name off the reference."
            if is_gone
            else "list_attachments names the files of a reference.",
            details={"id": reference_id, "name": name},
        )


class KeyTakenError(ConflictError):
    """Another reference has the key, or had it before."""

    def __init__(self, key: str, holder: str) -> None:
        had = "is taken" if key == holder else f"leads to {holder}"
        super().__init__(
            f"The key {key} {had}",
            next_step="Choose another key.",
            details={"key": key, "holder": holder},
        )
