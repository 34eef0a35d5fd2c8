"""Names of our indices: an alias that readers ask, and the index behind it that a rebuild replaces.

A rebuild fills a new index beside the one in use, and the alias moves in one step, so that readers
have the old one whole or the new one whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from elasticsearch import AsyncElasticsearch, BadRequestError, NotFoundError

from carrel.core.errors import ConflictError

_META = "carrel"


@dataclass(frozen=True, slots=True)
class IndexInUse:
    """The index behind a name, and what we noted about it; no facts where it is not ours."""

    name: str
    facts: Mapping[str, Any] | None


async def find_index(client: AsyncElasticsearch, name: str) -> IndexInUse | None:
    """The index of this name or behind this alias; None where there is none."""
    try:
        found = dict(await client.indices.get_mapping(index=name))
    except NotFoundError:
        return None
    if len(found) != 1:
        raise _not_ours(name)
    ((concrete, mapping),) = found.items()
    return IndexInUse(concrete, mapping["mappings"].get("_meta", {}).get(_META))


async def find_our_index(client: AsyncElasticsearch, name: str) -> IndexInUse | None:
    """The same; ConflictError for an index that somebody else made."""
    found = await find_index(client, name)
    if found is not None and found.facts is None:
        raise _not_ours(name)
    return found


async def create_index(
    client: AsyncElasticsearch, name: str, settings: Mapping[str, Any], mappings: Mapping[str, Any]
) -> bool:
    """Whether it was made now; not where it is there already."""
    try:
        await client.indices.create(index=name, settings=settings, mappings=mappings)
    except BadRequestError as error:
        if error.error != "resource_already_exists_exception":
            raise
        return False
    return True


async def write_facts(client: AsyncElasticsearch, name: str, facts: Mapping[str, Any]) -> None:
    """Note these facts about an index, instead of those before."""
    await client.indices.put_mapping(index=name, meta={_META: dict(facts)})


async def move_aliases(client: AsyncElasticsearch, targets: Mapping[str, str]) -> None:
    """Lets every alias name its new index, all in one step, and removes the indices before."""
    actions: list[dict[str, Any]] = []
    left: list[str] = []
    for alias, concrete in targets.items():
        before = await find_index(client, alias)
        if before is not None and before.name == concrete:
            continue
        if before is not None and before.name == alias:
            # Of a version that had no aliases.
            actions.append({"remove_index": {"index": alias}})
        elif before is not None:
            actions.append({"remove": {"index": before.name, "alias": alias}})
            left.append(before.name)
        actions.append({"add": {"index": concrete, "alias": alias}})
    if actions:
        await client.indices.update_aliases(actions=actions)
    for name in left:
        await client.indices.delete(index=name, ignore_unavailable=True)


def facts_of(meta: Mapping[str, Any]) -> dict[str, Any]:
    """The `_meta` of a mapping with these facts."""
    return {_META: dict(meta)}


def _not_ours(name: str) -> ConflictError:
    return ConflictError(
        f"The index {name} exists and was not made by Carrel",
        next_step="Set elasticsearch.prefix to another beginning of names.",
        details={"index": name},
    )
