"""Translation of our query language to that of each service; one file for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TranslatedParameters:
    """A query as parameters of a service, and as one line for people.

    `not_expressed` says in plain words what the service cannot be asked; the caller applies it to
    the answer where it can. A query of which nothing can be asked has no parameters.
    """

    parameters: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    not_expressed: tuple[str, ...] = ()
