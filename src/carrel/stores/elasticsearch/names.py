"""Which indices a question reaches, decided on what the server says that names stand for."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from typing import Any

from elasticsearch import AsyncElasticsearch, NotFoundError

from carrel.rooms.knowledge.errors import IndexNotAllowedError

# Other clusters, date arithmetic and characters that no index name has.
_STRANGE = re.compile(r'[<>:/\\?"|#\s]')
_MOST_INDICES = 200


async def resolved(
    client: AsyncElasticsearch, given: str, allowed: Sequence[str], own: Mapping[str, str]
) -> list[str]:
    """The names to search, each one allowed. Everything that a pattern or an alias stands for must
    be allowed itself.
    """
    parts = [part.strip() for part in given.split(",") if part.strip()]
    if not parts or _STRANGE.search(",".join(parts)):
        raise IndexNotAllowedError(given[:100], [*own, *allowed])
    chosen: dict[str, None] = {}
    open_parts: list[str] = []
    for part in parts:
        if part in own:
            chosen[own[part]] = None
        elif part in allowed and not _is_pattern(part):
            # Named by the operator word for word, so an alias keeps its filter.
            chosen[part] = None
        else:
            open_parts.append("*" if part == "_all" else part)
    if open_parts:
        try:
            answer = await client.indices.resolve_index(
                name=",".join(open_parts), expand_wildcards=["open"]
            )
        except NotFoundError:
            # The same answer as for what exists and is not allowed, so that nobody learns which
            # names there are.
            raise IndexNotAllowedError(given[:100], [*own, *allowed]) from None
        for name in _concrete(dict(answer)):
            if name not in own.values() and not any(
                fnmatch.fnmatchcase(name, pattern) for pattern in allowed
            ):
                raise IndexNotAllowedError(given[:100], [*own, *allowed])
            chosen[name] = None
    if not chosen or len(chosen) > _MOST_INDICES:
        raise IndexNotAllowedError(given[:100], [*own, *allowed])
    return list(chosen)


def _is_pattern(name: str) -> bool:
    return "*" in name or name.startswith(("-", "+"))


def _concrete(answer: Mapping[str, Any]) -> list[str]:
    """Every index behind the names: indices themselves, those of aliases, and those of data
    streams.
    """
    found: dict[str, None] = {}
    for index in answer.get("indices", ()):
        found[str(index["name"])] = None
    for alias in answer.get("aliases", ()):
        found.update(dict.fromkeys(_listed(alias["indices"])))
    for stream in answer.get("data_streams", ()):
        found.update(dict.fromkeys(_listed(stream["backing_indices"])))
    return list(found)


def _listed(names: object) -> list[str]:
    return [str(name) for name in names] if isinstance(names, list) else [str(names)]
