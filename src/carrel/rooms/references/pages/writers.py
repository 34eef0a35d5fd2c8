"""Pages that are only for those who may change the library."""

from __future__ import annotations

from carrel.core.errors import InsufficientPermissionsError
from carrel.core.pages import PageRequest
from carrel.rooms.references.operations import WRITE


def require_writer(request: PageRequest) -> None:
    """Raises InsufficientPermissionsError before a form is shown that could not be sent."""
    if not request.caller.scopes >= WRITE:
        raise InsufficientPermissionsError(WRITE, request.caller.scopes)
