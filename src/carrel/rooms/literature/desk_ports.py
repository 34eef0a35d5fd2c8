"""What the literature room needs from the rest of the desk: corpus and libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from carrel.core.caller import Caller
from carrel.libraries.works.work import Work


@dataclass(frozen=True, slots=True)
class NamedWork:
    """A paper of the corpus, as linkage compares it."""

    paper_id: str
    work: Work


class DeskCorpus(Protocol):
    """The papers of the corpus; one without papers knows none, which is no fault."""

    async def find_by_keys(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Paper ids by keys such as `doi:10.1/x`; unknown keys are left out."""
        ...

    async def find_like(self, title: str) -> Sequence[NamedWork]:
        """The few papers whose titles are most like this one."""
        ...


@dataclass(frozen=True, slots=True)
class AddedToDesk:
    """Where one work now is; `is_new` is false where it was there before."""

    id: str
    is_new: bool
    notes: tuple[str, ...] = ()


class CorpusAdditions(Protocol):
    """Adds to the corpus by the papers room's own inbox and readers."""

    async def add_content(self, content: bytes, suffix: str, owner: str) -> AddedToDesk:
        """Add one file's content, such as `.json` of CSL. Raises CarrelError."""
        ...


class DeskLibraries(Protocol):
    """Every caller's own library."""

    async def find_known(
        self, items: Sequence[Mapping[str, Any]], caller: Caller
    ) -> Sequence[str | None]:
        """The reference id of each CSL item that the caller's library has."""
        ...

    async def add_item(self, item: Mapping[str, Any], source: str, caller: Caller) -> AddedToDesk:
        """Add one CSL item, unless the library has its work. Raises CarrelError."""
        ...
